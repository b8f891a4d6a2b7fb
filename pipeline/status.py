"""What a store holds and what was done to it, in lines for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from ..settings import Settings
from .journal import ChangeState, Operation, Recorded, Run
from .records import Inventory
from .report import visible
from .stale import is_stale
from .words import exact_key


def status_lines(
    inventory: Inventory,
    history: Sequence[Run],
    *,
    settings: Settings,
    now: datetime,
    accessed: Mapping[str, datetime] | None = None,
    condemned: int | None = None,
) -> list[str]:
    """Count memories per scope and category, and name what needs attention.

    Args:
        inventory: What was listed.
        history: Earlier runs, newest first.
        settings: Limits.
        now: The present moment.
        accessed: Latest reads, by memory id.
        condemned: How many are stale, for a store in which that is no question of age.
    """
    memories = inventory.memories
    living = [memory for memory in memories if not memory.is_retired(now.date())]
    keys = Counter((memory.scope, memory.category, exact_key(memory.text)) for memory in living)
    read = accessed or {}
    stale = sum(
        not m.pinned and is_stale(m, settings=settings, now=now, accessed=read.get(m.id)) for m in living
    )
    stale = stale if condemned is None else condemned
    lines = [
        (
            f"Memories: {len(living)} living, {len(memories) - len(living)} retired, "
            f"{sum(memory.pinned for memory in living)} pinned"
        ),
        f"Scopes: {len({memory.scope for memory in memories})}",
        f"Exact duplicates: {sum(count - 1 for count in keys.values())}",
        f"Stale: {stale}",
        "Listing: complete"
        if inventory.complete
        else f"Listing: incomplete, read-only: {'; '.join(inventory.gaps)}",
    ]
    lines += [f"  {count:>6}  {scope}" for scope, count in sorted(Counter(m.scope for m in living).items())]
    categories = Counter(memory.category or "(no category)" for memory in living)
    lines += ["Categories:", *(f"  {count:>6}  {name}" for name, count in categories.most_common())]
    unfinished = next((run for run in history if run.interrupted), None)
    if unfinished is not None:
        lines.append(f"Interrupted: run {unfinished.id}; finish it with `mem0-dream resume {unfinished.id}`")
    lines.append(f"Last run: {history[0].id} ({history[0].state})" if history else "Last run: never")
    return [visible(line) for line in lines]


def run_line(run: Run, changes: Sequence[Recorded]) -> str:
    """One run in one line: name, state, what it removed and added."""
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    removed = sum(change.operation is Operation.REMOVE for change in made)
    added = sum(change.operation is Operation.ADD for change in made)
    how = "retired" if run.retire_on else "removed"
    return f"{run.id}  {run.state:<8}  {run.started_at:%Y-%m-%d %H:%M} UTC  {how} {removed}, added {added}"
