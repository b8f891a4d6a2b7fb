"""What a review in the browser does on the store: look, preview, apply, take back, as data for the page.

The store is opened only to look and to apply, and locked only to apply; answers go to the review at once.
The caller makes sure that no two calls run at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import MovedOnError
from ...models.text.words import counted
from ..engine import Session
from ..fronts import StoreAccess, careful, done_by, plan_page, points_of, report_lines, settle
from ..plan import acts
from ..planning.stages import Advance, Observer, Silent
from ..reporting import report
from ..reporting.html import done_data
from ..reporting.text import visible
from ..review import WAITS, Review, digest
from ..writing.journal import Journal

APPLIED = 20  # runs whose changes can be taken back one by one; all others as a whole
OFFER = 50  # answers from which a calibration is offered


class ReviewDesk:
    """A plan under review; what is said about its proposals goes to `review`."""

    def __init__(self, access: StoreAccess, observer: Observer) -> None:
        self.access, self._observer = access, observer
        with access.open(observer) as session:
            self.directory: Path = session.directory
            self.fingerprint: str = session.store.fingerprint
            self._look_at(session)

    def preview(self) -> dict[str, Any]:
        """All that would be done now: numbers, texts that go or change, every line, and its digest."""
        with self.access.open(self._observer) as session:
            plan = self.review.planned(session)
            lines = report_lines(session, plan, explain=True)
            over = careful(session, plan)
            retires = session.retires(plan, wanted=self.access.retire)
        notes = list(plan.fidelity)
        if waits := sum(effect == WAITS for effect in self.review.effects(plan).values()):
            notes.append(f"{waits} accepted proposals touch memories of others; they wait for the next pass.")
        more = {"lines": lines, "digest": digest(plan), "notes": notes, "careful": over}
        return done_data(filter(acts, plan.actions), retires) | more

    def apply(self, shown: str, *, over: bool = False) -> dict[str, Any]:
        """Do what was agreed to, the plan of the digest `shown`; `over`: even over the delete budget."""
        with self._locked() as session:
            plan, now, retire = self.review.planned(session), self.access.clock(), self.access.retire
            try:
                self.review.check_unmoved(session, plan)
            except MovedOnError as moved:
                told = f"The proposals were made anew. {self._refreshed(session)} Look again, then apply."
                raise MovedOnError(f"{moved} {told}") from None
            if digest(plan) != shown:
                raise MovedOnError("The answers have changed since they were shown; look once more.")
            result = self.review.apply(session, plan, now=now, retire=retire, within_budget=not over)
            settle(self.access, session, result, plan)
            done = done_data(done_by(session, result), session.retires(plan, wanted=retire))
        return {
            "run": result.run,
            "tally": done["tally"],
            "told": [visible(f"Skipped {name}: {reason}.") for name, reason in result.moved],
            "undo": self.access.command("undo", result.run) if result.run else "",
        }

    def undo(self, run: str, action: str = "") -> str:
        """Take a run back, or one action of it; the line that says what was undone."""
        with self._locked() as session:
            result = session.undo(run, now=self.access.clock(), actions=[action] if action else ())
            reopened = any(kept.run == run and not kept.closes for kept in session.answered)
        kept = [f"Left alone: memory {name}: {reason}" for name, reason in result.kept]
        kept += [f"Not brought back: memory {name}: {reason}" for name, reason in result.lost]
        told = ". ".join(visible(line) for line in (report.undo_summary(result), *kept))
        again = " Conflicts that had been answered are open again." if reopened else ""
        return f"{told}. What was taken back is not proposed again.{again}"

    def resume(self, run: str) -> str:
        """Finish a run that was interrupted."""
        with self._locked() as session:
            session.resume(run, now=self.access.clock())
        return f"Run {run} is finished."

    def forget(self, number: str) -> str:
        """Withdraw an earlier answer by its number, and look again."""
        with self.access.open(self._observer) as session:
            session.withdraw([given for given in session.answered if str(given.number) == number])
            self._look_at(session)
        return "The answer is withdrawn."

    def refresh(self) -> str:
        """Look at the store again, keeping the answers that still hold."""
        with self.access.open(self._observer) as session:
            return f"Looked again. {self._refreshed(session)}"

    def calibrate(self) -> str:
        """Fit the thresholds to the answers, and propose by them."""
        told = self.access.calibrate()
        self.refresh()
        return told

    def data(self) -> dict[str, Any]:
        """The page's data, with the answers."""
        return {**self._data, "live": self.live()}

    def live(self) -> dict[str, Any]:
        """What changes with every answer."""
        answers = self.review.answers
        with contextlib.closing(Journal(self.directory)) as journal:
            labelled = len(journal.pairs())
            stopped = journal.interrupted(self.fingerprint)
        return {
            "answers": {key: {"say": str(given.say), "text": given.text} for key, given in answers.items()},
            "pins": sorted(self.review.pins),
            "changes": len(self.review.wanted),
            "labelled": labelled,
            "offer": OFFER,
            "unites": self.review.unites,
            "interrupted": {"id": stopped.id, "state": str(stopped.state)} if stopped else None,
        }

    @contextlib.contextmanager
    def _locked(self) -> Iterator[Session]:
        """The store for one change, after which it is looked at anew."""
        with self.access.open(self._observer) as session, session.locked():
            yield session
            self._look_at(session)

    def _look_at(self, session: Session) -> None:
        plan = self.access.look(session).plan
        self.review = Review(session, plan, opt_in=True)
        self.lines = report_lines(session, plan)
        self._data = plan_page(session, plan) | {
            "earlier": [
                {
                    "number": str(given.number),
                    "say": str(given.say),
                    "what": given.what,
                    "at": given.at.isoformat(timespec="minutes"),
                    "texts": [session.shown(about.spoken) for about in given.about],
                }
                for given in reversed(session.answered)
                if not given.applied and (not given.key or given.key not in self.review.questions)
            ],
            "applied": [
                {name: each[name] for name in ("id", "at", "state")}
                | done_data(each["done"], each["retires"])
                for each in [point for point in reversed(points_of(session)) if point["done"]][:APPLIED]
            ],
        }

    def _refreshed(self, session: Session) -> str:
        before = set(self.review.answers)
        self._look_at(session)
        lapsed = len(before - set(self.review.answers))
        some = f"{counted(lapsed, 'answer no longer fits', 'answers no longer fit')}."
        return some if lapsed else "All answers still hold."


class ReviewObserver:
    """The progress of a pass, which requests can read while it runs."""

    def __init__(self, shown: Observer | None = None) -> None:
        self._shown = shown or Silent()
        self._stages: list[dict[str, Any]] = []

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """Note a stage while it runs."""
        self._stages.append({"stage": name, "total": total, "done": 0})
        try:
            with self._shown.stage(name, total) as show:

                def advance(done: int) -> None:
                    self._stages[-1]["done"] = done
                    show(done)

                yield advance
        finally:
            self._stages.pop()

    @property
    def told(self) -> dict[str, Any]:
        """The present stage in data."""
        return self._stages[-1] if self._stages else {"stage": "", "total": None, "done": 0}
