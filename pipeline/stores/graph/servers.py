"""Which memory server works on a file, as far as one user can see the processes of a machine.

Asked only where the file system gives no way to keep a server waiting, because what is seen here may be
over, or begin, a moment later. A server in a container, or of another user, is not seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SERVER = "server-memory"
"""Stands in the command of the memory server, however it was started."""

_VARIABLE = "MEMORY_FILE_PATH"
_DEFAULT = "memory.jsonl"


@dataclass(frozen=True, slots=True)
class Process:
    """A running program.

    Attributes:
        id: Its number.
        command: Its words.
        variables: Its environment.
    """

    id: int
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def server_on(path: Path, processes: Iterable[Process] | None = None) -> int | None:
    """The process of a memory server that works on a file.

    Args:
        path: The file, resolved.
        processes: Instead of those that run now.
    """
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
    file = process.variables.get(_VARIABLE) or _DEFAULT
    return {(home / file).resolve() for home in homes or [Path.cwd()]}
