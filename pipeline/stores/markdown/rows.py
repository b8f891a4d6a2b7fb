"""Raw records of a Markdown store: what a memory says, and what is known of it.

How old a memory is, its frontmatter says, else the history of the repository, else the file: the modification
time comes last, because a checkout sets it anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ....records import Memory, Scope, says_pinned
from ..base import Snapshot
from ..files.undo import Image
from .document import Document, Entry, decode, plain

WHOLE = "whole-file"
"""In the place of an entry's name: the file with everything in it, also one that does not exist yet."""
INDEX_CATEGORY = "index"
_CREATED = ("created", "created_at", "date")
_UPDATED = ("updated", "updated_at", "last_updated", "modified", "last_modified")
_DATE_LENGTH = len("2026-11-21")
_PROTECTED = re.compile(
    r"\W*(?:protected\b[^\w,]*(?:$|\n)|(?:please )?(?:do not|don['’]t|never) (?:edit|modify|change|touch)\b)",
    re.IGNORECASE,
)
"""What an author says at the beginning of a text, or of its description, that nobody may touch."""
_NAMED_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a file besides its bytes."""

    path: Path  # where it is
    directory: str  # name of its directory
    committed: datetime | None  # its latest commit
    dirty: bool  # whether somebody changed it since
    dated_ns: int  # modification time of the last write that was not ours: the age of what it says


def file_of(memory_id: str) -> str:
    """The file in which a memory stands.

    >>> file_of(".claude/memory/notes.md#0123456789")
    '.claude/memory/notes.md'
    """
    return split_id(memory_id)[0]


def split_id(memory_id: str) -> tuple[str, str]:
    """File and part of an id; the part is empty for the text of a whole file. A name may hold `#`, too."""
    head, _, tail = memory_id.rpartition("#")
    is_part = head.endswith(".md") and len(tail) >= 10 and "/" not in tail and "#" not in head
    return (head, tail) if is_part else (memory_id, "")


def whole_id(file: str) -> str:
    """The id of a file with everything in it.

    >>> whole_id("memory/MEMORY.md")
    'memory/MEMORY.md#whole-file'
    """
    return f"{file}#{WHOLE}"


def memory_row(state: Image, document: Document, entry: Entry | None, about: About) -> dict[str, Any]:
    """The record of a file that is one memory, or of one entry."""
    said = (document.frontmatter, document.frontmatter.get("metadata"))
    values = [item for item in said if isinstance(item, Mapping)]
    created, updated = _dates(values, _CREATED), _dates(values, _UPDATED)
    file = datetime.fromtimestamp(about.dated_ns / 1e9, UTC)
    latest = (*updated, *created, about.committed or file)[0]
    name, described, kind = (_line(document.value(key)) for key in ("name", "description", "type"))
    text = entry.text if entry else document.body or described or name
    stated = as_moment(text.lstrip("([")[:_DATE_LENGTH]) if entry else None
    days = {match[0] for match in _NAMED_DAY.finditer(about.path.stem)}
    days = days or {day.date().isoformat() for day in (*created, *updated)}
    metadata = {str(k): _line(v) for item in reversed(values) for k, v in item.items() if isinstance(v, str)}
    marked = any(document.value(key) in (True, "true", "yes") for key in ("pinned", "critical", "protected"))
    marked = marked or says_pinned(text) or says_pinned(described) or bool(_PROTECTED.match(described))
    return {
        "text": text,
        "category": " / ".join(filter(None, (kind.casefold(), entry.heading if entry else ""))) or None,
        "metadata": {
            **metadata,
            "name": name,
            "description": described,
            "frontmatter": bool(document.frontmatter),
            **({"heading": entry.heading} if entry else {}),
            "line": plain(document.source[: entry.start if entry else document.start]).count("\n") + 1,
            # The latest moment it may have been written, and the one day that frontmatter or name gives.
            "written": max([*created, *updated, (not about.dirty and about.committed) or file]).isoformat(),
            "day": next(iter(days)) if len(days) == 1 else "",
        },
        "created_at": (stated or (*created, latest)[0]).isoformat(),
        "updated_at": (stated or latest).isoformat(),
        # What could not be written back faithfully is protected like a pinned memory.
        "pinned": marked
        or not document.faithful
        or about.path.is_symlink()
        or not state.mode & 0o222
        or bool(_PROTECTED.match(text)),
        "directory": about.directory,
        "sha": state.digest,
    }


def whole_row(state: Image | None, *, directory: str, name: str) -> dict[str, Any]:
    """The record of a file with all that is in it; one that does not exist is empty."""
    return {
        "text": plain(decode(state.data)) if state else "",
        "category": INDEX_CATEGORY,
        "metadata": {"name": name},
        "created_at": None,
        "updated_at": None,
        "pinned": False,
        "directory": directory,
        "sha": state.digest if state else "",
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


def as_moment(value: object) -> datetime | None:
    """Read what YAML or a person wrote as a date; a mere day is its midnight in UTC."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str):
        return None
    try:
        return as_moment(datetime.fromisoformat(value.strip()))
    except ValueError:
        return None


def _dates(values: Sequence[Mapping[str, Any]], names: tuple[str, ...]) -> list[datetime]:
    """The dates under these keys, the first first."""
    found = (as_moment(item.get(name)) for item in values for name in names)
    return [moment for moment in found if moment is not None]


def _line(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""
