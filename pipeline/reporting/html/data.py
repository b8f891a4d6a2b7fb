"""Everything the page shows, as plain data: it is embedded in the page, and read by tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ....models.scorer import Thresholds
from ....records import Memory, Scope
from ...actions import Action, Member, Merge, Relate, TextChange, sorts
from ...plan import Plan
from ...planning.doubts import clusters
from ...planning.plan_file import parse_plan
from ...writing.journal import ChangeState, Operation, Outcome, Recorded, Run, RunState
from ..differences import changed_lines
from ..report import Report
from ..text import spoken_ids
from .cards import card

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 2
SHOWN = 3
"""Neighbours that a card names."""
NEAR = 0.5
"""Cosine to a member from which a memory counts as near; below it texts share a topic at best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a page is made of."""

    plan: Plan  # what is proposed, or what a run was to do
    memories: Sequence[Memory] = ()  # all memories of the store that the plan looked at, in order
    accessed: Mapping[str, datetime] = field(default_factory=dict)  # latest reads that are on record, by id
    thresholds: Thresholds | None = None  # where the scorer's probabilities become decisions
    points: Sequence[RunPoint] = ()  # the runs of the store so far
    # float32 [n, d], one row for each of `memories`; None names no neighbours.
    vectors: NDArray[np.float32] | None = None
    lines: Sequence[str] = ()  # the report as the terminal prints it
    remarks: Sequence[str] = ()  # what a kind of store adds: changed relations, files that were left out
    run: str = ""  # the name of the run that is shown; empty for a plan
    state: str = ""  # how far that run came
    undo: str = ""  # the command that takes it back
    # What became of each of its actions.
    outcomes: Mapping[str, tuple[Outcome, str]] = field(default_factory=dict)


class Table:
    """The memories of a page, each once, with the scopes and categories they name."""

    def __init__(self, material: Material) -> None:
        self._known = {memory.id: memory for memory in material.memories}
        self._accessed = material.accessed
        self._rows: dict[tuple[str, str], int] = {}
        self.scopes: dict[str, int] = {}
        self.categories: dict[str, int] = {}
        actions = (*material.plan.actions, *material.plan.unsure)
        ids = [*self._known, *(member.id for action in actions for member in action.members)]
        self._short = spoken_ids(ids, material.plan.kind)
        self.rows: list[dict[str, Any]] = []

    def member(self, member: Member, action: Action) -> int:
        """The row of a memory of a proposal, with the text that was judged."""
        category = self._known.get(member.id, action).category
        memory = Memory(member.id, member.text, action.scope, category=category)
        return self.row(replace(memory, created_at=member.created_at, updated_at=member.updated_at))

    def row(self, memory: Memory) -> int:
        """The row of a memory in these words."""
        key, stored = (memory.id, memory.text), self._known.get(memory.id)
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            seen = self._accessed.get(memory.id) or (stored.accessed_at if stored else None)
            scope = self.scopes.setdefault(str(memory.scope), len(self.scopes))
            category = memory.category
            shown = {
                "id": memory.id,
                "name": self._short.get(memory.id, memory.id),
                "text": memory.text,
                "scope": scope,
                "category": self.categories.setdefault(category, len(self.categories)) if category else None,
                "created": _minute(memory.created_at),
                "updated": _minute(memory.updated_at) if memory.updated_at != memory.created_at else None,
                "read": _minute(seen),
                "expires": stored.expires_on.isoformat() if stored and stored.expires_on else None,
                "pinned": 1 if stored and stored.pinned else None,
            }
            self.rows.append({name: value for name, value in shown.items() if value is not None})
        return self._rows[key]


def page_data(material: Material) -> dict[str, Any]:
    """The data of a page; everything in it is text, numbers and lists."""
    plan, table = material.plan, Table(material)
    cards = [
        card(action, unsure=False, place=table.member, outcomes=material.outcomes) for action in plan.actions
    ]
    for doubts in clusters(plan.unsure):
        for number, doubt in enumerate(doubts):
            shown = card(doubt, unsure=True, place=table.member, outcomes=material.outcomes)
            cards.append(shown | ({"shares": [number + 1, len(doubts)]} if len(doubts) > 1 else {}))
    for shown in cards:
        shown["scope"] = table.rows[shown["members"][0]]["scope"]
    if material.vectors is not None:
        members = [[table.rows[row]["id"] for row in shown["members"]] for shown in cards]
        for shown, places in zip(cards, nearby(material.memories, material.vectors, members), strict=True):
            if places:
                shown["near"] = [table.row(material.memories[place]) for place in places]
    now, limits = plan.now.isoformat(timespec="seconds"), material.thresholds
    return {
        "version": VERSION,
        "kind": plan.kind,
        "now": now,
        "scorer": plan.scorer,
        "thresholds": [limits.auto, limits.duplicate] if limits else None,
        "summary": {
            "memories": sum(total.memories for total in plan.totals),
            "merges": len(plan.merges),
            "conflicts": len(plan.conflicts),
            "prunes": len(plan.prunes),
            "changes": len(plan.rewrites),
            "unsure": len(plan.unsure),
        },
        "run": {"id": material.run, "state": material.state, "undo": material.undo} if material.run else None,
        "cards": cards,
        "memories": table.rows,
        "scopes": list(table.scopes),
        "categories": list(table.categories),
        "history": history_data(material.points, {t.scope: t.memories for t in plan.totals}, now),
        "apart": [list(item) for item in plan.apart],
        "gaps": list(plan.gaps),
        "notes": [*plan.notes, *plan.fidelity, *Report(plan).left_open()],
        "remarks": list(material.remarks),
    }


def _minute(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else None


def nearby(
    memories: Sequence[Memory], vectors: NDArray[np.float32], proposals: Sequence[Sequence[str]]
) -> list[list[int]]:
    """For each proposal the places of its neighbours among the memories, the nearest first.

    Args:
        memories: All memories of the page.
        vectors: float32 [n, d], L2-normalised, one row for each of them.
        proposals: Ids of the members of each proposal; all of one scope.
    """
    import numpy as np

    place = {memory.id: number for number, memory in enumerate(memories)}
    scopes: dict[Scope, list[int]] = defaultdict(list)
    for number, memory in enumerate(memories):
        scopes[memory.scope].append(number)
    neighbours: list[list[int]] = []
    for ids in proposals:
        members = [place[name] for name in ids if name in place]
        if not members:
            neighbours.append([])
            continue
        own = set(members)
        others = np.array([n for n in scopes[memories[members[0]].scope] if n not in own], dtype=int)
        cosines = (vectors[others] @ vectors[members].T).max(axis=1) if len(others) else np.zeros(0)
        order = np.argsort(-cosines, kind="stable")[:SHOWN]
        neighbours.append([int(others[at]) for at in order if cosines[at] >= NEAR])
    return neighbours


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run as it is drawn."""

    id: str
    at: str
    state: str
    before: Mapping[Scope, int] = field(hash=False)
    after: Mapping[Scope, int] = field(hash=False)  # a run that was taken back changed nothing
    removed: int = 0
    added: int = 0
    changed: int = 0  # memories that got another text or other relations
    open: int = 0  # conflicts that wait for a person
    unsure: int = 0
    done: Sequence[Action] = field(default=(), hash=False)  # the actions that were done and stand
    retires: Collection[str] = ()  # of which sorts of actions what went has expired instead of being deleted


def run_point(run: Run, changes: Sequence[Recorded], outcomes: Mapping[str, tuple[Outcome, str]]) -> RunPoint:
    """Count what a run did, scope by scope."""
    plan = parse_plan(run.plan)
    scopes = {action.id: action.scope for action in plan.actions}
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    standing = {change.action for change in made if change.state is ChangeState.DONE}

    def counted(operation: Operation) -> Counter[Scope]:
        return Counter(scopes[c.action] for c in made if c.operation is operation and c.action in scopes)

    applied = sum(outcomes.get(each.id, ("",))[0] is Outcome.APPLIED for each in plan.conflicts)
    before = {total.scope: total.memories for total in plan.totals}
    gone, new = counted(Operation.REMOVE), counted(Operation.ADD)
    undone = run.state is RunState.UNDONE
    return RunPoint(
        id=run.id,
        at=run.started_at.isoformat(timespec="seconds"),
        state=str(run.state),
        before=before,
        after=before if undone else {at: count - gone[at] + new[at] for at, count in before.items()},
        removed=gone.total(),
        added=new.total(),
        changed=sum(change.operation is Operation.REPLACE for change in made),
        open=plan.left_open + len(plan.conflicts) - applied,
        unsure=len(plan.unsure),
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
                "after": [point.after.get(scope) for scope in scopes],
                "removed": point.removed,
                "added": point.added,
                "changed": point.changed,
                "open": point.open,
                "unsure": point.unsure,
            }
            for point in told
        ],
    }
