"""A log of passes besides the journal: a pass that changes nothing leaves no run there.

For each store and choice of scopes: when the last unattended pass ended, and which memories there were. Of
these only eight bytes of a hash are kept, so that a million of them fit into eight megabytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ...errors import JournalError
from ..rules.due import LastPass
from ..stores.base import ScopeFilter
from ..stores.files.database import durable_database

FILE_NAME = "nights.db"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS passes (
    store TEXT NOT NULL, scopes TEXT NOT NULL, at TEXT NOT NULL, known BLOB NOT NULL,
    PRIMARY KEY (store, scopes));
"""


class NightLog:
    """The last pass over each choice of memories."""

    def __init__(self, directory: Path) -> None:
        """Open or create the file in the state directory.

        Raises:
            JournalError: If it cannot be used.
        """
        path = directory / FILE_NAME
        damaged = (
            f"The notes of earlier nights {path} cannot be used ({{error}}); move the file away to go on."
        )
        self._damaged = damaged
        self._db = durable_database(path, _SCHEMA, damaged=damaged)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def last(self, store: str, scopes: ScopeFilter) -> LastPass | None:
        """The last pass over these memories, if there was one."""
        rows = self._ask(
            "SELECT at, known FROM passes WHERE store = ? AND scopes = ?", (store, _spoken(scopes))
        )
        if not rows:
            return None
        at, known = rows[0]
        moment = datetime.fromisoformat(str(at)).astimezone(UTC)
        return LastPass(moment, frozenset(np.frombuffer(known, dtype=np.uint64).tolist()))

    def note(self, store: str, scopes: ScopeFilter, *, at: datetime, known: Iterable[int]) -> None:
        """Remember a pass that ended."""
        packed = np.array(sorted(known), dtype=np.uint64).tobytes()
        self._ask(
            "INSERT OR REPLACE INTO passes VALUES (?, ?, ?, ?)",
            (store, _spoken(scopes), at.isoformat(), packed),
        )

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[object, bytes]]:
        import sqlite3

        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise JournalError(self._damaged.replace("{error}", str(error))) from error


def names_of(ids: Iterable[str]) -> frozenset[int]:
    """Short names of ids, equal on every machine."""
    return frozenset(
        int.from_bytes(
            hashlib.blake2b(each.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        for each in ids
    )


def _spoken(scopes: ScopeFilter) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(scopes.ids.items()))
