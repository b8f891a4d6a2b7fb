"""Unattended passes: whether one is due, and a row for each beside the runs: one may change nothing.

The row is written before a pass opens anything and again when it ends, and can be read without opening the
store: a job of a scheduler that died, that fails each night, or that is no longer started is visible. For
each choice of memories the last pass also leaves which there were, so that the next one knows what is new; of
an id only eight bytes of a hash are kept, so that a million of them fit into eight megabytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ..stores.base import ScopeFilter
from ..stores.files import Database, moment_of, reading
from .lock import Owner

Ids = Collection[Hashable]
LastPass = tuple[datetime, Ids]  # when the same memories were passed over, and what there was, or became


def due_reason(
    present: Ids, last: LastPass | None, *, after: timedelta, new: int, now: datetime, most: int | None = None
) -> tuple[bool, str]:
    """Whether a pass is due, and why or why not; by time and news, or with `most` by any of the three."""
    if last is None:
        return True, "never consolidated"
    since, fresh = now - last[0], len(set(present) - set(last[1]))
    if most is None:
        counted = f"{fresh} new memories since the last run, {_ago(since)}"
        if since < after:
            return False, f"{counted}; due {_spoken(after)} after it"
        if fresh < new:
            return False, f"{counted}; due from {new}"
        return True, f"{counted}; limits {new} and {_spoken(after)}"
    for holds, why in (
        (len(present) > most, f"{len(present)} memories, more than {most}"),
        (since >= after, f"{since.days} days since the last run, limit {after.days}"),
        (fresh >= new, f"{fresh} new memories since the last run, limit {new}"),
    ):
        if holds:
            return True, why
    counted = f"{len(present)} memories, {fresh} new, last run {_ago(since)}"
    return False, f"{counted}; due in {max(1, (after - since).days)} days at the latest"


def _ago(since: timedelta) -> str:
    return "less than an hour ago" if since < timedelta(hours=1) else f"{_spoken(since)} ago"


def _spoken(span: timedelta) -> str:
    hours = int(span / timedelta(hours=1))
    return f"{hours // 24} days" if hours >= 72 else f"{hours} hours" if hours != 1 else "1 hour"


KEPT = 100  # passes that are kept of each job


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a job."""

    number: int
    job: str  # the command line that reaches the same memories
    night: Mapping[str, Any]  # its summary, as `reporting.night` writes it
    owner: Owner  # the process that ran it
    ok_at: datetime | None = None  # when a pass of this job last ended well

    @property
    def started_at(self) -> datetime:
        """When it began."""
        return moment_of(str(self.night["started_at"]))

    def trouble(self, *, now: datetime, within: timedelta) -> str:
        """What is wrong with this job, in a few words; empty if it ran well, and not too long ago."""
        outcome = self.night.get("outcome")
        if outcome == "failed":
            return f"the last run failed: {self.night.get('said')}"
        if outcome == "running" and self.owner.is_gone(silent_s=(now - self.started_at).total_seconds()):
            return "the last run died before it ended"
        if now - self.started_at > within:
            hours = int((now - self.started_at) / timedelta(hours=1))
            return f"it has not run for {hours} hours"
        return ""


class Passes(Database):
    """The passes in the journal's database."""

    schema = """
    CREATE TABLE IF NOT EXISTS passes (
        number INTEGER PRIMARY KEY, place TEXT NOT NULL, job TEXT NOT NULL, night TEXT NOT NULL,
        owner TEXT NOT NULL, ok_at TEXT);
    CREATE TABLE IF NOT EXISTS seen (
        store TEXT NOT NULL, scopes TEXT NOT NULL, at TEXT NOT NULL, known BLOB NOT NULL,
        PRIMARY KEY (store, scopes));
    """

    def begin(self, place: str, job: str, night: Mapping[str, Any]) -> int:
        """Note that a pass begins over a store (`place`) and its scopes (`job`); returns its number."""
        with self.transaction():
            self.tell(
                "INSERT INTO passes (place, job, night, owner, ok_at) VALUES (?, ?, ?, ?, "
                "(SELECT ok_at FROM passes WHERE job = ? ORDER BY number DESC LIMIT 1))",
                (place, job, json.dumps(night), json.dumps(asdict(Owner.present())), job),
            )
            number = int(self.ask("SELECT MAX(number) FROM passes")[0][0])
            self.tell(
                "DELETE FROM passes WHERE job = ? AND number NOT IN "
                "(SELECT number FROM passes WHERE job = ? ORDER BY number DESC LIMIT ?)",
                (job, job, KEPT),
            )
        return number

    def end(self, number: int, night: Mapping[str, Any], *, ok: bool) -> datetime | None:
        """Note how a pass ended; returns when a pass of its job last ended well."""
        ended = str(night["finished_at"]) if ok else None
        self.tell(
            "UPDATE passes SET night = ?, ok_at = COALESCE(?, ok_at) WHERE number = ?",
            (json.dumps(night), ended, number),
        )
        rows = self.ask("SELECT ok_at FROM passes WHERE number = ? AND ok_at IS NOT NULL", (number,))
        return moment_of(rows[0][0]) if rows else None

    @reading
    def last(self, place: str) -> tuple[Pass, ...]:
        """The last pass of each job of a store, newest first."""
        rows = self.ask(
            "SELECT MAX(number), job, night, owner, ok_at FROM passes WHERE place = ? "
            "GROUP BY job ORDER BY 1 DESC",
            (place,),
        )
        return tuple(
            Pass(number, job, json.loads(night), Owner(**json.loads(owner)), ok and moment_of(ok))
            for number, job, night, owner, ok in rows
        )

    @reading
    def last_seen(self, store: str, scopes: ScopeFilter) -> LastPass | None:
        """When these memories were last passed over, and which there were."""
        statement = "SELECT at, known FROM seen WHERE store = ? AND scopes = ?"
        for at, known in self.ask(statement, (store, _choice(scopes))):
            return moment_of(at), frozenset(np.frombuffer(known, dtype=np.uint64).tolist())
        return None

    def note_seen(self, store: str, scopes: ScopeFilter, *, at: datetime, known: Iterable[int]) -> None:
        """Remember which memories there are after a pass."""
        names = np.array(sorted(known), dtype=np.uint64).tobytes()
        row = (store, _choice(scopes), at.isoformat(), names)
        self.tell("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", row)


def names_of(ids: Iterable[str]) -> frozenset[int]:
    """Short names of ids, equal on every machine."""
    written = (each.encode("utf-8", "surrogatepass") for each in ids)
    return frozenset(
        int.from_bytes(hashlib.blake2b(each, digest_size=8).digest(), "little") for each in written
    )


def _choice(scopes: ScopeFilter) -> str:
    return json.dumps(dict(scopes.ids), sort_keys=True)
