"""What the fronts share: how a store is reached, what a page about it is made of, what a run has done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..errors import BudgetExceededError
from ..records import Inventory, Memory, Scope
from .answers import Answer
from .engine import Session
from .judging.inventory import Judging
from .judging.subjects import keys_by_scope
from .plan import Action, Merge, Plan, RunResult, acts
from .planning.budget import affordable
from .planning.fates import Fate, Standing, actions_on
from .planning.forgetting import rank
from .planning.hooks import Proposal
from .planning.plan_file import parse_plan
from .planning.stages import Observer
from .reporting.graph import carried_out
from .reporting.html import Point, page_data, run_point
from .reporting.status import answer_line, status_of
from .reporting.text import bracketed, spoken_ids
from .stores.base import ScopeFilter
from .writing.journal import Operation
from .writing.passes import Passes, names_of


@dataclass(frozen=True, kw_only=True)
class StoreAccess:
    """How a front that opens the store anew for each request reaches it; the command line knows."""

    # Opens it, and closes it again; the observer is told how far the work has come.
    open: Callable[[Observer], contextlib.AbstractContextManager[Session]]
    look: Callable[[Session], Proposal]  # what a pass would propose to a person
    scopes: Callable[[], ScopeFilter]  # whose memories are meant
    moment: Callable[[], datetime]  # the moment ages are reckoned from
    clock: Callable[[], datetime]  # the present moment
    command: Callable[..., str]  # a command line on the same store
    spoken: Callable[[str], str] = str  # makes the commands that a sentence names complete
    calibrate: Callable[[], str] = str  # fits the thresholds to the answers, and says what they reach
    retire: bool | None = None  # see `Session.apply`


class Fates:
    """What a pass would do about any two memories of a scope."""

    def __init__(self, session: Session, scope: Scope, memories: Iterable[Memory], *, now: datetime) -> None:
        """Look at the scope, or at the whole store where memories belong to nobody, as a pass does."""
        kind, inventory = session.kind, session.inventory or session.read(ScopeFilter())
        self._settings = session.settings
        self._alone = Judging.by(
            session.models,
            session.settings.model_copy(update={"floor": -1.0}),
            keys_by_scope((each for each in memories if each.scope == scope), settings=session.settings),
        )
        if kind.scoped:
            mine = tuple(memory for memory in inventory.memories if memory.scope == scope)
            inventory = replace(inventory, memories=mine)
        self._inventory, self._plan = inventory, session.look(inventory, now=now).asked
        self._unattended = session.look(inventory, now=now, unattended=True).plan
        means = session.means(now)
        self._standing = Standing(kind, kind.view(inventory, means), means)

    def of(self, a: Memory, b: Memory) -> Fate:
        """The same of two memories, which are of this scope."""
        alone = self._alone.of_two(a, replace(b, category=a.category))
        together, asked, ahead = actions_on(self._plan, a.id, b.id)
        out = next((each.id for each in (a, b) if each.id not in self._standing.units), "")
        compared = not out and a.category == b.category
        here, beside = self._standing.of(a.id, b.id) if compared else (None, 0)
        held = self._held(a, b) if isinstance(together, Merge) and not asked else ""
        found = Fate(alone=alone, here=here, beside=beside, out=out, together=together)
        return replace(found, asked=asked, ahead=ahead, held=held)

    def _held(self, a: Memory, b: Memory) -> str:
        found, asked, _ = actions_on(self._unattended, a.id, b.id)
        if found is None or asked:
            return "once a person has agreed"
        try:
            kept = affordable(self._unattended, self._settings)[0].actions
        except BudgetExceededError:
            kept = ()
        return "" if found.id in {action.id for action in kept} else "once the delete budget allows it"


def done_by(session: Session, result: RunResult) -> list[Action]:
    """The actions that a run has carried out."""
    return list(filter(acts, carried_out(result.run, session.journal))) if result.run else []


def found_status(session: Session, scopes: ScopeFilter, *, now: datetime) -> dict[str, Any]:
    """What a store holds."""
    inventory, means, store = session.read(scopes), session.means(now), session.store
    runs, condemned = session.journal.runs(store.fingerprint), session.kind.condemned(inventory, means)
    return status_of(inventory, runs, means, kind=store.kind, condemned=condemned)


def answer_lines(session: Session, answers: Iterable[Answer]) -> list[str]:
    """One line for each answer."""
    return [answer_line(each, session.store.kind, session.shown) for each in answers]


def careful(session: Session, plan: Plan) -> str:
    """What a person is warned of: a plan that goes beyond the delete budget; else nothing."""
    over, limit = session.overdraft(plan), session.settings.max_delete
    return f"Careful: this removes {over}, more than the delete budget of {limit:.0%}." if over else ""


def mend(session: Session, result: RunResult, plan: Plan, *, now: datetime) -> RunResult | None:
    """Where changes were skipped, what should follow from them is worked out again from what is there."""
    if not result.moved:
        return None
    mended = session.completed(replace(plan, actions=(), unsure=()))
    return session.apply(mended, now=now) if mended.actions else None


def note_pass(session: Session, scopes: ScopeFilter, *, at: datetime, run: str) -> None:
    """Remember a pass that ended, and what it left; a graph keeps notes of its own."""
    read = session.inventory
    if read is None or session.store.kind == "graph":
        return
    changes = session.journal.changes(run) if run else ()
    added = (change.memory for change in changes if change.operation is Operation.ADD)
    ids = {memory.id for memory in read.memories} | {memory_id for memory_id in added if memory_id}
    with contextlib.closing(Passes(session.directory)) as passes:
        passes.note_seen(session.store.fingerprint, scopes, at=at, known=names_of(ids))


def settle(access: StoreAccess, session: Session, result: RunResult, plan: Plan) -> None:
    """Note a run where passes are noted, and let an index follow what was done of it."""
    note_pass(session, access.scopes(), at=access.moment(), run=result.run)
    mend(session, result, plan, now=access.clock())


def about(
    session: Session, query: str, scopes: ScopeFilter, *, now: datetime, limit: int
) -> tuple[Inventory, list[tuple[Memory, str, str]]]:
    """What is there to be forgotten: all that was read, and what matches with its short name and text."""
    inventory, kind = session.read(scopes), session.store.kind
    matches = rank(query, inventory, encoder=session.models.encoder, now=now)[:limit]
    short = spoken_ids((memory.id for memory in inventory.memories), kind)
    return inventory, [(m, f"[{kind}:{short[m.id]}]", session.shown(m.text)) for m in matches]


def plan_page(session: Session, plan: Plan) -> dict[str, Any]:
    """The data of a page that proposes a plan, made of what the session has just read."""
    read, shown = session.inventory, {total.scope for total in plan.totals}
    living = [m for m in read.memories if not m.is_retired(plan.now.date())] if read else []
    memories = [memory for memory in living if memory.scope in shown]
    return page_data(
        plan,
        accessed=session.access.last(plan.store),
        points=points_of(session),
        remarks=[*session.reporter(plan).remarks(), *session.kind.left_out()],
        memories=[replace(memory, text=session.shown(memory.text)) for memory in memories],
        thresholds=session.models.thresholds,
        # Most of it lies in the cache since the plan was made.
        vectors=session.models.read().encode([memory.text for memory in memories]) if memories else None,
    )


def run_page(session: Session, name: str, *, undo: str) -> tuple[Plan, dict[str, Any]]:
    """The plan of a run, and the data of its page: what was there before it, and what it left."""
    journal = session.journal
    run = journal.run(name)
    run.refuse_elsewhere(session.store.fingerprint)
    kept = undo if journal.changes(name) and not run.state.startswith("undo") else ""
    changed, plan = session.kind.relations(journal, name), parse_plan(run.plan)
    return plan, page_data(
        plan,
        accessed=session.access.last(run.store),
        points=points_of(session),
        remarks=[f"Relations ({changed.counts}):", *changed.lines] if changed else [],
        run={"id": name, "state": str(run.state), "undo": kept},
        outcomes=journal.outcomes(name),
    )


def points_of(session: Session) -> list[Point]:
    """The runs of a store as a page draws them, the oldest first."""
    journal = session.journal
    runs = reversed(journal.runs(session.store.fingerprint))
    return [run_point(run, journal.changes(run.id), journal.outcomes(run.id)) for run in runs]


def report_lines(session: Session, plan: Plan, *, explain: bool = False) -> list[str]:
    """The plan as the terminal prints it, every change with its text; explained, with every text in full."""
    shown = session.reporter(plan, explain=explain or session.kind.explained)
    return list(map(bracketed, shown.lines()))
