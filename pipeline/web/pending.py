"""What a person said in a review and has not been applied yet; it outlives a closed tab and a killed server.

An answer belongs to a question by what the question is about (`card_key`), so that it lapses by itself once
a text or a proposal changes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ..actions import Action, Resolve
from ..stores.files.database import durable_database

if TYPE_CHECKING:
    import sqlite3

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pending (
    store TEXT NOT NULL, key TEXT NOT NULL, answer TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (store, key));
"""


class Say(StrEnum):
    """What a person may say to a proposal."""

    ACCEPT = "accept"
    REJECT = "reject"
    A = "a"
    B = "b"
    BOTH = "both"
    SKIP = "skip"


def may_say(action: Action) -> frozenset[Say]:
    """The answers that fit a kind of proposal."""
    if isinstance(action, Resolve):
        return frozenset({Say.A, Say.B, Say.BOTH, Say.SKIP})
    return frozenset({Say.ACCEPT, Say.REJECT})


CHANGES = frozenset({Say.ACCEPT, Say.A, Say.B})
"""Answers after which something is done to the store."""


@dataclass(frozen=True, slots=True)
class Pending:
    """One answer.

    Attributes:
        say: What was said.
        text: The text that a person wrote instead of the drafted one.
    """

    say: Say
    text: str | None = None


class PendingAnswers:
    """The answers about one store, in `review.db` of the state directory."""

    def __init__(self, directory: Path, store: str) -> None:
        """Name the file; it is opened for each statement, from whichever thread."""
        self._path = directory / "review.db"
        self._store = store

    def all(self) -> dict[str, Pending]:
        """Every answer by the key of its question."""
        with self._opened() as database:
            rows = database.execute(
                "SELECT key, answer FROM pending WHERE store = ?", (self._store,)
            ).fetchall()
        return {
            key: Pending(Say(kept["say"]), kept["text"])
            for key, kept in ((k, json.loads(v)) for k, v in rows)
        }

    def put(self, answers: Mapping[str, Pending], *, at: datetime) -> None:
        """Keep answers, instead of earlier ones to the same questions."""
        rows = [
            (self._store, key, json.dumps({"say": str(given.say), "text": given.text}), at.isoformat())
            for key, given in answers.items()
        ]
        with self._opened() as database:
            database.execute("BEGIN")
            database.executemany("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?)", rows)
            database.execute("COMMIT")

    def drop(self, keys: Collection[str]) -> None:
        """Forget answers."""
        with self._opened() as database:
            database.executemany(
                "DELETE FROM pending WHERE store = ? AND key = ?", [(self._store, key) for key in keys]
            )

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        damaged = f"The answers in {self._path} cannot be used ({{error}}); move the file away to begin anew."
        database = durable_database(self._path, _SCHEMA, damaged=damaged)
        try:
            yield database
        finally:
            database.close()
