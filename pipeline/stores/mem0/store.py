"""The store of mem0's open-source `Memory`.

It reads raw rows, because mem0's own listing hides expired rows and core keys, and changes them
through mem0 wherever mem0 does not alter what must stay: a delete and an add go through its client,
while a retirement and a restoration write the row itself, so that no vector is computed again.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import DreamError, RefusedChangeError, StoreError, UsageError
from ....models.text.tables import table_lines
from ....records import Memory, Scope, as_utc
from .. import base
from ..base import Capabilities, ScopeFilter, Snapshot, Store
from . import rows
from .backends import choose_backend, store_fingerprint
from .rows import SCOPE_KEYS, SESSION_KEYS, asking, is_memory, moment, parse_memory, scope_of, sentence

if TYPE_CHECKING:
    from .doctor import EntityLinks

_log = logging.getLogger(__name__)
# A retired memory keeps its hash behind this, so that mem0's add() may learn the same fact again.
RETIRED_PREFIX = "mem0-dream-retired:"
# How many results a search may return before a memory counts as not found: first as many as an
# agent asks for, then enough to see past a crowd of equal texts that is about to be merged.
_SEARCH_BOUNDS = (20, 1000)
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
        from .doctor import EntityLinks

        return EntityLinks(self)

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        filters = scopes.known(SCOPE_KEYS, self.kind)
        # Rows without a role are the user's too, so the store cannot be asked for this one.
        own = filters.get("role", "").lower() == "user" and bool(filters.pop("role"))
        listed, gaps = self.backend.listed(filters)
        memories = (self.parse(row) for row in listed if is_memory(row.payload))
        return (memory for memory in memories if not (own and memory.scope.get("role"))), gaps

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; an id is absent from the answer only if it is truly gone."""
        found = self._present(ids)
        links = rows.links_of(self.backend.entities(), found.values())
        return {key: deepcopy(replace(found[key], links=links[key])) for key in ids if key in found}

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
        scope = {key: row.payload[key] for key in SESSION_KEYS if row.payload.get(key)}
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
            raise StoreError(
                f"mem0 reports memory {added} as added, but the store does not hold it.", ids=(added,)
            )
        dates = {key: own[key] for key in ("created_at", "updated_at")}
        with asking("noting an addition in mem0's history"):
            told = {key: own.get(key) for key in ("actor_id", "role")}
            memory.db.add_history(added, None, change.text, "ADD", **dates, **told)
        if self.backend.entities() is not None:
            session = {key: ids[key] for key in SESSION_KEYS if key in ids}
            memory._link_entities_for_memory(added, change.text, session)
        return added

    def _kept_of(self, ids: Sequence[str]) -> dict[str, Any]:
        payloads = [row.payload for row in self.backend.get(ids).values()]
        roles = [str(payload["role"]) for payload in payloads if payload.get("role")]
        dated = [at for payload in payloads if (at := moment(payload.get("updated_at"))) is not None]
        kept = {"role": min(roles)} if roles else {}
        return kept | ({"updated_at": max(dated).isoformat()} if dated else {})

    def _update(self, change: base.Update) -> str:
        self._row(change.id)
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
        payload = {**row.payload, **self._storable(change.metadata)}
        if change.created_at is not None and moment(row.payload.get("created_at")) != change.created_at:
            payload["created_at"] = as_utc(change.created_at).isoformat()
        if change.expires is not None:
            payload.pop("expiration_date", None)
            payload |= {"expiration_date": change.expires} if change.expires else {}
        return self._put(replace(row, payload=payload))

    def _delete(self, change: base.Delete) -> str:
        memory_id = change.id
        if self._present([memory_id]):
            try:
                self.memory.delete(memory_id)
            except Exception as error:
                # mem0 deletes the row first and may fail on its history afterwards.
                if self._present([memory_id]):
                    raise StoreError(f"Memory {memory_id} could not be deleted.", ids=(memory_id,)) from error
                _log.warning("memory %s is deleted, but mem0 could not record it in its history", memory_id)
        if self._present([memory_id]):
            raise StoreError(
                f"mem0 reports memory {memory_id} as deleted, but it is still there.", ids=(memory_id,)
            )
        rows.unlink(self.backend.entities(), memory_id)
        return memory_id

    def _retire(self, change: base.Retire) -> str:
        row = self._row(change.id)
        own = RETIRED_PREFIX + str(row.payload.get("hash") or "").removeprefix(RETIRED_PREFIX)
        expiry = {"expiration_date": change.day.isoformat(), "hash": own}
        return self._put(replace(row, payload={**row.payload, **self._storable(change.metadata), **expiry}))

    def _restore(self, change: base.Restore) -> str:
        snapshot = change.snapshot
        row = rows.with_sparse(snapshot, rows.sparse_of(snapshot))
        if self.backend.one(snapshot.id) != row:
            self._put(row)
        rows.relink(self.backend.entities(), snapshot.links, snapshot.id)
        return snapshot.id

    def _put(self, row: Snapshot) -> str:
        self.backend.put(row)
        stored = self.backend.one(row.id)
        if stored is None or dict(stored.payload) != dict(row.payload):
            raise StoreError(f"The store did not keep memory {row.id} as written.", ids=(row.id,))
        return row.id

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
        self.backend.count({})
        for fault in self.backend.faults() if self.backend.verbatim else ():
            raise StoreError(sentence(fault))


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
