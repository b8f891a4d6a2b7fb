"""Phase 1 to 3 of a pass over Markdown memories: what is there, what drifted, what may be consolidated.

The core plans merges on the texts as they will read: dates written out, moved paths mended, contradicted
sentences gone; here its plan is put back onto the texts as they stand. Conflicts are found by sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

from ....models.words import exact_key
from ....records import Inventory, Memory
from ...actions import Cause, Member, Merge, Prune, Resolve
from ...plan import Plan, ScopeTotal
from ...rules.markdown.anchors import day_of
from ...rules.markdown.dates_absolute import absolute
from ...rules.markdown.drift import Drift, Freshness, check_drift, condemned, mended
from ...rules.markdown.prose import combined, statements
from .retold import retold

Planned = Callable[[Inventory], Plan]
"""The core's planning of an inventory."""
_UNKNOWN = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Edit:
    """Another text for a memory that stays.

    Attributes:
        text: All it will say.
        causes: What it comes from.
    """

    text: str
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """What conflicts that were answered by a rule take away.

    Attributes:
        texts: New texts by id; None where the whole memory goes.
        winners: The memory that was right, by the id of the one that lost.
        conflicts: The answered conflict by which a whole memory goes, by its id.
    """

    texts: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    winners: Mapping[str, str] = field(default_factory=dict, hash=False)
    conflicts: Mapping[str, Resolve] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """How a pass looks at memories.

    Attributes:
        dates: Write relative dates out.
        mends: Mend paths that the repository renamed.
        asks: Ask about files that may tell the same, whatever the scorer thinks.
        merges: Whether a text may be merged into another.
        used: Terms that a session used lately, out of those asked for; what is in use is not condemned.
    """

    dates: bool = True
    mends: bool = True
    asks: bool = True
    merges: Callable[[str, str], bool] = lambda _a, _b: True
    used: Callable[[Mapping[str, Sequence[str]]], frozenset[str]] = lambda _: frozenset()


@dataclass(frozen=True, slots=True)
class Survey:
    """What a pass found, before the questions.

    Attributes:
        plan: Merges, conflicts and prunes, on the texts as they stand.
        memories: All memories, by id.
        edits: New texts of memories that stay, by id; only those that change.
        drift: How the references of each memory stand.
        cuts: What answered conflicts took away.
    """

    plan: Plan
    memories: Mapping[str, Memory] = field(hash=False)
    edits: Mapping[str, Edit] = field(hash=False)
    drift: Mapping[str, Drift] = field(hash=False)
    cuts: Cuts = Cuts()

    def text(self, memory_id: str) -> str:
        """A memory's text as it will read."""
        cut = self.cuts.texts.get(memory_id)
        if cut is not None:
            return cut
        edit = self.edits.get(memory_id)
        return edit.text if edit else self.memories[memory_id].text

    def count(self, freshness: Freshness) -> int:
        """How many memories stand so; one that is condemned but stays counts as partly stale."""
        pruned = {memory_id for prune in self.plan.prunes for memory_id in prune.removes}
        return sum(
            (
                Freshness.PARTIALLY_STALE
                if drift.freshness is Freshness.FULLY_STALE and drift.memory not in pruned
                else drift.freshness
            )
            is freshness
            for drift in self.drift.values()
        )

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
    now: datetime,
    looks: Looks = Looks(),
    cuts: Cuts = Cuts(),
    drift: Mapping[str, Drift] | None = None,
) -> Survey:
    """Look at everything and propose; changes nothing, and finds no conflicts yet.

    Args:
        inventory: All memories.
        planned: Plans merges.
        root: The project whose code the memories refer to.
        directories: Where each memory directory is, by its name.
        now: The present moment.
        looks: How to look.
        cuts: What answered conflicts took away already.
        drift: What was found out about references already.
    """
    memories = {memory.id: memory for memory in inventory.memories}
    if drift is None:
        drift = check_drift(inventory.memories, root=root, directories=directories)
    suspects = [memory for memory in inventory.memories if condemned(memory, drift[memory.id], now=now)]
    used = looks.used({memory.id: drift[memory.id].terms for memory in suspects}) if suspects else frozenset()
    gone = [memory for memory in suspects if memory.id not in used]
    away = {memory.id for memory in gone} | {name for name, text in cuts.texts.items() if text is None}
    days: dict[Path, dict[str, date | None]] = {}
    edits = {
        memory.id: edit
        for memory in inventory.memories
        if memory.id not in away and not memory.pinned
        if (edit := _edit(memory, drift[memory.id], directories, days, looks)) is not None
    }
    surveyed = Survey(Plan("", "", now, "", (), ()), memories, edits, drift, cuts)
    views = [
        replace(memory, text=surveyed.text(memory.id))
        for memory in inventory.memories
        if memory.id not in away
    ]
    core = planned(replace(inventory, memories=tuple(views)))
    merges = _fitted(core.merges, surveyed)
    kept = _lasting(merges, replace(inventory, memories=tuple(views)), planned, surveyed, looks)
    # Conflicts are found by sentences, so of the pairs in doubt only the duplicates are worth a question.
    asked = [doubt for doubt in core.unsure if isinstance(doubt, Merge)]
    asked += retold(views) if looks.asks and not core.gaps else []
    doubts = _fitted(asked, surveyed)
    doubts = _apart([*doubts, *(merge for merge in merges if not _may(merge, surveyed, looks))], kept)
    prunes = tuple(_prune(number, memory, drift[memory.id], now) for number, memory in enumerate(gone, 1))
    plan = replace(core, actions=(*kept, *prunes), unsure=tuple(doubts), totals=_totals(inventory.memories))
    return replace(surveyed, plan=plan)


def remaining(surveyed: Survey, *, merged: bool) -> list[Memory]:
    """The memories that stay, as they will read; each for itself, or with what a merge makes of it."""
    away = {memory_id for prune in surveyed.plan.prunes for memory_id in prune.removes}
    away |= {name for name, text in surveyed.cuts.texts.items() if text is None}
    texts: dict[str, str] = {}
    if merged:
        away |= {memory_id for merge in surveyed.plan.merges for memory_id in merge.removes}
        texts = {str(merge.survivor): merge.text for merge in surveyed.plan.merges}
    return [
        replace(memory, text=texts.get(memory.id, surveyed.text(memory.id)))
        for memory in surveyed.memories.values()
        if not memory.pinned and memory.id not in away
    ]


def as_stored(conflict: Resolve, memories: Mapping[str, Memory]) -> Resolve:
    """A conflict with its members as they stand, which is what the writer compares."""
    return replace(conflict, members=tuple(Member.of(memories[member.id]) for member in conflict.members))


def _edit(
    memory: Memory,
    drift: Drift,
    directories: Mapping[str, Path],
    days: dict[Path, dict[str, date | None]],
    looks: Looks,
) -> Edit | None:
    text, causes = memory.text, list[Cause]()
    if looks.dates:
        new = absolute(text, day_of(memory, _path(memory, directories), days))
        causes += [Cause.DATES] if new != text else []
        text = new
    if looks.mends and drift.moved:
        new = mended(text, drift.moved)
        causes += [Cause.PATHS] if new != text else []
        text = new
    return Edit(text, tuple(causes)) if causes else None


def _path(memory: Memory, directories: Mapping[str, Path]) -> Path | None:
    """The file of a memory, for its history."""
    name = memory.scope.get("directory") or ""
    directory = directories.get(name)
    file = memory.id.removeprefix(f"{name}/").rpartition(".md")
    return directory / f"{file[0]}.md" if directory is not None else None


def _lasting(
    merges: Sequence[Merge], views: Inventory, planned: Planned, surveyed: Survey, looks: Looks
) -> list[Merge]:
    """The merges after which a second pass has none to make.

    Files take merged texts in their own way and keep their own dates, so what is judged then is not what was
    judged now. What only a merge makes possible elsewhere is done at once; a merge whose own text would
    be merged again is left out.
    """
    kept = [merge for merge in merges if _may(merge, surveyed, looks)]
    left_out: set[frozenset[str]] = set()
    while kept:
        again = [
            merge
            for merge in _fitted(planned(_after(views, kept)).merges, surveyed)
            if _may(merge, surveyed, looks) and _ids(merge) not in left_out
        ]
        if not again:
            break
        touched = {memory_id for merge in again for memory_id in _ids(merge)}
        unstable = [merge for merge in kept if merge.survivor in touched]
        left_out |= {_ids(merge) for merge in unstable}
        kept = [merge for merge in kept if merge not in unstable] if unstable else [*kept, *again]
    return [replace(merge, id=f"m{number}") for number, merge in enumerate(kept, 1)]


def _after(views: Inventory, merges: Sequence[Merge]) -> Inventory:
    """The memories as they will be."""
    texts = {merge.survivor: merge.text for merge in merges}
    gone = {memory_id for merge in merges for memory_id in merge.removes}
    staying = (memory for memory in views.memories if memory.id not in gone)
    memories = (replace(memory, text=texts.get(memory.id, memory.text)) for memory in staying)
    return replace(views, memories=tuple(memories))


def _apart(doubts: Sequence[Merge], merges: Sequence[Merge]) -> list[Merge]:
    """Doubts about memories that nothing else touches, each with a name of its own."""
    taken = {memory_id for merge in merges for memory_id in _ids(merge)}
    left = {_ids(doubt): doubt for doubt in reversed(doubts) if not taken & _ids(doubt)}
    return [replace(doubt, id=f"u{number}") for number, doubt in enumerate(reversed(left.values()), 1)]


def _ids(merge: Merge) -> frozenset[str]:
    return frozenset(member.id for member in merge.members)


def _fitted(merges: Sequence[Merge], surveyed: Survey) -> list[Merge]:
    """Merges as they are made in files, those that can be."""
    fitted = [_on_newest(merge, surveyed) for merge in merges]
    return [merge for merge in fitted if merge is not None]


def _on_newest(merge: Merge, surveyed: Survey) -> Merge | None:
    """The merge with its newest member as survivor, and a text that keeps the lines as they are.

    A file takes in files only and an entry entries only, so that each keeps its form.
    """
    members = [surveyed.memories[member.id] for member in merge.members]
    newest = max(members, key=lambda m: (m.stated_at or _UNKNOWN, m.id == merge.survivor, m.id))
    complete = surveyed.memories[merge.survivor] if merge.survivor else newest
    survivor = newest if _is_entry(newest) == _is_entry(complete) else complete
    others = [memory for memory in members if memory is not survivor]
    own, texts = surveyed.text(survivor.id), [surveyed.text(memory.id) for memory in others]
    text: str | None = merge.text
    if text not in (own, *texts) and any("\n" in item for item in (own, *texts)):
        text = combined(own, texts)
    if text is None or _merely_joins(text, (own, *texts)):
        return None
    key = exact_key(text)
    return replace(
        merge,
        members=tuple(Member.of(memory) for memory in members),
        survivor=survivor.id,
        text=text,
        metadata={},
        exact=tuple(memory.id for memory in others if exact_key(surveyed.text(memory.id)) == key),
    )


def _merely_joins(text: str, members: Sequence[str]) -> bool:
    """Whether a text says all that its sources say one after the other: then nothing stood there twice."""
    if text in members:
        return False
    apart = Counter(exact_key(said) for member in members for said in statements(member))
    kept = not apart - Counter(map(exact_key, statements(text)))
    return kept or len(text.split()) >= sum(len(member.split()) for member in members)


def _may(merge: Merge, surveyed: Survey, looks: Looks) -> bool:
    return all(looks.merges(surveyed.text(name), merge.text) for name in merge.removes)


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
