"""Raw records of a Markdown store: all that is needed to show a memory, and to put its bytes back."""

from __future__ import annotations

import base64
import re
from datetime import datetime
from typing import Any

from ....records import Memory, Scope, says_pinned
from ..base import Snapshot
from .dating import CREATED, UPDATED, as_moment, file_moment, frontmatter_date
from .files import FileState
from .parsing import Document, Entry
from .raw_text import decode, plain

INDEX_CATEGORY = "index"
_DATE_LENGTH = len("2026-11-21")
_NAMED_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


def file_row(
    state: FileState,
    document: Document,
    *,
    directory: str,
    committed: datetime | None,
    dirty: bool,
    dated_ns: int,
) -> dict[str, Any]:
    """The record of a whole file."""
    body = document.body
    text = body or _line(document.value("description")) or _line(document.value("name"))
    return {
        "kind": "file",
        "bytes": base64.b64encode(state.data).decode("ascii"),
        "text": text,
        "category": _type(document),
        "metadata": _metadata(document) | _written(state, document, None if dirty else committed, dated_ns),
        **_dates(document, committed, dated_ns),
        **_common(state, document, directory, text),
    }


def entry_row(
    state: FileState,
    document: Document,
    entry: Entry,
    *,
    directory: str,
    committed: datetime | None,
    dirty: bool,
    dated_ns: int,
) -> dict[str, Any]:
    """The record of one entry: its own bytes, and the names of the entries before it."""
    names = [item.id for item in document.entries]
    dates = _dates(document, committed, dated_ns)
    stated = as_moment(entry.text.lstrip("([")[:_DATE_LENGTH])
    if stated is not None:
        dates = {"created_at": stated.isoformat(), "updated_at": stated.isoformat()}
    category = " / ".join(filter(None, (_type(document), entry.heading))) or None
    return {
        "kind": "entry",
        "raw": document.source[entry.start : entry.end],
        "text": entry.text,
        "before": names[: names.index(entry.id)],
        "category": category,
        "metadata": _metadata(document)
        | {"heading": entry.heading}
        | _written(state, document, None if dirty else committed, dated_ns),
        **dates,
        **_common(state, document, directory, entry.text),
    }


def whole_row(state: FileState | None, *, directory: str, name: str) -> dict[str, Any]:
    """The record of a file with all that is in it; one that does not exist is empty."""
    return {
        "kind": "whole",
        "bytes": base64.b64encode(state.data).decode("ascii") if state else None,
        "text": plain(decode(state.data)) if state else "",
        "category": INDEX_CATEGORY,
        "metadata": {"name": name},
        "created_at": None,
        "updated_at": None,
        "directory": directory,
        "pinned": False,
        "sha": state.digest if state else "",
        "mtime_ns": state.mtime_ns if state else 0,
        "mode": state.mode if state else 0,
    }


def row_memory(snapshot: Snapshot) -> Memory:
    """The memory that a record holds."""
    row = snapshot.payload
    return Memory(
        id=snapshot.id,
        text=row["text"],
        scope=Scope.of(directory=row["directory"]),
        category=row["category"],
        created_at=as_moment(row["created_at"]),
        updated_at=as_moment(row["updated_at"]),
        pinned=row["pinned"],
        metadata=row["metadata"],
    )


def _common(state: FileState, document: Document, directory: str, text: str) -> dict[str, Any]:
    marked = any(document.value(name) in (True, "true", "yes") for name in ("pinned", "critical"))
    described = _line(document.value("description"))
    pinned = marked or says_pinned(text) or says_pinned(described)
    return {
        "directory": directory,
        # What could not be written back faithfully is protected like a pinned memory.
        "pinned": pinned or not document.faithful or state.path.is_symlink() or not state.mode & 0o222,
        "sha": state.digest,
        "mtime_ns": state.mtime_ns,
        "mode": state.mode,
    }


def _dates(document: Document, committed: datetime | None, dated_ns: int) -> dict[str, Any]:
    values = [document.frontmatter]
    nested = document.frontmatter.get("metadata")
    if isinstance(nested, dict):
        values.append(nested)
    created = next((day for item in values if (day := frontmatter_date(item, CREATED))), None)
    updated = next((day for item in values if (day := frontmatter_date(item, UPDATED))), None)
    latest = updated or created or committed or file_moment(dated_ns)
    return {"created_at": (created or latest).isoformat(), "updated_at": latest.isoformat()}


def _written(
    state: FileState, document: Document, committed: datetime | None, dated_ns: int
) -> dict[str, Any]:
    """The latest moment it may have been written, and the one day that its frontmatter or name gives it."""
    file = file_moment(dated_ns)
    said = [document.frontmatter, document.frontmatter.get("metadata")]
    values = [item for item in said if isinstance(item, dict)]
    stated = (frontmatter_date(item, names) for item in values for names in (CREATED, UPDATED))
    dates = [day for day in stated if day is not None]
    latest = max((moment for moment in (*dates, committed or file) if moment is not None), default=file)
    named = {match[0] for match in _NAMED_DAY.finditer(state.path.stem)}
    days = named or {day.date().isoformat() for day in dates}
    return {"written": latest.isoformat(), "day": next(iter(days)) if len(days) == 1 else ""}


def _metadata(document: Document) -> dict[str, Any]:
    nested = document.frontmatter.get("metadata")
    stated = {**(nested if isinstance(nested, dict) else {}), **document.frontmatter}
    return {
        **{str(key): _line(value) for key, value in stated.items() if isinstance(value, str)},
        "name": _line(document.value("name")),
        "description": _line(document.value("description")),
        "frontmatter": bool(document.frontmatter),
    }


def _type(document: Document) -> str | None:
    return _line(document.value("type")).casefold() or None


def _line(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""
