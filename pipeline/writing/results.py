"""What a run and an undo did, counted from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..plan import Plan
from .journal import ChangeState, Operation, Outcome, Recorded


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did.

    Attributes:
        run: Name of the run in the journal; empty if nothing had to be done.
        merged: Merges applied.
        pruned: Memories pruned.
        resolved: Conflicts resolved.
        skipped: Conflicts left open, and actions whose memories had moved.
        removed: Memories removed.
        added: Memories added.
        moved: Id of each action that was not applied as planned, and why.
    """

    run: str
    merged: int = 0
    pruned: int = 0
    resolved: int = 0
    skipped: int = 0
    removed: int = 0
    added: int = 0
    moved: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What an undo did.

    Attributes:
        run: The run that was taken back.
        restored: Memories put back.
        withdrawn: Memories that the run had added and that are gone again.
        kept: Memories that changed since and were left alone, with the reason.
    """

    run: str
    restored: int = 0
    withdrawn: int = 0
    kept: tuple[tuple[str, str], ...] = ()


def run_result(
    run: str, plan: Plan, outcomes: Mapping[str, tuple[Outcome, str]], changes: Iterable[Recorded]
) -> RunResult:
    """Count what a run did, from what the journal holds of it."""
    done = {name for name, (outcome, _) in outcomes.items() if outcome is Outcome.APPLIED}
    moved = tuple(
        (name, reason) for name, (outcome, reason) in sorted(outcomes.items()) if outcome is Outcome.SKIPPED
    )
    made = [change for change in changes if change.state is ChangeState.DONE]
    skipped = sum(action.id not in done for action in plan.actions)
    return RunResult(
        run=run,
        merged=sum(action.id in done for action in plan.merges),
        pruned=sum(action.id in done for action in plan.prunes),
        resolved=sum(action.id in done for action in plan.conflicts),
        skipped=skipped,
        removed=sum(change.operation is Operation.REMOVE for change in made),
        added=sum(change.operation is Operation.ADD for change in made),
        moved=tuple(item for item in moved if item[1] != "left open"),
    )
