"""Looking back: what worked, what did not, and whether the core beliefs still hold. No language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import Candidate, Label, Memory
from .history import Remembered
from .merging import observations_of
from .nodes import Node

if TYPE_CHECKING:
    from .merging import Judging

WEEK = timedelta(days=7)
_EVIDENCE_ABOVE = 0.25
"""Similarity from which a memory says something about a belief at all."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Belief:
    """A core memory and what long-term memory says about it.

    Attributes:
        name: Its name.
        text: What it says.
        backing: Memories that say the same.
        against: Memories that contradict it.
    """

    name: str
    text: str
    backing: tuple[str, ...]
    against: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.name,
            "for": list(self.backing),
            "against": list(self.against),
            "contradicted": bool(self.against),
        }


def reflect_lines(
    nodes: Sequence[Node], last: Remembered | None, *, forgotten: int, merged: int
) -> list[str]:
    """What changed since the last run."""
    if last is None:
        return ["No run to look back to; consolidate first."]
    now = {node.id: (node.usage.uses, node.usage.effectiveness) for node in nodes}
    new = sorted(set(now) - set(last.memories))
    lines = [
        f"Since {last.at:%Y-%m-%d}:",
        f"  new: {len(new)}",
        f"  merged: {merged}",
        f"  forgotten: {forgotten}",
    ]
    lines += [f"  + {name}" for name in new[:_SHOWN]]
    moves = [
        (share - was, name, was, share)
        for name, (_, share) in sorted(now.items())
        if share is not None and name in last.memories and (was := last.memories[name][1]) is not None
    ]
    better = sorted((move for move in moves if move[0] > 0), reverse=True)
    worse = sorted(move for move in moves if move[0] < 0)
    return [*lines, "What worked better:", *_moves(better), "What worked worse:", *_moves(worse)]


def quick_lines(nodes: Sequence[Node], *, now: datetime) -> list[str]:
    """What was learned and used this week."""
    since = now - WEEK
    learned = [n.id for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    used = [n for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]
    lines = [f"This week (since {since:%Y-%m-%d}):", f"  learned: {len(learned)}"]
    lines += [f"  + {name}" for name in learned[:_SHOWN]]
    lines.append(f"  used: {len(used)}")
    lines += [f"  * {_ranked(node)}" for node in used[:_SHOWN]]
    return lines


def memories_lines(nodes: Sequence[Node]) -> list[str]:
    """All memories with a known effectiveness, best first."""
    ranked = ranking(nodes)
    lines = [f"Effectiveness ({len(ranked)} of {len(nodes)} memories were judged):"]
    return lines + [f"  {_ranked(node)}" for node in ranked]


def ranking(nodes: Sequence[Node]) -> list[Node]:
    """Memories by effectiveness, then by how often they were used."""
    judged = [node for node in nodes if node.usage.effectiveness is not None]
    return sorted(judged, key=lambda node: (-(node.usage.effectiveness or 0.0), -node.usage.uses, node.id))


def beliefs(core: Sequence[tuple[str, str]], nodes: Sequence[Node], judging: Judging) -> tuple[Belief, ...]:
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
    found = []
    for row, (name, text) in enumerate(core):
        belief = Memory("0", text, parts[0].scope)
        near = [int(place) for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE)]
        about = [parts[place] for place in near if not parts[place].id.startswith(f"{name}::")]
        pairs = [Candidate("0", part.id, 0.0) for part in about]
        verdicts = judging.verdicts([belief, *about], pairs)
        backing = tuple(v.pair.b for v in verdicts if v.label is Label.DUPLICATE)
        against = tuple(v.pair.b for v in verdicts if v.label is Label.CONTRADICTION)
        found.append(Belief(name, text, backing, against))
    return tuple(found)


def belief_lines(found: Sequence[Belief]) -> list[str]:
    """The beliefs for a person."""
    lines = (
        [f"Beliefs ({len(found)}):"]
        if found
        else ["The core memory is empty, or none was given with --core."]
    )
    for belief in found:
        flag = "  CONTRADICTED" if belief.against else ""
        lines.append(f"- {belief.name}: {len(belief.backing)} for, {len(belief.against)} against{flag}")
        lines += [f"    against: {memory_id}" for memory_id in belief.against]
    return lines


def _moves(moves: Sequence[tuple[float, str, float, float]]) -> list[str]:
    shown = [f"  {name}: {was:.0%} -> {share:.0%}" for _, name, was, share in moves[:_SHOWN]]
    return shown or ["  nothing"]


def _ranked(node: Node) -> str:
    share = node.usage.effectiveness
    return f"{'-' if share is None else format(share, '.0%'):>5}  {node.usage.uses:>3} uses  {node.id}"
