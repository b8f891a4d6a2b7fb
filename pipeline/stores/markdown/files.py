"""Changes of files that cannot be half done: temporary file, rename, and a copy before anything goes."""

from __future__ import annotations

import contextlib
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ....errors import RefusedChangeError, StoreError
from ..files import digest
from ..files.durable import flush_folder, write_flushed
from .directories import unreadable

_TEMPORARY = ".mem0-dream.tmp"
_WRITABLE = 0o222
"""A read-only file was made so on purpose, although its directory would let us replace it."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it stands.

    Attributes:
        path: Where it is.
        data: Its bytes.
        mtime_ns: Its modification time.
        mode: Its permission bits.
    """

    path: Path
    data: bytes
    mtime_ns: int
    mode: int

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes."""
        return digest(self.data)


def read_state(path: Path) -> FileState | None:
    """Read a file; None if there is none.

    Raises:
        RefusedChangeError: If it is there and cannot be read, or may not be.
    """
    reason = unreadable(path)  # first of all: opening a pipe would wait for ever
    if reason is not None:
        raise RefusedChangeError(f"the file {path.name} {reason}")
    try:
        data = path.read_bytes()
        about = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RefusedChangeError(f"the file {path.name} cannot be read ({error.strerror})") from error
    return FileState(path, data, about.st_mtime_ns, about.st_mode & 0o7777)


def replace(
    path: Path, data: bytes, *, before: FileState | None, mode: int, mtime_ns: int | None = None
) -> None:
    """Put new bytes in the place of a file, all at once, if it is still as it was read.

    Args:
        path: The file.
        data: Its new bytes.
        before: As it was when the change was worked out; None if there was none.
        mode: Permission bits of the new file.
        mtime_ns: Modification time to set; the present if omitted.

    Raises:
        RefusedChangeError: If it changed meanwhile, or cannot be written.
    """
    temporary = path.with_name(f".{path.name}{_TEMPORARY}")
    if before is not None and not before.mode & _WRITABLE:
        raise RefusedChangeError(f"the file {path.name} is read-only")
    with _refusing(path, "changed"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_flushed(temporary, data)
        temporary.chmod(mode)
        if mtime_ns is not None:
            os.utime(temporary, ns=(mtime_ns, mtime_ns))
        try:
            _refuse_moved(path, before)
        except RefusedChangeError:
            temporary.unlink()
            raise
        temporary.replace(path)
        flush_folder(path.parent)


def remove(state: FileState) -> None:
    """Remove a file that is still as it was read.

    Raises:
        RefusedChangeError: If it changed meanwhile, or cannot be removed.
    """
    if not state.mode & _WRITABLE:
        raise RefusedChangeError(f"the file {state.path.name} is read-only")
    with _refusing(state.path, "removed"):
        _refuse_moved(state.path, state)
        state.path.unlink()
        flush_folder(state.path.parent)


def set_times(path: Path, *, mtime_ns: int, mode: int) -> None:
    """Give a file back its modification time and permission bits."""
    with _refusing(path, "changed"):
        path.chmod(mode)
        os.utime(path, ns=(mtime_ns, mtime_ns))


def archive(folder: Path, name: str, data: bytes, *, mtime_ns: int) -> Path:
    """Keep a copy of what is about to go, proven readable.

    Args:
        folder: The archive of the store.
        name: The memory's id.
        data: What it held.
        mtime_ns: Modification time of the copy.

    Raises:
        RefusedChangeError: If the copy cannot be written; then nothing may go.
    """
    relative = PurePosixPath(name.lstrip("/").replace("..", "__"))
    stem = f"{relative.stem}.{digest(data)[:8]}{relative.suffix or '.md'}"
    path = folder.joinpath(*relative.parent.parts, stem)
    with _refusing(path, "archived"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_flushed(path, data)
        os.utime(path, ns=(mtime_ns, mtime_ns))
        if path.read_bytes() != data:
            raise RefusedChangeError(f"the archived copy of {path.name} does not read back")
    return path


def _refuse_moved(path: Path, before: FileState | None) -> None:
    now = read_state(path)
    if (now.data if now else None) != (before.data if before else None):
        raise RefusedChangeError(f"the file {path.name} changed meanwhile")


@contextlib.contextmanager
def _refusing(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RefusedChangeError(f"the file {path.name} cannot be {verb} ({error.strerror})") from error


def copy_all(folders: Mapping[str, Path], path: Path) -> None:
    """Put folders into one archive with modification times, each under its name.

    Raises:
        StoreError: If that cannot be done.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as copy:
            for name, folder in folders.items():
                copy.add(folder, arcname=name.lstrip("/"))
    except OSError as error:
        raise StoreError(
            f"The memory directories cannot be copied to {path} ({error.strerror}), so nothing was changed."
        ) from error
