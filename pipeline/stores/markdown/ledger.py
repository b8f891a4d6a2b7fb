"""What our own writes did to a file: the step back, the names of its entries, and its true age.

A row is kept under the hash of the bytes it leads to and stands before the file is renamed into
place, so it holds exactly as long as the file has those bytes. A change by anybody else has no row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..files.database import durable_database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (
    path TEXT NOT NULL, after TEXT NOT NULL, before TEXT NOT NULL, memory TEXT NOT NULL,
    offset INTEGER NOT NULL, written INTEGER NOT NULL, old BLOB NOT NULL,
    mtime_ns INTEGER NOT NULL, mode INTEGER NOT NULL, dated_ns INTEGER NOT NULL, ids TEXT,
    PRIMARY KEY (path, after));
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One write of ours.

    Attributes:
        path: The file.
        after: Hash of its bytes afterwards.
        before: Hash of its bytes before.
        memory: Id of the memory that was changed.
        offset: Where the changed bytes begin.
        written: How many bytes stand there now.
        old: The bytes that stood there.
        mtime_ns: Modification time before.
        mode: Permission bits.
        dated_ns: Modification time of the last write that was not ours: the age of what it says.
        ids: Names of its entries afterwards; None if it is not a file of lists.
    """

    path: str
    after: str
    before: str
    memory: str
    offset: int
    written: int
    old: bytes
    mtime_ns: int
    mode: int
    dated_ns: int
    ids: tuple[str, ...] | None

    def undone(self, data: bytes) -> bytes:
        """The bytes as they were before this step."""
        return data[: self.offset] + self.old + data[self.offset + self.written :]


class Ledger:
    """All steps on this machine, in one SQLite file of the state directory."""

    def __init__(self, directory: Path) -> None:
        """Open or create the file.

        Raises:
            JournalError: If it is damaged or cannot be written.
        """
        path = directory / "markdown.db"
        damaged = (
            f"The record of changed files {path} cannot be opened ({{error}}); without it nothing may be "
            "changed. Move it away to begin a new one."
        )
        self._db = durable_database(path, _SCHEMA, damaged=damaged)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def note(self, step: Step) -> None:
        """Write a step down, before it is taken."""
        self._db.execute(
            "INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                step.path,
                step.after,
                step.before,
                step.memory,
                step.offset,
                step.written,
                step.old,
                step.mtime_ns,
                step.mode,
                step.dated_ns,
                None if step.ids is None else json.dumps(step.ids),
            ),
        )

    def find(self, path: str, digest: str) -> Step | None:
        """The step that gave a file the bytes of this hash, if it was ours."""
        row = self._db.execute("SELECT * FROM steps WHERE path = ? AND after = ?", (path, digest)).fetchone()
        if row is None:
            return None
        names = None if row[10] is None else tuple(json.loads(row[10]))
        return Step(
            path=row[0],
            after=row[1],
            before=row[2],
            memory=row[3],
            offset=row[4],
            written=row[5],
            old=row[6],
            mtime_ns=row[7],
            mode=row[8],
            dated_ns=row[9],
            ids=names,
        )


def difference(before: bytes, after: bytes) -> tuple[int, int, bytes]:
    """Offset, length in the new bytes, and old bytes of the span in which two files differ.

    >>> difference(b"abcd", b"axd")
    (1, 1, b'bc')
    """
    limit = min(len(before), len(after))
    start = _common(before, after, limit)
    tail = _common(before[::-1], after[::-1], limit - start)
    return start, len(after) - start - tail, before[start : len(before) - tail]


def _common(a: bytes, b: bytes, limit: int) -> int:
    """Length of the common beginning; halving, since comparing slices is much faster than bytes."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
