"""Looking back: what worked, what did not, and whether the core beliefs still hold. No language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ....records import Candidate, Label, Memory
from ...stores.graph.entities import Node, owner_of
from ..report import one_line
from .health import spoken_share

if TYPE_CHECKING:
    from ...planning.graph.judging import GraphModels
    from ...stores.graph.store import LastRun

WEEK = timedelta(days=7)
_EVIDENCE_ABOVE = 0.25
"""Similarity from which a memory says something about a belief at all."""
_SHOWN = 10
_WORKS = 0.5
"""Effectiveness from which a memory helps more often than not."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A core memory, and the observations that say the same or contradict it."""

    name: str
    backing: tuple[Memory, ...] = ()
    against: tuple[Memory, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        backing, against = (
            [{"memory": owner_of(part.id), "observation": part.text} for part in parts]
            for parts in (self.backing, self.against)
        )
        return {"name": self.name, "for": backing, "against": against, "contradicted": bool(self.against)}


@dataclass(frozen=True, slots=True)
class Move:
    """The use of one memory since the last run: its effectiveness then (None if not judged) and now."""

    name: str
    was: float | None
    now: float
    uses: int

    @property
    def better(self) -> bool:
        """Whether it worked: it helps more than before, or as much as before and mostly."""
        if self.was is None or self.was == self.now:
            return self.now >= _WORKS
        return self.now > self.was


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """The changes of a graph since the last run, and by that run."""

    since: datetime
    new: tuple[str, ...]  # names that were not there
    merged: tuple[str, ...]  # what it united, as "a + b -> c"
    forgotten: tuple[str, ...]
    moves: tuple[Move, ...]  # memories that were used or judged since, the greatest change first

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        worked, did_not = (
            [
                {"name": move.name, "was": move.was, "now": move.now, "uses": move.uses}
                for move in self.moves
                if move.better is works
            ]
            for works in (True, False)
        )
        return {
            "since": self.since.isoformat(),
            "new": list(self.new),
            "merged": list(self.merged),
            "forgotten": list(self.forgotten),
            "worked": worked,
            "did_not": did_not,
        }


def look_back(
    nodes: Sequence[Node], last: LastRun, *, merged: Sequence[str] = (), forgotten: Sequence[str] = ()
) -> LookBack:
    """Compare a graph with its state after the last run."""
    moves = []
    for node in nodes:
        share, (uses, was) = node.usage.effectiveness, last.memories.get(node.id, (0, None))
        if share is not None and node.id in last.memories and (share != was or node.usage.uses > uses):
            moves.append(Move(node.id, was, share, node.usage.uses - uses))
    return LookBack(
        since=last.at,
        new=tuple(sorted({node.id for node in nodes} - set(last.memories))),
        merged=tuple(merged),
        forgotten=tuple(forgotten),
        moves=tuple(sorted(moves, key=lambda move: (-abs(move.now - (move.was or 0.0)), move.name))),
    )


def look_back_lines(back: LookBack | None) -> list[str]:
    """What changed since the last run, for a person."""
    if back is None:
        return ["No run to look back to; consolidate first."]
    lines = [f"Since {back.since:%Y-%m-%d}:"]
    for title, sign, names in (
        ("new", "+", back.new),
        ("merged by that run", "~", back.merged),
        ("forgotten by that run", "-", back.forgotten),
    ):
        lines += [f"  {title}: {len(names)}", *(f"  {sign} {name}" for name in names[:_SHOWN])]
    for title, works in (("What worked:", True), ("What did not:", False)):
        moves = [
            f"  {move.name}: {'not judged' if move.was is None else spoken_share(move.was)} -> "
            f"{spoken_share(move.now)}, {move.uses:+d} uses"
            for move in back.moves
            if move.better is works
        ]
        lines += [title, *(moves[:_SHOWN] or ["  nothing"])]
    return lines


def this_week(nodes: Sequence[Node], *, now: datetime) -> tuple[list[Node], list[Node]]:
    """What was learned and what was used this week."""
    since = now - WEEK
    learned = [n for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    return learned, [n for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]


def quick_lines(nodes: Sequence[Node], *, now: datetime) -> list[str]:
    """What was learned and used this week, for a person."""
    learned, used = this_week(nodes, now=now)
    return [
        f"This week (since {now - WEEK:%Y-%m-%d}):",
        f"  learned: {len(learned)}",
        *(f"  + {node.id}" for node in learned[:_SHOWN]),
        f"  used: {len(used)}",
        *(f"  * {_ranked(node)}" for node in used[:_SHOWN]),
    ]


def node_json(node: Node) -> dict[str, Any]:
    """The use of one memory as JSON."""
    return {"name": node.id, "effectiveness": node.usage.effectiveness, "uses": node.usage.uses}


def ranking(nodes: Sequence[Node]) -> list[Node]:
    """Memories with a known effectiveness, best first, then by how often they were used."""
    judged = [node for node in nodes if node.usage.effectiveness is not None]
    return sorted(judged, key=lambda node: (-(node.usage.effectiveness or 0.0), -node.usage.uses, node.id))


def memories_lines(nodes: Sequence[Node]) -> list[str]:
    """The same for a person."""
    ranked = ranking(nodes)
    lines = [f"Effectiveness ({len(ranked)} of {len(nodes)} memories were judged):"]
    return lines + [f"  {_ranked(node)}" for node in ranked]


def _ranked(node: Node) -> str:
    return f"{spoken_share(node.usage.effectiveness):>5}  {node.usage.uses:>3} uses  {node.id}"


def beliefs(
    core: Sequence[tuple[str, str]], nodes: Sequence[Node], models: GraphModels
) -> tuple[Belief, ...]:
    """What long-term memory says for and against each core memory, given by name and text."""
    parts = [part for node in nodes for part in node.parts]
    if not core or not parts:
        return tuple(Belief(name) for name, _ in core)
    vectors = models.encoder.encode([*(text for _, text in core), *(part.text for part in parts)])
    cosines = vectors[: len(core)] @ vectors[len(core) :].T
    held = []
    for row, (name, text) in enumerate(core):
        near = (parts[int(place)] for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE))
        about = {part.id: part for part in near if owner_of(part.id) != name}
        belief = Memory("0", text, parts[0].scope)
        pairs = [Candidate("0", part, 0.0) for part in about]
        verdicts = models.verdicts([belief, *about.values()], pairs)
        backing, against = (
            tuple(about[item.pair.b] for item in verdicts if item.label is label)
            for label in (Label.DUPLICATE, Label.CONTRADICTION)
        )
        held.append(Belief(name, backing, against))
    return tuple(held)


def belief_lines(held: Sequence[Belief]) -> list[str]:
    """The beliefs for a person."""
    if not held:
        return ["The core memory is empty, or none was given with --core."]
    lines = [f"Beliefs ({len(held)}):"]
    for belief in held:
        flag = "  CONTRADICTED" if belief.against else ""
        lines.append(f"- {belief.name}: {len(belief.backing)} for, {len(belief.against)} against{flag}")
        for side, parts in (("for", belief.backing), ("against", belief.against)):
            lines += [f"    {side}: {owner_of(part.id)} - {one_line(part.text)}" for part in parts[:_SHOWN]]
    return lines
