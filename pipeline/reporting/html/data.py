"""Everything the page shows, as plain data: it is embedded in the page, and read by tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ....models.scorer import Thresholds
from ....records import Memory, Scope
from ...actions import Action, Member, net_removals
from ...plan import Plan
from ...writing.journal import Outcome
from ..report import short_ids
from .cards import card
from .history import RunPoint, history_data
from .nearby import nearby
from .projection import project

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 1
MAP_MEMORIES = 2_000
"""Memories on the map besides those of a proposal; of more, evenly spread ones are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a page is made of.

    Attributes:
        plan: What is proposed, or what a run was to do.
        memories: All memories of the store that the plan looked at, in order.
        accessed: Latest reads that are on record, by id.
        thresholds: Where the scorer's probabilities become decisions.
        points: The runs of the store so far.
        vectors: float32 [n, d], one row for each of `memories`; None draws no map.
        lines: The report as the terminal prints it.
        remarks: What a kind of store adds: changed relations, files that were left out.
        run: The name of the run that is shown; empty for a plan.
        state: How far that run came.
        undo: The command that takes it back.
        outcomes: What became of each of its actions.
    """

    plan: Plan
    memories: Sequence[Memory] = ()
    accessed: Mapping[str, datetime] = field(default_factory=dict)
    thresholds: Thresholds | None = None
    points: Sequence[RunPoint] = ()
    vectors: NDArray[np.float32] | None = None
    lines: Sequence[str] = ()
    remarks: Sequence[str] = ()
    run: str = ""
    state: str = ""
    undo: str = ""
    outcomes: Mapping[str, tuple[Outcome, str]] = field(default_factory=dict)


class Table:
    """The memories of a page, each once, with the scopes and categories they name."""

    def __init__(self, material: Material) -> None:
        """Take all memories; only those that are asked for get a row."""
        self._known = {memory.id: memory for memory in material.memories}
        self._accessed = material.accessed
        self._rows: dict[tuple[str, str], int] = {}
        self._scopes: dict[str, int] = {}
        self._categories: dict[str, int] = {}
        actions = (*material.plan.actions, *material.plan.unsure)
        ids = [*self._known, *(member.id for action in actions for member in action.members)]
        # A path or a name that is cut would name something else.
        whole = material.plan.kind in ("md", "graph")
        self._short = {name: name for name in ids} if whole else short_ids(ids)
        self.rows: list[dict[str, Any]] = []

    def member(self, memory_id: str, member: Member, action: Action) -> int:
        """The row of a memory of a proposal, with the text that was judged."""
        known = self._known.get(memory_id)
        memory = Memory(
            memory_id,
            member.text,
            action.scope,
            category=known.category if known else action.category,
            created_at=member.created_at,
            updated_at=member.updated_at,
        )
        return self._row(memory, known)

    def memory(self, memory: Memory) -> int:
        """The row of a memory that no proposal is about, or is."""
        return self._row(memory, memory)

    def _row(self, memory: Memory, stored: Memory | None) -> int:
        key = (memory.id, memory.text)
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            seen = self._accessed.get(memory.id) or (stored.accessed_at if stored else None)
            self.rows.append(
                _without_nothing(
                    id=memory.id,
                    name=self._short.get(memory.id, memory.id),
                    text=memory.text,
                    scope=self._scopes.setdefault(str(memory.scope), len(self._scopes)),
                    category=self._categories.setdefault(memory.category, len(self._categories))
                    if memory.category
                    else None,
                    created=_minute(memory.created_at),
                    updated=_minute(memory.updated_at) if memory.updated_at != memory.created_at else None,
                    read=_minute(seen),
                    expires=stored.expires_on.isoformat() if stored and stored.expires_on else None,
                    pinned=1 if stored and stored.pinned else None,
                )
            )
        return self._rows[key]

    @property
    def names(self) -> dict[str, list[str]]:
        """Scopes and categories by their numbers."""
        return {"scopes": list(self._scopes), "categories": list(self._categories)}


def page_data(material: Material) -> dict[str, Any]:
    """The data of a page; everything in it is text, numbers and lists."""
    plan, table = material.plan, Table(material)
    groups = ((False, plan.actions), (True, plan.unsure))
    cards = [
        card(action, unsure=unsure, place=table.member, outcomes=material.outcomes)
        for unsure, actions in groups
        for action in actions
    ]
    for shown in cards:
        shown["scope"] = table.rows[shown["members"][0]]["scope"]
    _add_neighbours(material, table, cards)
    points = _points(material, table, cards)
    now = plan.now.isoformat(timespec="seconds")
    return {
        "version": VERSION,
        "kind": plan.kind,
        "now": now,
        "scorer": plan.scorer,
        "thresholds": [material.thresholds.auto, material.thresholds.duplicate]
        if material.thresholds
        else None,
        "summary": _summary(plan),
        "run": _run(material),
        "cards": cards,
        "memories": table.rows,
        **table.names,
        "map": points,
        "history": history_data(material.points, {t.scope: t.memories for t in plan.totals}, now),
        "apart": [list(item) for item in plan.apart],
        "gaps": list(plan.gaps),
        "notes": [*plan.notes, *plan.fidelity, *_left_open(plan)],
        "remarks": list(material.remarks),
    }


def _summary(plan: Plan) -> dict[str, Any]:
    taken: Counter[Scope] = Counter()
    for action in plan.actions:
        taken[action.scope] += net_removals(action)
    return {
        "memories": sum(total.memories for total in plan.totals),
        "merges": len(plan.merges),
        "conflicts": len(plan.conflicts),
        "prunes": len(plan.prunes),
        "rewrites": len(plan.rewrites),
        "unsure": len(plan.unsure),
        "removes": sum(len(action.removes) for action in plan.actions),
        "left_open": plan.left_open,
        "scopes": [[str(total.scope), total.memories, taken[total.scope]] for total in plan.totals],
    }


def _left_open(plan: Plan) -> list[str]:
    """Conflicts of earlier passes that are not asked about again."""
    if not plan.left_open:
        return []
    noun = "conflicts were" if plan.left_open > 1 else "conflict was"
    return [f"{plan.left_open} {noun} left open earlier: `mem0-dream reject --list`"]


def _run(material: Material) -> dict[str, str] | None:
    if not material.run:
        return None
    return {"id": material.run, "state": material.state, "undo": material.undo}


def _add_neighbours(material: Material, table: Table, cards: Sequence[dict[str, Any]]) -> None:
    """Give each card the rows of what else lies near it."""
    if material.vectors is None:
        return
    members = [[table.rows[row]["id"] for row in shown["members"]] for shown in cards]
    for shown, places in zip(cards, nearby(material.memories, material.vectors, members), strict=True):
        if places:
            shown["near"] = [table.memory(material.memories[place]) for place in places]


def _points(material: Material, table: Table, cards: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Memories on the map: x, y, row of the memory, number of its first proposal or -1."""
    if material.vectors is None:
        return []
    owner: dict[str, int] = {}
    for number, shown in enumerate(cards):
        for row in shown["members"]:
            owner.setdefault(table.rows[row]["id"], number)
    others = [place for place, memory in enumerate(material.memories) if memory.id not in owner]
    step = max(1, -(-len(others) // MAP_MEMORIES))
    drawn = set(others[::step])
    return [
        [x, y, table.memory(memory), owner.get(memory.id, -1)]
        for place, (memory, (x, y)) in enumerate(
            zip(material.memories, project(material.vectors), strict=True)
        )
        if memory.id in owner or place in drawn
    ]


def _minute(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else None


def _without_nothing(**fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {name: value for name, value in fields.items() if value is not None}
