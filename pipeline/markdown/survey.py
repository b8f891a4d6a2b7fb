"""Phase 1 to 3 of a pass over Markdown memories: what is there, what drifted, what may be consolidated.

The core plans merges and conflicts on the texts as they will read, relative dates made absolute; here
its plan is put back onto the texts as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ..dates_absolute import absolute
from ..plan import Member, Merge, Plan, Prune, Resolve, ScopeTotal
from ..records import Inventory, Memory, rejection_key
from ..words import exact_key
from .drift import Drift, Freshness, check_drift
from .folding import folded

Planned = Callable[[Inventory], Plan]
"""The core's planning of an inventory."""
_ADVICE = frozenset({"user", "feedback", "reference"})
"""Types that speak about people, habits and things elsewhere."""
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a pass found, before anybody was asked.

    Attributes:
        plan: Merges, conflicts and prunes, on the texts as they stand.
        memories: All memories, by id.
        dated: New texts with absolute dates, by id; only those that change.
        drift: How the references of each memory stand.
    """

    plan: Plan
    memories: Mapping[str, Memory] = field(hash=False)
    dated: Mapping[str, str] = field(hash=False)
    drift: Mapping[str, Drift] = field(hash=False)

    def text(self, memory_id: str) -> str:
        """A memory's text with its dates absolute."""
        return self.dated.get(memory_id, self.memories[memory_id].text)

    def count(self, freshness: Freshness) -> int:
        """How many memories stand so."""
        return sum(drift.freshness is freshness for drift in self.drift.values())

    @property
    def flagged(self) -> tuple[Drift, ...]:
        """Memories of which some references are gone, and kept ones of which all are."""
        pruned = {memory_id for prune in self.plan.prunes for memory_id in prune.removes}
        doubtful = (Freshness.PARTIALLY_STALE, Freshness.FULLY_STALE)
        return tuple(
            drift
            for drift in self.drift.values()
            if drift.freshness in doubtful and drift.memory not in pruned
        )


def survey(
    inventory: Inventory,
    planned: Planned,
    *,
    root: Path,
    directories: Mapping[str, Path],
    rejected: frozenset[str] = frozenset(),
    now: datetime,
) -> Survey:
    """Look at everything and propose; changes nothing.

    Args:
        inventory: All memories.
        planned: Plans merges and conflicts.
        root: The project whose code the memories refer to.
        directories: Where each memory directory is, by its name.
        rejected: Pairs that a person refused.
        now: The present moment.
    """
    memories = {memory.id: memory for memory in inventory.memories}
    drift = check_drift(inventory.memories, root=root, directories=directories)
    gone = [memory for memory in inventory.memories if _prunable(memory, drift[memory.id])]
    pruned = {memory.id for memory in gone}
    views = [_dated(memory) for memory in inventory.memories if memory.id not in pruned]
    dated = {view.id: view.text for view in views if view.text != memories[view.id].text}
    core = planned(replace(inventory, memories=tuple(views)))
    merges = [_on_newest(merge, memories, dated) for merge in core.merges]
    kept = tuple(merge for merge in merges if merge is not None)
    conflicts = tuple(
        _stored(conflict, memories)
        for conflict in core.conflicts
        if not _refused(conflict, memories, rejected)
    )
    prunes = tuple(_prune(number, memory, drift[memory.id], now) for number, memory in enumerate(gone, 1))
    plan = replace(core, actions=(*kept, *conflicts, *prunes), unsure=(), totals=_totals(inventory.memories))
    return Survey(plan, memories, dated, drift)


def _dated(memory: Memory) -> Memory:
    if memory.pinned:
        return memory
    return replace(memory, text=absolute(memory.text, memory.stated_at))


def _on_newest(merge: Merge, memories: Mapping[str, Memory], dated: Mapping[str, str]) -> Merge | None:
    """The merge with its newest member as survivor, and a text that keeps the lines as they are.

    A file takes in files only and an entry entries only, so that each keeps its form.
    """
    members = [memories[member.id] for member in merge.members]
    newest = max(members, key=lambda m: (m.stated_at or _UNKNOWN, m.id == merge.survivor, m.id))
    complete = memories[merge.survivor] if merge.survivor else newest
    survivor = newest if _is_entry(newest) == _is_entry(complete) else complete
    texts = [dated.get(memory.id, memory.text) for memory in members if memory is not survivor]
    own = dated.get(survivor.id, survivor.text)
    text: str | None = merge.text
    if text not in (own, *texts) and any("\n" in item for item in (own, *texts)):
        text = folded(own, texts)
    if text is None:
        return None
    key = exact_key(text)
    others = [memory for memory in members if memory is not survivor]
    return replace(
        merge,
        members=tuple(Member.of(memory) for memory in members),
        survivor=survivor.id,
        text=text,
        metadata={},
        exact=tuple(m.id for m in others if exact_key(dated.get(m.id, m.text)) == key),
    )


def _stored(conflict: Resolve, memories: Mapping[str, Memory]) -> Resolve:
    return replace(conflict, members=tuple(Member.of(memories[member.id]) for member in conflict.members))


def _refused(conflict: Resolve, memories: Mapping[str, Memory], rejected: frozenset[str]) -> bool:
    """Whether a person left all of it open before, when the dates were not yet absolute."""
    pairs = [rejection_key(memories[v.pair.a], memories[v.pair.b]) for v in conflict.verdicts]
    return bool(pairs) and rejected.issuperset(pairs)


def _prunable(memory: Memory, drift: Drift) -> bool:
    """Advice names functions of other programs too: it goes only if a path of this project is gone."""
    if memory.pinned or drift.freshness is not Freshness.FULLY_STALE:
        return False
    return drift.located or (memory.category or "").split(" / ")[0] not in _ADVICE


def _prune(number: int, memory: Memory, drift: Drift, now: datetime) -> Prune:
    age = (now - memory.stated_at).days if memory.stated_at else None
    return Prune(
        id=f"p{number}",
        scope=memory.scope,
        category=memory.category,
        members=(Member.of(memory),),
        reason="stale",
        age_days=None if age is None else max(age, 0),
        detail=f"{drift.freshness}: {', '.join(drift.missing)}",
    )


def _totals(memories: Sequence[Memory]) -> tuple[ScopeTotal, ...]:
    scopes = sorted({memory.scope for memory in memories})
    return tuple(ScopeTotal(scope, sum(m.scope == scope for m in memories)) for scope in scopes)


def _is_entry(memory: Memory) -> bool:
    return "heading" in memory.metadata
