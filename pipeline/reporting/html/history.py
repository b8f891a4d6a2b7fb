"""How a store changed over time: one point for each run of the journal, counted scope by scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....records import Scope
from ...actions import Resolve
from ...plan import Plan
from ...planning.plan_file import parse_plan
from ...writing.journal import ChangeState, Operation, Outcome, Recorded, Run, RunState


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run as it is drawn.

    Attributes:
        id: Its name.
        at: When it began, as ISO date and time.
        state: How far it came.
        before: Living memories of each scope when it was planned.
        removed: What it took away, by scope.
        added: What it added, by scope.
        conflicts_open: Contradictions that it left open.
        unsure: Pairs that it left to a person.
    """

    id: str
    at: str
    state: str
    before: Mapping[Scope, int] = field(hash=False)
    removed: Mapping[Scope, int] = field(hash=False)
    added: Mapping[Scope, int] = field(hash=False)
    conflicts_open: int = 0
    unsure: int = 0

    def kept(self, scope: Scope) -> int:
        """Living memories of a scope afterwards; a run that was taken back changed nothing."""
        if self.state == RunState.UNDONE:
            return self.before.get(scope, 0)
        return self.before.get(scope, 0) - self.removed.get(scope, 0) + self.added.get(scope, 0)


def run_point(run: Run, changes: Sequence[Recorded], outcomes: Mapping[str, tuple[Outcome, str]]) -> RunPoint:
    """Count what a run did, scope by scope."""
    plan = parse_plan(run.plan)
    scopes = {action.id: action.scope for action in plan.actions}
    made = [change for change in changes if change.state is not ChangeState.INTENDED]

    def counted(operation: Operation) -> Counter[Scope]:
        """How many changes of one sort each scope saw."""
        return Counter(scopes[c.action] for c in made if c.operation is operation and c.action in scopes)

    return RunPoint(
        id=run.id,
        at=run.started_at.isoformat(timespec="seconds"),
        state=str(run.state),
        before={total.scope: total.memories for total in plan.totals},
        removed=counted(Operation.REMOVE),
        added=counted(Operation.ADD),
        conflicts_open=plan.left_open + _left_open(plan, outcomes),
        unsure=len(plan.unsure),
    )


def history_data(points: Iterable[RunPoint], now_counts: Mapping[Scope, int], now: str) -> dict[str, Any]:
    """The points as the page draws them, oldest first, and the store as it stands behind the last."""
    told = sorted((point for point in points if point.before), key=lambda point: (point.at, point.id))
    scopes = sorted({scope for point in told for scope in point.before} | set(now_counts))
    return {
        "scopes": [str(scope) for scope in scopes],
        "now": {"at": now, "counts": [now_counts.get(scope) for scope in scopes]},
        "runs": [
            {
                "id": point.id,
                "at": point.at,
                "state": point.state,
                "before": [point.before.get(scope) for scope in scopes],
                "after": [point.kept(scope) if scope in point.before else None for scope in scopes],
                "removed": sum(point.removed.values()),
                "added": sum(point.added.values()),
                "open": point.conflicts_open,
                "unsure": point.unsure,
            }
            for point in told
        ],
    }


def _left_open(plan: Plan, outcomes: Mapping[str, tuple[Outcome, str]]) -> int:
    done = {name for name, (outcome, _) in outcomes.items() if outcome is Outcome.APPLIED}
    return sum(isinstance(action, Resolve) and action.id not in done for action in plan.actions)
