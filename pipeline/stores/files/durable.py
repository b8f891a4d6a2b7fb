"""Durable writes: the bytes are on the disk when a call returns, and survive a loss of power."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_flushed(path: Path, data: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flush(path: Path) -> None:
    """Make sure that a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_folder(folder: Path) -> None:
    """Make a rename inside a folder durable; not every platform can open a folder."""
    with contextlib.suppress(OSError):
        flush(folder)
