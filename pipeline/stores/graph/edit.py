"""Changes of a graph's lines as pure functions: the store makes them, the planner foresees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import RefusedChangeError
from .lines import FIELDS, GraphDocument, GraphLine
from .text import observation_key

Lines = Sequence[GraphLine]


def with_relations(document: GraphDocument, name: str, wanted: Sequence[tuple[str, str]]) -> list[GraphLine]:
    """The lines with exactly these relations (type, target) leaving an entity; what stays is not moved."""
    left = list(wanted)
    lines: list[GraphLine] = []
    for line in document.lines:
        if line.kind == "relation" and line.edge[0] == name:
            key = (line.edge[2], line.edge[1])
            if key not in left:
                continue
            left.remove(key)
        lines.append(line)
    if any(target not in document.names for _, target in left) or (left and name not in document.names):
        raise RefusedChangeError(f"a relation of {name} would lead nowhere")
    return [*lines, *(GraphLine.relation(name, target, kind) for kind, target in left)]


def with_observations(document: GraphDocument, name: str, observations: Sequence[str]) -> list[GraphLine]:
    """The lines with one entity that says exactly this; several lines of its name become one.

    Raises:
        RefusedChangeError: If there is no such entity.
    """
    if name not in document.names:
        raise RefusedChangeError(f"memory {name} is gone")
    own = document.entities[name]
    line = _with_fields(own[0], _fields_of(document, name)) if len(own) > 1 else own[0]
    new = [line.changed(observations=list(observations))]
    lines: list[GraphLine] = []
    for each in document.lines:
        if each.kind != "entity" or each.name != name:
            lines.append(each)
        elif new:
            lines.append(new.pop())
    return lines


def without_observation(document: GraphDocument, name: str, key: str) -> list[GraphLine]:
    """The lines without one observation of one entity, however often it stands in its line.

    Raises:
        RefusedChangeError: If several lines of that name hold it: an undo could not tell them apart.
    """
    lines: list[GraphLine] = []
    touched = 0
    for line in document.lines:
        held = list(line.item["observations"]) if line.kind == "entity" and line.name == name else []
        kept = [text for text in held if observation_key(text) != key]
        touched += len(kept) < len(held)
        lines.append(line.changed(observations=kept) if len(kept) < len(held) else line)
    if touched > 1:
        raise RefusedChangeError(f"{name} stands in {touched} lines that say this; make one of them first")
    return lines


def handed_over(
    document: GraphDocument, name: str, survivor: str | None
) -> tuple[list[GraphLine], list[str]]:
    """The lines without an entity, and the relations that came into being for its survivor.

    No relation is doubled, and none leads from the survivor to itself.
    """
    edges = {line.edge for line in document.lines if line.kind == "relation" and not line.touches(name)}
    fields = _fields_of(document, name) if survivor is not None else {}
    lines: list[GraphLine] = []
    made: list[str] = []
    for line in document.lines:
        if line.kind == "entity" and line.name == name:
            continue
        if line.name == survivor and line.kind == "entity":
            lines.append(_with_fields(line, fields))
        elif not line.touches(name):
            lines.append(line)
        elif survivor is not None:
            ends = {key: survivor for key in ("from", "to") if line.item[key] == name}
            new = line.changed(**ends)
            if new.edge[0] != new.edge[1] and new.edge not in edges:
                edges.add(new.edge)
                lines.append(new)
                made.append(new.raw)
    return lines, made


def settled(base: Lines, ours: Lines, theirs: Lines) -> list[GraphLine] | None:
    """Lines that an undo would turn back and that were written since; None where both changed one thing.

    Entities are one by name: what was said since stays, and what the undo gives back returns among it.

    Args:
        base: As our change left them.
        ours: As they were before it.
        theirs: As they stand now.
    """
    lines = list(theirs)
    gone: set[int] = set()
    places = {line.name: place for place, line in enumerate(lines) if line.kind == "entity"}
    known = {line.name: line for line in base if line.kind == "entity"}
    own = {line.name for line in ours if line.kind == "entity"}
    for line in base:
        if line not in ours and not (line.kind == "entity" and line.name in own):
            if line in theirs:
                gone.add(theirs.index(line))
            elif line.kind == "entity":
                return None
    for line in ours:
        if line in base or line in theirs:
            continue
        if line.kind != "entity" or line.name not in places:
            lines.append(line)
        elif line.name in known:
            lines[places[line.name]] = _said_again(known[line.name], line, lines[places[line.name]])
        else:
            return None
    return [line for place, line in enumerate(lines) if place not in gone]


def _said_again(left: GraphLine, was: GraphLine, now: GraphLine) -> GraphLine:
    """An entity's line as it stands, with what our change took out of it between its neighbours."""
    before, after, held = (list(line.item["observations"]) for line in (was, left, now))
    held = [text for text in held if text not in after or text in before]
    for place, text in enumerate(before):
        if text not in after and text not in held:
            earlier = set(before[:place])
            at = max((spot + 1 for spot, each in enumerate(held) if each in earlier), default=0)
            held[at:at] = [text] * before.count(text)
    return was if Counter(held) == Counter(before) else now.changed(observations=held)


def _fields_of(document: GraphDocument, name: str) -> dict[str, Any]:
    """Fields of an entity's lines that the server does not know."""
    own = {"type", "observations", *FIELDS["entity"]}
    lines = document.entities.get(name, ())
    return {key: value for line in lines for key, value in line.item.items() if key not in own}


def _with_fields(line: GraphLine, fields: Mapping[str, Any]) -> GraphLine:
    """An entity's line with the fields it lacks; lists are united, other values of its own stay."""
    new = {
        key: [*line.item[key], *(item for item in value if item not in line.item[key])]
        if isinstance(value, list) and isinstance(line.item.get(key), list)
        else line.item.get(key, value)
        for key, value in fields.items()
    }
    return line.changed(**new) if any(line.item.get(key) != value for key, value in new.items()) else line
