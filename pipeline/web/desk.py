"""What a review in the browser does on the store: look, answer, preview, apply, undo, as data for the page.

The store is opened only to look and to apply, and locked only to apply; answers are kept at once. The
caller makes sure that no two calls run at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import MovedOnError
from ..actions import acts
from ..fronts import done_by, mend, plan_material, report_lines
from ..reporting import report
from ..reporting.html import applied_data, done_data, page_data
from ..review import WAITS, Review, digest
from ..rules.hygiene import shown_text
from ..writing.journal import Journal

if TYPE_CHECKING:
    from ..engine import Session
    from ..fronts import StoreAccess
    from ..planning.stages import Advance, Observer

APPLIED = 20
"""Runs whose changes can be taken back one by one; all others as a whole."""
OFFER = 50
"""Answers from which a calibration is offered."""


class ReviewDesk:
    """A plan under review."""

    def __init__(self, access: StoreAccess, observer: Observer) -> None:
        self._access, self._observer = access, observer
        with access.open(observer) as session:
            self.directory: Path = session.directory
            self.fingerprint: str = session.store.fingerprint
            self._look_at(session)

    def answer(self, key: str, say: str, text: str | None = None) -> None:
        """Keep an answer to a proposal; it takes the place of an earlier one."""
        self._review.answer(key, say, text, now=self._access.clock())

    def answer_all(self, keys: Iterable[str], say: str) -> None:
        """Accept or reject several proposals at once; those that were answered keep their answers."""
        self._review.answer_all(keys, say, now=self._access.clock())

    def withdraw(self, *keys: str) -> None:
        """Withdraw answers."""
        self._review.withdraw(*keys)

    def forget(self, number: str) -> str:
        """Withdraw an earlier answer by its number, and look again."""
        with self._access.open(self._observer) as session:
            session.withdraw([given for given in session.answered if str(given.number) == number])
            self._look_at(session)
        return "The answer is withdrawn."

    def pin(self, memory_id: str, *, pinned: bool) -> None:
        """Leave a memory alone from now on, or no longer."""
        self._review.pin(memory_id, pinned=pinned, now=self._access.clock())

    def lost(self, key: str, text: str) -> dict[str, Any]:
        """What a text would lose of the memories it is written for: details, and other words."""
        details, words = self._review.lost(self._review.find(key), text)
        return {"lost": [list(item) for item in details], "words": words}

    def preview(self) -> dict[str, Any]:
        """All that would be done now: numbers, texts that go, texts that change, and every line of it.

        Agreeing to it names its digest.
        """
        with self._access.open(self._observer) as session:
            plan = self._review.planned(session)
            lines = report_lines(session, plan, explain=True)
            limit = session.settings.max_delete
            over = session.overdraft(plan)
            retires = session.retires(plan, wanted=self._access.retire)
        notes = list(plan.fidelity)
        waits = sum(effect == WAITS for effect in self._review.effects(plan).values())
        if waits:
            notes.append(f"{waits} accepted proposals touch memories of others; they wait for the next pass.")
        careful = f"Careful: this removes {over}, more than the delete budget of {limit:.0%}." if over else ""
        return done_data(list(filter(acts, plan.actions)), retires) | {
            "lines": lines,
            "digest": digest(plan),
            "notes": notes,
            "careful": careful,
        }

    def apply(self, shown: str, *, over: bool = False) -> dict[str, Any]:
        """Do what was agreed to, as one run that can be undone.

        `shown` is the digest of the plan that the person saw; `over` if they agreed to exceed the delete
        budget.
        """
        with self._access.open(self._observer) as session, session.locked():
            plan, now = self._review.planned(session), self._access.clock()
            try:
                self._review.check_unmoved(session, plan)
            except MovedOnError as moved:
                lapsed = _lapsed(self._refreshed(session))
                raise MovedOnError(
                    f"{moved} The proposals were made anew. {lapsed} Look again, then apply."
                ) from None
            if digest(plan) != shown:
                raise MovedOnError("The answers have changed since they were shown; look once more.")
            result = self._review.apply(
                session, plan, now=now, retire=self._access.retire, within_budget=not over
            )
            self._access.settled(session, result)
            mend(session, result, plan, now=now)
            retires = session.retires(plan, wanted=self._access.retire)
            done = done_data(done_by(session, result, plan), retires)
            self._look_at(session)
        return {
            "run": result.run,
            "tally": done["tally"],
            "told": [report.visible(f"Skipped {name}: {reason}.") for name, reason in result.moved],
            "undo": self._access.command("undo", result.run) if result.run else "",
        }

    def undo(self, run: str, action: str = "") -> str:
        """Take a run back, or one action of it; the line that says what was undone."""
        with self._access.open(self._observer) as session, session.locked():
            result = session.undo(run, now=self._access.clock(), actions=[action] if action else ())
            self._look_at(session)
            reopened = any(kept.run == run and not kept.closes for kept in session.answered)
        kept = [f"Left alone: memory {name}: {reason}" for name, reason in result.kept]
        told = ". ".join(report.visible(line) for line in (report.undo_summary(result), *kept))
        again = " Conflicts that had been answered are open again." if reopened else ""
        return f"{told}. What was taken back is not proposed again.{again}"

    def resume(self, run: str) -> str:
        """Finish a run that was interrupted."""
        with self._access.open(self._observer) as session, session.locked():
            session.resume(run, now=self._access.clock())
            self._look_at(session)
        return f"Run {run} is finished."

    def refresh(self) -> str:
        """Look at the store again, keeping the answers that still hold."""
        with self._access.open(self._observer) as session:
            return f"Looked again. {_lapsed(self._refreshed(session))}"

    def calibrate(self) -> str:
        """Fit the thresholds to the answers, and propose by them."""
        told = self._access.calibrate()
        self.refresh()
        return told

    def spoken(self, error: Exception) -> str:
        """The sentence for an error."""
        return report.visible(self._access.spoken(str(error)))

    def data(self) -> dict[str, Any]:
        """The page's data, with the answers."""
        return {**self._data, "live": self.live()}

    def live(self) -> dict[str, Any]:
        """What changes with every answer."""
        answers = self._review.answers
        with contextlib.closing(Journal(self.directory)) as journal:
            labelled = len(journal.pairs())
            stopped = journal.interrupted(self.fingerprint)
        return {
            "answers": {key: {"say": str(given.say), "text": given.text} for key, given in answers.items()},
            "pins": sorted(self._review.pins),
            "changes": len(self._review.wanted),
            "labelled": labelled,
            "offer": OFFER,
            "unites": self._review.unites,
            "interrupted": {"id": stopped.id, "state": str(stopped.state)} if stopped else None,
        }

    def _look_at(self, session: Session) -> None:
        plan = self._access.look(session).plan
        self._review = Review(self.directory, plan, opt_in=True, unites=session.kind.scoped)
        material = plan_material(session, plan)
        self.lines = material.lines
        self._data = page_data(material) | {
            "earlier": [
                {
                    "number": str(given.number),
                    "say": str(given.say),
                    "what": given.what,
                    "at": given.at.isoformat(timespec="minutes"),
                    "texts": [shown_text(about.spoken, session.settings) for about in given.about],
                }
                for given in reversed(session.answered)
                if not given.applied and (not given.key or given.key not in self._review.questions)
            ],
            "applied": applied_data(material.points, APPLIED),
        }

    def _refreshed(self, session: Session) -> int:
        """Look again; how many answers no longer fit anything."""
        before = set(self._review.answers)
        self._look_at(session)
        return len(before - set(self._review.answers))


class ReviewObserver:
    """The progress of a pass, which requests can read while it runs."""

    def __init__(self, shown: Observer | None = None) -> None:
        self._shown = shown
        self._stages: list[tuple[str, int | None]] = []
        self._done = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """Note a stage while it runs."""
        self._stages.append((name, total))
        self._done = 0
        with contextlib.ExitStack() as stack:
            stack.callback(self._stages.pop)
            show = stack.enter_context(self._shown.stage(name, total)) if self._shown else None

            def advance(done: int) -> None:
                self._done = done
                if show is not None:
                    show(done)

            yield advance

    @property
    def told(self) -> dict[str, object]:
        """The present stage in data."""
        name, total = self._stages[-1] if self._stages else ("", None)
        return {"stage": name, "total": total, "done": self._done}


def _lapsed(count: int) -> str:
    if not count:
        return "All answers still hold."
    return "1 answer no longer fits." if count == 1 else f"{count} answers no longer fit."
