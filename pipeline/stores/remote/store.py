"""A store behind an HTTP interface: one `Store` for every service that fits the seam `Api`.

Nothing counts as done because the service said so: each change is read back. What the service decides
itself (ids, dates) is said beforehand (`Inventory.fidelity`), and noted so that it does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ....errors import RefusedChangeError, StoreError, UsageError
from ....records import Inventory, Memory, Scope
from ..base import Add, Amend, Capabilities, Change, Delete, Restore, Retire, ScopeFilter, Snapshot, Update
from ..mem0.payload import MARK_KEY
from .calling import Caller
from .rows import (
    DATES_KEY,
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
    """Single requests of one service. Each is made until it is answered; see `Caller`."""

    @property
    def kind(self) -> str:
        """Short name printed before ids."""
        ...

    @property
    def fidelity(self) -> tuple[str, ...]:
        """What an undo cannot give back."""
        ...

    @property
    def scope_keys(self) -> tuple[str, ...]:
        """The ids by which the service scopes memories."""
        ...

    @property
    def caller(self) -> Caller:
        """Makes the requests."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal for equal places; holds no secret."""
        ...

    def listing(self, ids: Mapping[str, str]) -> Listing:
        """Every record that holds these ids."""
        ...

    def get(self, memory_id: str) -> Row | None:
        """One record, or None if there is none."""
        ...

    def marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """Records of which a metadata key holds one of the values."""
        ...

    def add(self, new: New, *, mark: tuple[str, str]) -> str | None:
        """Write a record; None if the service drops it, because it holds this text already."""
        ...

    def update(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        """Change `text`, `metadata` or `expiration_date` of a record."""
        ...

    def delete(self, memory_id: str) -> None:
        """Delete one record and nothing else; one that is gone already is no error."""
        ...

    def search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        """Ids of what a search finds."""
        ...

    def refuses_deletion(self, row: Row) -> str | None:
        """Why deleting this record would do more than that, if it would."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...


class RemoteStore:
    """Memories behind an HTTP interface.

    Args:
        api: The service.
        section: The `mem0_dream:` section of a configuration.
    """

    capabilities = Capabilities(retire=True, in_place=True, amend=True)

    def __init__(self, api: Api, *, section: Mapping[str, Any] | None = None) -> None:
        self._api = api
        self.section = dict(section or {})

    @property
    def kind(self) -> str:
        """Short name printed before ids."""
        return self._api.kind

    @property
    def fingerprint(self) -> str:
        """Equal for equal places; holds no secret."""
        return self._api.fingerprint

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, expired ones included.

        Raises:
            UsageError: If the filter names an id that the service does not know, or an empty one.
            StoreError: If the service cannot be asked.
        """
        listing = self._api.listing(self._checked(scopes))
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

    def backup(self, folder: Path) -> Sequence[Path]:  # noqa: ARG002
        """Nothing to copy: the journal holds every record."""
        return ()

    def close(self) -> None:
        """Release connections."""
        self._api.close()

    def _checked(self, scopes: ScopeFilter) -> dict[str, str]:
        for name, value in scopes.ids.items():
            if name not in self._api.scope_keys:
                known = ", ".join(self._api.scope_keys)
                raise UsageError(f"A store of the kind {self.kind} knows no {name}; it knows {known}.")
            if not str(value).strip():
                raise UsageError(f"{name} is empty; leave it out or name one.")
        return dict(scopes.ids)

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
        added = self._api.add(new, mark=(MARK_KEY, change.mark))
        if added is None:
            raise RefusedChangeError(
                "the service drops a text that it holds already, so the memory that states it must stay"
            )
        if str(self._row(added).get("memory")) != change.text:
            raise StoreError(f"The service did not keep memory {added} as written.", ids=(added,))
        return added

    def _update(self, change: Update) -> str:
        """Give a memory another text; what others had stated is not stated anew by that."""
        row = self._row(change.id)
        memory = memory_of(row)
        note = dates_note(change.text, created=memory.created_at, updated=memory.updated_at)
        metadata = {**row_metadata(row), DATES_KEY: note}
        return self._change(change.id, {"text": change.text, "metadata": metadata})

    def _amend(self, change: Amend) -> str:
        row = self._row(change.id)
        memory = memory_of(row)
        note = dates_note(
            memory.text,
            created=change.created_at or memory.created_at,
            updated=memory.updated_at,
        )
        changes: dict[str, Any] = {"metadata": {**row_metadata(row), **change.metadata, DATES_KEY: note}}
        if change.expires is not None and (change.expires or None) != day_of(row):
            changes["expiration_date"] = change.expires or None
        return self._change(change.id, changes)

    def _retire(self, change: Retire) -> str:
        row = self._row(change.id)
        memory = memory_of(row)
        note = dates_note(memory.text, created=memory.created_at, updated=memory.updated_at)
        metadata = {**row_metadata(row), DATES_KEY: note}
        return self._change(change.id, {"metadata": metadata, "expiration_date": change.day.isoformat()})

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

    def _change(self, memory_id: str, changes: Mapping[str, Any]) -> str:
        """Change a record until it reads as wanted."""
        self._api.update(memory_id, changes)
        if not self._reads(memory_id, changes):
            raise StoreError(f"The service did not keep memory {memory_id} as written.", ids=(memory_id,))
        return memory_id

    def _reads(self, memory_id: str, changes: Mapping[str, Any]) -> bool:
        def kept(row: Row | None) -> bool:
            """Whether the record holds what was written."""
            return row is not None and not _differing(row, changes)

        return kept(self._api.caller.look(lambda: self._api.get(memory_id), until=kept))

    def _restore(self, snapshot: Snapshot) -> str:
        """Give a record its former content; under a new id where it was deleted."""
        standing = self._standing(snapshot)
        if standing is None:
            added = self._bring_back(snapshot)
            standing = self._row(added)
        self._align(standing, snapshot)
        return str(standing["id"])

    def _standing(self, snapshot: Snapshot) -> Row | None:
        """The record itself, or what an undo that was killed had put in its place."""
        row = self._api.get(snapshot.id)
        if row is not None:
            return row
        ids = self._session_ids(ids_of(snapshot.payload))
        return next(iter(self._api.marked(RESTORED_KEY, [snapshot.id], ids)), None)

    def _bring_back(self, snapshot: Snapshot) -> str:
        memory = self.parse(snapshot)
        mark = (RESTORED_KEY, snapshot.id)
        new = New(
            memory.text,
            ids_of(snapshot.payload),
            _restored_metadata(snapshot, memory),
            memory.created_at,
            day_of(snapshot.payload),
        )
        added = self._api.add(new, mark=mark)
        if added is None:
            # The service holds an equal text and drops this one; so it comes with other words first.
            told = memory.text + moment_words(snapshot.id)
            added = self._api.add(
                New(told, new.ids, new.metadata, new.created_at, new.expires),
                mark=mark,
            )
        if added is None:
            raise RefusedChangeError(
                f"the service holds the text of memory {snapshot.id} already and takes no copy of it",
                ids=(snapshot.id,),
            )
        return added

    def _align(self, row: Row, snapshot: Snapshot) -> None:
        memory = self.parse(snapshot)
        metadata = _restored_metadata(snapshot, memory, of=row)
        wanted: dict[str, Any] = {
            "text": memory.text,
            "metadata": metadata,
            "expiration_date": day_of(snapshot.payload),
        }
        memory_id = str(row["id"])
        for _ in range(2):  # a service that only adds keys keeps one until it is told to empty it
            changes = {key: wanted[key] for key in _differing(row, wanted)}
            if not changes:
                return
            if "metadata" in changes:
                left = row_metadata(row).keys() - metadata.keys()
                changes["metadata"] = metadata | dict.fromkeys(left)
            self._api.update(memory_id, changes)
            self._reads(memory_id, wanted)
            row = self._row(memory_id)
        if _differing(row, wanted):
            raise StoreError(f"The service did not keep memory {memory_id} as written.", ids=(memory_id,))


def _restored_metadata(snapshot: Snapshot, memory: Memory, *, of: Row | None = None) -> dict[str, Any]:
    """The metadata as it was, with the dates the server would forget, and the former id of a new record."""
    note = dates_note(memory.text, created=memory.created_at, updated=memory.updated_at)
    renamed = of is None or str(of["id"]) != snapshot.id
    return (
        row_metadata(snapshot.payload) | {DATES_KEY: note} | ({RESTORED_KEY: snapshot.id} if renamed else {})
    )


def _differing(row: Row, wanted: Mapping[str, Any]) -> list[str]:
    """Which of the wanted values a record does not hold."""
    fields: list[str] = []
    if "text" in wanted and row.get("memory") != wanted["text"]:
        fields.append("text")
    if "metadata" in wanted:
        filled = {key: value for key, value in wanted["metadata"].items() if value is not None}
        if row_metadata(row) != filled:
            fields.append("metadata")
    if "expiration_date" in wanted and day_of(row) != wanted["expiration_date"]:
        fields.append("expiration_date")
    return fields
