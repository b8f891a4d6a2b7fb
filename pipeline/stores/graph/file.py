"""The file of a memory server, changed all at once or not at all.

A change is worked out from the bytes that were read, and takes effect only if those bytes are still
there. Where a server that writes meanwhile could not be kept from losing a write, nothing is written
as long as one is seen to run: one of this user, outside of containers.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ....errors import StoreError, StoreLockedError
from ..files.exchange import OpenFile, keeps_waiting, replace_file

LOCK_SECONDS = 10.0
"""How long a write waits for another program that holds the lock beside the file."""

READ_SECONDS = 0.5
"""Seconds a read waits for a program that has the file open for writing; then it reads what is there."""

_LOCK = ".mem0-dream.lock"

SERVER = "server-memory"
"""Stands in the command of the memory server, however it was started."""

_PLACE_VARIABLE = "MEMORY_FILE_PATH"
_DEFAULT_PLACE = "memory.jsonl"


class Medium(Protocol):
    """Where the graph is kept."""

    @property
    def name(self) -> str:
        """Equal for equal places; holds no secret."""

    @property
    def verbatim(self) -> bool:
        """Whether bytes that are put in come out again; a running server keeps only what it knows."""

    @property
    def folder(self) -> Path | None:
        """Where an archive belongs, or None if there is no such place."""

    def check(self) -> None:
        """Refuse before anything is begun.

        Raises:
            StoreLockedError: If nothing can be changed without danger for another program's writes.
        """

    def load(self) -> bytes:
        """The whole graph as lines."""

    def save(self, before: bytes, after: bytes) -> None:
        """Make one change to what was loaded.

        Raises:
            RefusedChangeError: If it is no longer what was loaded.
        """

    def close(self) -> None:
        """Release what is held."""


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


@dataclass(frozen=True, slots=True)
class Process:
    """A running program: its number, the words of its command, its environment."""

    id: int
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def server_on(path: Path, processes: Iterable[Process] | None = None) -> int | None:
    """The memory server that works on a file (resolved), among those that run now or the given ones."""
    for process in running() if processes is None else processes:
        if any(SERVER in word for word in process.command) and path in _files(process):
            return process.id
    return None


def running() -> Iterator[Process]:
    """The memory servers whose environment this user may read."""
    import psutil

    for process in psutil.process_iter():
        try:
            command = tuple(process.cmdline())
            if process.pid != os.getpid() and any(SERVER in word for word in command):
                yield Process(process.pid, command, process.environ())
        except (psutil.Error, OSError):  # it has ended, or is not ours
            continue


def _files(process: Process) -> set[Path]:
    """The file a server works on; a relative path, and the default, begin at the server's own program."""
    homes = [Path(word).resolve().parent for word in process.command if SERVER in word and os.sep in word]
    file = process.variables.get(_PLACE_VARIABLE) or _DEFAULT_PLACE
    return {(home / file).resolve() for home in homes or [Path.cwd()]}
