"""Looking back: what worked, what did not, and whether the core beliefs still hold. No language model.

Each look is data as `reflect --json` tells it, and lines for a person.
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
Look = tuple[Data, list[str]]
_EVIDENCE_ABOVE = 0.25
"""Similarity from which a memory says something about a belief at all."""
_SIDES: Mapping[Label, str] = {Label.DUPLICATE: "for", Label.CONTRADICTION: "against"}
_SHOWN = 10
_WORKS = 0.5
"""Effectiveness from which a memory helps more often than not."""


def look_back(
    nodes: Sequence[Node], last: LastRun | None, merged: Sequence[str] = (), forgotten: Sequence[str] = ()
) -> Look:
    """What changed since the last run, and what that run united (as "a + b -> c") and forgot.

    What worked helps more than before, or as much as before and mostly; the greatest change comes first.
    """
    if last is None:
        return {"since": None}, ["No run to look back to; consolidate first."]
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
    did_not = [move for move in moves if move not in worked]
    new = sorted({node.id for node in nodes} - set(last.memories))
    lines = [f"Since {last.at:%Y-%m-%d}:"]
    for title, sign, names in (
        ("new", "+", new),
        ("merged by that run", "~", merged),
        ("forgotten by that run", "-", forgotten),
    ):
        lines += [f"  {title}: {len(names)}", *(f"  {sign} {name}" for name in names[:_SHOWN])]
    for title, changed in (("What worked:", worked), ("What did not:", did_not)):
        told = [
            f"  {move['name']}: {'not judged' if move['was'] is None else spoken_share(move['was'])} -> "
            f"{spoken_share(move['now'])}, {move['uses']:+d} uses"
            for move in changed[:_SHOWN]
        ]
        lines += [title, *(told or ["  nothing"])]
    data = {"since": last.at.isoformat(), "new": new, "merged": [*merged], "forgotten": [*forgotten]}
    return data | {"worked": worked, "did_not": did_not}, lines


def this_week(nodes: Sequence[Node], now: datetime) -> Look:
    """What was learned and what was used this week."""
    since = now - WEEK
    learned = [_use_of(n) for n in nodes if n.usage.discovered and since <= n.usage.discovered <= now]
    used = [_use_of(n) for n in nodes if n.usage.last_used and since <= n.usage.last_used <= now]
    lines = [
        f"This week (since {since:%Y-%m-%d}):",
        f"  learned: {len(learned)}",
        *(f"  + {each['name']}" for each in learned[:_SHOWN]),
        f"  used: {len(used)}",
        *(f"  * {_ranked(each)}" for each in used[:_SHOWN]),
    ]
    return {"since": since.isoformat(), "learned": learned, "used": used}, lines


def ranking(nodes: Sequence[Node]) -> Look:
    """Memories with a known effectiveness, best first, then by how often they were used."""
    rows = [_use_of(node) for node in nodes if node.usage.effectiveness is not None]
    rows.sort(key=lambda row: (-row["effectiveness"], -row["uses"], row["name"]))
    head = f"Effectiveness ({len(rows)} of {len(nodes)} memories were judged):"
    return {"memories": rows}, [head, *(f"  {_ranked(each)}" for each in rows)]


def beliefs(core: Sequence[tuple[str, str]], nodes: Sequence[Node], models: GraphModels) -> Look:
    """What long-term memory says for and against each core memory, given by name and text."""
    if not core:
        return {"beliefs": []}, ["The core memory is empty, or none was given with --core."]
    parts, texts = [part for node in nodes for part in node.parts], [text for _, text in core]
    vectors = models.encoder.encode([*texts, *(part.text for part in parts)])
    cosines = vectors[: len(core)] @ vectors[len(core) :].T
    held, lines = list[Data](), [f"Beliefs ({len(core)}):"]
    for row, (name, text) in enumerate(core):
        said: dict[str, list[Data]] = {side: [] for side in _SIDES.values()}
        near = (parts[int(place)] for place in np.flatnonzero(cosines[row] >= _EVIDENCE_ABOVE))
        about = {part.id: part for part in near if owner_of(part.id) != name}
        belief = [Memory("0", text, part.scope) for part in parts[:1]]
        pairs = [Candidate("0", part, 0.0) for part in about]
        for verdict in models.verdicts([*belief, *about.values()], pairs):
            if verdict.label in _SIDES:
                part = about[verdict.pair.b]
                told = {"memory": owner_of(part.id), "observation": part.text}
                said[_SIDES[verdict.label]].append(told)
        held.append({"name": name, **said, "contradicted": bool(said["against"])})
        flag = "  CONTRADICTED" if said["against"] else ""
        lines.append(f"- {name}: {len(said['for'])} for, {len(said['against'])} against{flag}")
        for side, evidence in said.items():
            lines += [f"    {side}: {e['memory']} - {one_line(e['observation'])}" for e in evidence[:_SHOWN]]
    return {"beliefs": held}, lines


def _use_of(node: Node) -> Data:
    return {"name": node.id, "effectiveness": node.usage.effectiveness, "uses": node.usage.uses}


def _ranked(row: Data) -> str:
    return f"{spoken_share(row['effectiveness']):>5}  {row['uses']:>3} uses  {row['name']}"
