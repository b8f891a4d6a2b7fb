"""Our own notes in an SQLite file, on the disk when a call returns, whatever happens next."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ....errors import JournalError

_WAIT_SECONDS = 30.0
"""How long a statement waits for another process before it fails."""


def durable_database(path: Path, schema: str, *, damaged: str) -> sqlite3.Connection:
    """Open or create an SQLite file whose every commit is on the disk when it returns.

    Args:
        path: The file.
        schema: Statements that create what is missing.
        damaged: The sentence for a file that cannot be used; `{error}` in it says why.

    Raises:
        JournalError: With that sentence.
    """
    try:
        database = sqlite3.connect(path, isolation_level=None, timeout=_WAIT_SECONDS)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.executescript(schema)
    except sqlite3.Error as error:
        raise JournalError(damaged.replace("{error}", str(error))) from error
    return database
