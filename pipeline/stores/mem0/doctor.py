"""The links beside a mem0 collection as a store of their own, so that they are repaired like memories.

mem0 forgets to unlink a memory that is deleted in a fresh process, so that a search finds entities of
memories that are gone; and a memory that was added without inference is linked to no entity, so that it ranks
lower than it should. A record of this store says what is wrong in one place, and a repair makes its text
empty: of an entity the ids it names that no memory has; of a merged memory that no entity names, a word.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ....errors import RefusedChangeError, StoreError
from ....records import Memory, Scope
from ...plan import Member, Plan, Rewrite
from ..base import LINKS, Capabilities, Change, Restore, Snapshot, Store, Update
from .rows import SESSION_KEYS, Backend, as_link, is_memory, let_name, linked_ids, relink, unlink

_SCOPE = Scope.of(index="entities")
_BARE = "unlinked memory "
_UNLINKED = "unlinked"


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of the links of a store."""

    memories: int  # rows of the collection
    entities: int | None  # rows beside it; None if the application links nothing
    links: int = 0  # how often an entity names a memory
    # By entity, the ids it names that no memory has.
    dead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()  # merged memories that name things, and that no entity names
    unread: int = 0  # merged memories that no entity names, and whose text cannot be read for want of spaCy
    gaps: tuple[str, ...] = ()  # why none of this may be relied on

    @property
    def orphans(self) -> int:
        """Links to memories that are gone."""
        return sum(map(len, self.dead.values()))

    @property
    def ok(self) -> bool:
        """Whether there is nothing to repair."""
        return not self.dead and not self.bare


class EntityLinks(Store):
    """What is wrong with the links beside a mem0 store, record by record."""

    kind = "mem0 links"
    capabilities = Capabilities(in_place=True)

    def __init__(self, store: Any) -> None:
        """Bind the `Mem0Store` whose entities these are; it is not closed with them."""
        self._store = store
        self._memories: Backend = store.backend
        self.fingerprint: str = store.fingerprint + LINKS

    def diagnose(self) -> Condition:
        """Count what is linked to what; changes nothing."""
        listed, gaps = self._memories.listed({})
        rows, entities = {row.id: row for row in listed}, self._memories.entities()
        if entities is None:
            return Condition(len(rows), None, gaps=gaps)
        naming, more = entities.listed({})
        named = {row.id: linked_ids(row.payload) for row in naming}
        linked = {memory_id for ids in named.values() for memory_id in ids}
        dead = {name: tuple(i for i in ids if i not in rows) for name, ids in sorted(named.items())}
        unlinked = [row for row in rows.values() if row.id not in linked and is_memory(row.payload)]
        merged, readable = [row for row in unlinked if row.payload.get("merged_from")], _reads_entities()
        return Condition(
            memories=len(rows),
            entities=len(named),
            links=sum(map(len, named.values())),
            dead={name: ids for name, ids in dead.items() if ids},
            bare=tuple(sorted(row.id for row in merged if readable and _names_anything(row))),
            unread=0 if readable else len(merged),
            gaps=tuple(dict.fromkeys((*gaps, *more))),
        )

    def repairs(self, state: Condition, *, at: datetime) -> Plan:
        """The plan that drops the dead links and links the bare memories of a diagnosis."""
        wrong = {name: "\n".join(ids) for name, ids in state.dead.items()}
        wrong |= {_BARE + memory_id: _UNLINKED for memory_id in state.bare}
        actions = tuple(
            Rewrite(
                id=f"w{number}",
                scope=_SCOPE,
                category=None,
                members=(Member(name, text),),
                text="",
                reason="linked to no entity" if text == _UNLINKED else "names memories that are gone",
            )
            for number, (name, text) in enumerate(wrong.items(), 1)
        )
        return Plan(self.fingerprint, self.kind, at, "", (), actions, gaps=state.gaps)

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """The given records afresh; of an entity that is gone nothing is wrong."""
        self._store.probe()
        entities = self._memories.entities()
        if entities is None:
            raise StoreError("The entities beside this store are gone; nothing was changed.")
        rows = entities.get(name for name in ids if not name.startswith(_BARE))
        found: dict[str, Snapshot] = {}
        for name in ids:
            row, wrong = rows.get(name), ""
            if not name.startswith(_BARE):
                wrong = "\n".join(self._split(row)[1])
            elif not entities.linking([name.removeprefix(_BARE)]):
                wrong = _UNLINKED
            found[name] = Snapshot(name, {"wrong": wrong}, links=(as_link(row),) if row else ())
        return found

    def parse(self, snapshot: Snapshot) -> Memory:
        """What is wrong, as a text."""
        return Memory(snapshot.id, str(snapshot.payload["wrong"]), _SCOPE)

    def finds(self, memory_id: str) -> bool:  # noqa: ARG002
        """No agent searches for links."""
        return True

    def write(self, change: Change) -> str:
        """Make one repair, or take it back."""
        entities = self._memories.entities()
        if entities is None or not isinstance(change, Update | Restore):
            raise RefusedChangeError("the links of a mem0 store take no such change")
        name = change.id if isinstance(change, Update) else change.snapshot.id
        memory_id = name.removeprefix(_BARE)
        if isinstance(change, Restore):
            unlink(entities, memory_id) if memory_id != name else relink(entities, change.snapshot.links)
        elif memory_id != name:
            self._link(memory_id)
        elif (row := entities.one(name)) is not None:
            staying = self._split(row)[0]
            let_name(entities, row, staying)
            left = entities.one(name)
            if (linked_ids(left.payload) if left is not None else []) != staying:
                raise StoreError(f"The store did not keep entity {name} as written.", ids=(name,))
        return name

    def _split(self, entity: Snapshot | None) -> tuple[list[str], list[str]]:
        ids = linked_ids(entity.payload) if entity is not None else []
        present = self._memories.get(ids)
        return [each for each in ids if each in present], [each for each in ids if each not in present]

    def _link(self, memory_id: str) -> None:
        """Link a memory as mem0 does when it learns one."""
        row = self._memories.one(memory_id)
        if row is None:
            raise RefusedChangeError(f"memory {memory_id} is gone")
        memory = self._store.memory
        _ = memory.entity_store  # mem0 links only once it has opened this
        session = {key: row.payload[key] for key in SESSION_KEYS if row.payload.get(key)}
        memory._link_entities_for_memory(memory_id, str(row.payload.get("data")), session)


def _reads_entities() -> bool:
    """Whether mem0 can find the entities of a text: it needs spaCy and says nothing without it."""
    return importlib.util.find_spec("spacy") is not None


def _names_anything(row: Snapshot) -> bool:
    from mem0.memory.main import extract_entities

    return any(True for _ in extract_entities(str(row.payload.get("data") or "")))
