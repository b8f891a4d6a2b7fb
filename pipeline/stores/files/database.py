"""Our own state: one directory, and in it one SQLite file with everything but the caches.

Nothing of ours is ever written into the user's store. What is committed is on the disk when the call returns,
and only the owner of the files may read them, because they hold texts.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ....errors import ConfigError, JournalError

STATE_DIR_VARIABLE = "MEM0_DREAM_STATE_DIR"
DATABASE = "journal.db"


def state_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The state directory, by default of the environment or platform; `ConfigError` if it cannot be made."""
    chosen = given or os.environ.get(STATE_DIR_VARIABLE)
    if chosen is None:
        import platformdirs

        chosen = platformdirs.user_state_dir("mem0-dream")
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
    """Create a file that only its owner may read, or make it one, before anything is written into it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def moment_of(text: str) -> datetime:
    """A moment as it is written in our tables."""
    return datetime.fromisoformat(text).astimezone(UTC)


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
            make_private(self.path)
            self._db = sqlite3.connect(
                self.path, isolation_level=None, timeout=wait_s, check_same_thread=not by_application
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={'NORMAL' if by_application else 'FULL'}")
            self._db.executescript(self.schema)
        except (OSError, sqlite3.Error) as error:
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
        except sqlite3.Error as error:
            raise JournalError(
                f"The journal {self.path} cannot be used ({error}); nothing more was done. "
                "Run again once it can be written, then `mem0-dream resume` finishes what had begun."
            ) from error
