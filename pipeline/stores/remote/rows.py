"""What a record of a remote store says, and the notes by which we keep what it would forget.

The dates of such a store are the server's: every change makes a record look new. So each change of ours
notes the dates as they were, in the record's metadata, and they count while its text stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from ....records import Memory, Scope, as_utc, says_pinned, text_hash
from ..base import Snapshot
from ..mem0.payload import SCOPE_KEYS, parse_memory, scope_of

Row = Mapping[str, Any]

DATES_KEY = "mem0_dream_dates"
"""Metadata key of the dates that a change of ours would have made the server forget."""
RESTORED_KEY = "mem0_dream_restores"
"""Metadata key of the id under which a memory was known before it was deleted and brought back."""
MARK_KEY = "mem0_dream_mark"
"""Metadata key of the name of the change that added a memory, since such a service chooses the id itself."""
NOTES = frozenset({DATES_KEY, RESTORED_KEY, MARK_KEY})
_DIGITS = 16
_LEFT_ALONE = ("immutable", "replaced_by", "synthesized")
_PAST = frozenset({"superseded", "merged", "archived", "deleted"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The records of some scopes that an agent may see, expired ones included."""

    rows: tuple[Row, ...]
    held: frozenset[str] = frozenset()  # ids that must be left alone, because other records rest on them
    gaps: tuple[str, ...] = ()  # why it is not provably complete


@dataclass(frozen=True, slots=True)
class New:
    """A record to be written: text, every id of its scope, the user's metadata with our notes, dates."""

    text: str
    ids: Mapping[str, str]
    metadata: Mapping[str, Any]
    created_at: datetime | None = None
    expires: str | None = None


def memory_of(row: Row, *, held: bool = False) -> Memory:
    """Turn a record into a memory.

    >>> memory_of({"id": "1", "memory": "Likes tea", "user_id": "ann", "categories": ["food"]}).category
    'food'
    """
    told = metadata_of(row)
    noted = row_metadata(row).get(DATES_KEY)
    text = text_of(row)
    whole = {
        "categories": row.get("categories"),
        **{key: value for key, value in told.items() if key not in SCOPE_KEYS},
        **ids_of(row),
        "data": text,
        "created_at": row.get("created_at"),
        "updated_at": row.get("updated_at"),
        "expiration_date": row.get("expiration_date"),
    }
    if isinstance(noted, Mapping):
        whole["created_at"] = noted.get("created") or whole["created_at"]
        if noted.get("text") == _digest(text):
            whole["updated_at"] = noted.get("updated") or whole["updated_at"]
    memory = parse_memory(Snapshot(str(row.get("id")), whole))
    alone = any(row.get(key) for key in _LEFT_ALONE) or row.get("lifecycle_state") in _PAST
    pinned = held or alone or memory.pinned or says_pinned(text)
    return replace(memory, pinned=pinned, metadata=told)


def text_of(row: Row) -> str:
    """What a record states; a copy that an undo is bringing back has other words for a moment."""
    return str(row.get("memory") or "").removesuffix(moment_words(row_metadata(row).get(RESTORED_KEY)))


def moment_words(memory_id: object) -> str:
    """What is added to a text that the service would drop, until it is written."""
    return f" (mem0-dream restores {memory_id})" if memory_id else ""


def row_metadata(row: Row) -> dict[str, Any]:
    """A record's metadata without keys that hold nothing: a key that cannot be removed is emptied."""
    metadata = row.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    return {key: value for key, value in metadata.items() if value is not None}


def metadata_of(row: Row) -> dict[str, Any]:
    """The user's own metadata."""
    return {key: value for key, value in row_metadata(row).items() if key not in NOTES}


def ids_of(row: Row) -> dict[str, str]:
    """The ids of a record's scope; a listing calls the run `session_id`, a search `run_id`."""
    ids = {key: row.get(key) for key in SCOPE_KEYS}
    ids["run_id"] = row.get("run_id") or row.get("session_id")
    if "app_id" not in row:  # mem0's own server has no field for it, and shows it with the metadata
        ids["app_id"] = row_metadata(row).get("app_id")
    return dict(scope_of({key: value for key, value in ids.items() if value}).ids)


def dates_note(text: str, *, created: datetime | None, updated: datetime | None) -> dict[str, Any]:
    """The dates of a memory as its metadata keeps them; the second counts only for this text."""
    note: dict[str, Any] = {"text": _digest(text)}
    note |= {"created": as_utc(created).isoformat()} if created else {}
    return note | ({"updated": as_utc(updated).isoformat()} if updated else {})


def day_of(row: Row) -> str | None:
    """The last day of a record as ISO date; None if it has none, or a bad one."""
    try:
        return date.fromisoformat(str(row.get("expiration_date"))[:10]).isoformat()
    except ValueError:
        return None


def same_scope(row: Row, scope: Scope) -> bool:
    """Whether a record belongs to exactly this scope."""
    return ids_of(row) == dict(scope_of(dict(scope.ids)).ids)


def _digest(text: str) -> str:
    return text_hash(text)[:_DIGITS]
