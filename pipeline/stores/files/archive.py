"""The one archive of files: what is about to go is kept first, read back, and only then may it go."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ....errors import RefusedChangeError, StoreError
from . import digest
from .database import make_private
from .exchange import refusing, replace_file, write_flushed


def keep_copy(folder: Path, name: str, data: bytes, *, mtime_ns: int) -> Path:
    """Keep what is about to go as a file of its own; the memory's id becomes its path inside the archive.

    Raises:
        RefusedChangeError: If the copy cannot be written; then nothing may go.
    """
    relative = PurePosixPath(name.lstrip("/").replace("..", "__"))
    stem = f"{relative.stem}.{digest(data)[:8]}{relative.suffix or '.md'}"
    path = folder.joinpath(*relative.parent.parts, stem)
    with refusing(path, "written", "archive"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(path)
        write_flushed(path, data)
        os.utime(path, ns=(mtime_ns, mtime_ns))
        if path.read_bytes() != data:
            raise RefusedChangeError(f"the archived copy {path.name} does not read back")
    return path


def keep_entry(path: Path, entry: Mapping[str, Any], *, same: Sequence[str]) -> Path:
    """Keep what is about to go as one more object in a JSON list that a person can read.

    An entry that a killed run has kept is known again by the fields `same`, so that it is kept once.

    Raises:
        RefusedChangeError: If it cannot be kept; then nothing may go.
    """
    with refusing(path, "read", "archive"):
        before = path.read_bytes() if path.exists() else None
    entries = kept_entries(path) if before is not None else []
    if entries and all(entries[-1].get(field) == entry[field] for field in same):
        return path
    data = json.dumps([*entries, entry], ensure_ascii=True, indent=1) + "\n"
    replace_file(path, data.encode(), before=before)
    if kept_entries(path)[-1] != json.loads(json.dumps(entry)):
        raise RefusedChangeError(f"the archive {path.name} does not read back")
    return path


def kept_entries(path: Path) -> list[dict[str, Any]]:
    """All objects of such a list, oldest first.

    Raises:
        RefusedChangeError: If it is damaged.
    """
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


def keep_folders(folders: Mapping[str, Path], path: Path) -> None:
    """Put whole folders into one tar file with modification times, each under its name.

    Raises:
        StoreError: If that cannot be done.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(path)
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as copy:
            for name, folder in folders.items():
                copy.add(folder, arcname=name.lstrip("/"))
    except OSError as error:
        raise StoreError(
            f"The folders cannot be copied to {path} ({error.strerror}), so nothing was changed."
        ) from error
