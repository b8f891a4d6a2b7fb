"""Undo of one change of a graph: its own lines return to their places, and no other line moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ....errors import RefusedChangeError
from ..base import Snapshot
from .lines import GraphDocument, GraphLine, insert_in_order
from .rows import BROKEN, ENTITY, OBSERVATION
from .sidecar import MovedRelations


def put_back(
    document: GraphDocument, snapshot: Snapshot, *, order: Sequence[str], moved: MovedRelations
) -> list[GraphLine]:
    """The lines of the graph with one record as it was.

    Args:
        document: The graph as it stands.
        snapshot: What comes back.
        order: Raw lines of the graph at that time; empty if they are not known any more.
        moved: Relations that a survivor was given when the record went.

    Raises:
        RefusedChangeError: If there is no place for it any more.
    """
    kind = snapshot.payload["kind"]
    if kind == OBSERVATION:
        return _observation_back(document, snapshot)
    if kind == BROKEN:
        lines = list(document.lines)
        _insert(lines, snapshot.payload["raws"], snapshot.links[0]["positions"], order)
        return lines
    if kind != ENTITY:
        return _relations_back(document, snapshot, order)
    if snapshot.payload["name"] in document.names:
        return _lines_back(document, snapshot, order)
    lines = [line for line in document.lines if line.raw not in set(moved.made) - set(_relations(snapshot))]
    _insert(lines, snapshot.payload["raws"], snapshot.links[0]["positions"], order)
    names = {line.name for line in lines if line.kind == "entity"}
    wanted = [
        (str(link["raw"]), int(link["position"]))
        for link in snapshot.links[1:]
        if link["dangling"] or _leads_somewhere(str(link["raw"]), names)
    ]
    known = {raw for raw, _ in wanted}
    wanted += [(raw, len(lines)) for raw in moved.before if raw not in known and _leads_somewhere(raw, names)]
    have = Counter(line.raw for line in lines)
    for raw, position in wanted:
        if have[raw] == 0:
            _insert(lines, [raw], [position], order)
        else:
            have[raw] -= 1
    return lines


def _lines_back(document: GraphDocument, snapshot: Snapshot, order: Sequence[str]) -> list[GraphLine]:
    """An entity that is still there: its lines alone are put back."""
    name, raws = snapshot.payload["name"], list(snapshot.payload["raws"])
    lines: list[GraphLine] = []
    first = True
    for line in document.lines:
        if line.kind != "entity" or line.name != name:
            lines.append(line)
        elif first:
            lines.append(GraphLine.of(raws[0]))
            first = False
    _insert(lines, raws[1:], snapshot.links[0]["positions"][1:], order)
    return lines


def _observation_back(document: GraphDocument, snapshot: Snapshot) -> list[GraphLine]:
    """An observation between the neighbours it had; with all of them back, the line to the letter."""
    name, text = snapshot.payload["name"], snapshot.payload["text"]
    was = GraphLine.of(str(snapshot.links[0]["raw"]))
    order = list(was.item["observations"])
    own = [place for place, line in enumerate(document.lines) if line.kind == "entity" and line.name == name]
    stood = int(snapshot.links[0]["positions"][0])

    def likeness(place: int) -> tuple[int, int, int]:
        """Of several lines with the name: the one with nothing foreign, most neighbours, nearest."""
        held = set(document.lines[place].item["observations"])
        return (len(held - set(order)), -len(held & set(order)), abs(place - stood))

    for place in sorted(own, key=likeness):
        line = document.lines[place]
        held = list(line.item["observations"])
        if text not in held:
            before = set(order[: order.index(text)])
            at = max((i + 1 for i, each in enumerate(held) if each in before), default=0)
            held[at:at] = [text] * order.count(text)
        new = was if Counter(held) == Counter(order) else line.changed(observations=held)
        return [*document.lines[:place], new, *document.lines[place + 1 :]]
    raise RefusedChangeError(f"memory {name}, which it is part of, is gone")


def _relations_back(document: GraphDocument, snapshot: Snapshot, order: Sequence[str]) -> list[GraphLine]:
    """The outgoing relations of one name, exactly as they were."""
    name, raws = snapshot.payload["name"], list(snapshot.payload["raws"])
    left = Counter(raws)
    lines: list[GraphLine] = []
    for line in document.lines:
        if line.kind == "relation" and line.edge[0] == name:
            if left[line.raw] == 0:
                continue
            left[line.raw] -= 1
        lines.append(line)
    for raw, position in zip(raws, snapshot.links[0]["positions"], strict=True):
        if left[raw] > 0:
            left[raw] -= 1
            _insert(lines, [raw], [position], order)
    return lines


def _insert(
    lines: list[GraphLine], raws: Sequence[str], positions: Sequence[int], order: Sequence[str]
) -> None:
    for raw, position in zip(raws, positions, strict=True):
        insert_in_order(lines, GraphLine.of(raw), order, position)


def _relations(snapshot: Snapshot) -> list[str]:
    return [str(link["raw"]) for link in snapshot.links[1:]]


def _leads_somewhere(raw: str, names: set[str]) -> bool:
    return names.issuperset(GraphLine.of(raw).edge[:2])
