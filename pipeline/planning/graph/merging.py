"""Which entities are merged, and into which observations.

Two entities are merged only if they are of one type, more similar than `merge_above`, and judged
duplicates; the united text must in turn be judged a duplicate of each of them. Observations are
united, and one is left out only if another says all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from ....models.guards import missing
from ....models.merger import ENTAILED, Draft, ExtractiveMerger, MergeRefused
from ....models.scorer import reads_context
from ....models.words import exact_key, significant_words
from ....records import Candidate, Evidence, Label, Memory, Verdict, rejection_key
from ...judging.candidates import Near, find_candidates
from ...judging.judge import judge
from ...judging.neighbourhood import contexts_of
from ...rules.graph.names import same_names
from ...rules.graph.nodes import Node
from ...rules.graph.partners import StatementWords, may_be_near, partners, same_subject
from ...rules.graph.settings import GraphSettings
from ...stores.graph.text import statement, words_of
from ...stores.graph.usage import MERGED_MARK, combined, content
from ..merges import Consolidated, draft_merges

_JUDGED_SHARE = 0.6
"""Share of the shorter one's words in common from which it is judged whether one observation says another."""

if TYPE_CHECKING:
    from ....models.encoder import Encoder
    from ....models.merger import Entails
    from ....models.scorer import PairScorer, Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphJudging:
    """Models and limits.

    Attributes:
        encoder: Embeds what entities and observations say.
        scorer: Judges pairs of them.
        settings: Lines between merging, review and relation.
        neighbours: How many neighbours of each are judged.
        floor: Lowest cosine at which two observations are judged.
        thresholds: Calibrated thresholds instead of the scorer's own.
        rejected: Pairs that a person refused.
        now: The moment of the plan.
    """

    encoder: Encoder
    scorer: PairScorer
    settings: GraphSettings
    neighbours: int
    floor: float
    now: datetime
    thresholds: Thresholds | None = None
    rejected: frozenset[str] = frozenset()

    def near(self, memories: Sequence[Memory], *, floor: float) -> tuple[Candidate, ...]:
        """Pairs at least as similar as the floor."""
        return _near(
            memories,
            self.encoder,
            floor=floor,
            neighbours=self.neighbours,
            contexts=reads_context(self.scorer),
        )

    def verdicts(self, memories: Iterable[Memory], pairs: Sequence[Candidate]) -> tuple[Verdict, ...]:
        """Judge the pairs."""
        return judge(pairs, {m.id: m for m in memories}, self.scorer, thresholds=self.thresholds)

    def side_by_side(
        self, memories: Mapping[str, Memory], pairs: Sequence[tuple[str, str]]
    ) -> tuple[Verdict, ...]:
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


def _near(
    memories: Sequence[Memory], encoder: Encoder, *, floor: float, neighbours: int, contexts: bool = False
) -> tuple[Candidate, ...]:
    if not memories:  # a model is loaded by the first call, whether there is anything to embed or not
        return ()
    vectors = encoder.encode([memory.text for memory in memories])
    return find_candidates(memories, vectors, floor=floor, neighbours=neighbours, contexts=contexts)


def judged_memory(node: Node) -> Memory:
    """An entity as it is embedded and judged: what it says, without dates of our own making."""
    return replace(node.memory, text=node.statement, created_at=None, updated_at=None, accessed_at=None)


def entity_verdicts(nodes: Sequence[Node], judging: GraphJudging) -> tuple[Verdict, ...]:
    """The verdicts on all pairs of entities of one type that are similar enough to show a person.

    Only a pair above `merge_above` may be merged without a person.
    """
    real = {node.id: node.memory for node in nodes}
    worth = {
        pair
        for pair in partners(nodes)
        if rejection_key(real[pair[0]], real[pair[1]]) not in judging.rejected
    }
    memories = _ends(nodes, worth)
    near = judging.near(memories, floor=judging.settings.review_above)
    pairs = [pair for pair in near if (pair.a, pair.b) in worth]
    texts = {memory.id: memory.text for memory in memories}
    return tuple(_lined(verdict, texts, judging.settings) for verdict in judging.verdicts(memories, pairs))


def _ends(nodes: Iterable[Node], pairs: Iterable[tuple[str, str]]) -> list[Memory]:
    """The memories of these pairs, as they are judged."""
    wanted = {end for pair in pairs for end in pair}
    return [judged_memory(node) for node in nodes if node.id in wanted]


def look_alikes(nodes: Sequence[Node], encoder: Encoder, *, settings: GraphSettings, neighbours: int) -> int:
    """How many entities another one may replace, by similarity and names alone: no pair is judged."""
    free = [node for node in nodes if not node.memory.pinned]
    said = {node.id: node.statement for node in free}
    worth = {pair for pair in partners(free) if same_subject(*(said[end] for end in pair))}
    pairs = [
        (pair.a, pair.b)
        for pair in _near(_ends(free, worth), encoder, floor=settings.merge_above, neighbours=neighbours)
        if pair.cosine > settings.merge_above and (pair.a, pair.b) in worth
    ]
    group = {node.id: node.id for node in free}

    def first(name: str) -> str:
        """The representative of all that look like it."""
        while group[name] != name:
            name = group[name]
        return name

    for a, b in (*pairs, *same_names(free)):
        group[first(b)] = first(a)
    return sum(group[name] != name for name in group)


def named_verdicts(
    nodes: Sequence[Node], verdicts: Iterable[Verdict], judging: GraphJudging
) -> tuple[Verdict, ...]:
    """All verdicts, with those on pairs whose names may mean one thing: a person is asked about them."""
    names = same_names(nodes)
    real = {node.id: node for node in nodes}
    asked = [
        pair for pair in names if rejection_key(*(real[end].memory for end in pair)) not in judging.rejected
    ]
    known = {(item.pair.a, item.pair.b): item for item in verdicts}
    ends = sorted({end for pair in asked for end in pair})
    vectors = dict(
        zip(ends, judging.encoder.encode([real[end].statement for end in ends]), strict=True) if ends else ()
    )
    for a, b in asked:
        held = known.get((a, b))
        if held is not None and (held.auto or held.label is Label.UNSURE):
            continue
        pair = Candidate(a, b, float(vectors[a] @ vectors[b]))
        known[a, b] = Verdict(pair, Label.UNSURE, evidence=(Evidence("name", names[a, b]),))
    return tuple(known.values())


def merges(
    nodes: Sequence[Node],
    verdicts: Sequence[Verdict],
    judging: GraphJudging,
    *,
    acceptable: Callable[[Sequence[str]], bool],
) -> tuple[Consolidated, ...]:
    """The merges of all types that hold under their own second pass.

    Args:
        nodes: Entities that may be merged.
        verdicts: Of `entity_verdicts`, contradictions between observations included.
        judging: Models and limits.
        acceptable: Whether the united observations may stand; else nothing is merged.
    """
    drafts: list[Consolidated] = []
    for kind in sorted({node.type for node in nodes}):
        group = {node.id: node for node in nodes if node.type == kind and node.content}
        here = [item for item in verdicts if item.pair.a in group and item.pair.b in group]
        if not any(item.auto for item in here):
            continue
        merger = Uniting(group, judging, acceptable=acceptable)
        memories = [judged_memory(node) for node in group.values()]
        drafts += draft_merges(memories, here, judge_new=merger.judge_new, merger=merger)
    return tuple(drafts)


@dataclass(slots=True)
class Uniting(ExtractiveMerger):
    """Unites observations instead of sentences."""

    nodes: Mapping[str, Node]
    judging: GraphJudging
    acceptable: Callable[[Sequence[str]], bool]
    _sources: dict[str, frozenset[str]] = field(default_factory=dict)

    def whole(
        self,
        memories: Sequence[Memory],
        *,
        among: Sequence[Memory] | None = None,
        entails: Entails | None = None,  # noqa: ARG002
    ) -> Memory | None:
        """The member that says already what the survivor would say, if there is one."""
        try:
            text = self._united_statement(memories)
        except MergeRefused:
            return None
        return next((memory for memory in among or () if memory.text == text), None)

    def draft(self, memories: Sequence[Memory], *, entails: Entails | None = None) -> Draft:  # noqa: ARG002
        """What the survivor would say.

        Raises:
            MergeRefused: If that could lose a detail, or is not acceptable.
        """
        text = self._united_statement(memories)
        self._sources[text] = frozenset(memory.id for memory in memories)
        return Draft(text, None)

    def _united_statement(self, memories: Sequence[Memory]) -> str:
        survivor, observations = united([self.nodes[memory.id] for memory in memories], self.judging)
        if not self.acceptable(observations):
            raise MergeRefused("the united memory would be forgotten at once")
        return statement(survivor.id, content(observations))

    def judge_new(self, new: Sequence[Memory], others: Sequence[Memory]) -> tuple[Verdict, ...]:
        """Judge united entities against their sources and against all others of the type."""
        if not new:
            return ()
        fresh = {memory.id: self._sources.get(memory.text, frozenset()) for memory in new}
        memories = [_undated(memory) for memory in (*_beside(new, others, fresh), *new)]
        texts = {memory.id: memory.text for memory in memories}
        review_above = self.judging.settings.review_above
        # A second pass would not look at a pair below that line; its own sources must be judged in any case.
        pairs = [
            pair
            for pair in self.judging.near(memories, floor=0.0)
            if _joins(pair, fresh) or (pair.cosine >= review_above and (pair.a in fresh or pair.b in fresh))
        ]
        return tuple(
            verdict if _joins(verdict.pair, fresh) else _lined(verdict, texts, self.judging.settings)
            for verdict in self.judging.verdicts(memories, pairs)
        )


def united(members: Sequence[Node], judging: GraphJudging) -> tuple[Node, tuple[str, ...]]:
    """Who survives a merge, and with which observations.

    Raises:
        MergeRefused: If a detail of an observation that is left out would be lost.
    """
    survivor = min(members, key=lambda node: (*_descriptive(node), node.id))
    others = sorted((node for node in members if node is not survivor), key=lambda node: node.id)
    kept = list(dict.fromkeys(survivor.content))
    for node in others:
        kept = _joined(kept, node, judging)
    lost = missing([" ".join(node.content) for node in members], " ".join(kept))
    if lost:
        raise MergeRefused(f"the united memory would lose {len(lost)} details")
    used = combined([survivor.observations, *(node.observations for node in others)])
    mark = f"{MERGED_MARK}{', '.join(node.id for node in others)} on {judging.now.date().isoformat()}"
    # What the survivor said stays in its place: a running server can only append.
    staying = dict.fromkeys(text for text in survivor.observations if text in kept or text in used)
    return survivor, tuple(dict.fromkeys((*staying, *kept, *used, mark)))


def _joined(kept: Sequence[str], node: Node, judging: GraphJudging) -> list[str]:
    """What is kept already, with the observations of one more entity that add something."""
    known = {exact_key(text) for text in kept}
    new = [text for text in dict.fromkeys(node.content) if exact_key(text) not in known]
    if not new or not kept:
        return [*kept, *new]
    memories = {
        f"{side}{i}": Memory(f"{side}{i}", text, node.memory.scope)
        for side, texts in (("k", kept), ("n", new))
        for i, text in enumerate(texts)
    }
    pairs = [
        (f"k{i}", f"n{j}")
        for i, old in enumerate(kept)
        for j, text in enumerate(new)
        if _may_say_all(old, text)
    ]
    verdicts = judging.side_by_side(memories, pairs)
    same = [verdict for verdict in verdicts if verdict.auto]
    said = {verdict.pair.b for verdict in same if verdict.entailment[0] >= ENTAILED}
    weaker = {v.pair.a for v in same if v.pair.b not in said and v.entailment[1] >= ENTAILED}
    return [
        *(text for i, text in enumerate(kept) if f"k{i}" not in weaker),
        *(text for j, text in enumerate(new) if f"n{j}" not in said),
    ]


def _may_say_all(a: str, b: str) -> bool:
    """Whether two observations share so many words that one may say all of the other."""
    first, second = significant_words(a), significant_words(b)
    fewer = min(len(first), len(second))
    return fewer > 0 and len(first & second) >= _JUDGED_SHARE * fewer


def _descriptive(node: Node) -> tuple[int, int, int]:
    """The more descriptive name first: more words that mean something, then longer, then more said."""
    return (-len(significant_words(words_of(node.id))), -len(node.id), -len(node.content))


def _joins(pair: Candidate, fresh: Mapping[str, frozenset[str]]) -> bool:
    """Whether one of a pair is a drafted memory and the other one of its sources."""
    return pair.a in fresh.get(pair.b, ()) or pair.b in fresh.get(pair.a, ())


def _beside(
    new: Sequence[Memory], others: Sequence[Memory], fresh: Mapping[str, frozenset[str]]
) -> list[Memory]:
    """Those others that a drafted memory was made from, or may be near to."""
    made = [(memory, StatementWords.of(memory.text)) for memory in new]
    return [
        other
        for other in others
        if any(
            other.id in fresh[memory.id] or may_be_near(said, StatementWords.of(other.text), memory.category)
            for memory, said in made
        )
    ]


def _undated(memory: Memory) -> Memory:
    return replace(memory, created_at=None, updated_at=None, accessed_at=None)


def _lined(verdict: Verdict, texts: Mapping[str, str], settings: GraphSettings) -> Verdict:
    """A pair at or below `merge_above` needs a person, and so does one of which a name is unaccounted for.

    "The amber gateway" and "the basil gateway" may share every other word and are two things.
    """
    if verdict.label is Label.UNSURE and verdict.probabilities[1] > verdict.probabilities[0]:
        # Many facts against many facts: what looks like a contradiction of the whole is two things.
        return replace(verdict, label=Label.DISTINCT)
    close = verdict.pair.cosine > settings.merge_above
    auto = verdict.auto and close and same_subject(texts[verdict.pair.a], texts[verdict.pair.b])
    return replace(verdict, auto=auto)
