"""The store of mem0's open-source `Memory`.

It reads raw rows, because mem0's own listing hides expired rows and core keys, and changes them
through mem0 wherever mem0 does not alter what must stay: a delete and an add go through its client,
while a retirement and a restoration write the row itself, so that no vector is computed again.

The links beside a collection are a store of their own, repaired like memories. mem0 forgets to unlink a
memory that is deleted in a fresh process, so that a search finds entities of memories that are gone; and a
memory that was added without inference is linked to no entity, so that it ranks lower than it should. A
record says what is wrong in one place, and a repair makes its text empty: of an entity the ids it names that
no memory has; of a merged memory that no entity names, a word.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import logging
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ....errors import DreamError, RefusedChangeError, StoreError, UsageError
from ....models.text.tables import table_lines
from ....records import Memory, Scope, as_utc
from ...plan import Member, Plan, Rewrite
from .. import base
from ..base import LINKS, Capabilities, ScopeFilter, Snapshot, Store, refuse_moved
from . import rows
from .backends import choose_backend, store_fingerprint
from .rows import SCOPE_KEYS, SESSION_KEYS, asking, is_memory, moment, parse_memory, scope_of, sentence

_log = logging.getLogger(__name__)
# A retired memory keeps its hash behind this, so that mem0's add() may learn the same fact again.
RETIRED_PREFIX = "mem0-dream-retired:"
# How many results a search may return before a memory counts as not found: first as many as an
# agent asks for, then enough to see past a crowd of equal texts that is about to be merged.
_SEARCH_BOUNDS = (20, 1000)
_SCOPE = Scope.of(index="entities")
_BARE = "unlinked memory "
_UNLINKED = "unlinked"
Section = Mapping[str, Any] | None


class Mem0Store(Store):
    """A `mem0.Memory` as a store; `UsageError` if it is another kind of client.

    An owned client is closed with it. `section` and `llm` are the sections `mem0_dream` and `llm` of the
    configuration it was opened with, as they stand there; the second may hold a key.
    """

    kind = "mem0"
    fidelity = table_lines("listings", "mem0")

    def __init__(
        self, memory: Any, *, owned: bool = False, section: Section = None, llm: Section = None
    ) -> None:
        memory = getattr(memory, "_tracked", memory)  # our own reads are no reads of the agent
        if inspect.iscoroutinefunction(getattr(memory, "search", None)):
            raise UsageError(
                "An AsyncMemory cannot be consolidated here; use `await aconsolidate(...)`, or open a Memory."
            )
        if not hasattr(getattr(memory, "config", None), "vector_store"):
            raise UsageError(f"{type(memory).__name__} is no mem0 Memory.")
        self.section = dict(section or {})
        named = getattr(memory.config, "llm", None)
        own = {"provider": named.provider, "config": named.config} if named is not None else None
        self.llm = llm if owned else own  # an owned client has a stand-in that is never asked anything
        self.memory, self._owned = memory, owned
        self.backend = choose_backend(memory)
        self.fingerprint = store_fingerprint(memory)
        verbatim = self.backend.verbatim
        self.capabilities = Capabilities(retire=verbatim, vector=verbatim, amend=verbatim)

    @property
    def links(self) -> EntityLinks:
        """The links beside the collection, as a store of their own."""
        return EntityLinks(self)

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        filters = scopes.known(SCOPE_KEYS, self.kind)
        # Rows without a role are the user's too, so the store cannot be asked for this one.
        own = filters.get("role", "").lower() == "user" and bool(filters.pop("role"))

        def read(row: Snapshot) -> Memory | None:
            memory = self.parse(row) if is_memory(row.payload) else None
            return None if memory is None or (own and memory.scope.get("role")) else memory

        return self.backend.listed(filters, read)

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh, with all outside of them that an undo needs."""
        found, entities = self._present(ids), self.backend.entities()
        links = {row.id: list(row.links) for row in found.values()}
        linking = entities.linking(sorted(found)) if entities is not None else ()
        for entity in sorted(linking, key=lambda row: row.id):
            for memory_id in found.keys() & set(rows.linked_ids(entity.payload)):
                links[memory_id].append(rows.as_link(entity))
        return {key: deepcopy(replace(found[key], links=tuple(links[key]))) for key in ids if key in found}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return parse_memory(snapshot)

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""
        row = self.backend.one(_marked_id(mark))
        return row.id if row is not None and scope_of(row.payload) == scope_of(dict(scope.ids)) else None

    def finds(self, memory_id: str) -> bool:
        """Whether a search in its scope for the memory's own vector, as it is stored, returns it.

        A memory without text, without an id that mem0 searches by, or that has expired is never found.
        """
        row = self.backend.one(memory_id)
        if row is None or not str(row.payload.get("data") or "").strip():
            return False
        scope = _session(row.payload)
        # mem0 stores an id with white space in it, but refuses to search by it.
        hidden = parse_memory(row).is_retired(datetime.now(UTC).date())
        if hidden or not scope or any(re.search(r"\s", str(value)) for value in scope.values()):
            return False
        if row.vector is None:
            return True  # a store that gives out no vectors is read-only, so nothing rests on this
        asked = {"query": str(row.payload.get("data")), "vectors": list(row.vector)}
        for bound in _SEARCH_BOUNDS:
            with asking("searching the store"):
                hits = self.memory.vector_store.search(**asked, top_k=bound, filters=dict(scope))
            if any(str(hit.id) == memory_id for hit in hits):
                return True
        return False

    def write(self, change: base.Change) -> str:
        """Make one change, and see that the store did it."""
        for fault in self.backend.faults():
            raise StoreError(sentence(fault))
        return super().write(change)

    def backup(self, folder: Path) -> tuple[Path, ...]:
        """Copy the files of a store that rewrites whole files; for the others the journal is enough."""
        return self.backend.backup(folder)

    def close(self) -> None:
        """Release files, locks and connections, if this store opened them."""
        self.backend.close()
        if not self._owned:
            return
        self.memory.close()
        for client in (self.memory.vector_store, self.memory._entity_store):
            for name in ("client", "connection_pool"):
                rows.hang_up(getattr(client, name, None))

    def _add(self, change: base.Add) -> str:
        """Store a memory as mem0's `add(infer=False)` does, in one step, under an id made of the mark.

        `add` itself chooses the id, writes a role of its own and drops an app id; the memory would be in the
        wrong scope, and could not be found again, if the process died before that was corrected.
        """
        from mem0.memory.main import lemmatize_for_bm25

        memory, ids, added = self.memory, dict(change.scope.ids), _marked_id(change.mark)
        own = {**change.metadata, **self._kept_of(change.like), **ids}
        if change.created_at is not None:
            own["created_at"] = as_utc(change.created_at).isoformat()
        created = own.setdefault("created_at", datetime.now(UTC).isoformat())
        own |= {"data": change.text, "hash": hashlib.md5(change.text.encode()).hexdigest()}  # noqa: S324  (mem0's)
        own.setdefault("updated_at", created)
        own["text_lemmatized"] = lemmatize_for_bm25(change.text)
        with embedding(memory):
            vector = memory.embedding_model.embed(change.text, "add")
        with asking("adding a memory"):
            memory.vector_store.insert(vectors=[vector], ids=[added], payloads=[self._storable(own)])
        if self.backend.one(added) is None:
            told = f"mem0 reports memory {added} as added, but the store does not hold it."
            raise StoreError(told, ids=(added,))
        dates = {key: own[key] for key in ("created_at", "updated_at")}
        with asking("noting an addition in mem0's history"):
            whose = {key: own.get(key) for key in ("actor_id", "role")}
            memory.db.add_history(added, None, change.text, "ADD", **dates, **whose)
        if self.backend.entities() is not None:
            self.link(Snapshot(added, own))
        return added

    def link(self, row: Snapshot) -> None:
        """Link a memory to the entities of its text, as mem0 does when it learns one."""
        _ = self.memory.entity_store  # mem0 links only once it has opened this
        self.memory._link_entities_for_memory(row.id, str(row.payload.get("data")), _session(row.payload))

    def _kept_of(self, ids: Sequence[str]) -> dict[str, Any]:
        payloads = [row.payload for row in self.backend.get(ids).values()]
        roles = [str(payload["role"]) for payload in payloads if payload.get("role")]
        dated = [at for payload in payloads if (at := moment(payload.get("updated_at"))) is not None]
        kept = {"role": min(roles)} if roles else {}
        return kept | ({"updated_at": max(dated).isoformat()} if dated else {})

    def _update(self, change: base.Update) -> str:
        refuse_moved(self.parse(self._row(change.id)), change.was)
        with asking(f"updating memory {change.id}"):
            if self.backend.entities() is not None:
                _ = self.memory.entity_store  # mem0 moves links only once it has opened this
            self.memory.update(change.id, text=change.text)
        row = self.backend.one(change.id)
        if row is None or row.payload.get("data") != change.text:
            raise StoreError(f"The store did not keep memory {change.id} as written.", ids=(change.id,))
        return change.id

    def _amend(self, change: base.Amend) -> str:
        row = self._row(change.id)
        refuse_moved(self.parse(row), change.was)
        payload = {**row.payload, **self._storable(change.metadata)}
        if change.created_at is not None and moment(row.payload.get("created_at")) != change.created_at:
            payload["created_at"] = as_utc(change.created_at).isoformat()
        if change.expires is not None:
            payload.pop("expiration_date", None)
            payload |= {"expiration_date": change.expires} if change.expires else {}
        return self._put(replace(row, payload=payload), held=row)

    def _delete(self, change: base.Delete) -> str:
        memory_id = change.id
        if (row := self._present([memory_id]).get(memory_id)) is not None:
            refuse_moved(self.parse(row), change.was)
            try:
                with self.backend.removing(self.memory.vector_store, row):
                    self.memory.delete(memory_id)
            except RefusedChangeError:
                raise
            except Exception as error:
                # mem0 deletes the row first and may fail on its history afterwards.
                if self._present([memory_id]):
                    raise StoreError(f"Memory {memory_id} could not be deleted.", ids=(memory_id,)) from error
                _log.warning("memory %s is deleted, but mem0 could not record it in its history", memory_id)
        if self._present([memory_id]):
            told = f"mem0 reports memory {memory_id} as deleted, but it is still there."
            raise StoreError(told, ids=(memory_id,))
        rows.unlink(self.backend.entities(), memory_id)
        return memory_id

    def _retire(self, change: base.Retire) -> str:
        row = self._row(change.id)
        refuse_moved(self.parse(row), change.was)
        own = RETIRED_PREFIX + str(row.payload.get("hash") or "").removeprefix(RETIRED_PREFIX)
        expiry = {"expiration_date": change.day.isoformat(), "hash": own}
        changed = {**row.payload, **self._storable(change.metadata), **expiry}
        return self._put(replace(row, payload=changed), held=row)

    def _restore(self, change: base.Restore) -> str:
        snapshot = change.snapshot
        row = rows.with_sparse(snapshot, rows.sparse_of(snapshot))
        if (held := self.backend.one(snapshot.id)) != row:
            if held is not None:
                refuse_moved(self.parse(held), change.was)
            self._put(row, held=held)
        rows.relink(self.backend.entities(), snapshot.links, snapshot.id)
        return snapshot.id

    def _put(self, row: Snapshot, *, held: Snapshot | None) -> str:
        """Write a row in the place of another one, unless that was written meanwhile."""
        self.backend.put(row, held)
        stored = self.backend.one(row.id)
        if stored is not None and held is not None:
            refuse_moved(self.parse(stored), self.parse(row).text_hash)
        if stored is None or dict(stored.payload) != dict(row.payload):
            raise StoreError(f"The store did not keep memory {row.id} as written.", ids=(row.id,))
        return row.id

    def _refuse_moved(self, memory_id: str, was: str) -> None:
        """Each change looks itself, at the row that it reads last."""

    def _present(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """The rows that there are; one that is absent is so while the store answers."""
        found = self.backend.get(ids)
        if len(found) < len(set(ids)):
            self.probe()
            found |= self.backend.get([row_id for row_id in ids if row_id not in found])
        return found

    def _row(self, memory_id: str) -> Snapshot:
        row = self._present([memory_id]).get(memory_id)
        if row is None:
            raise StoreError(f"Memory {memory_id} is not in the store.", ids=(memory_id,))
        return row

    def _storable(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        return rows.encoded(metadata) if self.backend.provider == "chroma" else dict(metadata)

    def probe(self) -> None:
        """`StoreError` unless an absent row is absent, and not hidden by a store that is down or damaged."""
        self.backend.answers()
        for fault in self.backend.faults() if self.backend.verbatim else ():
            raise StoreError(sentence(fault))


def _session(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: payload[key] for key in SESSION_KEYS if payload.get(key)}


def _marked_id(mark: str) -> str:
    """The id of the memory that is added with a mark: nothing of ours stands in its payload."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"mem0-dream:{mark}"))


@contextmanager
def embedding(memory: Any) -> Iterator[None]:
    """Name the embedder as the cause if the block fails: this change is refused, and the others go on."""
    try:
        yield
    except Exception as error:
        provider = getattr(getattr(memory.config, "embedder", None), "provider", "configured")
        reason = str(error) if isinstance(error, DreamError) else rows.describe(error)
        raise RefusedChangeError(
            f"the {provider} embedder of mem0's configuration failed ({reason}), so no new text can be stored"
        ) from error


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
    """What is wrong with the links beside a mem0 store, record by record; it is not closed with them."""

    kind = "mem0 links"
    capabilities = Capabilities(in_place=True)

    def __init__(self, store: Mem0Store) -> None:
        self._store = store
        self._memories: rows.Backend = store.backend
        self.fingerprint: str = store.fingerprint + LINKS

    def diagnose(self) -> Condition:
        """Count what is linked to what; changes nothing."""
        listed, gaps = self._memories.listed({}, lambda row: row)
        held, entities = {row.id: row for row in listed}, self._memories.entities()
        if entities is None:
            return Condition(len(held), None, gaps=gaps)
        naming, more = entities.listed({}, lambda row: row)
        named = {row.id: rows.linked_ids(row.payload) for row in naming}
        linked = {memory_id for ids in named.values() for memory_id in ids}
        dead = {name: tuple(i for i in ids if i not in held) for name, ids in sorted(named.items())}
        unlinked = [row for row in held.values() if row.id not in linked and is_memory(row.payload)]
        merged, readable = [row for row in unlinked if row.payload.get("merged_from")], _reads_entities()
        return Condition(
            memories=len(held),
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
        present = entities.get(name for name in ids if not name.startswith(_BARE))
        found: dict[str, Snapshot] = {}
        for name in ids:
            row, wrong = present.get(name), ""
            if not name.startswith(_BARE):
                wrong = "\n".join(self._split(row)[1])
            elif not entities.linking([name.removeprefix(_BARE)]):
                wrong = _UNLINKED
            found[name] = Snapshot(name, {"wrong": wrong}, links=(rows.as_link(row),) if row else ())
        return found

    def parse(self, snapshot: Snapshot) -> Memory:
        """What is wrong, as a text."""
        return Memory(snapshot.id, str(snapshot.payload["wrong"]), _SCOPE)

    def finds(self, memory_id: str) -> bool:  # noqa: ARG002
        """No agent searches for links."""
        return True

    def write(self, change: base.Change) -> str:
        """Make one repair, or take it back."""
        entities = self._memories.entities()
        if entities is None or not isinstance(change, base.Update | base.Restore):
            raise RefusedChangeError("the links of a mem0 store take no such change")
        name = change.id if isinstance(change, base.Update) else change.snapshot.id
        memory_id = name.removeprefix(_BARE)
        if isinstance(change, base.Restore):
            if memory_id != name:
                rows.unlink(entities, memory_id)
            else:
                rows.relink(entities, change.snapshot.links)
        elif memory_id != name:
            if (row := self._memories.one(memory_id)) is None:
                raise RefusedChangeError(f"memory {memory_id} is gone")
            self._store.link(row)
        elif (row := entities.one(name)) is not None:
            staying = self._split(row)[0]
            rows.let_name(entities, row, staying)
            left = entities.one(name)
            if (rows.linked_ids(left.payload) if left is not None else []) != staying:
                raise StoreError(f"The store did not keep entity {name} as written.", ids=(name,))
        return name

    def _split(self, entity: Snapshot | None) -> tuple[list[str], list[str]]:
        ids = rows.linked_ids(entity.payload) if entity is not None else []
        present = self._memories.get(ids)
        return [each for each in ids if each in present], [each for each in ids if each not in present]


def _reads_entities() -> bool:
    """Whether mem0 can find the entities of a text: it needs spaCy and says nothing without it."""
    return importlib.util.find_spec("spacy") is not None


def _names_anything(row: Snapshot) -> bool:
    from mem0.memory.main import extract_entities

    return any(True for _ in extract_entities(str(row.payload.get("data") or "")))
