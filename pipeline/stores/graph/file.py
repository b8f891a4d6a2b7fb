"""The file of a memory server, changed all at once or not at all.

A change is worked out from the bytes that were read, and takes effect only if those bytes are still
there. Where a server that writes meanwhile could not be kept from losing a write, nothing is written
as long as one runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ....errors import StoreError, StoreLockedError
from ..files.exchange import OpenFile, keeps_waiting, replace_file
from .servers import server_on

LOCK_SECONDS = 10.0
"""How long a write waits for another program that holds the lock beside the file."""

READ_SECONDS = 0.5
"""Seconds a read waits for a program that has the file open for writing; then it reads what is there."""

_LOCK = ".mem0-dream.lock"


class Medium(Protocol):
    """Where the graph is kept."""

    @property
    def name(self) -> str:
        """Equal for equal places; holds no secret."""
        ...

    @property
    def verbatim(self) -> bool:
        """Whether bytes that are put in come out again; a running server keeps only what it knows."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where an archive belongs, or None if there is no such place."""
        ...

    def check(self) -> None:
        """Refuse before anything is begun.

        Raises:
            StoreLockedError: If nothing can be changed without danger for another program's writes.
        """
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

    verbatim = True

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

    def check(self) -> None:
        """A server that cannot be kept waiting must not run."""
        if self.path.exists() and not keeps_waiting(self.path):
            self._refuse_beside_a_server()

    def load(self) -> bytes:
        """Read the file.

        Raises:
            StoreError: If it is not there or cannot be read.
        """
        try:
            with OpenFile(self.path) as file:
                file.lease(patience=READ_SECONDS)
                return file.read()
        except OSError as error:
            raise StoreError(f"The graph {self.path} cannot be read ({error.strerror}).") from error

    def save(self, before: bytes, after: bytes) -> None:
        """Replace the file if it still holds what was loaded."""
        with self._locked():
            replace_file(self.path, after, before=before, unguarded=self._refuse_beside_a_server)

    def close(self) -> None:
        """Nothing is held between writes."""

    def _refuse_beside_a_server(self) -> None:
        process = server_on(self.path)
        if process is not None:
            raise StoreLockedError(
                f"A memory server (process {process}) works on {self.path}, and this system cannot keep its "
                "writes safe from ours; stop the program that runs it, then try again."
            )

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
