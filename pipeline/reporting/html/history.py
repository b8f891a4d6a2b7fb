"""How a store changed over time: one point for each run of the journal, counted scope by scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....records import Scope
from ...actions import Action, Merge, Relate, TextChange, sorts
from ...planning.plan_file import parse_plan
from ...writing.journal import ChangeState, Operation, Outcome, Recorded, Run, RunState
from ..differences import changed_lines


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run as it is drawn."""

    id: str
    at: str
    state: str
    before: Mapping[Scope, int] = field(hash=False)
    removed: Mapping[Scope, int] = field(hash=False)
    added: Mapping[Scope, int] = field(hash=False)
    conflicts_open: int = 0
    unsure: int = 0
    changed: int = 0  # memories that got another text or other relations
    done: Sequence[Action] = field(default=(), hash=False)  # the actions that were done and stand
    retires: Collection[str] = ()  # of which sorts of actions what went has expired instead of being deleted

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
    standing = {change.action for change in made if change.state is ChangeState.DONE}

    def counted(operation: Operation) -> Counter[Scope]:
        """How often, by scope."""
        return Counter(scopes[c.action] for c in made if c.operation is operation and c.action in scopes)

    applied = sum(outcomes.get(each.id, ("",))[0] is Outcome.APPLIED for each in plan.conflicts)
    return RunPoint(
        id=run.id,
        at=run.started_at.isoformat(timespec="seconds"),
        state=str(run.state),
        before={total.scope: total.memories for total in plan.totals},
        removed=counted(Operation.REMOVE),
        added=counted(Operation.ADD),
        conflicts_open=plan.left_open + len(plan.conflicts) - applied,
        unsure=len(plan.unsure),
        changed=sum(change.operation is Operation.REPLACE for change in made),
        done=tuple(action for action in plan.actions if action.id in standing),
        retires=run.retires if run.retire_on else (),
    )


def applied_data(points: Sequence[RunPoint], most: int) -> list[dict[str, Any]]:
    """What stands of the latest runs, newest first."""
    return [
        {"id": point.id, "at": point.at, "state": point.state} | done_data(point.done, point.retires)
        for point in reversed(points)
        if point.done
    ][:most]


def done_data(actions: Sequence[Action], retires: Collection[str]) -> dict[str, Any]:
    """What actions come to, in numbers; and of each what goes, and what stands or the lines that change.

    `retires`: of which sorts of actions what goes expires instead of being deleted.
    """
    done = []
    for action in actions:
        before = {member.id: member.text for member in action.members}
        gone = [before[name] for name in action.removes]
        stands = str(getattr(action, "text", "")) or before.get(action.survivor or "", "")
        rewritten = getattr(action, "rewrites", None)
        lines = changed_lines(before[rewritten], stands) if rewritten else []
        done.append(
            {"id": action.id, "kind": str(action.kind), "gone": gone, "text": stands, "lines": lines}
            | ({"name": rewritten} if rewritten else {})
            | ({"expires": 1} if not sorts(action).isdisjoint(retires) else {})
        )
    return {"tally": tally(actions, retires), "done": done}


def tally(actions: Iterable[Action], retires: Collection[str]) -> dict[str, int]:
    """What actions change: memories that go, that get another text, that are new; relations."""
    counted: Counter[str] = Counter()
    for action in actions:
        counted["deleted" if sorts(action).isdisjoint(retires) else "expired"] += len(action.removes)
        if isinstance(action, Relate):
            counted["relations"] += len(set(action.relations) ^ set(action.held))
        elif isinstance(action, TextChange):
            counted["rewritten" if action.members[0].text else "added"] += 1
        elif isinstance(action, Merge):
            counted["added"] += action.adds
            counted["rewritten"] += action.rewrites is not None
    return {name: counted[name] for name in ("deleted", "expired", "rewritten", "added", "relations")}


def history_data(points: Iterable[RunPoint], now_counts: Mapping[Scope, int], now: str) -> dict[str, Any]:
    """The points as the page draws them, oldest first, and the store as it stands behind the last."""
    told = sorted(points, key=lambda point: (point.at, point.id))
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
                "changed": point.changed,
                "open": point.conflicts_open,
                "unsure": point.unsure,
            }
            for point in told
        ],
    }
