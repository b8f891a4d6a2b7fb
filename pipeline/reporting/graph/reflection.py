"""Looking back: what worked, what did not, and whether the core beliefs still hold. No language model.

Each look is data as `reflect --json` tells it; its lines for a person are made of the same data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
Data = dict[str, Any]
_EVIDENCE_ABOVE = 0.25
"""Similarity from which a memory says something about a belief at all."""
_SIDES: Mapping[Label, str] = {Label.DUPLICATE: "for", Label.CONTRADICTION: "against"}
_SHOWN = 10
_WORKS = 0.5
"""Effectiveness from which a memory helps more often than not."""


def look_back(
    nodes: Sequence[Node],
    last: LastRun | None,
    *,
    merged: Sequence[str] = (),
    forgotten: Sequence[str] = (),
) -> Data:
    """What changed since the last run, and what that run united (as "a + b -> c") and forgot.

    What worked helps more than before, or as much as before and mostly; the greatest change comes first.
    """
    if last is None:
        return {"since": None}
    moves: list[Data] = []
    for node in nodes:
        share, (uses, was) = node.usage.effectiveness, last.memories.get(node.id, (0, None))
        if share is not None and node.id in last.memories and (share != was or node.usage.uses > uses):
            moves.append({"name": node.id, "was": was, "now": share, "uses": node.usage.uses - uses})
    moves.sort(key=lambda move: (-abs(move["now"] - (move["was"] or 0.0)), move["name"]))
    worked = [
        move
        for move in moves
        if (move["now"] >= _WORKS if move["was"] in (None, move["now"]) else move["now"] > move["was"])
    ]
    return {
        "since": last.at.isoformat(),
        "new": sorted({node.id for node in nodes} - set(last.memories)),
        "merged": list(merged),
        "forgotten": list(forgotten),
        "worked": worked,
        "did_not": [move for move in moves if move not in worked],
    }


def look_back_lines(back: Data) -> list[str]:
    """The same for a person."""
    if back["since"] is None:
        return ["No run to look back to; consolidate first."]
    lines = [f"Since {datetime.fromisoformat(back['since']):%Y-%m-%d}:"]
    for title, sign, names in (
        ("new", "+", back["new"]),
        ("merged by that run", "~", back["merged"]),
        ("forgotten by that run", "-", back["forgotten"]),
    ):
        lines += [f"  {title}: {len(names)}", *(f"  {sign} {name}" for name in names[:_SHOWN])]
    for title, moves in (("What worked:", back["worked"]), ("What did not:", back["did_not"])):
        told = [
            f"  {move['name']}: {'not judged' if move['was'] is None else spoken_share(move['was'])} -> "
            f"{spoken_share(move['now'])}, {move['uses']:+d} uses"
            for move in moves[:_SHOWN]
        ]
        lines += [title, *(told or ["  nothing"])]
    return lines


def this_week(nodes: Sequence[Node], now: datetime) -> Data:
    """What was learned and what was used this week."""
    since = now - WEEK
    learned = [n for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    used = [n for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]
    rows = {"learned": list(map(_use_of, learned)), "used": list(map(_use_of, used))}
    return {"since": since.isoformat(), **rows}


def this_week_lines(week: Data) -> list[str]:
    """The same for a person."""
    return [
        f"This week (since {datetime.fromisoformat(week['since']):%Y-%m-%d}):",
        f"  learned: {len(week['learned'])}",
        *(f"  + {each['name']}" for each in week["learned"][:_SHOWN]),
        f"  used: {len(week['used'])}",
        *(f"  * {_ranked(each)}" for each in week["used"][:_SHOWN]),
    ]


def ranking(nodes: Sequence[Node]) -> Data:
    """Memories with a known effectiveness, best first, then by how often they were used."""
    judged = [_use_of(node) for node in nodes if node.usage.effectiveness is not None]
    return {"memories": sorted(judged, key=lambda row: (-row["effectiveness"], -row["uses"], row["name"]))}


def ranking_lines(ranked: Data, total: int) -> list[str]:
    """The same for a person; `total` are all memories, judged or not."""
    rows = ranked["memories"]
    head = f"Effectiveness ({len(rows)} of {total} memories were judged):"
    return [head, *(f"  {_ranked(each)}" for each in rows)]


def beliefs(core: Sequence[tuple[str, str]], nodes: Sequence[Node], models: GraphModels) -> Data:
    """What long-term memory says for and against each core memory, given by name and text."""
    parts = [part for node in nodes for part in node.parts]
    held: list[Data] = [{"name": name, "for": [], "against": [], "contradicted": False} for name, _ in core]
    if not core or not parts:
        return {"beliefs": held}
    vectors = models.encoder.encode([*(text for _, text in core), *(part.text for part in parts)])
    cosines = vectors[: len(core)] @ vectors[len(core) :].T
    for row, (name, text) in enumerate(core):
        near = (parts[int(place)] for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE))
        about = {part.id: part for part in near if owner_of(part.id) != name}
        pairs = [Candidate("0", part, 0.0) for part in about]
        for verdict in models.verdicts([Memory("0", text, parts[0].scope), *about.values()], pairs):
            if verdict.label in _SIDES:
                part = about[verdict.pair.b]
                said = {"memory": owner_of(part.id), "observation": part.text}
                held[row][_SIDES[verdict.label]].append(said)
        held[row]["contradicted"] = bool(held[row]["against"])
    return {"beliefs": held}


def belief_lines(told: Data) -> list[str]:
    """The same for a person."""
    held = told["beliefs"]
    if not held:
        return ["The core memory is empty, or none was given with --core."]
    lines = [f"Beliefs ({len(held)}):"]
    for belief in held:
        flag = "  CONTRADICTED" if belief["contradicted"] else ""
        counts = f"{len(belief['for'])} for, {len(belief['against'])} against"
        lines.append(f"- {belief['name']}: {counts}{flag}")
        for side in _SIDES.values():
            said = ((each["memory"], one_line(each["observation"])) for each in belief[side][:_SHOWN])
            lines += [f"    {side}: {memory} - {text}" for memory, text in said]
    return lines


def _use_of(node: Node) -> Data:
    return {"name": node.id, "effectiveness": node.usage.effectiveness, "uses": node.usage.uses}


def _ranked(row: Data) -> str:
    return f"{spoken_share(row['effectiveness']):>5}  {row['uses']:>3} uses  {row['name']}"
