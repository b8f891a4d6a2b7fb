"""Repairs the links of a mem0 store as a run: announced, recorded, and taken back on request.

Such a run is no run on memories, so it has a store of its own in the journal; an interrupted one is finished
by repairing again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ...errors import IncompleteListingError, JournalError
from ..plan import Plan
from ..planning.plan_file import dump_plan
from ..stores.mem0 import doctor
from .journal import ChangeState, Journal, Operation, Run, RunState

if TYPE_CHECKING:
    from ..stores.mem0.store import Mem0Store

SUFFIX = ":entities"
"""Behind a store's fingerprint it names the entity rows beside it."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did.

    Attributes:
        run: Its name; empty if there was nothing to do.
        dropped: Entities that name fewer memories, or are gone since they named none.
        linked: Memories that an entity names now.
    """

    run: str
    dropped: int = 0
    linked: int = 0


def repair(
    store: Mem0Store,
    journal: Journal,
    condition: doctor.Condition,
    *,
    run: str,
    at: datetime,
    progress: Callable[[int], None] = lambda _: None,
) -> Repaired:
    """Drop the dead links and link the bare memories that a diagnosis found.

    Raises:
        IncompleteListingError: If the diagnosis rests on an incomplete listing.
    """
    if condition.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(condition.gaps)}. Nothing was repaired.")
    if condition.ok:
        return Repaired("")
    name = store.fingerprint + SUFFIX
    plan = Plan(name, "mem0 links", at, "", (), ())
    snapshots = doctor.entity_snapshots(store, condition.dead)
    journal.begin(run, store=name, plan=dump_plan(plan), snapshots=snapshots.values(), retire_on=None, at=at)
    dropped = linked = 0
    for entity_id in snapshots:
        number = journal.intend(run, entity_id, Operation.REPLACE, entity_id)
        dropped += doctor.drop_links(store, entity_id, condition.dead[entity_id])
        journal.mark(run, number, ChangeState.DONE, memory=entity_id)
        progress(dropped)
    for memory_id in condition.bare:
        number = journal.intend(run, memory_id, Operation.AMEND, memory_id)
        linked += doctor.link_memory(store, memory_id)
        journal.mark(run, number, ChangeState.DONE, memory=memory_id)
        progress(dropped + linked)
    journal.set_state(run, RunState.APPLIED, at=at)
    return Repaired(run, dropped, linked)


def is_repair(run: Run) -> bool:
    """Whether a run repaired links."""
    return run.store.endswith(SUFFIX)


def undo_repair(store: Mem0Store, journal: Journal, run: Run, *, at: datetime) -> Repaired:
    """Name again what was dropped, and unlink what was linked.

    Raises:
        JournalError: If it was undone already, or was made on another store.
    """
    if run.store != store.fingerprint + SUFFIX:
        raise JournalError(f"Run {run.id} was made on another store; use the configuration it was made with.")
    if run.state is RunState.UNDONE:
        raise JournalError(f"Run {run.id} was undone already; there is nothing to take back.")
    journal.set_state(run.id, RunState.UNDOING, at=at)
    dropped = linked = 0
    for change in reversed(journal.changes(run.id)):
        if change.state is ChangeState.TAKEN_BACK:
            continue
        if change.operation is Operation.REPLACE:
            dropped += doctor.put_links_back(store, journal.snapshot(run.id, change.action))
        else:
            doctor.unlink_memory(store, change.action)
            linked += 1
        journal.mark(run.id, change.number, ChangeState.TAKEN_BACK, memory=change.action)
    journal.set_state(run.id, RunState.UNDONE, at=at)
    return Repaired(run.id, dropped, linked)
