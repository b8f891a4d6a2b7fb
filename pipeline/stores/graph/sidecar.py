"""What we must remember about a graph and may not write into it: old line orders, moved relations.

One SQLite file in the state directory. Losing it loses no memory: an undo then gives the lines back
in about their old places instead of exactly.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..files import digest
from ..files.database import durable_database

KEPT_IMAGES = 50
"""So many old states of one graph are kept, newest first; each run needs one."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS images (
    number INTEGER PRIMARY KEY, store TEXT NOT NULL, digest TEXT NOT NULL, data BLOB NOT NULL,
    UNIQUE (store, digest));
CREATE TABLE IF NOT EXISTS moved (
    store TEXT NOT NULL, name TEXT NOT NULL, before TEXT NOT NULL, made TEXT NOT NULL,
    PRIMARY KEY (store, name));
CREATE TABLE IF NOT EXISTS notes (
    store TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (store, name));
"""


@dataclass(frozen=True, slots=True)
class MovedRelations:
    """Relations that were given to a survivor.

    Attributes:
        before: Raw lines as they were.
        made: Raw lines that came into being.
    """

    before: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


class Sidecar:
    """Our own notes about one graph."""

    def __init__(self, directory: Path, store: str) -> None:
        """Open or create `graph.db` in the state directory.

        Raises:
            JournalError: If it is damaged or cannot be written.
        """
        path = directory / "graph.db"
        self._store = store
        damaged = (
            f"The notes about graphs {path} cannot be opened ({{error}}); "
            "move the file away to begin a new one."
        )
        self._db = durable_database(path, _SCHEMA, damaged=damaged)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def keep_image(self, data: bytes) -> None:
        """Remember a state of the graph."""
        self._db.execute(
            "INSERT OR IGNORE INTO images (store, digest, data) VALUES (?, ?, ?)",
            (self._store, digest(data), zlib.compress(data)),
        )
        self._db.execute(
            "DELETE FROM images WHERE store = ? AND number NOT IN "
            "(SELECT number FROM images WHERE store = ? ORDER BY number DESC LIMIT ?)",
            (self._store, self._store, KEPT_IMAGES),
        )

    def image(self, digest_: str) -> bytes | None:
        """A state of the graph that is still remembered."""
        row = self._db.execute(
            "SELECT data FROM images WHERE store = ? AND digest = ?", (self._store, digest_)
        ).fetchone()
        return zlib.decompress(row[0]) if row else None

    def note_moved(self, name: str, *, before: Iterable[str], made: Iterable[str], again: bool) -> None:
        """Write down, before it is done, which relations a removed entity leaves to its survivor.

        Args:
            name: The entity that goes.
            before: Its relations.
            made: Relations that are not there yet.
            again: A killed run may have made some of them already.
        """
        earlier = self.moved(name) if again else MovedRelations()
        rows = [*dict.fromkeys((*earlier.before, *before))], [*dict.fromkeys((*earlier.made, *made))]
        self._db.execute(
            "INSERT OR REPLACE INTO moved VALUES (?, ?, ?, ?)",
            (self._store, name, json.dumps(rows[0]), json.dumps(rows[1])),
        )

    def moved(self, name: str) -> MovedRelations:
        """What was written down about an entity that went."""
        row = self._db.execute(
            "SELECT before, made FROM moved WHERE store = ? AND name = ?", (self._store, name)
        ).fetchone()
        return (
            MovedRelations(tuple(json.loads(row[0])), tuple(json.loads(row[1]))) if row else MovedRelations()
        )

    def note(self, name: str, value: object) -> None:
        """Remember anything else under a name, such as the focus of attention."""
        self._db.execute(
            "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (self._store, name, json.dumps(value))
        )

    def noted(self, name: str) -> object:
        """What was remembered under a name, or None."""
        row = self._db.execute(
            "SELECT value FROM notes WHERE store = ? AND name = ?", (self._store, name)
        ).fetchone()
        return json.loads(row[0]) if row else None
