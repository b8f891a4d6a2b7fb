"""Looking back: what worked, what did not, and whether the core beliefs still hold. No language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ....records import Candidate, Label, Memory
from ...rules.graph.conflicts import observations_of
from ...rules.graph.history import Remembered
from ...rules.graph.nodes import Node
from ..report import one_line

if TYPE_CHECKING:
    from ...planning.graph.merging import GraphJudging

WEEK = timedelta(days=7)
_EVIDENCE_ABOVE = 0.25
"""Similarity from which a memory says something about a belief at all."""
_SHOWN = 10
_WORKS = 0.5
"""Effectiveness from which a memory helps more often than not."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A core memory and what long-term memory says about it.

    Attributes:
        name: Its name.
        text: What it says.
        backing: Observations that say the same.
        against: Observations that contradict it.
    """

    name: str
    text: str
    backing: tuple[Memory, ...]
    against: tuple[Memory, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "name": self.name,
            "for": [_evidence_json(part) for part in self.backing],
            "against": [_evidence_json(part) for part in self.against],
            "contradicted": bool(self.against),
        }


@dataclass(frozen=True, slots=True)
class Move:
    """The use of one memory since the last run.

    Attributes:
        name: Its name.
        was: Its effectiveness then; None if no use had been judged.
        now: Its effectiveness now.
        uses: How often it was applied since.
    """

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

    @property
    def line(self) -> str:
        """For a person."""
        was = "not judged" if self.was is None else format(self.was, ".0%")
        return f"  {self.name}: {was} -> {self.now:.0%}, {self.uses:+d} uses"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """The changes of a graph since the last run, and by that run.

    Attributes:
        since: When that was.
        new: Names that were not there.
        merged: What it united, as "a + b -> c".
        forgotten: What it forgot.
        moves: Memories that were used or judged since, the greatest change first.
    """

    since: datetime
    new: tuple[str, ...]
    merged: tuple[str, ...]
    forgotten: tuple[str, ...]
    moves: tuple[Move, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "since": self.since.isoformat(),
            "new": list(self.new),
            "merged": list(self.merged),
            "forgotten": list(self.forgotten),
            "worked": [_move_json(move) for move in self.moves if move.better],
            "did_not": [_move_json(move) for move in self.moves if not move.better],
        }


def look_back(
    nodes: Sequence[Node], last: Remembered, *, merged: Sequence[str] = (), forgotten: Sequence[str] = ()
) -> LookBack:
    """Compare a graph with its state after the last run."""
    moves = []
    for node in nodes:
        share = node.usage.effectiveness
        if share is None or node.id not in last.memories:
            continue
        uses, was = last.memories[node.id]
        if share != was or node.usage.uses > uses:
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
        moves = [move.line for move in back.moves if move.better is works]
        lines += [title, *(moves[:_SHOWN] or ["  nothing"])]
    return lines


def this_week(nodes: Sequence[Node], *, now: datetime) -> tuple[list[Node], list[Node]]:
    """What was learned and what was used this week."""
    since = now - WEEK
    learned = [n for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    used = [n for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]
    return learned, used


def quick_lines(nodes: Sequence[Node], *, now: datetime) -> list[str]:
    """What was learned and used this week, for a person."""
    learned, used = this_week(nodes, now=now)
    lines = [f"This week (since {now - WEEK:%Y-%m-%d}):", f"  learned: {len(learned)}"]
    lines += [f"  + {node.id}" for node in learned[:_SHOWN]]
    lines.append(f"  used: {len(used)}")
    lines += [f"  * {_ranked(node)}" for node in used[:_SHOWN]]
    return lines


def node_json(node: Node) -> dict[str, Any]:
    """The use of one memory as JSON."""
    return {"name": node.id, "effectiveness": node.usage.effectiveness, "uses": node.usage.uses}


def memories_lines(nodes: Sequence[Node]) -> list[str]:
    """All memories with a known effectiveness, best first."""
    ranked = ranking(nodes)
    lines = [f"Effectiveness ({len(ranked)} of {len(nodes)} memories were judged):"]
    return lines + [f"  {_ranked(node)}" for node in ranked]


def ranking(nodes: Sequence[Node]) -> list[Node]:
    """Memories by effectiveness, then by how often they were used."""
    judged = [node for node in nodes if node.usage.effectiveness is not None]
    return sorted(judged, key=lambda node: (-(node.usage.effectiveness or 0.0), -node.usage.uses, node.id))


def beliefs(
    core: Sequence[tuple[str, str]], nodes: Sequence[Node], judging: GraphJudging
) -> tuple[Belief, ...]:
    """What speaks for and against each core memory.

    Args:
        core: Name and text of each.
        nodes: Long-term memory.
        judging: Models and limits.
    """
    parts = [part for node in nodes for part in observations_of(node)]
    if not core or not parts:
        return tuple(Belief(name, text, (), ()) for name, text in core)
    vectors = judging.encoder.encode([*(text for _, text in core), *(part.text for part in parts)])
    cosines = vectors[: len(core)] @ vectors[len(core) :].T
    held = []
    for row, (name, text) in enumerate(core):
        belief = Memory("0", text, parts[0].scope)
        near = [int(place) for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE)]
        about = [parts[place] for place in near if not parts[place].id.startswith(f"{name}::")]
        pairs = [Candidate("0", part.id, 0.0) for part in about]
        verdicts = judging.verdicts([belief, *about], pairs)
        said = {part.id: part for part in about}
        backing = tuple(said[v.pair.b] for v in verdicts if v.label is Label.DUPLICATE)
        against = tuple(said[v.pair.b] for v in verdicts if v.label is Label.CONTRADICTION)
        held.append(Belief(name, text, backing, against))
    return tuple(held)


def belief_lines(held: Sequence[Belief]) -> list[str]:
    """The beliefs for a person."""
    lines = (
        [f"Beliefs ({len(held)}):"] if held else ["The core memory is empty, or none was given with --core."]
    )
    for belief in held:
        flag = "  CONTRADICTED" if belief.against else ""
        lines.append(f"- {belief.name}: {len(belief.backing)} for, {len(belief.against)} against{flag}")
        lines += [_evidence_line("for", part) for part in belief.backing[:_SHOWN]]
        lines += [_evidence_line("against", part) for part in belief.against[:_SHOWN]]
    return lines


def _evidence_json(part: Memory) -> dict[str, str]:
    return {"memory": part.id.rpartition("::")[0], "observation": part.text}


def _evidence_line(side: str, part: Memory) -> str:
    return f"    {side}: {part.id.rpartition('::')[0]} - {one_line(part.text)}"


def _move_json(move: Move) -> dict[str, Any]:
    return {"name": move.name, "was": move.was, "now": move.now, "uses": move.uses}


def _ranked(node: Node) -> str:
    share = node.usage.effectiveness
    return f"{'-' if share is None else format(share, '.0%'):>5}  {node.usage.uses:>3} uses  {node.id}"
