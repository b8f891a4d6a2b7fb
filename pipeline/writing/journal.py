"""The record of every run: the memories it touched as they were before, and each single change.

A row is on disk before the change it announces and again after it, so that a run killed anywhere
can be finished or taken back. The journal decides nothing; see `pipeline.writing.writer`.
"""

from __future__ import annotations

import array
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import starmap
from typing import Any

from ...errors import JournalError
from ..answers import About, Answer, Say
from ..plan import Action, sorts
from ..stores.base import Snapshot
from ..stores.files import Database, moment_of, reading

RunState = StrEnum("RunState", "APPLYING APPLIED UNDOING UNDONE")
Operation = StrEnum("Operation", "ADD REPLACE AMEND REMOVE")  # what a change does to the store
ChangeState = StrEnum("ChangeState", {"INTENDED": "intended", "DONE": "done", "TAKEN_BACK": "taken back"})
Outcome = StrEnum("Outcome", "APPLIED SKIPPED")  # of an action


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a plan, which it holds as JSON Lines."""

    id: str
    store: str
    started_at: datetime
    finished_at: datetime | None  # None while under way or killed
    state: RunState
    retire_on: date | None  # if set, memories expired on this day instead of being deleted
    plan: str
    part: frozenset[str] | None = None  # the actions that are being taken back; None for all
    # Of which kinds of actions, and for which reasons, the removed memories did.
    retires: frozenset[str] = frozenset()

    def expiry_of(self, action: Action) -> date | None:
        """The day on which what an action removes expires; None if it is deleted."""
        return self.retire_on if sorts(action) & self.retires else None

    def refuse_elsewhere(self, store: str) -> None:
        """Refuse (`JournalError`) a run of another store."""
        if self.store != store:
            told = f"Run {self.id} was made on another store; use the configuration it was made with."
            raise JournalError(told)

    @property
    def interrupted(self) -> bool:
        """Whether it still has work to do."""
        return self.state in (RunState.APPLYING, RunState.UNDOING)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One change of a run, numbered from 1; `memory` is None for an addition that was only intended."""

    number: int
    action: str
    operation: Operation
    memory: str | None
    state: ChangeState


Copy = tuple[str, str, bytes | None, str]  # id, payload, vector and links


class Journal(Database):
    """The journal of all runs on this machine."""

    schema = """
    CREATE TABLE IF NOT EXISTS runs (
        id TEXT PRIMARY KEY, store TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT,
        state TEXT NOT NULL, retire_on TEXT, retires TEXT, plan TEXT NOT NULL, part TEXT);
    CREATE TABLE IF NOT EXISTS snapshots (
        run TEXT NOT NULL, memory TEXT NOT NULL, payload TEXT NOT NULL, vector BLOB, links TEXT NOT NULL,
        PRIMARY KEY (run, memory));
    CREATE TABLE IF NOT EXISTS changes (
        run TEXT NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL, operation TEXT NOT NULL,
        memory TEXT, state TEXT NOT NULL, PRIMARY KEY (run, number));
    CREATE INDEX IF NOT EXISTS changes_of_action ON changes (run, action);
    CREATE TABLE IF NOT EXISTS outcomes (
        run TEXT NOT NULL, action TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (run, action));
    CREATE TABLE IF NOT EXISTS answers (
        number INTEGER PRIMARY KEY, store TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL,
        run TEXT NOT NULL, at TEXT NOT NULL, keys TEXT NOT NULL, about TEXT NOT NULL,
        key TEXT NOT NULL, text TEXT, pair TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS places (store TEXT PRIMARY KEY, options TEXT NOT NULL);
    """

    def new_name(self, at: datetime) -> str:
        """A name that no run has: when it begins, and four digits of chance."""
        while True:
            name = f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            if not self.ask("SELECT 1 FROM runs WHERE id = ?", (name,)):
                return name

    def begin(self, run: Run, copies: Iterable[Copy]) -> None:
        """Write down a run and everything it will touch, in one transaction, before it acts."""
        began, expiry = run.started_at.isoformat(), run.retire_on and run.retire_on.isoformat()
        whole = (run.id, run.store, began, run.state, expiry, json.dumps(sorted(run.retires)), run.plan)
        with self.transaction():
            self.tell("INSERT INTO runs VALUES (?, ?, ?, NULL, ?, ?, ?, ?, NULL)", whole)
            rows = ((run.id, *copy) for copy in copies)
            self.tell_each("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", rows)

    def note_place(self, store: str, options: Mapping[str, Any]) -> None:
        """Remember how a store is opened: options by name, none of which is a secret."""
        if self.places().get(store) != options:
            self.tell("INSERT OR REPLACE INTO places VALUES (?, ?)", (store, json.dumps(options)))

    @reading
    def places(self) -> dict[str, Mapping[str, Any]]:
        """How each store is opened that was worked on, by fingerprint."""
        return {store: json.loads(text) for store, text in self.ask("SELECT store, options FROM places")}

    def set_state(
        self, run: str, state: RunState, *, at: datetime, part: Iterable[str] | None = None
    ) -> None:
        """Record how far a run has come, and which of its actions are being taken back if not all are."""
        finished = at.isoformat() if state in (RunState.APPLIED, RunState.UNDONE) else None
        self.tell(
            "UPDATE runs SET state = ?, finished_at = ?, part = ? WHERE id = ?",
            (state, finished, None if part is None else json.dumps(sorted(part)), run),
        )

    def drop(self, run: str) -> None:
        """Forget a run that changed nothing."""
        with self.transaction():
            for table in ("snapshots", "changes", "outcomes"):
                self.tell(f"DELETE FROM {table} WHERE run = ?", (run,))
            self.tell("DELETE FROM runs WHERE id = ?", (run,))

    def intend(self, run: str, action: str, operation: Operation, memory: str | None) -> int:
        """Announce a change; return its number, which it keeps if it was announced before."""
        same = "run = ? AND action = ? AND operation = ? AND COALESCE(?, memory, '') = COALESCE(memory, '')"
        for known in self.ask(f"SELECT number FROM changes WHERE {same}", (run, action, operation, memory)):
            return int(known[0])
        next_one = "SELECT COALESCE(MAX(number), 0) + 1 FROM changes WHERE run = ?"
        number = int(self.ask(next_one, (run,))[0][0])
        row = (run, number, action, operation, memory, ChangeState.INTENDED)
        self.tell("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)", row)
        return number

    def mark(self, run: str, number: int, state: ChangeState, *, memory: str) -> None:
        """Record that an announced change was made, or taken back."""
        row = (state, memory, run, number)
        self.tell("UPDATE changes SET state = ?, memory = ? WHERE run = ? AND number = ?", row)

    def conclude(self, run: str, action: str, outcome: Outcome, reason: str = "") -> None:
        """Record the outcome of an action."""
        self.tell("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", (run, action, outcome, reason))

    def run(self, run: str) -> Run:
        """Look a run up by its name; `JournalError` if there is none."""
        for found in self._runs("WHERE id = ?", run):
            return found
        raise JournalError(f"There is no run {run!r} in the journal; `mem0-dream runs` lists all of them.")

    def runs(self, store: str | None = None) -> tuple[Run, ...]:
        """All runs, the newest first whatever the clock said; of one store if its fingerprint is given."""
        return self._runs("WHERE store = ?", store) if store else self._runs("")

    def interrupted(self, store: str) -> Run | None:
        """The newest run of a store that still has work to do."""
        return next((run for run in self.runs(store) if run.interrupted), None)

    @reading
    def changes(self, run: str, action: str | None = None) -> tuple[Recorded, ...]:
        """All changes of a run, or of one of its actions, in order."""
        columns = "number, action, operation, memory, state"
        asked, of = ("run = ?", (run,)) if action is None else ("run = ? AND action = ?", (run, action))
        rows = self.ask(f"SELECT {columns} FROM changes WHERE {asked} ORDER BY number", of)
        return tuple(
            Recorded(number, action, Operation(done), memory, ChangeState(state))
            for number, action, done, memory, state in rows
        )

    @reading
    def outcomes(self, run: str) -> dict[str, tuple[Outcome, str]]:
        """The outcome of each action so far, with the reason."""
        rows = self.ask("SELECT action, state, reason FROM outcomes WHERE run = ?", (run,))
        return {action: (Outcome(state), reason) for action, state, reason in rows}

    @reading
    def snapshot(self, run: str, memory: str) -> Snapshot:
        """A record as it was before the run; `JournalError` if the run did not touch it."""
        kept = "SELECT payload, vector, links FROM snapshots WHERE run = ? AND memory = ?"
        for payload, blob, links in self.ask(kept, (run, memory)):
            vector = None if blob is None else tuple(array.array("d", blob))
            return Snapshot(memory, json.loads(payload), vector, tuple(json.loads(links)))
        raise JournalError(f"Run {run} holds no copy of memory {memory}.", ids=(memory,))

    def answer(self, store: str, answers: Iterable[Answer]) -> None:
        """Remember what a person answered; the same answer twice is one."""
        known = {(item.say, item.keys, item.key, item.run) for item in self.answers(store)}
        rows = [
            (
                store, item.say, item.what, item.run, item.at.isoformat(), json.dumps(sorted(item.keys)),
                json.dumps([[a.id, a.text, *([a.said] if a.said else [])] for a in item.about]),
                item.key, item.text, item.pair,
            )
            for item in answers
            if (item.say, item.keys, item.key, item.run) not in known
        ]  # fmt: skip
        columns = "(store, kind, what, run, at, keys, about, key, text, pair)"
        self.tell_each(f"INSERT INTO answers {columns} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    @reading
    def answers(self, store: str) -> tuple[Answer, ...]:
        """Everything a person answered about a store, oldest first."""
        columns = "kind, what, keys, about, at, run, number, key, text, pair"
        rows = self.ask(f"SELECT {columns} FROM answers WHERE store = ? ORDER BY number", (store,))
        return tuple(
            Answer(
                Say(kind), what, _set(keys), tuple(starmap(About, json.loads(about))), moment_of(at), *more
            )
            for kind, what, keys, about, at, *more in rows
        )

    def note_run(self, store: str, answers: Iterable[Answer], run: str) -> None:
        """Remember that a run carried answers out, or was agreed to along with them."""
        rows = [(run, store, item.number) for item in answers]
        self.tell_each("UPDATE answers SET run = ? WHERE store = ? AND number = ?", rows)

    def pairs(self) -> tuple[str, ...]:
        """What the answers about all stores teach, each pair once, as lines that `calibrate` reads."""
        rows = self.ask("SELECT DISTINCT pair FROM answers WHERE pair != '' ORDER BY number")
        return tuple(row[0] for row in rows)

    def withdraw(self, store: str, answers: Iterable[Answer]) -> None:
        """Forget answers, so that what they are about is proposed again."""
        rows = [(store, item.number) for item in answers]
        self.tell_each("DELETE FROM answers WHERE store = ? AND number = ?", rows)

    def rejected(self, store: str) -> frozenset[str]:
        """Keys of all that a person closed by an answer; nothing they name is proposed again."""
        return frozenset(key for answer in self.answers(store) if answer.closes for key in answer.keys)

    @reading
    def _runs(self, where: str, *arguments: str) -> tuple[Run, ...]:
        columns = "id, store, started_at, finished_at, state, retire_on, plan, part, retires"
        rows = self.ask(f"SELECT {columns} FROM runs {where} ORDER BY rowid DESC", arguments)
        return tuple(
            Run(name, store, moment_of(began), ended and moment_of(ended), RunState(state),
                expiry and date.fromisoformat(expiry), plan, part and _set(part), _set(retires))
            for name, store, began, ended, state, expiry, plan, part, retires in rows
        )  # fmt: skip


def copied(record: Snapshot) -> Copy:
    """A record as the journal keeps it: a fourth of what its vector takes as it is read."""
    vector = None if record.vector is None else array.array("d", record.vector).tobytes()
    return record.id, json.dumps(record.payload), vector, json.dumps(record.links)


def _set(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))
