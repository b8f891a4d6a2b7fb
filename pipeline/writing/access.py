"""When each memory was last read, so that an unread memory can be told from an unlogged one.

mem0 does not remember reads. `track_access` wraps a client and notes what its `search` and `get`
return, in one SQLite file of the state directory. It never fails in the wrapped application and
never stores a text.
"""

from __future__ import annotations

import inspect
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Self

from ...errors import StoreError
from .state import state_directory

_log = logging.getLogger(__name__)

_FILE = "access.sqlite3"
_TRACKED = frozenset({"search", "get"})
# An application never waits longer than this for another process that writes the same file.
_WAIT_SECONDS = 0.2
# A merge proves a fact to be in use, too, but not that anybody's reads are on record.
_SCHEMAS = (
    """CREATE TABLE IF NOT EXISTS access
    (store TEXT, id TEXT, at TEXT NOT NULL, PRIMARY KEY (store, id)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS tracked (store TEXT, id TEXT, PRIMARY KEY (store, id)) WITHOUT ROWID",
)
_UPSERT = (
    "INSERT INTO access VALUES (?, ?, ?) ON CONFLICT (store, id) DO UPDATE SET at = max(at, excluded.at)"
)


class AccessLog:
    """The last access of each memory of each store.

    Args:
        state_dir: Directory of the file; see `pipeline.writing.state`.
    """

    def __init__(self, state_dir: str | Path | None = None) -> None:
        self._path = state_directory(state_dir) / _FILE
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def record(self, fingerprint: str, ids: Iterable[str], when: datetime, *, tracked: bool = False) -> None:
        """Note that these memories are in use; an older moment never replaces a newer one.

        Args:
            fingerprint: The store.
            ids: The memories.
            when: When they were read, or stated again.
            tracked: The agent's own client read them, so that its reads are on record.

        Raises:
            StoreError: If the file cannot be written.
        """
        moment = when.astimezone(UTC).isoformat(timespec="microseconds")
        rows = [(fingerprint, memory_id, moment) for memory_id in ids]
        if not rows:
            return
        try:
            with self._lock, self._opened() as connection:
                connection.executemany(_UPSERT, rows)
                if tracked:
                    read = [row[:2] for row in rows]
                    connection.executemany("INSERT OR IGNORE INTO tracked VALUES (?, ?)", read)
        except sqlite3.Error as error:
            raise StoreError(f"The access log {self._path} cannot be written: {error}.") from error

    def last(self, fingerprint: str) -> dict[str, datetime]:
        """The last known access of each memory of a store; a log that does not exist knows none.

        Raises:
            StoreError: If the file exists and cannot be read: without it everything would look unread.
        """
        rows = self._asked("access", "SELECT id, at FROM access WHERE store = ?", fingerprint)
        try:
            return {memory_id: datetime.fromisoformat(at) for memory_id, at in rows}
        except ValueError as error:
            raise self._unreadable() from error

    def tracked(self, fingerprint: str) -> frozenset[str]:
        """The memories that the agent's own client is known to have read.

        Raises:
            StoreError: If the file exists and cannot be read.
        """
        rows = self._asked("tracked", "SELECT id FROM tracked WHERE store = ?", fingerprint)
        return frozenset(row[0] for row in rows)

    def _asked(self, table: str, question: str, fingerprint: str) -> list[Any]:
        """The rows of a table; none where the file or the table does not exist yet."""
        if not self._path.is_file():
            return []
        try:
            with closing(sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
                there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
                return connection.execute(question, (fingerprint,)).fetchall() if there else []
        except sqlite3.Error as error:
            raise self._unreadable() from error

    def _unreadable(self) -> StoreError:
        return StoreError(f"The access log {self._path} cannot be read; move it away to go on.")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, check_same_thread=False)
            # With WAL and NORMAL a commit does not wait for the disk; a crash may lose the last reads.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            for schema in _SCHEMAS:
                connection.execute(schema)
            self._connection = connection
        return self._connection


class TrackedMemory:
    """A mem0 client that notes what it returns; everything else reaches the client untouched."""

    def __init__(self, memory: Any, note: Callable[[Any], None]) -> None:  # noqa: ANN401
        object.__setattr__(self, "_tracked", memory)
        object.__setattr__(self, "_note", note)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        attribute = getattr(self._tracked, name)
        return _noting(attribute, self._note) if name in _TRACKED and callable(attribute) else attribute

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        setattr(self._tracked, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._tracked, name)

    def __enter__(self) -> Self:
        self._tracked.__enter__()
        return self

    def __exit__(self, *exception: object) -> Any:  # noqa: ANN401
        return self._tracked.__exit__(*exception)

    async def __aenter__(self) -> Self:
        await self._tracked.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:  # noqa: ANN401
        return await self._tracked.__aexit__(*exception)

    def __repr__(self) -> str:
        return f"TrackedMemory({self._tracked!r})"


def track_access(
    memory: Any,  # noqa: ANN401  (mem0 is untyped)
    *,
    state_dir: str | Path | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Any:  # noqa: ANN401  (it stands for the client it was given)
    """Wrap a client of mem0, synchronous or not, embedded or hosted, so that its reads are remembered.

    Args:
        memory: The client.
        state_dir: Where to remember; see `pipeline.writing.state`.
        clock: Tells the present time.

    Example:
        memory = track_access(Memory.from_config(config))
    """
    return TrackedMemory(memory, _Note(memory, state_dir, clock))


class _Note:
    """Records the ids of one answer; logs the first failure and ignores all later ones."""

    def __init__(
        self,
        memory: Any,  # noqa: ANN401
        state_dir: str | Path | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._memory, self._state_dir, self._clock = memory, state_dir, clock
        self._target: tuple[AccessLog, str] | None = None
        self._warned = False

    def __call__(self, answer: Any) -> None:  # noqa: ANN401
        try:
            if self._target is None:
                from ..stores.clients import client_fingerprint

                self._target = AccessLog(self._state_dir), client_fingerprint(self._memory)
            log, fingerprint = self._target
            log.record(fingerprint, _ids(answer), self._clock(), tracked=True)
        except Exception as error:  # noqa: BLE001  (an access log must never break the application)
            if not self._warned:
                self._warned = True
                _log.warning("reads of memories are not being remembered: %s", type(error).__name__)


def _noting(method: Callable[..., Any], note: _Note) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(method):

        @wraps(method)
        async def asynchronous(*args: Any, **options: Any) -> Any:  # noqa: ANN401
            """Call the client and note its answer."""
            answer = await method(*args, **options)
            note(answer)
            return answer

        return asynchronous

    @wraps(method)
    def synchronous(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        """Call the client and note its answer."""
        answer = method(*args, **options)
        note(answer)
        return answer

    return synchronous


def _ids(answer: Any) -> list[str]:  # noqa: ANN401
    """Ids in the answer of `search` (a list under "results") or of `get` (one memory)."""
    rows = answer.get("results", [answer]) if isinstance(answer, dict) else answer or ()
    return [str(memory["id"]) for memory in rows if isinstance(memory, dict) and memory.get("id")]
