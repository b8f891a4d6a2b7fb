"""One file takes the place of another, and no write of another program is lost.

Other programs take no lock. On Linux a lease makes every program that opens our new file wait until it is
certain that the file replaced only what was read. If it replaced more, our file takes over those bytes
first, so that no program ever reads a state that lacks a write.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import errno
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Literal

from ....errors import RefusedChangeError, StoreLockedError

WRITER_SECONDS = 10.0  # that another program may keep a file open for writing; we may let it wait 45 s
Grip = Literal["held", "busy", "none"]  # the lease is ours; another program has the file open; no leases here
_TEMPORARY = ".mem0-dream.tmp"
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_CURRENT_DIRECTORY = -100  # AT_FDCWD
_MODE = 0o600
_LOOK_SECONDS = 0.002
_CLOCK_SECONDS = 1.0  # by which the start of a process and the times of files are told apart


def replace_file(
    path: Path,
    data: bytes,
    *,
    before: bytes | None,
    mode: int | None = None,
    mtime_ns: int | None = None,
    unguarded: Callable[[], None] = lambda: None,
) -> None:
    """Put new bytes in the place of a file that still holds `before`, or must not exist where that is None.

    Permission bits are those given, those of the old file, or the owner's alone; the modification time is the
    present if none is given. `unguarded` is called before the file is touched if no lease is possible, and
    raises to refuse. `RefusedChangeError` if the file holds something else, is read-only, or cannot be
    written; `StoreLockedError` if another program keeps it open for writing.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
    with refusing(path), contextlib.ExitStack() as rubbish:
        path.parent.mkdir(parents=True, exist_ok=True)
        rubbish.callback(temporary.unlink, missing_ok=True)
        write_flushed(temporary, data)
        temporary.chmod(_mode(path, mode) if before is not None else mode or _MODE)
        if mtime_ns is not None:
            os.utime(temporary, ns=(mtime_ns, mtime_ns))
        if before is None or sys.platform != "linux":
            _rename(temporary, path, before, unguarded)
        else:
            _swap(temporary, path, before, unguarded, rubbish)
        flush_folder(path.parent)


def leftovers(folder: Path, name: str = "*") -> Iterator[tuple[Path, Path]]:
    """Copies that a process left beside files of this name when it was killed, each with its file."""
    for path in sorted(folder.glob(f".{name}.*{_TEMPORARY}")):
        file, _, number = path.name[1 : -len(_TEMPORARY)].rpartition(".")
        with contextlib.suppress(FileNotFoundError):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and number.isdecimal() and not _at_work(int(number), about):
                yield path, path.with_name(file)


def _at_work(number: int, about: os.stat_result) -> bool:
    """Whether the process that wrote a file may live; one that began later only bears its number."""
    import psutil

    try:
        return bool(psutil.Process(number).create_time() <= about.st_ctime + _CLOCK_SECONDS)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def remove_file(path: Path, *, before: bytes) -> None:
    """Remove a file that still holds these bytes and is not read-only; else `RefusedChangeError`."""
    with refusing(path, "removed"):
        _mode(path, None)
        if path.read_bytes() != before:
            raise RefusedChangeError(f"the file {path.name} changed meanwhile")
        path.unlink()
        flush_folder(path.parent)


@contextlib.contextmanager
def refusing(path: Path, verb: str = "changed", what: str = "file") -> Iterator[None]:
    """A file that the operating system refuses ends one change, with the reason, and no more."""
    try:
        yield
    except OSError as error:
        raise RefusedChangeError(f"the {what} {path.name} cannot be {verb} ({error.strerror})") from error


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


def lease(file: IO[bytes], *, alone: bool = False, patience: float = 0.0) -> Grip:
    """Make others that open this file to write (`alone`: also to read) wait until it is closed here.

    Those who have it open already are waited for, `patience` seconds at most.
    """
    if sys.platform != "linux":
        return "none"
    import fcntl

    # SIGIO, which the kernel sends of itself to the holder of a lease, would end this process.
    fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK if alone else fcntl.F_RDLCK)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                return "none"
        else:
            return "held"
        if time.monotonic() >= until:
            return "busy"
        time.sleep(_LOOK_SECONDS)


def keeps_waiting(path: Path) -> bool:
    """Whether other programs can be kept waiting while this file is replaced."""
    with path.open("rb") as file:
        return lease(file, patience=WRITER_SECONDS) == "held"


def _swap(
    temporary: Path, path: Path, before: bytes, unguarded: Callable[[], None], rubbish: contextlib.ExitStack
) -> None:
    """Exchange two files in one step, and check what was replaced before the new file can be opened."""
    with temporary.open("r+b") as ours:
        guarded = lease(ours, alone=True) == "held"
        with path.open("rb") as old:
            grip = lease(old, patience=WRITER_SECONDS) if guarded else "none"
            if grip == "busy":
                raise StoreLockedError(f"Another program is writing {path}; stop it, then try again.")
            if grip == "none":
                unguarded()
            if old.read() != before:
                raise RefusedChangeError(f"the file {path.name} changed meanwhile")
            if not _exchange(temporary, path):
                _rename(temporary, path, before, unguarded)
                return
            rubbish.pop_all()  # What bears the temporary name now may be another program's only copy.
        with temporary.open("rb") as displaced:
            # Wait for programs that had begun to write into the old file.
            lease(displaced, patience=WRITER_SECONDS if guarded else 0)
            theirs = displaced.read()
        if theirs != before and guarded:
            ours.write(theirs)
            ours.truncate()
            ours.flush()
            os.fsync(ours.fileno())
        elif theirs != before:
            _exchange(temporary, path)
        temporary.unlink()
        stands = path.exists() and os.path.samestat(os.fstat(ours.fileno()), path.stat())
        if theirs != before or not stands:
            raise RefusedChangeError(f"the file {path.name} was written at the same moment")


def _rename(temporary: Path, path: Path, before: bytes | None, unguarded: Callable[[], None]) -> None:
    """Where files cannot be exchanged: look, then rename; a write in between would be lost."""
    if before is not None:
        unguarded()
    if (path.read_bytes() if path.exists() else None) != before:
        raise RefusedChangeError(f"the file {path.name} changed meanwhile")
    temporary.replace(path)


def _mode(path: Path, asked: int | None) -> int:
    """Permission bits for what takes the place of a file; a read-only one was made so on purpose."""
    mode = path.stat().st_mode & 0o7777
    if not mode & 0o222:
        raise RefusedChangeError(f"the file {path.name} is read-only")
    return mode if asked is None else asked


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
