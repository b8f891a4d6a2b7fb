"""The file of a memory server, changed all at once or not at all.

A change is worked out from the bytes that were read, and takes effect only if those bytes are still
there. Where the system can exchange two files in one step, even a write that slips in between the
last look and the rename is noticed and put back.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ...errors import RefusedChangeError, StoreError, StoreLockedError
from .graph_edit import carried_over
from .graph_lines import Document

LOCK_SECONDS = 10.0
"""How long a write waits for another program that holds the lock beside the file."""

QUIET_LOOKS, LOOK_SECONDS = 6, 0.05
"""After a collision with another writer: so many looks in a row must find nothing missing."""

_TEMPORARY = ".mem0-dream.tmp"
_LOCK = ".mem0-dream.lock"
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_CURRENT_DIRECTORY = -100  # AT_FDCWD
_MODE = 0o600


class Medium(Protocol):
    """Where the graph is kept."""

    @property
    def name(self) -> str:
        """Equal for equal places; holds no secret."""
        ...

    @property
    def exact(self) -> bool:
        """Whether bytes that are put in come out again; a running server keeps only what it knows."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where an archive belongs, or None if there is no such place."""
        ...

    def load(self) -> bytes:
        """The whole graph as lines."""
        ...

    def save(self, before: bytes, after: bytes) -> None:
        """Make one change to what was loaded.

        Raises:
            RefusedChangeError: If it is no longer what was loaded.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class FileMedium:
    """The JSON Lines file itself."""

    exact = True

    def __init__(self, path: Path) -> None:
        """Bind a file; a link is followed, so that the link stays one."""
        self.path = path.expanduser().resolve()

    @property
    def name(self) -> str:
        """The path."""
        return f"file:{self.path}"

    @property
    def folder(self) -> Path:
        """The file's own folder."""
        return self.path.parent

    def load(self) -> bytes:
        """Read the file.

        Raises:
            StoreError: If it is not there or cannot be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise StoreError(f"The graph {self.path} cannot be read ({error.strerror}).") from error

    def save(self, before: bytes, after: bytes) -> None:
        """Replace the file if it still holds what was loaded."""
        with self._locked():
            displaced = replace_file(self.path, after, before=before, keep=True)
            if displaced is not None:
                self._carry_over(before, displaced)

    def close(self) -> None:
        """Nothing is held between writes."""

    def _carry_over(self, base: bytes, theirs: bytes) -> None:
        """Somebody wrote in the very moment of our rename: both changes shall stand.

        Whoever had loaded ours meanwhile may save it without theirs a little later, so it is looked at
        until nothing has to be added for a while.
        """
        changes = [(base, theirs)]
        quiet = 0
        while quiet < QUIET_LOOKS:
            present = self.load()
            wanted = present
            for before, after in changes:
                documents = (Document.parse(before), Document.parse(after), Document.parse(wanted))
                wanted = carried_over(*documents).data
            if wanted == present:
                quiet += 1
                time.sleep(LOOK_SECONDS)
                continue
            quiet = 0
            with contextlib.suppress(RefusedChangeError):
                displaced = replace_file(self.path, wanted, before=present, keep=True)
                changes += [(present, displaced)] if displaced is not None else []

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self.path.with_name(f".{self.path.name}{_LOCK}"), timeout=LOCK_SECONDS)
        try:
            with lock:
                yield
        except Timeout:
            raise StoreLockedError(
                f"Another program holds the lock of {self.path}; nothing was changed; try again."
            ) from None


def replace_file(path: Path, data: bytes, *, before: bytes | None, keep: bool = False) -> bytes | None:
    """Put new bytes in the place of a file that still holds the old ones.

    Args:
        path: The file.
        data: Its new bytes.
        before: What it must hold; None if it must not exist.
        keep: If somebody writes in the very moment of the rename, keep our bytes and return theirs;
            else theirs go back and ours are refused.

    Returns:
        Bytes of somebody else that our own displaced; None if there were none.

    Raises:
        RefusedChangeError: If it holds something else, or cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(temporary, data, mode=path.stat().st_mode & 0o777 if before is not None else _MODE)
        if _read(path) != before:
            raise RefusedChangeError(f"the file {path.name} changed meanwhile")
        displaced = None
        if before is None or not _exchange(temporary, path):
            temporary.replace(path)
        elif (displaced := _read(temporary)) == before:
            displaced = None
        elif not keep:
            _exchange(temporary, path)
            raise RefusedChangeError(f"the file {path.name} was written at the same moment")
        _sync(path.parent)
    except OSError as error:
        raise RefusedChangeError(f"the file {path.name} cannot be changed ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)
    return displaced


def _write(path: Path, data: bytes, *, mode: int) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(mode)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _exchange(one: Path, other: Path) -> bool:
    """Swap two files in one step; False where the system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_CURRENT_DIRECTORY, paths[0], _CURRENT_DIRECTORY, paths[1], _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code))


def _sync(folder: Path) -> None:
    """Make the rename itself last; not every platform can open a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
