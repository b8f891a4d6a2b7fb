"""From duplicate verdicts to merges that hold: drafted, proven, and stable under a second pass.

A merge is refused rather than weakened. Every removed memory is judged a duplicate of the text that
stays, directly; no two members may contradict each other or differ in a detail; and the
consolidated scope, planned again, must give nothing new. What cannot meet this stays as it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ...models.guards import compare
from ...models.merger import ExtractiveMerger, MergeRefused
from ...records import LAST_STATED_KEY, Label, Memory, Verdict, noted_moment
from ..judging.subjects import NO_KEYS, KeysOf, apart, keys_by_scope
from ..plan import draft_id
from .cluster import Star, stars

MAX_ROUNDS = 25
"""Re-planning rounds before what still moves is left alone; two or three are usual."""

LEARNING_ROUNDS = 5
"""Rounds in which a merge that would grow in the second pass may grow in the first instead."""

LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Stands for an unknown date where the earlier one counts less."""

Pair = tuple[str, str]
JudgeNew = Callable[[Sequence[Memory], Sequence[Memory]], tuple[Verdict, ...]]
"""Judge drafted memories against each other and against living ones of the same category."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Memories that become one.

    Attributes:
        members: Sorted by id, at least two.
        survivor: Id of the member that says it all, or None if `text` is new.
        text: What is alive afterwards.
        verdicts: One per removed member, against the survivor (or against the new text).
    """

    members: tuple[Memory, ...]
    survivor: str | None
    text: str
    verdicts: tuple[Verdict, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all members."""
        return frozenset(memory.id for memory in self.members)

    @property
    def most_complete(self) -> str:
        """The survivor, or else the member that says most: the one that can take in a text."""
        return self.survivor or max(self.members, key=lambda memory: (_rank(memory), memory.id)).id


@dataclass(slots=True)
class _Known:
    """Verdicts by unordered pair, the pairs that must not be merged, and what metadata keys mean."""

    keys: KeysOf
    verdicts: dict[Pair, Verdict] = field(default_factory=dict)
    blocked: set[Pair] = field(default_factory=set)

    def learn(self, verdicts: Iterable[Verdict]) -> None:
        """Add verdicts; a later one about the same pair replaces the earlier."""
        self.verdicts.update({(item.pair.a, item.pair.b): item for item in verdicts})

    def changed(self, fresh: Iterable[Verdict], present: Container[str]) -> bool:
        """Add the verdicts on these memories once others are gone; whether any of them is new."""
        here = [item for item in fresh if item.pair.a in present and item.pair.b in present]
        new = [item for item in here if _decision(self.get(item.pair.a, item.pair.b)) != _decision(item)]
        self.learn(new)
        return bool(new)

    def get(self, a: str, b: str) -> Verdict | None:
        """The verdict about a pair, in whichever order."""
        return self.verdicts.get((min(a, b), max(a, b)))

    def duplicate(self, a: str, b: str) -> bool:
        """Whether two memories may be merged without a person."""
        verdict = self.get(a, b)
        return verdict is not None and verdict.auto and (min(a, b), max(a, b)) not in self.blocked

    def contradicts(self, a: str, b: str) -> bool:
        """Whether two memories were judged to contradict each other."""
        verdict = self.get(a, b)
        return verdict is not None and verdict.label is Label.CONTRADICTION

    def apart(self, a: Memory, b: Memory) -> bool:
        """Whether two memories are, or may be, about different subjects."""
        return apart(a, b, self.keys.get(a.scope, NO_KEYS)) is not None

    def probability(self, a: str, b: str) -> float:
        """How likely two memories state the same fact; 0 if they were not judged."""
        verdict = self.get(a, b)
        return verdict.probabilities[0] if verdict else 0.0

    def entails(self, premise: str, hypothesis: str) -> float:
        """How likely one memory says all of the other; 0 if they were not judged."""
        verdict = self.get(premise, hypothesis)
        if verdict is None:
            return 0.0
        return verdict.entailment[0] if verdict.pair.a == premise else verdict.entailment[1]

    def block(self, ids: Iterable[str]) -> bool:
        """Forbid merging any two of these; whether that changes anything."""
        pairs = set(itertools.combinations(sorted(ids), 2))
        new = pairs - self.blocked
        self.blocked |= new
        return bool(new)


def draft_merges(
    memories: Sequence[Memory],
    verdicts: Sequence[Verdict],
    *,
    judge_new: JudgeNew,
    merger: ExtractiveMerger,
    keys: KeysOf | None = None,
) -> tuple[Consolidated, ...]:
    """Find the merges of one scope and category that survive their own second pass.

    Args:
        memories: The living, unpinned memories of one scope and category.
        verdicts: What was judged about their pairs; pairs that are absent are distinct.
        judge_new: Judges a drafted text against living memories, as a second pass would.
        merger: Drafts the text.
        keys: What the metadata keys of each scope mean; read from the given memories if omitted.

    Returns:
        Disjoint merges, sorted by their smallest id.
    """
    known = _Known(keys=keys_by_scope(memories) if keys is None else keys)
    known.learn(verdicts)
    by_id = {memory.id: memory for memory in memories}
    for number in range(MAX_ROUNDS):
        merges = _Pass(by_id, known, merger, judge_new).merges()
        merges, unstable, fresh = _settled(by_id, merges, known, merger, judge_new)
        if not unstable:
            return tuple(sorted(merges, key=lambda merge: merge.members[0].id))
        if number < LEARNING_ROUNDS and known.changed(fresh, by_id):
            continue
        if not any([known.block(merge.ids) for merge in unstable]):  # noqa: C419  (block all of them)
            break
    return ()


def _settled(
    by_id: Mapping[str, Memory],
    merges: tuple[Consolidated, ...],
    known: _Known,
    merger: ExtractiveMerger,
    judge_new: JudgeNew,
) -> tuple[tuple[Consolidated, ...], list[Consolidated], tuple[Verdict, ...]]:
    """Merges with those that only they make possible, which a second pass would touch, and its verdicts.

    The second pass is this very procedure over what the merges leave. What it finds among memories
    that the first left alone is done in the first: something that stood in its way is gone by then.
    """
    while merges:
        after, fresh = _after(by_id, merges, judge_new)
        owner = {merge.survivor or _drafted(merge).id: merge for merge in merges}
        unstable = [merge for verdict in fresh for merge in _newly_contradicting(verdict, owner, known)]
        verdicts = [*known.verdicts.values(), *fresh]
        again = draft_merges(after, verdicts, judge_new=judge_new, merger=merger, keys=known.keys)
        unstable += [owner[i] for merge in again for i in sorted(merge.ids) if i in owner]
        if unstable or not again:
            return merges, list(dict.fromkeys(unstable)), fresh
        merges = (*merges, *again)
    return merges, [], ()


def _after(
    by_id: Mapping[str, Memory], merges: Sequence[Consolidated], judge_new: JudgeNew
) -> tuple[list[Memory], tuple[Verdict, ...]]:
    """What is alive after the merges, and the verdicts on the texts they add."""
    removed = frozenset(i for merge in merges for i in merge.ids if i != merge.survivor)
    held = {merge.survivor: _held(merge.members) for merge in merges if merge.survivor}
    staying = [
        replace(memory, metadata=held[memory_id]) if memory_id in held else memory
        for memory_id, memory in by_id.items()
        if memory_id not in removed
    ]
    drafted = [_drafted(merge) for merge in merges if merge.survivor is None]
    return [*staying, *drafted], judge_new(drafted, staying)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One greedy pass over the stars of duplicates among some memories."""

    by_id: Mapping[str, Memory]
    known: _Known
    merger: ExtractiveMerger
    judge_new: JudgeNew

    def merges(self) -> tuple[Consolidated, ...]:
        """Form merges until no two unclaimed duplicates are left that could be merged."""
        edges: dict[str, set[str]] = {memory_id: set() for memory_id in self.by_id}
        for a, b in self.known.verdicts:
            if a in edges and b in edges and self.known.duplicate(a, b):
                edges[a].add(b)
                edges[b].add(a)
        rank = {memory_id: _rank(self.by_id[memory_id]) for memory_id, others in edges.items() if others}
        drafts: list[Consolidated] = []
        while batch := stars(edges, rank=rank):
            for star in batch:
                merge = self._form(star)
                if merge is not None:
                    drafts.append(merge)
                _forget(edges, merge.ids if merge else {star.centre})
        return tuple(drafts)

    def _form(self, star: Star) -> Consolidated | None:
        """The largest merge around a centre that can be drafted and proven.

        Memories that contradict each other or are about different subjects are left out, both of them:
        whatever the centre says, one of them is not the same fact.
        """
        quarrelling = {
            memory_id
            for pair in itertools.combinations(star.others, 2)
            if self.known.contradicts(*pair) or self.known.apart(*(self.by_id[i] for i in pair))
            for memory_id in pair
        }
        others = [other for other in star.others if other not in quarrelling]
        best = self._prove([star.centre, *others]) if others else None
        if best is not None:
            return best
        members = [star.centre]
        for other in sorted(others, key=lambda other: (-self.known.probability(star.centre, other), other)):
            merge = self._prove([*members, other])
            if merge is not None:
                members.append(other)
                best = merge
        return best

    def _prove(self, ids: Sequence[str]) -> Consolidated | None:
        """Draft one text for these memories; keep it only if it is a duplicate of every one of them."""
        members = tuple(self.by_id[memory_id] for memory_id in sorted(ids))
        id_of = {memory.text: memory.id for memory in members}

        def entails(premise: str, hypothesis: str) -> float:
            """The same by texts, as the merger asks."""
            return self.known.entails(id_of[premise], id_of[hypothesis])

        direct = [m for m in members if all(n is m or self.known.duplicate(m.id, n.id) for n in members)]
        whole = self.merger.whole(members, among=direct, entails=entails)
        if whole is not None:
            pairs = [self.known.get(whole.id, memory.id) for memory in members if memory is not whole]
            return Consolidated(members, whole.id, whole.text, tuple(pair for pair in pairs if pair))
        if any(self._differ(*pair) for pair in itertools.combinations(members, 2)):
            return None
        try:
            draft = self.merger.draft(members, entails=entails)
        except MergeRefused:
            return None
        return None if draft.whole is not None else self._proven(members, draft.text)

    def _differ(self, a: Memory, b: Memory) -> bool:
        """Whether two sources differ in a detail, so that one new text could not state both."""
        if self.known.duplicate(a.id, b.id):
            return False
        return any(item.veto for item in compare(a.text, b.text, a_date=a.stated_at, b_date=b.stated_at))

    def _proven(self, members: tuple[Memory, ...], text: str) -> Consolidated | None:
        """Keep a new text only if the judge calls it a duplicate of each source, directly."""
        new = fused(members, text)
        proof = {verdict.pair.a: verdict for verdict in self.judge_new([new], members)}
        if all(memory.id in proof and proof[memory.id].auto for memory in members):
            return Consolidated(members, None, text, tuple(proof[memory.id] for memory in members))
        return None


def _decision(verdict: Verdict | None) -> tuple[Label, bool]:
    return (verdict.label, verdict.auto) if verdict else (Label.DISTINCT, False)


def _forget(edges: dict[str, set[str]], gone: Iterable[str]) -> None:
    for memory_id in gone:
        for other in edges.pop(memory_id, set()):
            if other in edges:
                edges[other].discard(memory_id)


def _rank(memory: Memory) -> tuple[float, ...]:
    """Prefer the longer text, then the one stated last."""
    stated = memory.stated_at.timestamp() if memory.stated_at else 0.0
    return (float(len(memory.text)), stated)


def fused(members: Sequence[Memory], text: str) -> Memory:
    """The memory that a merge would add, as a second pass would read it.

    Its id sorts behind every real one and names its sources, so that equal merges get equal ids.
    """
    first = members[0]
    dates = [memory.created_at for memory in members if memory.created_at]
    stated = [moment for moment in (last_stated(memory) for memory in members) if moment]
    return Memory(
        id=draft_id(members),
        text=text,
        scope=first.scope,
        category=first.category,
        created_at=min(dates, default=None),
        updated_at=max(stated, default=None),
        accessed_at=max((memory.accessed_at for memory in members if memory.accessed_at), default=None),
        metadata=_held(members),
    )


def _held(members: Sequence[Memory]) -> dict[str, Any]:
    """What a merged memory says of its subject: all that its sources say, which never differ in it."""
    return {key: value for memory in members for key, value in memory.metadata.items()}


def last_stated(memory: Memory) -> datetime | None:
    """When the fact was last stated, a previous merge's own record of it included."""
    known = (memory.stated_at, noted_moment(memory.metadata.get(LAST_STATED_KEY)))
    return max((moment for moment in known if moment is not None), default=None)


def _drafted(merge: Consolidated) -> Memory:
    return fused(merge.members, merge.text)


def _newly_contradicting(
    verdict: Verdict, owner: Mapping[str, Consolidated], known: _Known
) -> list[Consolidated]:
    """Drafts that contradict something none of their sources contradicted."""
    if verdict.label is not Label.CONTRADICTION:
        return []
    sides = [
        owner[memory_id].ids if memory_id in owner else frozenset({memory_id})
        for memory_id in (verdict.pair.a, verdict.pair.b)
    ]
    if any(known.contradicts(a, b) for a in sides[0] for b in sides[1]):
        return []
    return [owner[i] for i in (verdict.pair.a, verdict.pair.b) if i in owner and owner[i].survivor is None]
