"""Which memory server works on a file, as far as one user can see the processes of a machine.

Asked only where the file system gives no way to keep a server waiting, because what is seen here may be
over, or begin, a moment later. A server in a container, or of another user, is not seen.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SERVER = "server-memory"
"""Stands in the command of the memory server, however it was started."""

_VARIABLE = "MEMORY_FILE_PATH="
_DEFAULT = "memory.jsonl"
_PS_SECONDS = 10.0
_NEXT_VARIABLE = re.compile(r" (?=[A-Za-z_][A-Za-z0-9_]*=)")


@dataclass(frozen=True, slots=True)
class Process:
    """A running program.

    Attributes:
        id: Its number.
        command: Its words.
        variables: Its environment, each as NAME=VALUE.
    """

    id: int
    command: tuple[str, ...]
    variables: tuple[str, ...]


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
    """The processes whose environment this user may read."""
    if sys.platform == "linux":
        yield from _from_proc(Path("/proc"))
    elif sys.platform == "darwin":
        command = ["/bin/ps", "-axEww", "-o", "pid=,command="]
        done = subprocess.run(  # noqa: S603  (a fixed command)
            command, capture_output=True, text=True, timeout=_PS_SECONDS, check=False
        )
        yield from from_ps(done.stdout)


def from_ps(listing: str) -> Iterator[Process]:
    """Processes as `ps` lists them: number, command and environment in one line."""
    for line in listing.splitlines():
        number, _, rest = line.strip().partition(" ")
        if number.isdigit() and int(number) != os.getpid():
            command, *variables = _NEXT_VARIABLE.split(rest)
            yield Process(int(number), tuple(command.split()), tuple(variables))


def _from_proc(folder: Path) -> Iterator[Process]:
    for entry in folder.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = _parts(entry / "cmdline")
            if any(SERVER in word for word in command):
                yield Process(int(entry.name), command, _parts(entry / "environ"))
        except OSError:  # it has ended, or is not ours
            continue


def _parts(file: Path) -> tuple[str, ...]:
    return tuple(os.fsdecode(part) for part in file.read_bytes().split(b"\0") if part)


def _files(process: Process) -> set[Path]:
    """The file a server works on; a relative path, and the default, begin at the server's own program."""
    homes = [Path(word).resolve().parent for word in process.command if SERVER in word and os.sep in word]
    given = [part.removeprefix(_VARIABLE) for part in process.variables if part.startswith(_VARIABLE)]
    return {(home / (given[-1] if given else _DEFAULT)).resolve() for home in homes or [Path.cwd()]}
