"""Which entities are one, which observations say the same or exclude each other, and what becomes of them.

Observations are statements, compared across all entities and types by `judging.statements`. Two entities
are merged by themselves only if they are of one type, more similar than `merge_above`, judged duplicates, and
every word of each name occurs in the other; below that line, by their names, and where one repeats most of
what the other says, a person is asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from ...models.bindings import relation
from ...models.guards import compare, missing
from ...models.merger import ENTAILED
from ...models.same_statement import statement_key
from ...models.scorer import PairInput, limits_for, reads_context
from ...models.text.words import significant_words
from ...records import Candidate, Evidence, Label, Memory, Verdict, rejection_key
from ..judging.candidates import Near, contexts_of, find_candidates
from ..judging.judge import decide
from ..judging.statements import Finding, Reader, Statement, findings, repeating
from ..plan import Merge
from ..rules.graph_names import (
    WITHOUT_GENERAL,
    Pair,
    may_be_near,
    partners,
    same_names,
    same_subject,
    siblings,
    words_in,
)
from ..rules.graph_use import GraphSettings
from ..stores.graph.entities import MERGED_MARK, Node, combined, is_label, words_of
from ..stores.graph.lines import GraphDocument
from ..stores.graph.store import LastRun
from .hooks import Means, View

if TYPE_CHECKING:
    from ...models.encoder import Encoder

PLACE = "place"  # evidence that a detail has another place in the other text
TELLING = 3  # observations from which on an entity shows by what it says, and not by its name, what it is
SHARED = 0.6
"""Share of the words of the shorter of two observations that both say, from which they are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView(View):
    """How a graph stands at the beginning of a pass, and how it stood after the run before."""

    nodes: Mapping[str, Node]
    document: GraphDocument
    means: Means
    last: LastRun | None


@dataclass(slots=True)
class GraphJudge:
    """Judges entities, see `planning.hooks.Judge`, and their observations."""

    nodes: Mapping[str, Node]
    reader: Reader
    settings: GraphSettings
    means: Means
    sources: dict[str, frozenset[str]] = field(default_factory=dict)  # names by the statement made of them
    said: tuple[Finding, ...] = ()  # what a person may be asked about observations
    notes: tuple[str, ...] = ()  # none: pairs are found by words

    def all_pairs(self, memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        """The verdicts on all pairs of entities that a person may be shown."""
        free = [self.nodes[memory.id] for memory in memories]
        verdicts, names = self._by_words(free), same_names(free)
        statements = [
            Statement(part, part.text, part.text, node.id, named=True) for node in free for part in node.parts
        ]
        found = findings(statements, self.reader, one={*map(frozenset, names), *_likely(verdicts)})
        found = [each for each in found if not self._answered(each.a.memory, each.b.memory)]
        repeats = {each.places for each in found if each.same}
        reasons = {
            pair: Evidence("name", rule)
            for pair, rule in names.items()
            if rule != WITHOUT_GENERAL
            or frozenset(pair) in repeats
            or any(len(self.nodes[name].content) < TELLING for name in pair)
        }
        for places, (few, of) in repeating(found, statements).items():
            a, b = sorted(places)
            if not siblings(self.nodes[a], self.nodes[b]):
                reasons.setdefault((a, b), Evidence("repeated", f"{few} of {of} observations"))
        verdicts = self._with_questions(verdicts, reasons)
        asked = _likely(verdicts)
        self.said = tuple(each for each in found if each.alone and not (each.same and each.places in asked))
        quarrels = {each.places for each in found if each.sure and not each.same}
        return tuple(
            replace(item, label=Label.CONTRADICTION, auto=False)
            if _ends(item) in quarrels and not any(each.kind == "name" for each in item.evidence)
            else item  # two names of one thing are asked about, whatever else is open
            for item in verdicts
        )

    def drafted(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge united entities against their sources and against all others of the type."""
        if not new:
            return ()
        fresh = {memory.id: self.sources.get(memory.text, frozenset()) for memory in new}
        made = [(memory, words_in(memory.text)) for memory in new]

        def near(other: Memory) -> bool:
            words = words_in(other.text)
            return any(
                other.id in fresh[memory.id] or may_be_near(said, words, labelled=is_label(memory.category))
                for memory, said in made
            )

        memories = [judged_text(memory, memory.text) for memory in (*filter(near, others), *new)]
        texts = {memory.id: memory.text for memory in memories}

        def own(pair: Candidate) -> bool:  # a draft and one of its sources must be judged in any case
            return pair.a in fresh.get(pair.b, ()) or pair.b in fresh.get(pair.a, ())

        # A second pass would not look at a pair below that line.
        line = self.settings.review_above
        pairs = [
            pair
            for pair in self.near(memories, floor=0.0)
            if own(pair) or (pair.cosine >= line and (pair.a in fresh or pair.b in fresh))
        ]
        verdicts = self.reader.verdicts(memories, pairs)
        return tuple(item if own(item.pair) else self._lined(item, texts) for item in verdicts)

    def staying(self, memories: Sequence[Memory], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts on pairs of these memories."""
        ids = {memory.id for memory in memories}
        return [item for item in verdicts if item.pair.a in ids and item.pair.b in ids]

    def near(self, memories: Sequence[Memory], *, floor: float) -> tuple[Candidate, ...]:
        """Pairs at least as similar as the floor."""
        if not memories:  # a model is loaded by the first call, whether there is anything to embed or not
            return ()
        vectors = self.reader.encoder.encode([memory.text for memory in memories])
        most, contexts = self.means.settings.neighbours, reads_context(self.reader.scorer)
        return find_candidates(memories, vectors, floor=floor, neighbours=most, contexts=contexts)

    def _answered(self, a: Memory, b: Memory) -> bool:
        return rejection_key(a, b) in self.means.rejected

    def _by_words(self, nodes: Sequence[Node]) -> tuple[Verdict, ...]:
        """The verdicts on pairs of one type that are similar enough to show a person."""
        stored = {name: node.memory for name, node in self.nodes.items()}
        worth = {(a, b) for a, b in partners(nodes) if not self._answered(stored[a], stored[b])}
        memories = _judged(nodes, worth)
        near = self.near(memories, floor=self.settings.review_above)
        pairs = [pair for pair in near if (pair.a, pair.b) in worth]
        texts = {memory.id: memory.text for memory in memories}
        return tuple(self._lined(verdict, texts) for verdict in self.reader.verdicts(memories, pairs))

    def _with_questions(
        self, verdicts: Iterable[Verdict], reasons: Mapping[Pair, Evidence]
    ) -> tuple[Verdict, ...]:
        """All verdicts, with pairs that may be one for another reason than what they say as a whole."""
        known = {(item.pair.a, item.pair.b): item for item in verdicts}
        settled = {pair for pair, item in known.items() if item.auto or item.label is Label.UNSURE}
        nodes = self.nodes
        new = (pair for pair in reasons if pair not in settled)
        asked = [(a, b) for a, b in new if not self._answered(nodes[a].memory, nodes[b].memory)]
        ends = sorted({end for pair in asked for end in pair})
        said = [nodes[end].statement for end in ends]
        vectors = dict(zip(ends, self.reader.encoder.encode(said), strict=True)) if ends else {}
        for a, b in asked:
            pair = Candidate(a, b, float(vectors[a] @ vectors[b]))
            known[a, b] = Verdict(pair, Label.UNSURE, evidence=(reasons[a, b],))
        return tuple(known.values())

    def _lined(self, verdict: Verdict, texts: Mapping[str, str]) -> Verdict:
        """A pair at or below `merge_above` needs a person, and so does one where a name is unaccounted for.

        "The amber gateway" and "the basil gateway" may share every other word and are two things.
        """
        if verdict.label is Label.UNSURE and verdict.probabilities[1] > verdict.probabilities[0]:
            # Many facts against many facts: what looks like a contradiction of the whole is two things.
            return replace(verdict, label=Label.DISTINCT, auto=False)
        a, b = texts[verdict.pair.a], texts[verdict.pair.b]
        close = verdict.pair.cosine > self.settings.merge_above
        rest = tuple(item for item in verdict.evidence if item.kind != PLACE)
        said = (text.partition(": ")[2] for text in (a, b))
        if (
            verdict.label is Label.DUPLICATE
            and len(rest) < len(verdict.evidence)
            and not any(item.kind == PLACE for item in compare(*said))
        ):  # words of the names in front, which have no place in a sentence, held it back
            inputs = PairInput(a=a, b=b, cosine=verdict.pair.cosine)
            limits = self.reader.thresholds or limits_for(self.reader.scorer, inputs)
            auto = decide(verdict.probabilities, rest, limits, entailment=verdict.entailment)[1]
            verdict = replace(verdict, auto=auto, evidence=rest)
        return replace(verdict, auto=verdict.auto and close and same_subject(a, b))


def judged_text(memory: Memory, text: str) -> Memory:
    """A memory as it is judged: another text, and no dates, which are of our own making."""
    return replace(memory, text=text, created_at=None, updated_at=None, accessed_at=None)


def look_alikes(nodes: Sequence[Node], encoder: Encoder, *, settings: GraphSettings, neighbours: int) -> int:
    """How many entities another one may replace, by similarity and names alone: no pair is judged."""
    free = {node.id: node for node in nodes if not node.memory.pinned}
    worth = {(a, b) for a, b in partners(free.values()) if same_subject(free[a].statement, free[b].statement)}
    line, ends = settings.merge_above, _judged(free.values(), worth)
    near: Sequence[Candidate] = ()
    if ends:
        vectors = encoder.encode([memory.text for memory in ends])
        near = find_candidates(ends, vectors, floor=line, neighbours=neighbours)
    pairs = [(pair.a, pair.b) for pair in near if pair.cosine > line and (pair.a, pair.b) in worth]
    group = {name: name for name in free}
    for a, b in (*pairs, *same_names(free.values())):
        group = {name: group[a] if of == group[b] else of for name, of in group.items()}
    return len(group) - len(set(group.values()))


def united(members: Sequence[Node], reader: Reader, *, now: datetime) -> tuple[Node, tuple[str, ...]]:
    """Who survives a merge, and with which observations: all of them, but what another one says.

    The name that says more stays: more words that mean something, none of them twice, then longer.
    """

    def rank(node: Node) -> tuple[int, int, int, int, str]:
        words = words_of(node.id).casefold().split()
        telling = len(significant_words(words_of(node.id)))
        return len(words) - len(set(words)), -telling, -len(node.id), -len(node.content), node.id

    survivor, *others = sorted(members, key=rank)
    others.sort(key=lambda node: node.id)
    kept = list(dict.fromkeys(survivor.content))
    for node in others:
        kept = _joined(kept, node, reader)
    if missing([" ".join(node.content) for node in members], " ".join(kept)):
        every: dict[str, str] = {}
        for text in (text for node in (survivor, *others) for text in node.content):
            every.setdefault(statement_key(text), text)
        kept = list(every.values())
    used = combined([survivor.observations, *(node.observations for node in others)])
    mark = f"{MERGED_MARK}{', '.join(node.id for node in others)} on {now.date().isoformat()}"
    # What the survivor said stays in its place: a running server can only append.
    staying = dict.fromkeys(text for text in survivor.observations if text in kept or text in used)
    return survivor, tuple(dict.fromkeys((*staying, *kept, *used, mark)))


def once(node: Node) -> list[str]:
    """All observations; what an entity says twice, whatever its bullets and articles, only the first time."""
    kept: dict[str, str] = {}
    for place, text in enumerate(node.observations):
        key = statement_key(text) if text in node.content else ""
        kept.setdefault(key or f"\0{place}", text)
    return list(kept.values())


def question(found: Finding) -> Merge | None:
    """Whether one observation may go because another one says all that it says; None if neither does.

    A detail is lost only where the guards found that the two differ in one of its kind.
    """
    verdict, (a, b) = found.verdict, sorted((found.a.memory, found.b.memory), key=lambda part: part.id)
    forth, back = verdict.entailment
    # An item or a name that one text adds outweighs what a network reads into the other.
    unsaid = relation(a.text, b.text).unsaid
    mine, theirs = ((sum(unit.detail or unit.item > 0 for unit in units), len(units)) for units in unsaid)
    order = [a, b] if (mine, forth, len(a.text), b.id) >= (theirs, back, len(b.text), a.id) else [b, a]
    differing = {item.kind for item in verdict.evidence}
    for stays, goes in (order, order[::-1]):
        if all(item.kind not in differing for item in missing([goes.text], stays.text)):
            return Merge.of(a, b, survivor=stays.id, text=stays.text, verdicts=(verdict,))
    return None


def _joined(kept: Sequence[str], node: Node, reader: Reader) -> list[str]:
    """What is kept already, with the observations of one more entity that add something."""
    known = {statement_key(text) for text in kept}
    new = [text for text in dict.fromkeys(node.content) if statement_key(text) not in known]
    old, more = {f"k{i}": text for i, text in enumerate(kept)}, {f"n{j}": text for j, text in enumerate(new)}
    ids = old | more
    words = {name: significant_words(text) for name, text in ids.items()}
    pairs = []
    for a, b in itertools.product(old, more):
        fewer = min(len(words[a]), len(words[b]))
        pairs += [(a, b)] if fewer and len(words[a] & words[b]) >= SHARED * fewer else []
    memories = {name: Memory(name, text, node.memory.scope) for name, text in ids.items()}
    same = [verdict for verdict in _side_by_side(memories, pairs, reader) if verdict.auto]
    said = {verdict.pair.b for verdict in same if verdict.entailment[0] >= ENTAILED}
    said |= {v.pair.a for v in same if v.pair.b not in said and v.entailment[1] >= ENTAILED}
    return [text for name, text in ids.items() if name not in said]


def _side_by_side(
    memories: Mapping[str, Memory], pairs: Sequence[Pair], reader: Reader
) -> tuple[Verdict, ...]:
    """The verdicts on these pairs as they stand among all memories that occur in one of them."""
    names = sorted({end for pair in pairs for end in pair})
    if not names:
        return ()
    row = {name: place for place, name in enumerate(names)}
    texts = [memories[name].text for name in names]
    vectors = reader.encoder.encode(texts)
    near = [Near(a, b, float(vectors[row[a]] @ vectors[row[b]])) for a, b in pairs]
    if reads_context(reader.scorer):
        placed = contexts_of(vectors, texts, np.array([(row[a], row[b]) for a, b in pairs], dtype=np.int64))
        near = [replace(pair, context=context) for pair, context in zip(near, placed, strict=True)]
    return reader.verdicts(memories.values(), near)


def _ends(verdict: Verdict) -> frozenset[str]:
    return frozenset((verdict.pair.a, verdict.pair.b))


def _likely(verdicts: Iterable[Verdict]) -> set[frozenset[str]]:
    return {_ends(item) for item in verdicts if item.label is not Label.DISTINCT}


def _judged(nodes: Iterable[Node], pairs: Collection[Pair]) -> list[Memory]:
    """The memories of these pairs, as they are judged."""
    wanted = {end for pair in pairs for end in pair}
    return [judged_text(node.memory, node.statement) for node in nodes if node.id in wanted]
