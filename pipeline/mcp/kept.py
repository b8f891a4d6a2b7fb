"""Plans kept between two calls of an agent: what was proposed, how it was shown, and what became of it.

A kept plan is only ever applied as it was shown. Its answers stand in the journal, by the content of the
proposals; see `pipeline.review`.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from ...errors import PlanFileError
from ..plan import Plan
from ..planning.plan_file import dump_plan, parse_plan
from ..review import digest
from ..stores.files.database import Database

KEPT = 20  # plans that are kept of each store; older ones are forgotten
CONSOLIDATE, FORGET = "consolidate", "forget"
_ID = re.compile(r"[0-9a-f]{12}\Z")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS proposals (
    store TEXT NOT NULL, id TEXT NOT NULL, plan TEXT NOT NULL, report TEXT NOT NULL, purpose TEXT NOT NULL,
    begun TEXT NOT NULL, run TEXT NOT NULL, done INTEGER NOT NULL, PRIMARY KEY (store, id));
"""
_COLUMNS = "id, store, plan, report, purpose, begun, run, done"


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan that was shown."""

    id: str  # by which it is named; equal plans have equal ids
    store: str  # fingerprint of its store
    text: str  # the plan as JSON Lines
    report: str  # its report, as it was shown last
    purpose: str = CONSOLIDATE  # a pass, or a search for what is to be forgotten
    # When applying it began, in ISO form; empty if it never did. Its run began at that moment.
    begun: str = ""
    run: str = ""  # the run that applied it; empty if none did, or nothing had to be done
    done: bool = False  # whether it was applied

    @classmethod
    def of(cls, plan: Plan, report: str, *, purpose: str = CONSOLIDATE) -> KeptPlan:
        """A plan as it is first shown."""
        return cls(digest(plan)[:12], plan.store, dump_plan(plan), report, purpose)

    @property
    def plan(self) -> Plan:
        """The plan as it was proposed."""
        return parse_plan(self.text)


class KeptPlans:
    """The kept plans of a state directory, in the journal's file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, kept: KeptPlan) -> KeptPlan:
        """Keep a plan, or what became of it, as the newest of its store."""
        with contextlib.closing(Database(self._directory, _SCHEMA)) as database, database.transaction():
            values = [getattr(kept, name) for name in _COLUMNS.replace("plan", "text").split(", ")]
            database.tell("DELETE FROM proposals WHERE store = ? AND id = ?", (kept.store, kept.id))
            database.tell(f"INSERT INTO proposals ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            newest = "SELECT rowid FROM proposals WHERE store = ? ORDER BY rowid DESC LIMIT ?"
            database.tell(
                f"DELETE FROM proposals WHERE store = ? AND rowid NOT IN ({newest})",
                (kept.store, kept.store, KEPT),
            )
        return kept

    def get(self, plan_id: str, *, store: str) -> KeptPlan:
        """The plan of this name."""
        found = self._rows("WHERE id = ?", plan_id) if _ID.match(plan_id) else []
        own = [kept for kept in found if kept.store == store]
        if not own:
            told = "was made for another store" if found else "is not known"
            raise PlanFileError(f"The plan {plan_id[:40]!r} {told}; make one with dream_plan.")
        return own[0]

    def last(self, *, store: str) -> KeptPlan | None:
        """The plan of a pass over this store that was made or answered last; None if there is none."""
        found = self._rows("WHERE store = ? AND purpose = ?", store, CONSOLIDATE)
        return found[0] if found else None

    def _rows(self, where: str, *values: str) -> list[KeptPlan]:
        with contextlib.closing(Database(self._directory, _SCHEMA)) as database:
            rows = database.ask(f"SELECT {_COLUMNS} FROM proposals {where} ORDER BY rowid DESC", values)
        return [KeptPlan(*row) for row in rows]
