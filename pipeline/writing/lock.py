"""The lock that keeps two runs of one store apart, and who holds it.

The lock itself is the operating system's. A file system that loses it must not let two runs at one store,
so the owner writes its name beside it (process, machine, start, a sign of life every half minute), and
another process takes over only from an owner that is gone.
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

from ...errors import ConfigError, StoreLockedError
from ..stores.files import make_private, stamp

BEAT_S = 30.0  # between two signs of life of an owner
SILENT_S = 3600.0  # after which an owner on another machine, where no process can be looked up, is gone
_SAME_START_S = 1.0  # start times are told in clock ticks; two readings of one differ by less


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its number, its machine, and when it began (seconds since 1970), as numbers come again."""

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
        """Whether it provably holds nothing any more, so many seconds after its last sign of life."""
        if self.host != platform.node():
            return silent_s > SILENT_S
        started = _started(self.pid)
        return started is None or abs(started - self.started) > _SAME_START_S


@contextlib.contextmanager
def store_lock(directory: Path, fingerprint: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of one store; the operating system frees it when its holder dies.

    `ConfigError` if there is no place for it, `StoreLockedError` if another run holds it, or still may.
    """
    from filelock import FileLock, Timeout

    folder = directory / "locks"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(f"The folder of locks {folder} cannot be created ({error.strerror}).") from error
    name = folder / f"{fingerprint}.owner.json"
    lock = FileLock(folder / f"{fingerprint}.lock", timeout=wait_s, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        owner = Owner.read(name)
        told = f" ({owner})" if owner else ""
        raise StoreLockedError(
            f"Another mem0-dream run{told} is working on this store; wait for it to end, then start again, "
            "or give --wait SECONDS."
        ) from None
    try:
        _refuse_living(name)
        with _owned(name):
            yield
    finally:
        lock.release()


def _refuse_living(name: Path) -> None:
    """The lock was free; its last owner must be gone, too."""
    owner = Owner.read(name)
    if owner is None or owner == Owner.present():
        return
    seen = stamp(name)
    silent = max(0.0, time.time() - seen[1] / 1e9) if seen else 0.0
    if not owner.is_gone(silent_s=silent):
        raise StoreLockedError(
            f"The lock of this store is free, but {owner} took it and may still be at work, last seen "
            f"{silent / 60:.0f} minutes ago. If it is gone for good, remove {name}."
        )


@contextlib.contextmanager
def _owned(path: Path) -> Iterator[None]:
    """Name this process as the owner while the block runs, with a sign of life every `BEAT_S` seconds."""
    ended = threading.Event()

    def _beat() -> None:
        while not ended.wait(BEAT_S):
            with contextlib.suppress(OSError):
                os.utime(path)

    with contextlib.suppress(OSError):
        make_private(path)
        path.write_text(json.dumps(asdict(Owner.present())), encoding="utf-8")
    thread = threading.Thread(target=_beat, name="mem0-dream-lock", daemon=True)
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
