"""Which entities are one, and which observations say the same or exclude each other.

Observations are statements, compared across all entities and types by `judging.statements`. Two entities
are merged by themselves only if they are of one type, more similar than `merge_above`, judged duplicates, and
every word of each name occurs in the other; below that line, by their names, and where one repeats most of
what the other says, a person is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from ....models.guards import compare
from ....models.scorer import PairInput, limits_for, reads_context
from ....records import Candidate, Evidence, Label, Memory, Verdict, rejection_key
from ...judging.candidates import Near, find_candidates
from ...judging.judge import decide, judge
from ...judging.neighbourhood import contexts_of
from ...judging.statements import Finding, Reader, Statement, findings, repeating
from ...rules.graph.names import (
    WITHOUT_GENERAL,
    StatementWords,
    partners,
    same_names,
    same_subject,
    siblings,
)
from ...rules.graph.use import GraphSettings
from ...stores.graph.entities import Node, is_label
from ...stores.graph.lines import GraphDocument
from ...stores.graph.store import LastRun
from ..hooks import View
from ..proposal import Means

if TYPE_CHECKING:
    from ....models.encoder import Encoder
    from ....models.scorer import PairScorer, Thresholds

PLACE = "place"
"""Evidence that a detail has another place in the other text."""

Pair = tuple[str, str]
TELLING = 3
"""Observations from which on an entity shows by what it says, and not by its name, what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView(View):
    """How a graph stands at the beginning of a pass.

    Attributes:
        document: The same with their relations, as lines.
        last: How it stood after the run before; None if there was none.
    """

    nodes: Mapping[str, Node]
    document: GraphDocument
    means: Means
    last: LastRun | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphModels:
    """Models and limits of one pass.

    Attributes:
        neighbours: How many neighbours of each are judged.
        thresholds: Calibrated thresholds instead of the scorer's own.
        rejected: Keys of what a person refused.
        now: The moment of the plan.
    """

    encoder: Encoder
    scorer: PairScorer
    settings: GraphSettings
    neighbours: int
    now: datetime
    thresholds: Thresholds | None = None
    rejected: frozenset[str] = frozenset()

    def near(self, memories: Sequence[Memory], *, floor: float) -> tuple[Candidate, ...]:
        """Pairs at least as similar as the floor."""
        if not memories:  # a model is loaded by the first call, whether there is anything to embed or not
            return ()
        vectors = self.encoder.encode([memory.text for memory in memories])
        contexts = reads_context(self.scorer)
        return find_candidates(memories, vectors, floor=floor, neighbours=self.neighbours, contexts=contexts)

    def verdicts(self, memories: Iterable[Memory], pairs: Sequence[Candidate]) -> tuple[Verdict, ...]:
        """Judge the pairs."""
        return judge(pairs, {m.id: m for m in memories}, self.scorer, thresholds=self.thresholds)

    def side_by_side(self, memories: Mapping[str, Memory], pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """Judge these pairs as they stand among all memories that occur in one of them."""
        names = sorted({end for pair in pairs for end in pair})
        if not names:
            return ()
        row = {name: place for place, name in enumerate(names)}
        texts = [memories[name].text for name in names]
        vectors = self.encoder.encode(texts)
        rows = np.array([(row[a], row[b]) for a, b in pairs], dtype=np.int64)
        near = [Near(a, b, float(vectors[row[a]] @ vectors[row[b]])) for a, b in pairs]
        if reads_context(self.scorer):
            placed = contexts_of(vectors, texts, rows)
            near = [replace(pair, context=context) for pair, context in zip(near, placed, strict=True)]
        return self.verdicts([memories[name] for name in names], near)

    def refused(self, a: Memory, b: Memory) -> bool:
        """Whether a person was asked about these two already."""
        return rejection_key(a, b) in self.rejected


@dataclass(slots=True)
class GraphJudge:
    """Judges entities, see `planning.hooks.Judge`, and their observations.

    Attributes:
        sources: Names of the entities that a drafted statement was made of.
        said: What a person may be asked about observations.
        notes: None: pairs are found by words.
    """

    nodes: Mapping[str, Node]
    models: GraphModels
    sources: dict[str, frozenset[str]] = field(default_factory=dict)
    said: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on all pairs of entities that a person may be shown."""
        free = [self.nodes[memory.id] for memory in memories]
        verdicts, names = self._by_words(free), same_names(free)
        likely = ((item.pair.a, item.pair.b) for item in verdicts if item.label is not Label.DISTINCT)
        statements = [
            Statement(part, part.text, part.text, node.id, named=True) for node in free for part in node.parts
        ]
        reader = Reader(self.models.encoder, self.models.scorer, self.models.thresholds)
        one = {frozenset(pair) for pair in (*names, *likely)}
        found = [
            each
            for each in findings(statements, reader, one=one)
            if not self.models.refused(each.a.memory, each.b.memory)
        ]
        repeats = {each.places for each in found if each.same}
        reasons = {
            pair: Evidence("name", rule)
            for pair, rule in names.items()
            if rule != WITHOUT_GENERAL or frozenset(pair) in repeats or self._little_said(pair)
        }
        for (a, b), (few, of) in (
            (sorted(pair), counts) for pair, counts in repeating(found, statements).items()
        ):
            if not siblings(self.nodes[a], self.nodes[b]):
                reasons.setdefault((a, b), Evidence("repeated", f"{few} of {of} observations"))
        verdicts = self._with_questions(verdicts, reasons)
        quarrels = {each.places for each in found if each.sure and not each.same}
        asked = {
            frozenset((item.pair.a, item.pair.b)) for item in verdicts if item.label is not Label.DISTINCT
        }
        self.said = tuple(each for each in found if each.alone and not (each.same and each.places in asked))
        return tuple(
            replace(item, label=Label.CONTRADICTION, auto=False)
            if frozenset((item.pair.a, item.pair.b)) in quarrels
            else item
            for item in verdicts
        )

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge united entities against their sources and against all others of the type."""
        if not new:
            return ()
        made = [(memory, StatementWords.of(memory.text), self._sources(memory)) for memory in new]
        beside = [
            other
            for other in others
            if any(
                other.id in sources
                or said.may_be_near(StatementWords.of(other.text), labelled=is_label(memory.category))
                for memory, said, sources in made
            )
        ]
        memories = [judged_text(memory, memory.text) for memory in (*beside, *new)]
        texts = {memory.id: memory.text for memory in memories}
        fresh = {memory.id: sources for memory, _, sources in made}

        def own(pair: Candidate) -> bool:
            """Whether one is drafted and the other one of its sources, which must be judged in any case."""
            return pair.a in fresh.get(pair.b, ()) or pair.b in fresh.get(pair.a, ())

        # A second pass would not look at a pair below that line.
        line = self.models.settings.review_above
        pairs = [
            pair
            for pair in self.models.near(memories, floor=0.0)
            if own(pair) or (pair.cosine >= line and (pair.a in fresh or pair.b in fresh))
        ]
        return tuple(
            item if own(item.pair) else self._lined(item, texts)
            for item in self.models.verdicts(memories, pairs)
        )

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts on pairs of these memories."""
        ids = {memory.id for memory in memories}
        return [item for item in verdicts if item.pair.a in ids and item.pair.b in ids]

    def _little_said(self, pair: Pair) -> bool:
        return any(len(self.nodes[name].content) < TELLING for name in pair)

    def _sources(self, memory: Memory) -> frozenset[str]:
        return self.sources.get(memory.text, frozenset())

    def _by_words(self, nodes: Sequence[Node]) -> tuple[Verdict, ...]:
        """The verdicts on pairs of one type that are similar enough to show a person."""
        worth = {
            (a, b)
            for a, b in partners(nodes)
            if not self.models.refused(self.nodes[a].memory, self.nodes[b].memory)
        }
        memories = _ends(nodes, worth)
        near = self.models.near(memories, floor=self.models.settings.review_above)
        pairs = [pair for pair in near if (pair.a, pair.b) in worth]
        texts = {memory.id: memory.text for memory in memories}
        return tuple(self._lined(verdict, texts) for verdict in self.models.verdicts(memories, pairs))

    def _with_questions(
        self, verdicts: Iterable[Verdict], reasons: Mapping[Pair, Evidence]
    ) -> tuple[Verdict, ...]:
        """All verdicts, with pairs that may be one for another reason than what they say as a whole."""
        known = {(item.pair.a, item.pair.b): item for item in verdicts}
        asked = {
            (a, b): reason
            for (a, b), reason in reasons.items()
            if not self.models.refused(self.nodes[a].memory, self.nodes[b].memory)
            and not ((a, b) in known and (known[a, b].auto or known[a, b].label is Label.UNSURE))
        }
        ends = sorted({end for pair in asked for end in pair})
        said = [self.nodes[end].statement for end in ends]
        vectors = dict(zip(ends, self.models.encoder.encode(said), strict=True)) if ends else {}
        for (a, b), reason in asked.items():
            pair = Candidate(a, b, float(vectors[a] @ vectors[b]))
            known[a, b] = Verdict(pair, Label.UNSURE, evidence=(reason,))
        return tuple(known.values())

    def _lined(self, verdict: Verdict, texts: Mapping[str, str]) -> Verdict:
        """A pair at or below `merge_above` needs a person, and so does one where a name is unaccounted for.

        "The amber gateway" and "the basil gateway" may share every other word and are two things.
        """
        if verdict.label is Label.UNSURE and verdict.probabilities[1] > verdict.probabilities[0]:
            # Many facts against many facts: what looks like a contradiction of the whole is two things.
            return replace(verdict, label=Label.DISTINCT, auto=False)
        a, b = texts[verdict.pair.a], texts[verdict.pair.b]
        close = verdict.pair.cosine > self.models.settings.merge_above
        verdict = self._without_names(verdict, a, b)
        return replace(verdict, auto=verdict.auto and close and same_subject(a, b))

    def _without_names(self, verdict: Verdict, a: str, b: str) -> Verdict:
        """The verdict where words of the names in front, which have no place in a sentence, held it back."""
        if verdict.label is not Label.DUPLICATE or not any(item.kind == PLACE for item in verdict.evidence):
            return verdict
        said = (text.partition(": ")[2] for text in (a, b))
        if any(item.kind == PLACE for item in compare(*said)):
            return verdict
        texts = PairInput(a=a, b=b, cosine=verdict.pair.cosine)
        limits = self.models.thresholds or limits_for(self.models.scorer, texts)
        evidence = tuple(item for item in verdict.evidence if item.kind != PLACE)
        auto = decide(verdict.probabilities, evidence, limits, entailment=verdict.entailment)[1]
        return replace(verdict, auto=auto, evidence=evidence)


def judged_text(memory: Memory, text: str) -> Memory:
    """A memory as it is judged: another text, and no dates, which are of our own making."""
    return replace(memory, text=text, created_at=None, updated_at=None, accessed_at=None)


def look_alikes(nodes: Sequence[Node], encoder: Encoder, *, settings: GraphSettings, neighbours: int) -> int:
    """How many entities another one may replace, by similarity and names alone: no pair is judged."""
    free = {node.id: node for node in nodes if not node.memory.pinned}
    worth = {(a, b) for a, b in partners(free.values()) if same_subject(free[a].statement, free[b].statement)}
    line, ends = settings.merge_above, _ends(free.values(), worth)
    near: Sequence[Candidate] = ()
    if ends:
        vectors = encoder.encode([memory.text for memory in ends])
        near = find_candidates(ends, vectors, floor=line, neighbours=neighbours)
    pairs = [(pair.a, pair.b) for pair in near if pair.cosine > line and (pair.a, pair.b) in worth]
    group = {name: name for name in free}

    def first(name: str) -> str:
        """The representative of all that look like it."""
        while group[name] != name:
            name = group[name]
        return name

    for a, b in (*pairs, *same_names(free.values())):
        group[first(b)] = first(a)
    return sum(group[name] != name for name in group)


def _ends(nodes: Iterable[Node], pairs: Collection[Pair]) -> list[Memory]:
    """The memories of these pairs, as they are judged."""
    wanted = {end for pair in pairs for end in pair}
    return [judged_text(node.memory, node.statement) for node in nodes if node.id in wanted]
