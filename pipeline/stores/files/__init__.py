"""Files of any store, and our own state.

`undo` notes and takes back every write of ours and keeps what goes, `exchange` replaces a file without losing
another program's write. Our own state is one directory, and in it one SQLite file with everything but the
caches: what is committed is on the disk when the call returns, and only the owner may read it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import sqlite3
import stat
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ....errors import ConfigError, JournalError

P = ParamSpec("P")
R = TypeVar("R")


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fingerprint(*place: str) -> str:
    """Sixteen hexadecimal digits: equal for equal places."""
    return digest(json.dumps(place).encode())[:16]


def json_text(value: object, *, indent: int | None = None, dense: bool = False) -> str:
    """JSON with signs as they are; escaped where they would be no UTF-8."""
    separators = (",", ":") if dense else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return text if is_utf8(text) else json.dumps(value, indent=indent, separators=separators)


def is_utf8(text: str) -> bool:
    """Whether a text can be written and kept; a lone surrogate, a text of JavaScript, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What differs when a file is another, or was written; None if it cannot be looked at."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, at any depth; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(inner)


STATE_DIR_VARIABLE = "MEM0_DREAM_STATE_DIR"
DATABASE = "journal.db"
_CREATING = threading.Lock()  # no thread opens a file before the handle that created it is closed


def state_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The state directory, by default of the environment or platform; `ConfigError` if it cannot be made."""
    import platformdirs

    chosen = given or os.environ.get(STATE_DIR_VARIABLE) or platformdirs.user_state_dir("mem0-dream")
    path = Path(chosen).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(
            f"The state directory {path} cannot be created ({error.strerror}); "
            f"set {STATE_DIR_VARIABLE} to a directory you may write to."
        ) from error
    return path


def make_private(path: Path) -> None:
    """Create a file that only its owner may read, or make it one, before anything is written into it.

    One that is there is not opened: a process that closes a file loses all its locks on it (POSIX), those of
    its open databases, too, and another process would clear the journal's own log away.
    """
    with _CREATING:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise OSError(errno.EINVAL, "it is no regular file") from None
            if mode & 0o077:
                path.chmod(0o600)


def make_database(path: Path) -> None:
    """Create a SQLite file, or make it private, and see that it may be written; `OSError` if it may not."""
    for ending in ("", "-wal", "-shm"):
        _refuse_planted(path.with_name(path.name + ending))
    make_private(path)
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be read and written")


def _refuse_planted(path: Path) -> None:
    """A link that anybody else may have put there leads our writes into a file of their choice."""
    if os.name != "posix" or not path.is_symlink():
        return
    if path.parent.stat().st_mode & 0o022 or path.lstat().st_uid != os.geteuid():
        raise OSError(errno.ELOOP, f"{path.name} is a link in a folder that others may write")


def moment_of(text: str) -> datetime:
    """A moment as it is written in our tables; `JournalError` if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise JournalError("A date in the journal is damaged; restore the file from a copy.") from error


def reading(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method of a `Database` say that what stands there is damaged, where it cannot be understood."""

    @functools.wraps(method)
    def read(*given: P.args, **more: P.kwargs) -> R:
        try:
            return method(*given, **more)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, zlib.error) as error:
            path = getattr(given[0], "path", DATABASE)
            raise JournalError(
                f"The journal {path} is damaged: a row of it cannot be understood. Restore the file, or move "
                "it away to begin a new one (earlier runs can then not be undone)."
            ) from error

    return read


class Database:
    """The file `journal.db`, opened or created; each part of the program brings the tables that it needs.

    A statement waits `wait_s` for another process. The user's own program (`by_application`) writes from any
    of its threads, which the caller keeps apart, and without waiting for the disk: a crash may lose the last
    rows. `JournalError` if the file is damaged or cannot be written, here and in every method.
    """

    schema: str  # statements that create what is missing

    def __init__(self, directory: Path, *, wait_s: float = 30.0, by_application: bool = False) -> None:
        self.path = directory / DATABASE
        try:
            make_database(self.path)
            self._db = sqlite3.connect(
                self.path, isolation_level=None, timeout=wait_s, check_same_thread=not by_application
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={'NORMAL' if by_application else 'FULL'}")
            self._db.executescript(self.schema)
        except (OSError, sqlite3.Error) as error:
            if hasattr(self, "_db"):
                self._db.close()
            raise JournalError(
                f"The journal {self.path} cannot be opened ({error}); without it nothing may be changed. "
                "Restore the file, or move it away to begin a new one (earlier runs can then not be undone)."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows that a statement gives."""
        with self._usable():
            return self._db.execute(statement, values).fetchall()

    def tell(self, statement: str, values: Sequence[object] = ()) -> None:
        """Change something; it is on the disk afterwards."""
        with self._usable():
            self._db.execute(statement, values)

    def tell_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """The same change for each row, all or none."""
        with self.transaction():
            self._db.executemany(statement, rows)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """What is done in the block happens as a whole or not at all; a block inside one joins it."""
        if self._db.in_transaction:
            yield
            return
        with self._usable():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        """A file that is damaged, full or held by another process is one sentence."""
        try:
            yield
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise JournalError(
                f"The journal {self.path} cannot be used ({error}); nothing more was done. "
                "Run again once it can be written, then `mem0-dream resume` finishes what had begun."
            ) from error
