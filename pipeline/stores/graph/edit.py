"""Changes of a graph's lines, as pure functions: the store makes them, the planner foresees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import RefusedChangeError
from .lines import GraphDocument, GraphLine
from .text import observation_key

_SERVER_FIELDS = ("type", "name", "entityType", "observations")


def with_relations(document: GraphDocument, name: str, wanted: Sequence[tuple[str, str]]) -> list[GraphLine]:
    """The lines with exactly these outgoing relations of one entity; what stays is not moved."""
    left = list(wanted)
    lines: list[GraphLine] = []
    for line in document.lines:
        if line.kind == "relation" and line.edge[0] == name:
            key = (line.edge[2], line.edge[1])
            if key not in left:
                continue
            left.remove(key)
        lines.append(line)
    names = document.names
    if any(target not in names for _, target in left) or (left and name not in names):
        raise RefusedChangeError(f"a relation of {name} would lead nowhere")
    return [*lines, *(GraphLine.relation(name, target, kind) for kind, target in left)]


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
    fields = fields_of(document, name) if survivor is not None else {}
    lines: list[GraphLine] = []
    made: list[str] = []
    for line in document.lines:
        if line.kind == "entity" and line.name == name:
            continue
        if line.name == survivor and line.kind == "entity":
            lines.append(with_fields(line, fields))
            continue
        if not line.touches(name):
            lines.append(line)
            continue
        if survivor is None:
            continue
        source, target = (survivor if end == name else end for end in line.edge[:2])
        new = line.changed(**_ends(line.item, source, target))
        if source != target and new.edge not in edges:
            edges.add(new.edge)
            lines.append(new)
            made.append(new.raw)
    return lines, made


def fields_of(document: GraphDocument, name: str) -> dict[str, Any]:
    """Fields of an entity's lines that the server does not know."""
    own = (line.item for line in document.lines if line.kind == "entity" and line.name == name)
    return {key: value for item in own for key, value in item.items() if key not in _SERVER_FIELDS}


def with_fields(line: GraphLine, fields: Mapping[str, Any]) -> GraphLine:
    """An entity's line with the fields it lacks; lists are united, other values of its own stay."""
    new = {
        key: [*line.item[key], *(item for item in value if item not in line.item[key])]
        if isinstance(value, list) and isinstance(line.item.get(key), list)
        else line.item.get(key, value)
        for key, value in fields.items()
    }
    return line.changed(**new) if any(line.item.get(key) != value for key, value in new.items()) else line


def _ends(item: Mapping[str, object], source: str, target: str) -> dict[str, str]:
    """The two ends of a relation as fields, where they differ."""
    return {key: end for key, end in (("from", source), ("to", target)) if item[key] != end}
