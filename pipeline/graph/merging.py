"""Which entities become one, and what they say then.

Two entities are merged only if they are of one type, more alike than the merge line, and judged
duplicates; the united text must in turn be judged a duplicate of each of them. Observations are
united, and one is left out only if another says all of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ...models.merger import ENTAILED, Draft, ExtractiveMerger, MergeRefused
from ...models.scorer import reads_context
from ..candidates import find_candidates
from ..guards import missing
from ..judge import judge
from ..merges import Consolidated, draft_merges
from ..records import Candidate, Label, Memory, Verdict, rejection_key
from ..words import exact_key, significant_words
from .nodes import Node
from .settings import GraphSettings
from .text import observation_key, part_id, statement, words_of
from .usage import MERGED_MARK, combined, content

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ...models.merger import Entails
    from ...models.scorer import PairScorer, Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
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
        vectors = self.encoder.encode([memory.text for memory in memories])
        return find_candidates(
            memories, vectors, floor=floor, neighbours=self.neighbours, contexts=reads_context(self.scorer)
        )

    def verdicts(self, memories: Iterable[Memory], pairs: Sequence[Candidate]) -> tuple[Verdict, ...]:
        """Judge the pairs."""
        return judge(pairs, {m.id: m for m in memories}, self.scorer, thresholds=self.thresholds)


def judged_memory(node: Node) -> Memory:
    """An entity as it is embedded and judged: what it says, without dates of our own making."""
    return replace(node.memory, text=node.statement, created_at=None, updated_at=None, accessed_at=None)


def entity_verdicts(nodes: Sequence[Node], judging: Judging) -> tuple[Verdict, ...]:
    """What is thought of all pairs of entities of one type that are worth a person's look.

    Only a pair above the merge line may be merged without a person.
    """
    memories = [judged_memory(node) for node in nodes if node.content]
    real = {node.id: node.memory for node in nodes}
    pairs = [
        pair
        for pair in judging.near(memories, floor=judging.settings.review_above)
        if rejection_key(real[pair.a], real[pair.b]) not in judging.rejected
    ]
    texts = {memory.id: memory.text for memory in memories}
    return tuple(_lined(verdict, texts, judging.settings) for verdict in judging.verdicts(memories, pairs))


def observation_verdicts(
    nodes: Mapping[str, Node], verdicts: Iterable[Verdict], judging: Judging
) -> tuple[Verdict, ...]:
    """Contradictions between observations of one entity, or of two that are about the same.

    Entities that are not near each other have different subjects, so their observations are never
    compared: "prefers tabs" may hold of one person and not of another.
    """
    memories = {
        part.id: part for node in nodes.values() if not node.memory.pinned for part in observations_of(node)
    }
    groups = [[node] for node in nodes.values()]
    groups += [[nodes[verdict.pair.a], nodes[verdict.pair.b]] for verdict in verdicts]
    pairs: set[tuple[str, str]] = set()
    said = {part.id: exact_key(part.text) for part in memories.values()}
    for group in groups:
        parts = [[part.id for part in observations_of(node)] for node in group]
        found = itertools.combinations(parts[0], 2) if len(group) == 1 else itertools.product(*parts)
        pairs |= {(min(pair), max(pair)) for pair in found if pair[0] in memories and pair[1] in memories}
    wanted = [
        Candidate(a, b, _cosine_unknown)
        for a, b in sorted(pairs)
        if said[a] != said[b] and rejection_key(memories[a], memories[b]) not in judging.rejected
    ]
    found_pairs = judging.verdicts(memories.values(), _with_cosines(wanted, memories, judging))
    return tuple(verdict for verdict in found_pairs if verdict.label is Label.CONTRADICTION)


_cosine_unknown = 0.0


def _with_cosines(
    pairs: Sequence[Candidate], memories: Mapping[str, Memory], judging: Judging
) -> list[Candidate]:
    """The pairs with their cosines, without those that the rest of the engine would not judge either."""
    ids = sorted({memory_id for pair in pairs for memory_id in (pair.a, pair.b)})
    vectors = dict(zip(ids, judging.encoder.encode([memories[i].text for i in ids]), strict=True))
    found = [replace(pair, cosine=float(vectors[pair.a] @ vectors[pair.b])) for pair in pairs]
    return [pair for pair in found if pair.cosine >= judging.floor]


def observations_of(node: Node) -> list[Memory]:
    """The observations of an entity that say something, each as a memory of its own."""
    return [
        Memory(
            part_id(node.id, observation_key(text)),
            text,
            node.memory.scope,
            category=node.memory.category,
            pinned=node.memory.pinned,
        )
        for text in dict.fromkeys(node.content)
    ]


def merges(
    nodes: Sequence[Node],
    verdicts: Sequence[Verdict],
    judging: Judging,
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
    found: list[Consolidated] = []
    for kind in sorted({node.type for node in nodes}):
        group = {node.id: node for node in nodes if node.type == kind and node.content}
        here = [item for item in verdicts if item.pair.a in group and item.pair.b in group]
        if not any(item.auto for item in here):
            continue
        merger = Uniting(group, judging, acceptable=acceptable)
        memories = [judged_memory(node) for node in group.values()]
        found += draft_merges(memories, here, judge_new=merger.judge_new, merger=merger)
    return tuple(found)


@dataclass(slots=True)
class Uniting(ExtractiveMerger):
    """Unites observations instead of sentences."""

    nodes: Mapping[str, Node]
    judging: Judging
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
        texts = {memory.id: memory.text for memory in (*others, *new)}
        fresh = {memory.id: self._sources.get(memory.text, frozenset()) for memory in new}
        memories = [_undated(memory) for memory in (*others, *new)]
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


def united(members: Sequence[Node], judging: Judging) -> tuple[Node, tuple[str, ...]]:
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


def _joined(kept: Sequence[str], node: Node, judging: Judging) -> list[str]:
    """What is kept already with the observations of one more entity that add something."""
    known = {exact_key(text) for text in kept}
    new = [text for text in dict.fromkeys(node.content) if exact_key(text) not in known]
    if not new or not kept:
        return [*kept, *new]
    memories = {
        f"{side}{i}": Memory(f"{side}{i}", text, node.memory.scope)
        for side, texts in (("k", kept), ("n", new))
        for i, text in enumerate(texts)
    }
    pairs = [Candidate(f"k{i}", f"n{j}", 0.0) for i in range(len(kept)) for j in range(len(new))]
    verdicts = judging.verdicts(memories.values(), _with_cosines(pairs, memories, judging))
    same = [verdict for verdict in verdicts if verdict.auto]
    said = {verdict.pair.b for verdict in same if verdict.entailment[0] >= ENTAILED}
    weaker = {v.pair.a for v in same if v.pair.b not in said and v.entailment[1] >= ENTAILED}
    return [
        *(text for i, text in enumerate(kept) if f"k{i}" not in weaker),
        *(text for j, text in enumerate(new) if f"n{j}" not in said),
    ]


def _descriptive(node: Node) -> tuple[int, int, int]:
    """The more descriptive name first: more words that mean something, then longer, then more said."""
    return (-len(significant_words(words_of(node.id))), -len(node.id), -len(node.content))


def _joins(pair: Candidate, fresh: Mapping[str, frozenset[str]]) -> bool:
    """Whether one of a pair is a drafted memory and the other one of its sources."""
    return pair.a in fresh.get(pair.b, ()) or pair.b in fresh.get(pair.a, ())


def _undated(memory: Memory) -> Memory:
    return replace(memory, created_at=None, updated_at=None, accessed_at=None)


def _lined(verdict: Verdict, texts: Mapping[str, str], settings: GraphSettings) -> Verdict:
    """A pair at or below the merge line needs a person, and so does one of which a name is unaccounted for.

    "The amber gateway" and "the basil gateway" may share every other word and are two things.
    """
    close = verdict.pair.cosine > settings.merge_above
    auto = verdict.auto and close and _same_subject(texts[verdict.pair.a], texts[verdict.pair.b])
    return replace(verdict, auto=auto)


def _same_subject(a: str, b: str) -> bool:
    """Whether each statement holds every word of the other's name."""
    names = [significant_words(text.partition(":")[0]) for text in (a, b)]
    return names[0] <= significant_words(b) and names[1] <= significant_words(a)
