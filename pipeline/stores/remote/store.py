"""A store behind an HTTP interface: one `Store` for every service that fits the seam `Api`.

Nothing counts as done because the service said so: each change is read back. What the service decides
itself (ids, dates) is said beforehand (`Inventory.fidelity`), and noted so that it does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ....errors import RefusedChangeError, StoreError
from ....records import Inventory, Memory, Scope
from ..base import Add, Amend, Capabilities, Change, Delete, Restore, Retire, ScopeFilter, Snapshot, Update
from .calling import Caller
from .rows import (
    DATES_KEY,
    MARK_KEY,
    RESTORED_KEY,
    Listing,
    New,
    Row,
    dates_note,
    day_of,
    ids_of,
    memory_of,
    moment_words,
    row_metadata,
    same_scope,
)

_SEARCH_BOUNDS = (20, 1000)
_QUERY_CHARACTERS = 2_000
"""More of a text says nothing more to a search."""


class Api(Protocol):
    """Single requests of one service. Each is made until it is answered; see `Caller`.

    Attributes:
        kind: Short name printed before ids.
        fidelity: What an undo cannot give back.
        scope_keys: The ids by which the service scopes memories.
        fingerprint: Equal for equal places; holds no secret.
    """

    kind: str
    fidelity: tuple[str, ...]
    scope_keys: tuple[str, ...]
    caller: Caller
    fingerprint: str

    def listing(self, ids: Mapping[str, str]) -> Listing:
        """Every record that holds these ids."""

    def get(self, memory_id: str) -> Row | None:
        """One record, or None if there is none."""

    def marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """Records of which a metadata key holds one of the values."""

    def add(self, new: New) -> str | None:
        """Write a record, once; None if the service drops it, or does not say what became of it."""

    def update(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        """Change `text`, `metadata` or `expiration_date` of a record."""

    def delete(self, memory_id: str) -> None:
        """Delete one record and nothing else; one that is gone already is no error."""

    def search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        """Ids of what a search finds."""

    def refuses_deletion(self, row: Row) -> str | None:
        """Why deleting this record would do more than that, if it would."""

    def close(self) -> None:
        """Release connections."""


class RemoteStore:
    """Memories behind an HTTP interface."""

    capabilities = Capabilities(retire=True, in_place=True, amend=True)

    def __init__(self, api: Api, *, section: Mapping[str, Any] | None = None) -> None:
        self._api = api
        self.section = dict(section or {})
        self.kind, self.fingerprint = api.kind, api.fingerprint

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, expired ones included.

        Raises:
            UsageError: If the filter names an id that the service does not know, or an empty one.
            StoreError: If the service cannot be asked.
        """
        listing = self._api.listing(scopes.known(self._api.scope_keys, self.kind))
        memories = [memory_of(row, held=str(row["id"]) in listing.held) for row in listing.rows]
        return Inventory(
            store=self.fingerprint,
            memories=tuple(sorted(memories, key=lambda memory: memory.id)),
            gaps=listing.gaps,
            fidelity=self._api.fidelity,
        )

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; one that an undo brought back is found under its former id."""
        rows = {memory_id: self._api.get(memory_id) for memory_id in dict.fromkeys(ids)}
        missing = [memory_id for memory_id, row in rows.items() if row is None]
        for row in self._api.marked(RESTORED_KEY, missing, {}) if missing else ():
            rows[str(row_metadata(row)[RESTORED_KEY])] = row
        return {memory_id: Snapshot(memory_id, dict(row)) for memory_id, row in rows.items() if row}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return memory_of({**snapshot.payload, "id": snapshot.id})

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""
        rows = self._api.marked(MARK_KEY, [mark], self._session_ids(dict(scope.ids)))
        return min((str(row["id"]) for row in rows if same_scope(row, scope)), default=None)

    def finds(self, memory_id: str) -> bool:
        """Whether a search in its scope for the memory's own text returns it."""
        row = self._api.get(memory_id)
        text = str(row.get("memory") or "").strip() if row else ""
        if row is None or not text or memory_of(row).is_retired(datetime.now(UTC).date()):
            return False
        ids = self._session_ids(ids_of(row))
        return self._api.caller.look(
            lambda: any(
                memory_id in self._api.search(text[:_QUERY_CHARACTERS], ids, bound)
                for bound in _SEARCH_BOUNDS
            ),
            until=bool,
        )

    def write(self, change: Change) -> str:
        """Make one change, read it back, and return the id it concerns.

        Raises:
            StoreError: If the service did not do it.
        """
        match change:
            case Add():
                return self._add(change)
            case Update(id=memory_id, text=text):
                return self._change(memory_id, text=text)
            case Amend(id=memory_id, metadata=added, created_at=created, expires=day):
                return self._change(memory_id, added, created=created, expires=day)
            case Retire(id=memory_id, metadata=added, day=last):
                return self._change(memory_id, added, expires=last.isoformat())
            case Delete():
                return self._delete(change.id)
            case Restore():
                return self._restore(change.snapshot)

    def backup(self, folder: Path) -> Sequence[Path]:  # noqa: ARG002
        """Nothing to copy: the journal holds every record."""
        return ()

    def close(self) -> None:
        """Release connections."""
        self._api.close()

    def _session_ids(self, ids: Mapping[str, str]) -> dict[str, str]:
        return {key: value for key, value in ids.items() if key in self._api.scope_keys}

    def _row(self, memory_id: str) -> Row:
        row = self._api.get(memory_id)
        if row is None:
            raise StoreError(f"Memory {memory_id} is not in the store.", ids=(memory_id,))
        return row

    def _add(self, change: Add) -> str:
        """Store a memory verbatim, under its date and with its mark."""
        note = dates_note(change.text, created=change.created_at, updated=None)
        metadata = {**change.metadata, MARK_KEY: change.mark, DATES_KEY: note}
        new = New(change.text, dict(change.scope.ids), metadata, change.created_at)
        added = self._written(new, (MARK_KEY, change.mark))
        if added is None:
            raise RefusedChangeError(
                "the service drops a text that it holds already, so the memory that states it must stay"
            )
        if str(self._row(added).get("memory")) != change.text:
            raise _not_kept(added)
        return added

    def _written(self, new: New, mark: tuple[str, str]) -> str | None:
        """Add a record once, however often the request has to be made; None if the service drops it."""
        key, value = mark
        ids = self._session_ids(new.ids)

        def earlier() -> list[str]:
            """What attempts wrote of which the answer was lost."""
            return sorted(str(row["id"]) for row in self._api.marked(key, [value], ids))

        added = self._api.caller.ask(
            "adding a memory", lambda: self._api.add(new), instead=lambda: next(iter(earlier()), None)
        )
        if added is not None:
            return added
        copies = earlier()
        for copy in copies[1:]:  # it was delivered twice
            self._api.delete(copy)
        return next(iter(copies), None)

    def _delete(self, memory_id: str) -> str:
        """Delete one memory; one that is gone already is no error."""
        row = self._api.get(memory_id)
        if row is None:
            return memory_id
        reason = self._api.refuses_deletion(row)
        if reason:
            raise RefusedChangeError(reason, ids=(memory_id,))
        self._api.delete(memory_id)
        left = self._api.caller.look(lambda: self._api.get(memory_id), until=lambda present: present is None)
        if left is not None:
            raise StoreError(
                f"The service reports memory {memory_id} as deleted, but it is still there.", ids=(memory_id,)
            )
        return memory_id

    def _change(
        self,
        memory_id: str,
        added: Mapping[str, Any] | None = None,
        *,
        text: str | None = None,
        created: datetime | None = None,
        expires: str | None = None,
    ) -> str:
        """Change a record until it reads as wanted; what was stated before is not stated anew by that."""
        row = self._row(memory_id)
        memory = memory_of(row)
        said, since = memory.text if text is None else text, created or memory.created_at
        note = dates_note(said, created=since, updated=memory.updated_at)
        changes: dict[str, Any] = {"metadata": {**row_metadata(row), **(added or {}), DATES_KEY: note}}
        if text is not None:
            changes["text"] = text
        if expires is not None and (expires or None) != day_of(row):
            changes["expiration_date"] = expires or None
        self._api.update(memory_id, changes)
        if not self._reads(memory_id, changes):
            raise _not_kept(memory_id)
        return memory_id

    def _reads(self, memory_id: str, wanted: Mapping[str, Any]) -> bool:
        probe = self._api.caller.look
        return probe(lambda: _holds(self._api.get(memory_id), wanted), until=bool)

    def _restore(self, snapshot: Snapshot) -> str:
        """Give a record its former content; under a new id where it was deleted."""
        row = self._api.get(snapshot.id)
        if row is None:  # or is it what an undo that was killed had put in its place?
            ids = self._session_ids(ids_of(snapshot.payload))
            row = next(iter(self._api.marked(RESTORED_KEY, [snapshot.id], ids)), None)
        if row is None:
            row = self._row(self._bring_back(snapshot))
        self._align(row, snapshot)
        return str(row["id"])

    def _bring_back(self, snapshot: Snapshot) -> str:
        memory, mark = self.parse(snapshot), (RESTORED_KEY, snapshot.id)
        metadata, day = _restored_metadata(snapshot, memory), day_of(snapshot.payload)
        new = New(memory.text, ids_of(snapshot.payload), metadata, memory.created_at, day)
        added = self._written(new, mark)
        if added is None:
            # The service holds an equal text and drops this one; so it comes with other words first.
            added = self._written(replace(new, text=memory.text + moment_words(snapshot.id)), mark)
        if added is None:
            raise RefusedChangeError(
                f"the service holds the text of memory {snapshot.id} already and takes no copy of it",
                ids=(snapshot.id,),
            )
        return added

    def _align(self, row: Row, snapshot: Snapshot) -> None:
        memory_id, memory = str(row["id"]), self.parse(snapshot)
        metadata = _restored_metadata(snapshot, memory, renamed=memory_id != snapshot.id)
        day = day_of(snapshot.payload)
        wanted: dict[str, Any] = {"text": memory.text, "metadata": metadata, "expiration_date": day}
        for _ in range(2):  # a service that only adds keys keeps one until it is told to empty it
            changes = {key: wanted[key] for key in _differing(row, wanted)}
            if not changes:
                return
            if "metadata" in changes:
                changes["metadata"] = metadata | dict.fromkeys(row_metadata(row).keys() - metadata.keys())
            self._api.update(memory_id, changes)
            self._reads(memory_id, wanted)
            row = self._row(memory_id)
        if _differing(row, wanted):
            raise _not_kept(memory_id)


def _restored_metadata(snapshot: Snapshot, memory: Memory, *, renamed: bool = True) -> dict[str, Any]:
    """The metadata as it was, with the dates the server would forget, and the former id of a new record."""
    note = dates_note(memory.text, created=memory.created_at, updated=memory.updated_at)
    former = {RESTORED_KEY: snapshot.id} if renamed else {}
    return row_metadata(snapshot.payload) | {DATES_KEY: note} | former


def _differing(row: Row, wanted: Mapping[str, Any]) -> list[str]:
    """Which of the wanted values a record does not hold."""
    filled = {key: value for key, value in wanted.get("metadata", {}).items() if value is not None}
    held = {"text": row.get("memory"), "metadata": row_metadata(row), "expiration_date": day_of(row)}
    return [key for key in wanted if held[key] != (filled if key == "metadata" else wanted[key])]


def _holds(row: Row | None, wanted: Mapping[str, Any]) -> bool:
    return row is not None and not _differing(row, wanted)


def _not_kept(memory_id: str) -> StoreError:
    return StoreError(f"The service did not keep memory {memory_id} as written.", ids=(memory_id,))
