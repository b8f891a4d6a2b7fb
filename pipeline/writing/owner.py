"""Who holds the lock of a store: which process of which machine, since when, and its last sign of life.

The lock itself is the operating system's. A file system that loses it must not let two runs at one store,
so the owner writes its name beside it, and another process takes over only from an owner that is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

BEAT_S = 30.0
"""Seconds between two signs of life of an owner."""

SILENT_S = 3600.0
"""An owner on another machine, where no process can be looked up, counts as gone after so long a silence; the
lock is free then, too."""

_SAME_START_S = 1.0
"""Process start times are told in clock ticks; two readings of one differ by less."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that holds, or held, a lock.

    Attributes:
        pid: Its number.
        host: Its machine.
        started: When the process began, in seconds since 1970; a number is used again, a start is not.
    """

    pid: int
    host: str
    started: float

    @classmethod
    def present(cls) -> Owner:
        """This process."""
        return cls(os.getpid(), platform.node(), _started(os.getpid()) or 0.0)

    @classmethod
    def read(cls, path: Path) -> Owner | None:
        """The owner that a file names; None if the file is missing or unreadable."""
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
            return cls(int(row["pid"]), str(row["host"]), float(row["started"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __str__(self) -> str:
        here = self.host == platform.node()
        return f"process {self.pid}" if here else f"process {self.pid} on {self.host}"

    def is_gone(self, *, silent_s: float) -> bool:
        """Whether it provably holds nothing any more.

        Args:
            silent_s: Seconds since its last sign of life.
        """
        if self.host != platform.node():
            return silent_s > SILENT_S
        started = _started(self.pid)
        return started is None or abs(started - self.started) > _SAME_START_S


def silence(path: Path) -> float:
    """Seconds since the last sign of life beside a lock."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except OSError:
        return 0.0


@contextlib.contextmanager
def owned(path: Path) -> Iterator[None]:
    """Name this process as the owner while the block runs, with a sign of life every `BEAT_S` seconds."""
    ended = threading.Event()

    def beat() -> None:
        """Touch the file until the end."""
        while not ended.wait(BEAT_S):
            with contextlib.suppress(OSError):
                os.utime(path)

    with contextlib.suppress(OSError):
        path.write_text(json.dumps(asdict(Owner.present())), encoding="utf-8")
    thread = threading.Thread(target=beat, name="mem0-dream-lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with contextlib.suppress(OSError):
            path.unlink()


def _started(pid: int) -> float | None:
    """When a running process began; None if there is none, or only what is left of one."""
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.Error:
        return 0.0  # it is there, and not ours to look at
