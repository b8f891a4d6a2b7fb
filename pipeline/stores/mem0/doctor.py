"""What is wrong with the entity rows beside a collection, and each single repair.

mem0 forgets to unlink a memory that is deleted in a fresh process, so that a search finds entities of
memories that are gone; and a memory that was added without inference is linked to no entity, so that it ranks
lower than it should. Nothing here decides to repair, and nothing is repaired that is not provably wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....errors import StoreError
from ..base import Snapshot
from .links import unlink
from .payload import MARK_KEY, SESSION_KEYS, is_memory
from .rows import LINKED_KEY, Row, linked_ids

if TYPE_CHECKING:
    from .rows import Backend
    from .store import Mem0Store

_MERGED_FROM = "merged_from"


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of the links of a store.

    Attributes:
        memories: Rows of the collection.
        entities: Rows beside it; None if the application links nothing.
        links: How often an entity names a memory.
        dead: By entity, the ids it names that no memory has.
        bare: Merged memories that name things, and that no entity names.
        unread: Merged memories that no entity names, and whose text cannot be read for want of spaCy.
        gaps: Why none of this may be relied on.
    """

    memories: int
    entities: int | None
    links: int = 0
    dead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()
    unread: int = 0
    gaps: tuple[str, ...] = ()

    @property
    def orphans(self) -> int:
        """Links to memories that are gone."""
        return sum(map(len, self.dead.values()))

    @property
    def ok(self) -> bool:
        """Whether there is nothing to repair."""
        return not self.dead and not self.bare


def diagnose(store: Mem0Store) -> Condition:
    """Count what is linked to what; changes nothing."""
    backend, entities = store.backend, store.backend.entities()
    rows = {row.id: row for row in backend.rows({})}
    gaps = (*backend.faults(), *_miscounted(backend, len(rows)))
    if entities is None:
        return Condition(len(rows), None, gaps=gaps)
    named = {row.id: tuple(linked_ids(row.payload)) for row in entities.rows({})}
    gaps += (*entities.faults(), *_miscounted(entities, len(named)))
    linked = {memory_id for ids in named.values() for memory_id in ids}
    dead = {name: tuple(i for i in ids if i not in rows) for name, ids in named.items()}
    merged = [
        row for row in rows.values() if _is_merged(row) and row.id not in linked and is_memory(row.payload)
    ]
    readable = _reads_entities()
    bare = tuple(sorted(row.id for row in merged if readable and _entities_in(row)))
    return Condition(
        memories=len(rows),
        entities=len(named),
        links=sum(map(len, named.values())),
        dead={name: ids for name, ids in sorted(dead.items()) if ids},
        bare=bare,
        unread=0 if readable else len(merged),
        gaps=tuple(dict.fromkeys(gaps)),
    )


def entity_snapshots(store: Mem0Store, ids: Iterable[str]) -> dict[str, Snapshot]:
    """Copies of entity rows, those that exist."""
    entities = store.backend.entities()
    rows = entities.get(list(ids)) if entities is not None else {}
    return {
        key: Snapshot(key, dict(row.payload), row.vector, (dict(row.sparse),)) for key, row in rows.items()
    }


def drop_links(store: Mem0Store, entity_id: str, dead: Iterable[str]) -> bool:
    """Take ids out of an entity, each only if no memory has it now; an entity that names nothing goes.

    Returns:
        Whether anything was to be done.
    """
    entities = store.backend.entities()
    row = entities.get([entity_id]).get(entity_id) if entities is not None else None
    if entities is None or row is None:
        return False
    store.probe()
    gone = set(dead) - store.backend.get(list(dead)).keys()
    ids = linked_ids(row.payload)
    staying = [memory_id for memory_id in ids if memory_id not in gone]
    if len(staying) == len(ids):
        return False
    if staying:
        entities.put(_naming(row, staying))
    else:
        entities.remove(entity_id)
    left = entities.get([entity_id]).get(entity_id)
    if (linked_ids(left.payload) if left is not None else []) != staying:
        raise StoreError(f"The store did not keep entity {entity_id} as written.", ids=(entity_id,))
    return True


def put_links_back(store: Mem0Store, before: Snapshot) -> bool:
    """Name in an entity again what a repair took out; where nothing else changed it becomes as it was."""
    entities = store.backend.entities()
    if entities is None:
        return False
    sparse: Mapping[str, Any] = before.links[0] if before.links else {}
    recorded = Row(before.id, before.payload, before.vector, sparse)
    row = entities.get([before.id]).get(before.id)
    then, now = linked_ids(before.payload), linked_ids(row.payload) if row is not None else []
    if set(then) <= set(now):
        return False
    if row is None or set(now) <= set(then):
        entities.put(recorded)
    else:
        entities.put(_naming(row, [*now, *(each for each in then if each not in now)]))
    return True


def link_memory(store: Mem0Store, memory_id: str) -> bool:
    """Link a memory as mem0 does when it learns one; whether any entity names it then."""
    row = store.backend.get([memory_id]).get(memory_id)
    if row is None or store.backend.entities() is None:
        return False
    _ = store.memory.entity_store  # mem0 links only once it has opened this
    session = {key: row.payload[key] for key in SESSION_KEYS if row.payload.get(key)}
    store.memory._link_entities_for_memory(memory_id, str(row.payload.get("data")), session)  # noqa: SLF001
    entities = store.backend.entities()
    return entities is not None and bool(entities.linking([memory_id]))


def unlink_memory(store: Mem0Store, memory_id: str) -> None:
    """Take a memory out of every entity again."""
    unlink(store.backend.entities(), memory_id)


def _naming(row: Row, ids: list[str]) -> Row:
    return Row(row.id, {**row.payload, LINKED_KEY: ids}, row.vector, row.sparse)


def _is_merged(row: Row) -> bool:
    return bool(row.payload.get(MARK_KEY) or row.payload.get(_MERGED_FROM))


def _reads_entities() -> bool:
    """Whether mem0 can find the entities of a text: it needs spaCy and says nothing without it."""
    import importlib.util

    return importlib.util.find_spec("spacy") is not None


def _entities_in(row: Row) -> bool:
    from mem0.memory.main import extract_entities

    return bool(extract_entities(str(row.payload.get("data") or "")))


def _miscounted(backend: Backend, listed: int) -> tuple[str, ...]:
    count = backend.count({})
    return () if count is None or count == listed else (f"the store counts {count} rows and lists {listed}",)
