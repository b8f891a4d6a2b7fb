"""Where forgotten memories go: a JSON list a person can read, one file for each day.

An entry is written, read back and compared before the memory itself may go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ....errors import RefusedChangeError, UsageError
from ..files.exchange import replace_file

FOLDER = "archive"
_FORGOTTEN = "-forgotten.json"
_BROKEN = "-broken.json"


def archive_forgotten(
    folder: Path,
    entity: Mapping[str, Any],
    *,
    raws: Sequence[str],
    relations: Sequence[str],
    at: datetime,
    reason: str,
) -> Path:
    """Keep a memory that is about to be forgotten; the same one is kept once a day.

    Args:
        folder: The archive.
        entity: Its object.
        raws: Its lines to the letter.
        relations: The lines of its relations.
        at: The present moment.
        reason: Why it goes, with the figures.

    Raises:
        RefusedChangeError: If it cannot be kept; then it may not go.
    """
    entry = {
        **entity,
        "forgottenAt": at.isoformat(),
        "reason": reason,
        "relations": [json.loads(raw) for raw in relations],
        "lines": list(raws),
        "relationLines": list(relations),
    }
    return _append(folder / f"{at.date().isoformat()}{_FORGOTTEN}", entry, same=("lines", "relationLines"))


def archive_broken(folder: Path, lines: Mapping[int, str], *, at: datetime) -> Path:
    """Keep unreadable lines, with their numbers.

    Raises:
        RefusedChangeError: If they cannot be kept.
    """
    entry = {"movedAt": at.isoformat(), "lines": [{"number": n, "raw": raw} for n, raw in lines.items()]}
    return _append(folder / f"{at.date().isoformat()}{_BROKEN}", entry, same=("lines",))


def find_forgotten(folder: Path, name: str) -> dict[str, Any]:
    """The newest archived entry of a memory.

    Raises:
        UsageError: If there is none.
    """
    for path in sorted(folder.glob(f"*{_FORGOTTEN}"), reverse=True):
        for entry in reversed(_entries(path)):
            if entry.get("name") == name:
                return dict(entry)
    raise UsageError(f"The archive {folder} holds no memory {name!r}; names are exact.")


def _append(path: Path, entry: Mapping[str, Any], *, same: Sequence[str]) -> Path:
    try:
        before = path.read_bytes() if path.exists() else None
    except OSError as error:
        raise RefusedChangeError(f"the archive {path.name} cannot be read ({error.strerror})") from error
    entries = _entries(path) if before is not None else []
    # A killed run may have kept this very entry already.
    if entries and all(entries[-1].get(field) == entry[field] for field in same):
        return path
    data = json.dumps([*entries, entry], ensure_ascii=True, indent=1) + "\n"
    replace_file(path, data.encode(), before=before)
    if _entries(path)[-1] != json.loads(json.dumps(entry)):
        raise RefusedChangeError(f"the archive {path.name} does not read back")
    return path


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RefusedChangeError(
            f"the archive {path.name} cannot be read; move it away to begin a new one"
        ) from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RefusedChangeError(
            f"the archive {path.name} is no list of memories; move it away to begin a new one"
        )
    return [dict(entry) for entry in entries]
