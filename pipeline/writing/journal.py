"""The record of every run: the memories it touched as they were before, and each single change.

A row is on disk before the change it announces and again after it, so that a run killed anywhere
can be finished or taken back. The journal decides nothing; see `pipeline.writing.writer`.
"""

from __future__ import annotations

import array
import contextlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...errors import JournalError
from ..answers import About, Answer, AnswerKind
from ..stores.base import Snapshot
from ..stores.files.database import durable_database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, store TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT,
    state TEXT NOT NULL, retire_on TEXT, plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (
    run TEXT NOT NULL, memory TEXT NOT NULL, payload TEXT NOT NULL, vector BLOB, links TEXT NOT NULL,
    PRIMARY KEY (run, memory));
CREATE TABLE IF NOT EXISTS changes (
    run TEXT NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL, operation TEXT NOT NULL,
    memory TEXT, state TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE IF NOT EXISTS outcomes (
    run TEXT NOT NULL, action TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (run, action));
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY, store TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL,
    run TEXT NOT NULL, at TEXT NOT NULL, keys TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS places (store TEXT PRIMARY KEY, options TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rejections (
    store TEXT NOT NULL, pair TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (store, pair));
"""
# What an earlier version noted as a pair alone becomes an answer like any other.
_MOVE = """
INSERT INTO answers (store, kind, what, run, at, keys, about)
    SELECT store, 'rejected', '', '', at, json_array(pair), '[]' FROM rejections;
DELETE FROM rejections;
"""


class RunState(StrEnum):
    """How far a run has come."""

    APPLYING = "applying"
    APPLIED = "applied"
    UNDOING = "undoing"
    UNDONE = "undone"


class Operation(StrEnum):
    """What a change does to the store."""

    ADD = "add"
    REPLACE = "replace"
    AMEND = "amend"
    REMOVE = "remove"


class ChangeState(StrEnum):
    """How far one change has come."""

    INTENDED = "intended"
    DONE = "done"
    TAKEN_BACK = "taken back"


class Outcome(StrEnum):
    """The outcome of an action."""

    APPLIED = "applied"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a plan.

    Attributes:
        id: Name of the run.
        store: Fingerprint of the store.
        started_at: When it began.
        finished_at: When it ended; None while under way or killed.
        state: How far it has come.
        retire_on: If set, removed memories expired on this day instead of being deleted.
        plan: The plan as JSON Lines.
    """

    id: str
    store: str
    started_at: datetime
    finished_at: datetime | None
    state: RunState
    retire_on: str | None
    plan: str

    @property
    def interrupted(self) -> bool:
        """Whether it still has work to do."""
        return self.state in (RunState.APPLYING, RunState.UNDOING)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One change of a run.

    Attributes:
        number: Position in the run, from 1.
        action: Which action of the plan.
        operation: Added or removed.
        memory: The id concerned; None for an addition that was only intended.
        state: How far it has come.
    """

    number: int
    action: str
    operation: Operation
    memory: str | None
    state: ChangeState


class Journal:
    """The journal of all runs on this machine, in one SQLite file."""

    def __init__(self, directory: Path) -> None:
        """Open or create `journal.db` in the state directory.

        Raises:
            JournalError: If the file is damaged or cannot be written.
        """
        self._path = directory / "journal.db"
        damaged = (
            f"The journal {self._path} cannot be opened ({{error}}); without it nothing may be changed. "
            "Restore the file, or move it away to begin a new one (earlier runs can then not be undone)."
        )
        self._db = durable_database(self._path, _SCHEMA, damaged=damaged)
        if self._ask("SELECT 1 FROM rejections LIMIT 1"):
            with self._transaction():
                for statement in filter(str.strip, _MOVE.split(";")):
                    self._tell(statement)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def new_name(self, at: datetime) -> str:
        """A name that no run has: when it begins, and four digits of chance."""
        while True:
            name = f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            if not self._ask("SELECT 1 FROM runs WHERE id = ?", (name,)):
                return name

    def begin(
        self,
        run: str,
        *,
        store: str,
        plan: str,
        snapshots: Iterable[Snapshot],
        retire_on: str | None,
        at: datetime,
    ) -> None:
        """Write down a run and everything it will touch, in one transaction, before it acts."""
        rows = [
            (run, item.id, _dump(item.payload), _pack(item.vector), _dump(list(item.links)))
            for item in snapshots
        ]
        with self._transaction():
            self._tell(
                "INSERT INTO runs VALUES (?, ?, ?, NULL, ?, ?, ?)",
                (run, store, at.isoformat(), RunState.APPLYING, retire_on, plan),
            )
            self._tell_each("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", rows)

    def note_place(self, store: str, options: Mapping[str, Any]) -> None:
        """Remember how a store is opened: options by name, none of which is a secret."""
        if self.places().get(store) != options:
            self._tell("INSERT OR REPLACE INTO places VALUES (?, ?)", (store, _dump(options)))

    def places(self) -> dict[str, Mapping[str, Any]]:
        """How each store is opened that was worked on, by fingerprint."""
        return {store: json.loads(text) for store, text in self._ask("SELECT store, options FROM places")}

    def set_state(self, run: str, state: RunState, *, at: datetime) -> None:
        """Record how far a run has come."""
        finished = at.isoformat() if state in (RunState.APPLIED, RunState.UNDONE) else None
        self._tell("UPDATE runs SET state = ?, finished_at = ? WHERE id = ?", (state, finished, run))

    def intend(self, run: str, action: str, operation: Operation, memory: str | None) -> int:
        """Announce a change; return its number."""
        row = self._ask("SELECT COALESCE(MAX(number), 0) + 1 FROM changes WHERE run = ?", (run,))[0]
        number = int(row[0])
        self._tell(
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)",
            (run, number, action, operation, memory, ChangeState.INTENDED),
        )
        return number

    def mark(self, run: str, number: int, state: ChangeState, *, memory: str) -> None:
        """Record that an announced change was made, or taken back."""
        self._tell(
            "UPDATE changes SET state = ?, memory = ? WHERE run = ? AND number = ?",
            (state, memory, run, number),
        )

    def conclude(self, run: str, action: str, outcome: Outcome, reason: str = "") -> None:
        """Record the outcome of an action."""
        self._tell("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", (run, action, outcome, reason))

    def run(self, run: str) -> Run:
        """Look a run up by its name.

        Raises:
            JournalError: If there is none.
        """
        runs = self._runs("WHERE id = ?", run)
        if not runs:
            raise JournalError(
                f"There is no run {run!r} in the journal; `mem0-dream runs` lists all of them."
            )
        return runs[0]

    def runs(self, store: str | None = None) -> tuple[Run, ...]:
        """All runs, newest first; of one store if its fingerprint is given."""
        return self._runs("WHERE store = ?", store) if store else self._runs("")

    def interrupted(self, store: str) -> Run | None:
        """The newest run of a store that still has work to do."""
        return next((run for run in self.runs(store) if run.interrupted), None)

    def changes(self, run: str) -> tuple[Recorded, ...]:
        """All changes of a run, in order."""
        rows = self._ask(
            "SELECT number, action, operation, memory, state FROM changes WHERE run = ? ORDER BY number",
            (run,),
        )
        return tuple(Recorded(r[0], r[1], Operation(r[2]), r[3], ChangeState(r[4])) for r in rows)

    def outcomes(self, run: str) -> dict[str, tuple[Outcome, str]]:
        """The outcome of each action so far, with the reason."""
        rows = self._ask("SELECT action, state, reason FROM outcomes WHERE run = ?", (run,))
        return {row[0]: (Outcome(row[1]), row[2]) for row in rows}

    def snapshot(self, run: str, memory: str) -> Snapshot:
        """A record as it was before the run.

        Raises:
            JournalError: If the run did not touch it.
        """
        rows = self._ask(
            "SELECT payload, vector, links FROM snapshots WHERE run = ? AND memory = ?", (run, memory)
        )
        if not rows:
            raise JournalError(f"Run {run} holds no copy of memory {memory}.", ids=(memory,))
        row = rows[0]
        return Snapshot(memory, json.loads(row[0]), _unpack(row[1]), tuple(json.loads(row[2])))

    def answer(self, store: str, answers: Iterable[Answer]) -> None:
        """Remember what a person answered; the same answer twice is one."""
        known = {(item.kind, item.keys, item.run) for item in self.answers(store)}
        rows = [
            (
                store,
                item.kind,
                item.what,
                item.run,
                item.at.isoformat(),
                _dump(sorted(item.keys)),
                _about(item),
            )
            for item in answers
            if (item.kind, item.keys, item.run) not in known
        ]
        columns = "(store, kind, what, run, at, keys, about)"
        self._tell_each(f"INSERT INTO answers {columns} VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def answers(self, store: str) -> tuple[Answer, ...]:
        """Everything a person answered about a store, oldest first."""
        rows = self._ask(
            "SELECT kind, what, keys, about, at, run, number FROM answers WHERE store = ? ORDER BY number",
            (store,),
        )
        return tuple(
            Answer(
                AnswerKind(row[0]),
                row[1],
                frozenset(json.loads(row[2])),
                tuple(About(*item) for item in json.loads(row[3])),
                _moment(row[4]),
                row[5],
                row[6],
            )
            for row in rows
        )

    def withdraw(self, store: str, answers: Iterable[Answer]) -> None:
        """Forget answers, so that what they are about is proposed again."""
        self._tell_each(
            "DELETE FROM answers WHERE store = ? AND number = ?", [(store, item.number) for item in answers]
        )

    def reject(self, store: str, pairs: Iterable[str], *, at: datetime) -> None:
        """Remember pairs by their keys alone."""
        rejected = AnswerKind.REJECTED
        self.answer(store, [Answer(rejected, "", frozenset({pair}), (), at) for pair in pairs])

    def rejected(self, store: str) -> frozenset[str]:
        """Keys of all that a person closed by an answer; nothing they name is proposed again."""
        return frozenset(key for answer in self.answers(store) if answer.closes for key in answer.keys)

    def _runs(self, where: str, *arguments: str) -> tuple[Run, ...]:
        rows = self._ask(
            f"SELECT id, store, started_at, finished_at, state, retire_on, plan FROM runs {where} "
            "ORDER BY started_at DESC, rowid DESC",
            arguments,
        )
        return tuple(
            Run(r[0], r[1], _moment(r[2]), _moment(r[3]) if r[3] else None, RunState(r[4]), r[5], r[6])
            for r in rows
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._tell("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._tell("ROLLBACK")
            raise
        self._tell("COMMIT")

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        with self._usable():
            return self._db.execute(statement, values).fetchall()

    def _tell(self, statement: str, values: Sequence[object] = ()) -> None:
        with self._usable():
            self._db.execute(statement, values)

    def _tell_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self._usable():
            self._db.executemany(statement, rows)

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        """A file that is damaged, full or held by another process is one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise JournalError(
                f"The journal {self._path} cannot be used ({error}); nothing more was done. "
                "Run again once it can be written, then `mem0-dream resume` finishes what had begun."
            ) from error


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=True, sort_keys=False)


def _about(answer: Answer) -> str:
    return _dump([[item.id, item.text, *([item.said] if item.said else [])] for item in answer.about])


def _pack(vector: tuple[float, ...] | None) -> bytes | None:
    return None if vector is None else array.array("d", vector).tobytes()


def _unpack(blob: bytes | None) -> tuple[float, ...] | None:
    return None if blob is None else tuple(array.array("d", blob))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
