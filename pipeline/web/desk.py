"""One review: the plan on the desk, a person's answers to it, and the changes they make.

The store is opened only to look and to apply, and locked only to apply; answers are kept at once. The
caller makes sure that no two calls run at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import IncompleteListingError, MovedOnError, UsageError
from ...models.guards import missing
from ..actions import Action, Merge
from ..answers import Answer, AnswerKind, pinned_ids
from ..page_material import plan_material, report_lines
from ..plan import Plan
from ..planning.budget import overdraft
from ..planning.plan_file import dump_plan
from ..planning.proposal import Proposal
from ..reporting import report
from ..reporting.html import card_key, page_data
from ..writing.journal import Journal
from .decisions import Decisions, asked_about, decided, moved
from .labels import OFFER, learn, learnt, unlearn
from .pending import CHANGES, Pending, PendingAnswers, Say, may_say

if TYPE_CHECKING:
    from ..engine import Session
    from ..results import RunResult

Result = TypeVar("Result")
_REMEMBERED = {Say.REJECT: AnswerKind.REJECTED, Say.BOTH: AnswerKind.REJECTED, Say.SKIP: AnswerKind.SKIPPED}
"""Answers that hold beyond this review: they are kept in the journal, too."""


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What the command line knows and a review needs.

    Attributes:
        open: Opens the store; the review closes it again.
        look: What a pass would propose to a person.
        clock: The present moment.
        undo: The command that takes a run back.
        settled: Told what a run did, while the store is still open.
        calibrate: Fits the thresholds to the answers, and says what they reach.
        spoken: Makes the commands that a sentence names complete.
        retire: Expire memories instead of deleting them.
    """

    open: Callable[[], AbstractContextManager[Session]]
    look: Callable[[Session], Proposal]
    clock: Callable[[], datetime]
    undo: Callable[[str], str]
    settled: Callable[[Session, RunResult], None]
    calibrate: Callable[[], str]
    spoken: Callable[[str], str] = str
    retire: bool = False


class ReviewDesk:
    """A plan under review."""

    def __init__(self, ways: Ways) -> None:
        """Look at the store for the first time.

        Raises:
            DreamError: If it cannot be read.
        """
        self._ways = ways
        with ways.open() as session:
            self.directory: Path = session.directory
            self.fingerprint: str = session.store.fingerprint
            self._pending = PendingAnswers(self.directory, self.fingerprint)
            self._look_at(session)

    def answer(self, key: str, say: str, text: str | None = None) -> None:
        """Keep an answer to a proposal; it takes the place of an earlier one.

        Raises:
            UsageError: If there is no such proposal, or the answer does not fit it.
        """
        action = self._action(key)
        if say not in may_say(action):
            raise UsageError("This answer does not fit the proposal.")
        given = Pending(Say(say), text)
        if text is not None:
            self._check_text(action, given)
            given = given if isinstance(action, Merge) and text != action.text else Pending(given.say)
        self.withdraw(key)
        now = self._ways.clock()
        self._pending.put({key: given}, at=now)
        if given.say in _REMEMBERED:
            answer = Answer.to(action, _REMEMBERED[given.say], at=now)
            self._in_journal(lambda journal: journal.answer(self.fingerprint, [answer]))
        learn(self.directory, [(action, given.say)])

    def accept(self, keys: Iterable[str]) -> None:
        """Accept several proposals at once; those that were answered keep their answers."""
        answered = self._pending.all()
        wanted = {key: self._action(key) for key in keys if key not in answered}
        if any(Say.ACCEPT not in may_say(action) for action in wanted.values()):
            raise UsageError("A conflict is answered by itself.")
        self._pending.put(dict.fromkeys(wanted, Pending(Say.ACCEPT)), at=self._ways.clock())
        learn(self.directory, [(action, Say.ACCEPT) for action in wanted.values()])

    def withdraw(self, key: str) -> None:
        """Withdraw an answer."""
        action, given = self._action(key), self._pending.all().get(key)
        if given is None:
            return
        self._pending.drop([key])
        unlearn(self.directory, action, given.say)
        if given.say in _REMEMBERED:
            same = Answer.to(action, _REMEMBERED[given.say], at=self._ways.clock())
            self._take_out(lambda kept: (kept.kind, kept.keys, kept.run) == (same.kind, same.keys, ""))

    def pin(self, memory_id: str, *, pinned: bool) -> None:
        """Leave a memory alone from now on, or no longer."""
        texts = {m.id: m.text for action in asked_about(self._look) for m in action.members}
        if memory_id not in texts:
            raise UsageError("No proposal is about this memory.")
        self._take_out(lambda kept: kept.kind is AnswerKind.PINNED and kept.about[0].id == memory_id)
        if pinned:
            answer = Answer.pin(memory_id, texts[memory_id], at=self._ways.clock())
            self._in_journal(lambda journal: journal.answer(self.fingerprint, [answer]))

    def lost(self, key: str, text: str) -> list[list[str]]:
        """What a text would lose of the memories it is written for: kind and detail."""
        action = self._action(key)
        if not isinstance(action, Merge):
            raise UsageError("Only the text of a merge can be written by hand.")
        if not text.strip():
            return [["text", "all of it"]]
        sources = [member.text for member in action.members]
        form = _wrong_form(self._look.plan.kind, text)
        return [*form, *([item.kind, item.detail] for item in missing(sources, text))]

    def preview(self) -> dict[str, Any]:
        """All that would be done now, as lines; agreeing to it names its digest."""
        with self._ways.open() as session:
            plan = self._decided(session)
            lines = report_lines(session, plan, explain=True)
            over = overdraft(
                plan, max_share=session.settings.max_delete, min_count=session.settings.min_delete
            )
            share = f"{session.settings.max_delete:.0%}"
        wanted = self._wanted()
        done = {action.id for action in plan.actions}
        waits = sum(1 for action in self._look.plan.unsure if action.id in wanted and action.id not in done)
        notes = list(plan.fidelity)
        if waits:
            notes.append(f"{waits} accepted proposals touch memories of others; they wait for the next pass.")
        return {
            "lines": lines,
            "changes": len(plan.actions),
            "digest": _digest(plan),
            "notes": notes,
            "careful": f"Careful: this removes {over}, more than the delete budget of {share}."
            if over
            else "",
        }

    def apply(self, digest: str) -> dict[str, Any]:
        """Do what was agreed to, as one run that can be undone.

        Raises:
            MovedOnError: If the store or the answers are no longer so; the plan was made anew.
        """
        with self._ways.open() as session, session.locked():
            plan = self._decided(session)
            if plan.gaps:
                raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing can be applied.")
            if moved(session, plan):
                lapsed = self._refreshed(session)
                raise MovedOnError(
                    "The store has changed meanwhile, so nothing was done and the proposals were made anew. "
                    f"{_lapsed(lapsed)} Look again, then apply."
                )
            if _digest(plan) != digest:
                raise MovedOnError("The answers have changed since they were shown; look once more.")
            now, retire = self._ways.clock(), self._ways.retire
            result = session.apply(plan, now=now, choices={}, retire=retire, within_budget=False)
            self._ways.settled(session, result)
            self._pending.drop([key for key, given in self._pending.all().items() if given.say in CHANGES])
            self._look_at(session)
        told = [report.summary(result), *(f"Skipped {name}: {reason}" for name, reason in result.moved)]
        return {
            "run": result.run,
            "told": ". ".join(report.visible(line) for line in told) + ".",
            "undo": self._ways.undo(result.run) if result.run else "",
        }

    def undo(self, run: str) -> str:
        """Take a run back; the line that says what was undone."""
        with self._ways.open() as session, session.locked():
            result = session.undo(run, now=self._ways.clock())
            self._look_at(session)
            reopened = any(kept.run == run and not kept.closes for kept in session.answered)
        kept = [f"Left alone: memory {name}: {reason}" for name, reason in result.kept]
        told = ". ".join(report.visible(line) for line in (report.undo_summary(result), *kept))
        again = " Conflicts that had been answered are open again." if reopened else ""
        return f"{told}. What was taken back is not proposed again.{again}"

    def refresh(self) -> str:
        """Look at the store again, keeping the answers that still hold."""
        with self._ways.open() as session:
            lapsed = self._refreshed(session)
        return f"Looked again. {_lapsed(lapsed)}"

    def calibrate(self) -> str:
        """Fit the thresholds to the answers, and propose by them."""
        told = self._ways.calibrate()
        self.refresh()
        return told

    def spoken(self, error: Exception) -> str:
        """The sentence for an error."""
        return report.visible(self._ways.spoken(str(error)))

    def data(self) -> dict[str, Any]:
        """The page's data, with the answers."""
        return {**self._data, "live": self.live()}

    def live(self) -> dict[str, Any]:
        """What changes with every answer."""
        answers = self._answers()
        return {
            "answers": {key: {"say": str(given.say), "text": given.text} for key, given in answers.items()},
            "pins": sorted(self._pins()),
            "changes": len(self._wanted()),
            "labelled": learnt(self.directory),
            "offer": OFFER,
        }

    def _look_at(self, session: Session) -> None:
        """Make the plan anew; which answers hold follows from their keys."""
        self._look = self._ways.look(session)
        plan = self._look.plan
        self._keys = {card_key(action): action for action in asked_about(self._look)}
        self._data = page_data(plan_material(session, plan))
        self.lines = report_lines(session, plan)

    def _refreshed(self, session: Session) -> int:
        """Look again; how many answers no longer fit anything."""
        before = set(self._answers())
        self._look_at(session)
        return len(before - set(self._answers()))

    def _decided(self, session: Session) -> Plan:
        answers = {self._keys[key].id: given for key, given in self._effective().items()}
        return decided(session, self._look, Decisions.of(answers), now=self._look.plan.now)

    def _answers(self) -> dict[str, Pending]:
        """The answers that fit a proposal on the desk."""
        return {key: given for key, given in self._pending.all().items() if key in self._keys}

    def _effective(self) -> dict[str, Pending]:
        """Those of them about memories that are not pinned."""
        pins = self._pins()
        return {
            key: given
            for key, given in self._answers().items()
            if not any(member.id in pins for member in self._keys[key].members)
        }

    def _wanted(self) -> set[str]:
        """Ids of the proposals after whose answers something is done."""
        return {self._keys[key].id for key, given in self._effective().items() if given.say in CHANGES}

    def _pins(self) -> frozenset[str]:
        return self._in_journal(lambda journal: pinned_ids(journal.answers(self.fingerprint)))

    def _action(self, key: str) -> Action:
        action = self._keys.get(key)
        if action is None:
            raise UsageError("This proposal is no longer there; look again.")
        return action

    def _check_text(self, action: Action, given: Pending) -> None:
        if not isinstance(action, Merge) or given.say is not Say.ACCEPT:
            raise UsageError("Only the text of a merge can be written by hand.")
        lost = self.lost(card_key(action), given.text or "")
        if lost:
            raise UsageError(
                f"This text would lose {len(lost)} details of its sources: "
                + ", ".join(f"{kind} {detail}" for kind, detail in lost)
            )

    def _take_out(self, which: Callable[[Answer], bool]) -> None:
        """Withdraw answers from the journal."""

        def withdraw(journal: Journal) -> None:
            """Those of this store that are meant."""
            answers: Collection[Answer] = [kept for kept in journal.answers(self.fingerprint) if which(kept)]
            journal.withdraw(self.fingerprint, answers)

        self._in_journal(withdraw)

    def _in_journal(self, work: Callable[[Journal], Result]) -> Result:
        """Use the journal for a moment; a review that waits holds no file open."""
        journal = Journal(self.directory)
        try:
            return work(journal)
        finally:
            journal.close()


def _wrong_form(kind: str, text: str) -> list[list[str]]:
    """What is wrong with a text that a store can only keep in a form of its own."""
    if kind != "graph":
        return []
    from ..stores.graph.text import parse_entity_text

    try:
        parse_entity_text(text)
    except ValueError as error:
        return [["form", str(error)]]
    return []


def _digest(plan: Plan) -> str:
    """Name of a plan by everything that it does."""
    return hashlib.sha256(dump_plan(plan).encode("utf-8", "surrogatepass")).hexdigest()


def _lapsed(count: int) -> str:
    if not count:
        return "All answers still hold."
    return "1 answer no longer fits." if count == 1 else f"{count} answers no longer fit."
