"""When each memory was last read, so that an unread memory can be told from an unlogged one.

mem0 does not remember reads. `track_access` wraps a client and notes what its `search` and `get`
return, in the journal's database. It never fails in the wrapped application and never stores a text.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Self

from ..stores.files import Database, state_directory

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.2  # an application never waits longer for another process that writes the same file
_WAITING_AT_MOST = 10_000  # reads that could not be noted, as while a run writes, wait for the next ones
_UPSERT = (
    "INSERT INTO access VALUES (?, ?, ?) ON CONFLICT (store, id) DO UPDATE SET at = max(at, excluded.at)"
)


class AccessLog(Database):
    """The last access of each memory of each store; without it everything would look unread."""

    # A merge proves a fact to be in use, too, but not that anybody's reads are on record.
    schema = """
    CREATE TABLE IF NOT EXISTS access (
        store TEXT, id TEXT, at TEXT NOT NULL, PRIMARY KEY (store, id)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS tracked (store TEXT, id TEXT, PRIMARY KEY (store, id)) WITHOUT ROWID;
    """

    def __init__(self, state_dir: str | Path | None = None) -> None:
        super().__init__(state_directory(state_dir), wait_s=_WAIT_SECONDS, by_application=True)
        self._lock = threading.Lock()

    def record(self, fingerprint: str, ids: Iterable[str], when: datetime, *, tracked: bool = False) -> None:
        """Note that memories are in use, never earlier than known; `tracked` if the agent's client reads."""
        moment = when.astimezone(UTC).isoformat(timespec="microseconds")
        read = [(fingerprint, memory_id) for memory_id in ids]
        if not read:
            return
        with self._lock, self.transaction():
            self.tell_each(_UPSERT, [(*row, moment) for row in read])
            self.tell_each("INSERT OR IGNORE INTO tracked VALUES (?, ?)", read if tracked else ())

    def last(self, fingerprint: str) -> dict[str, datetime]:
        """The last known access of each memory of a store."""
        with self._lock:
            rows = self.ask("SELECT id, at FROM access WHERE store = ?", (fingerprint,))
        return {memory_id: datetime.fromisoformat(at) for memory_id, at in rows}

    def tracked(self, fingerprint: str) -> frozenset[str]:
        """The memories that the agent's own client is known to have read."""
        with self._lock:
            rows = self.ask("SELECT id FROM tracked WHERE store = ?", (fingerprint,))
        return frozenset(row[0] for row in rows)


class TrackedMemory:
    """A mem0 client that notes what it returns; everything else reaches the client untouched."""

    def __init__(self, memory: Any, note: Callable[[Any], Any]) -> None:
        object.__setattr__(self, "_tracked", memory)
        object.__setattr__(self, "_note", note)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._tracked, name)
        reads = name in ("search", "get") and callable(attribute)
        return _noting(attribute, self._note) if reads else attribute

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._tracked, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._tracked, name)

    def __enter__(self) -> Self:
        self._tracked.__enter__()
        return self

    def __exit__(self, *exception: object) -> Any:
        return self._tracked.__exit__(*exception)

    async def __aenter__(self) -> Self:
        await self._tracked.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._tracked.__aexit__(*exception)

    def __repr__(self) -> str:
        return f"TrackedMemory({self._tracked!r})"


def track_access(
    memory: Any,
    *,
    state_dir: str | Path | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Any:
    """Wrap a client of mem0, synchronous or not, embedded or hosted, so that its reads are remembered.

    Example:
        memory = track_access(Memory.from_config(config))
    """
    return TrackedMemory(memory, _Note(memory, state_dir, clock))


class _Note:
    """Records the ids of each answer, with those that could not be written before; logs the first failure."""

    def __init__(self, memory: Any, state_dir: str | Path | None, clock: Callable[[], datetime]) -> None:
        self._memory, self._state_dir, self._clock = memory, state_dir, clock
        self._target: tuple[AccessLog, str] | None = None
        self._waiting: set[str] = set()
        self._warned = False

    def __call__(self, answer: Any) -> Any:
        ids = self._waiting.union(_ids(answer))
        try:
            if self._target is None:
                from ..stores import client_fingerprint

                self._target = AccessLog(self._state_dir), client_fingerprint(self._memory)
            log, fingerprint = self._target
            log.record(fingerprint, ids, self._clock(), tracked=True)
            self._waiting = set()
        except Exception as error:  # noqa: BLE001  (an access log must never break the application)
            self._waiting = ids if len(ids) <= _WAITING_AT_MOST else set()
            if not self._warned:
                self._warned = True
                _log.warning("reads of memories are not being remembered: %s", type(error).__name__)
        return answer


def _noting(method: Callable[..., Any], note: Callable[[Any], Any]) -> Callable[..., Any]:
    @wraps(method)
    async def asynchronous(*args: Any, **options: Any) -> Any:
        return note(await method(*args, **options))

    @wraps(method)
    def synchronous(*args: Any, **options: Any) -> Any:
        return note(method(*args, **options))

    return asynchronous if inspect.iscoroutinefunction(method) else synchronous


def _ids(answer: Any) -> list[str]:
    """Ids in the answer of `search` (a list under "results") or of `get` (one memory)."""
    rows = answer.get("results", [answer]) if isinstance(answer, dict) else answer or ()
    return [str(memory["id"]) for memory in rows if isinstance(memory, dict) and memory.get("id")]
