"""Counts what a run did, from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..plan import Plan
from ..results import RunResult
from .journal import ChangeState, Operation, Outcome, Recorded


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
