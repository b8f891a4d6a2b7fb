"""The store of mem0's open-source `Memory`.

It reads raw rows, because mem0's own listing hides expired rows and core keys, and changes them
through mem0 wherever mem0 does not alter what must stay: a delete and an add go through its client,
while a retirement and a restoration write the row itself, so that no vector is computed again.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ....errors import StoreError, UsageError
from ....records import Inventory, Memory, Scope, as_utc
from ..base import Add, Amend, Capabilities, Change, Delete, Restore, Retire, ScopeFilter, Snapshot, Update
from .backends import choose_backend
from .embedder import embedding
from .links import links_of, relink, sparse_of, unlink
from .payload import (
    MARK_KEY,
    SCOPE_KEYS,
    SESSION_KEYS,
    encoded,
    is_memory,
    moment,
    parse_memory,
    scope_of,
)
from .place import store_fingerprint
from .rows import Backend, Filters, Row, asking, describe, hang_up, sentence

_log = logging.getLogger(__name__)

# A retired memory keeps its hash behind this, so that mem0's add() may learn the same fact again.
RETIRED_PREFIX = "mem0-dream-retired:"
# How many results a search may return before a memory counts as not found: first as many as an
# agent asks for, then enough to see past a crowd of equal texts that is about to be merged.
_SEARCH_BOUNDS = (20, 1000)
_HISTORY_NOTE = "mem0's history database keeps each delete and each addition as an event, also after an undo"
_VECTOR_NOTE = "the store does not give out vectors, so an undo embeds the text again"


class Mem0Store:
    """A `mem0.Memory` as a store.

    Args:
        memory: The client, constructed by the user or by `open_mem0`.
        owned: Whether `close` closes the client too.
        section: The `mem0_dream:` section of the configuration it was opened with.
        llm: The section `llm` of that configuration, as it stands there.

    Raises:
        UsageError: If it is another kind of client.
    """

    kind = "mem0"

    def __init__(
        self,
        memory: Any,  # noqa: ANN401  (mem0 is untyped)
        *,
        owned: bool = False,
        section: Mapping[str, Any] | None = None,
        llm: Mapping[str, Any] | None = None,
    ) -> None:
        self.section = dict(section or {})
        self._llm = llm
        memory = getattr(memory, "_tracked", memory)  # our own reads are no reads of the agent
        _refuse_other_clients(memory)
        self._memory = memory
        self._owned = owned
        self._backend: Backend = choose_backend(memory)
        self._fingerprint = store_fingerprint(memory)

    @property
    def memory(self) -> Any:  # noqa: ANN401
        """The mem0 client itself."""
        return self._memory

    @property
    def backend(self) -> Backend:
        """The raw rows of the collection."""
        return self._backend

    @property
    def fingerprint(self) -> str:
        """Equal for equal places; holds no secret."""
        return self._fingerprint

    @property
    def llm(self) -> Mapping[str, Any] | None:
        """Provider and configuration of the user's own language model; it may hold a key."""
        if self._owned:  # then the client has a stand-in that is never asked anything
            return self._llm
        named = getattr(getattr(self._memory, "config", None), "llm", None)
        return {"provider": named.provider, "config": named.config} if named is not None else None

    @property
    def capabilities(self) -> Capabilities:
        """What this vector store can do."""
        verbatim = self._backend.verbatim
        return Capabilities(retire=verbatim, vector=verbatim, amend=verbatim)

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, expired ones included.

        Raises:
            UsageError: If the filter names an id that mem0 does not know, or an empty one.
            StoreError: If the store cannot be asked.
        """
        filters = _checked(scopes)
        # Rows without a role are the user's too, so the store cannot be asked for this one.
        own = filters.get("role", "").lower() == "user" and bool(filters.pop("role"))
        before = self._backend.count(filters)
        rows = list(self._backend.rows(filters))
        after = self._backend.count(filters)
        memories = (self.parse(Snapshot(row.id, row.payload)) for row in rows if is_memory(row.payload))
        return Inventory(
            store=self._fingerprint,
            memories=tuple(
                sorted(
                    (memory for memory in memories if not (own and memory.scope.get("role"))),
                    key=lambda memory: memory.id,
                )
            ),
            gaps=(*self._backend.faults(), *_miscounted(before, len({row.id for row in rows}), after)),
            fidelity=(_HISTORY_NOTE,) if self._backend.verbatim else (_HISTORY_NOTE, _VECTOR_NOTE),
        )

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; an id is absent from the answer only if it is truly gone."""
        rows = self._backend.get(ids)
        if len(rows) < len(set(ids)):
            self.probe()
            rows |= self._backend.get([row_id for row_id in ids if row_id not in rows])
        links = links_of(self._backend.entities(), rows.values())
        return {
            key: Snapshot(key, deepcopy(dict(rows[key].payload)), rows[key].vector, deepcopy(links[key]))
            for key in ids
            if key in rows
        }

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return parse_memory(snapshot)

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""
        wanted = scope_of(dict(scope.ids))
        rows = self._backend.rows({MARK_KEY: mark})
        return min((row.id for row in rows if scope_of(row.payload) == wanted), default=None)

    def finds(self, memory_id: str) -> bool:
        """Whether a search in its scope for the memory's own vector returns it.

        The vector is the one that the store gives back, so nothing is embedded again and no text leaves
        the machine. A memory without text, without an id that mem0 searches by, or that has expired is
        never found.
        """
        row = self._backend.get([memory_id]).get(memory_id)
        if row is None or not str(row.payload.get("data") or "").strip():
            return False
        scope = {key: row.payload[key] for key in SESSION_KEYS if row.payload.get(key)}
        # mem0 stores an id with white space in it, but refuses to search by it.
        hidden = parse_memory(Snapshot(row.id, row.payload)).is_retired(datetime.now(UTC).date())
        if hidden or not scope or any(re.search(r"\s", str(value)) for value in scope.values()):
            return False
        return any(memory_id in self._search(row, scope, bound) for bound in _SEARCH_BOUNDS)

    def write(self, change: Change) -> str:
        """Make one change and return the id it concerns.

        Raises:
            StoreError: If the store did not do it.
        """
        self._refuse_damage()
        match change:
            case Add():
                return self._add(change)
            case Update():
                return self._update(change)
            case Amend():
                return self._amend(change)
            case Delete():
                return self._delete(change.id)
            case Retire():
                return self._retire(change)
            case Restore():
                return self._restore(change.snapshot)

    def backup(self, directory: Path) -> tuple[Path, ...]:
        """Copy the files of a store that rewrites whole files; empty where there are none.

        The other stores commit each change on their own, so the journal is enough for them.
        """
        copy = getattr(self._backend, "backup", None)
        return tuple(copy(directory)) if copy is not None else ()

    def close(self) -> None:
        """Release files, locks and connections, if this store opened them."""
        release = getattr(self._backend, "close", None)
        if release is not None:
            release()
        if not self._owned:
            return
        self._memory.close()
        for client in (self._memory.vector_store, self._memory._entity_store):  # noqa: SLF001
            for name in ("client", "connection_pool"):
                hang_up(getattr(client, name, None))

    def _add(self, change: Add) -> str:
        """Store a memory as mem0's `add(infer=False)` does, but in one step.

        `add` itself always writes a role and drops an app id. Correcting that afterwards would leave
        a memory in the wrong scope if the process died in between, so the step beneath is called.
        """
        ids = dict(change.scope.ids)
        metadata = {**change.metadata, MARK_KEY: change.mark}
        if change.created_at is not None:
            metadata["created_at"] = as_utc(change.created_at).isoformat()
        if self._backend.provider == "chroma":
            metadata = encoded(metadata)
        with embedding(self._memory):
            vector = self._memory.embedding_model.embed(change.text, "add")
        with asking("adding a memory"):
            added = str(self._memory._create_memory(change.text, {change.text: vector}, {**metadata, **ids}))  # noqa: SLF001
        if not self._backend.get([added]):
            raise StoreError(
                f"mem0 reports memory {added} as added, but the store does not hold it.", ids=(added,)
            )
        if self._backend.entities() is not None:
            session = {key: ids[key] for key in SESSION_KEYS if key in ids}
            self._memory._link_entities_for_memory(added, change.text, session)  # noqa: SLF001
        return added

    def _update(self, change: Update) -> str:
        if not self._exists(change.id):
            raise StoreError(f"Memory {change.id} is not in the store.", ids=(change.id,))
        with asking(f"updating memory {change.id}"):
            if self._backend.entities() is not None:
                _ = self._memory.entity_store  # mem0 moves links only once it has opened this
            self._memory.update(change.id, text=change.text)
        row = self._backend.get([change.id]).get(change.id)
        if row is None or row.payload.get("data") != change.text:
            raise StoreError(f"The store did not keep memory {change.id} as written.", ids=(change.id,))
        return change.id

    def _amend(self, change: Amend) -> str:
        row = self._backend.get([change.id]).get(change.id)
        if row is None:
            raise StoreError(f"Memory {change.id} is not in the store.", ids=(change.id,))
        metadata = dict(change.metadata)
        payload = {**row.payload, **(encoded(metadata) if self._backend.provider == "chroma" else metadata)}
        if change.created_at is not None and moment(row.payload.get("created_at")) != change.created_at:
            payload["created_at"] = as_utc(change.created_at).isoformat()
        if change.expires is not None:
            payload.pop("expiration_date", None)
            payload |= {"expiration_date": change.expires} if change.expires else {}
        self._put(Row(row.id, payload, row.vector, row.sparse))
        return change.id

    def _delete(self, memory_id: str) -> str:
        if self._exists(memory_id):
            try:
                self._memory.delete(memory_id)
            except Exception as error:
                # mem0 deletes the row first and may fail on its history afterwards.
                if self._exists(memory_id):
                    raise StoreError(f"Memory {memory_id} could not be deleted.", ids=(memory_id,)) from error
                _log.warning("memory %s is deleted, but mem0 could not record it in its history", memory_id)
        if self._exists(memory_id):
            raise StoreError(
                f"mem0 reports memory {memory_id} as deleted, but it is still there.", ids=(memory_id,)
            )
        unlink(self._backend.entities(), memory_id)
        return memory_id

    def _retire(self, change: Retire) -> str:
        row = self._backend.get([change.id]).get(change.id)
        if row is None:
            raise StoreError(f"Memory {change.id} is not in the store.", ids=(change.id,))
        fingerprint = str(row.payload.get("hash") or "")
        marked = fingerprint if fingerprint.startswith(RETIRED_PREFIX) else RETIRED_PREFIX + fingerprint
        payload = {**row.payload, "expiration_date": change.day.isoformat(), "hash": marked}
        self._put(Row(row.id, payload, row.vector, row.sparse))
        return change.id

    def _restore(self, snapshot: Snapshot) -> str:
        vector = snapshot.vector
        if vector is None and not self._exists(snapshot.id):
            with asking(f"embedding memory {snapshot.id}"):
                text = str(snapshot.payload.get("data") or "")
                vector = tuple(self._memory.embedding_model.embed(text, "update"))
        row = Row(snapshot.id, snapshot.payload, vector, sparse_of(snapshot.links))
        if self._backend.get([snapshot.id]).get(snapshot.id) != row:
            self._put(row)
        relink(self._backend.entities(), snapshot.id, snapshot.links)
        return snapshot.id

    def _put(self, row: Row) -> None:
        self._backend.put(row)
        stored = self._backend.get([row.id]).get(row.id)
        if stored is None or dict(stored.payload) != dict(row.payload):
            raise StoreError(f"The store did not keep memory {row.id} as written.", ids=(row.id,))

    def _exists(self, memory_id: str) -> bool:
        if self._backend.get([memory_id]):
            return True
        self.probe()
        return bool(self._backend.get([memory_id]))

    def probe(self) -> None:
        """Make sure that an absent row is absent, and not hidden by a store that is down.

        Raises:
            StoreError: If the store does not answer a count, or is known to be damaged.
        """
        self._backend.count({})
        self._refuse_damage()

    def _refuse_damage(self) -> None:
        for fault in self._backend.faults() if self._backend.verbatim else ():
            raise StoreError(sentence(fault))

    def _search(self, row: Row, scope: Filters, bound: int) -> set[str]:
        if row.vector is None:
            return {row.id}  # a store that gives out no vectors is read-only, so nothing rests on this
        text, vector = str(row.payload.get("data")), list(row.vector)
        try:
            hits = self._memory.vector_store.search(
                query=text, vectors=vector, top_k=bound, filters=dict(scope)
            )
        except Exception as error:
            raise StoreError(f"Searching the store failed: {describe(error)}.") from error
        return {str(hit.id) for hit in hits}


def _refuse_other_clients(memory: Any) -> None:  # noqa: ANN401
    if inspect.iscoroutinefunction(getattr(memory, "search", None)):
        raise UsageError(
            "An AsyncMemory cannot be consolidated here; use `await aconsolidate(...)`, or open a Memory."
        )
    if not hasattr(getattr(memory, "config", None), "vector_store"):
        raise UsageError(f"{type(memory).__name__} is no mem0 Memory.")


def _checked(scopes: ScopeFilter) -> dict[str, str]:
    for name, value in scopes.ids.items():
        if name not in SCOPE_KEYS:
            raise UsageError(f"mem0 knows no {name}; a scope is made of {', '.join(SCOPE_KEYS)}.")
        if not str(value).strip():
            raise UsageError(f"{name} is empty; leave it out or name one.")
    return dict(scopes.ids)


def _miscounted(before: int | None, listed: int, after: int | None) -> tuple[str, ...]:
    """Why the counts around a listing do not prove it complete."""
    if before is None or after is None or before == listed == after:
        return ()
    reason = (
        f"{before} rows were counted before the listing, {listed} listed and {after} counted after it; "
        "stop the agent that writes to the store and run again"
    )
    return (reason,)
