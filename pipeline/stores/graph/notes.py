"""What we remember about a graph and may not write into it: the last run, the focus, what came back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..files.database import Database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS graph_notes (
    store TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (store, name));
"""
_LAST, _FOCUS, _BROUGHT_BACK = "last run", "focus", "brought back"


@dataclass(frozen=True, slots=True)
class LastRun:
    """A graph after a run, with which the next one is compared."""

    at: datetime  # when that was
    # Uses and effectiveness by name; an effectiveness may be unknown.
    memories: Mapping[str, tuple[int, float | None]]
    run: str = ""  # its name; empty if there was nothing to do


class GraphNotes:
    """Our own notes about one graph."""

    def __init__(self, directory: Path, store: str) -> None:
        """Open the database of the state directory.

        Raises:
            JournalError: If it is damaged or cannot be written.
        """
        self._store = store
        self._db = Database(directory, _SCHEMA)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def note(self, name: str, value: object) -> None:
        """Remember anything else under a name."""
        values = (self._store, name, json.dumps(value))
        self._db.tell("INSERT OR REPLACE INTO graph_notes VALUES (?, ?, ?)", values)

    def noted(self, name: str) -> Any:  # noqa: ANN401  (whatever was noted)
        """What was remembered under a name, or None."""
        statement = "SELECT value FROM graph_notes WHERE store = ? AND name = ?"
        return next((json.loads(value) for (value,) in self._db.ask(statement, (self._store, name))), None)

    @property
    def last(self) -> LastRun | None:
        """The state of every memory after the last run; None if there was none."""
        noted = self.noted(_LAST)
        if not isinstance(noted, dict):
            return None
        rows = {name: (int(uses), share) for name, (uses, share) in noted["memories"].items()}
        return LastRun(datetime.fromisoformat(noted["at"]), rows, noted["run"])

    def remember(self, state: LastRun) -> None:
        """Note the present state of every memory."""
        self.note(_LAST, {"at": state.at.isoformat(), "memories": state.memories, "run": state.run})

    @property
    def focus(self) -> str | None:
        """The topic that a person set, to protect what is about it."""
        noted = self.noted(_FOCUS)
        return noted if isinstance(noted, str) else None

    @focus.setter
    def focus(self, topic: str | None) -> None:
        """Set it, or take it back with None."""
        self.note(_FOCUS, topic)

    def bring_back(self, names: Iterable[str], *, now: datetime) -> None:
        """Note that a person brought forgotten memories back."""
        self.note(_BROUGHT_BACK, (self.noted(_BROUGHT_BACK) or {}) | dict.fromkeys(names, now.isoformat()))

    def brought_back(self, now: datetime, *, within: timedelta) -> list[str]:
        """What was brought back lately; it is kept as long as if it had been used on that day."""
        rows = self.noted(_BROUGHT_BACK) or {}
        return [name for name, at in rows.items() if now - datetime.fromisoformat(at) <= within]
