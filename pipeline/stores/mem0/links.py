"""The entity rows beside a mem0 collection: who links to a memory, and how that is undone.

mem0 links entities to memories for its search ranking. It forgets to unlink in a fresh process and
swallows every error on the way, so removal and restoration are done here, without embedding again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .rows import LINKED_KEY, Backend, Row, linked_ids

_ENTITY = "entity"
_SPARSE = "sparse"


def links_of(entities: Backend | None, rows: Iterable[Row]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """For each row, everything outside its payload and dense vector that an undo needs."""
    own = {row.id: row for row in rows}
    links_by_id: dict[str, list[Mapping[str, Any]]] = {
        key: [{"index": _SPARSE, "vectors": dict(row.sparse)}] if row.sparse else []
        for key, row in own.items()
    }
    for entity in entities.linking(sorted(own)) if entities is not None and own else ():
        for memory_id in own.keys() & set(linked_ids(entity.payload)):
            links_by_id[memory_id].append(_as_link(entity))
    return {
        key: tuple(sorted(links, key=lambda link: str(link.get("id", ""))))
        for key, links in links_by_id.items()
    }


def sparse_of(links: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The sparse vectors kept in a snapshot's links."""
    return next((link["vectors"] for link in links if link["index"] == _SPARSE), {})


def unlink(entities: Backend | None, memory_id: str) -> None:
    """Take the memory out of every entity; an entity that names nothing else goes."""
    for entity in entities.linking([memory_id]) if entities is not None else ():
        remaining = [linked for linked in linked_ids(entity.payload) if linked != memory_id]
        if remaining and entities is not None:
            entities.put(_with_links(entity, remaining))
        elif entities is not None:
            entities.remove(entity.id)


def relink(entities: Backend | None, memory_id: str, links: Sequence[Mapping[str, Any]]) -> None:
    """Bring the entities of a snapshot back.

    An entity that is gone, or that lacks nothing but this memory, becomes exactly as recorded; one
    that the agent has changed since then only gets the memory back.
    """
    recorded = [_as_row(link) for link in links if link["index"] == _ENTITY]
    if entities is None or not recorded:
        return
    present = entities.get([row.id for row in recorded])
    for row in recorded:
        current = present.get(row.id)
        now = linked_ids(current.payload) if current is not None else []
        if current is None or {*now, memory_id} == set(linked_ids(row.payload)):
            entities.put(row)
        elif memory_id not in now:
            entities.put(_with_links(current, [*now, memory_id]))


def _with_links(entity: Row, ids: list[str]) -> Row:
    return Row(entity.id, {**entity.payload, LINKED_KEY: ids}, entity.vector, entity.sparse)


def _as_link(row: Row) -> Mapping[str, Any]:
    return {
        "index": _ENTITY,
        "id": row.id,
        "payload": dict(row.payload),
        "vector": list(row.vector or ()),
        "sparse": dict(row.sparse),
    }


def _as_row(link: Mapping[str, Any]) -> Row:
    return Row(link["id"], link["payload"], tuple(link["vector"]) or None, link["sparse"])
