"""What each tool does, one call after the other, without the protocol.

Every call opens the store and closes it again: the agent whose memory it is uses the same store. What lies
between two calls is a kept plan. Only `apply`, `forget` and `undo` write, under the store's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DreamError, IncompleteListingError, JournalError, PlanFileError, UsageError
from ..plan import Plan
from ..planning.plan_file import dump_plan, parse_plan
from ..reporting.report import Report, spoken_ids, summary, undo_summary, visible
from ..results import RunResult
from ..writing.journal import Run, RunState
from ..writing.state import state_directory
from . import decisions, showing
from .kept import CONSOLIDATE, FORGET, KeptPlan, Shelf, name_of
from .results import (
    AnswerResult,
    ApplyResult,
    ExplainResult,
    ForgetResult,
    Found,
    LeftAlone,
    Moved,
    OpenConflicts,
    PlanResult,
    RelevanceResult,
    StatusResult,
    UndoneResult,
)

if TYPE_CHECKING:
    from ...records import Memory
    from ..engine import Session
    from ..planning.stages import Observer
    from ..reporting.status import Status
    from ..rules.graph.nodes import Node
    from ..rules.graph.relevance import Learning
    from ..stores.base import ScopeFilter

NOTHING = "Nothing had to be changed."


@dataclass(frozen=True, slots=True)
class Place:
    """The store that the server was started for, and how it is worked on.

    Attributes:
        open: Opens it, and closes it again; the observer is told how far the work has come.
        propose: What a pass would do.
        status: What it holds.
        scopes: Whose memories are meant.
        moment: The moment ages are reckoned from.
        command: A command line on the same store.
        complete: A sentence with the commands it names made complete.
        state_dir: Where state lives; the usual place if omitted.
        retire: Whether memories are expired instead of deleted.
        may_write: Whether anything may be changed at all.
    """

    open: Callable[[Observer], AbstractContextManager[Session]]
    propose: Callable[[Session], Plan]
    status: Callable[[Session], Status]
    scopes: Callable[[], ScopeFilter]
    moment: Callable[[], datetime]
    command: Callable[..., str]
    complete: Callable[[str], str]
    state_dir: Path | None = None
    retire: bool = False
    may_write: bool = False


class ToolDesk:
    """Does what is asked for, on one store."""

    def __init__(self, place: Place) -> None:
        """Open nothing yet."""
        self._place = place
        self._shelf = Shelf(state_directory(place.state_dir))

    def sentence(self, error: DreamError) -> str:
        """What an error says, with commands that can be copied."""
        return "\n".join(visible(line) for line in self._place.complete(str(error)).split("\n"))

    def plan(self, observer: Observer) -> PlanResult:
        """Read, judge and propose; the plan is kept."""
        with self._place.open(observer) as session:
            plan = self._place.propose(session)
            kept = self._keep(session, plan)
            shown = session.reporter(plan)
            return PlanResult(
                plan_id=kept.id,
                store=plan.kind,
                report=kept.report,
                proposed=showing.proposed(plan),
                proposals=showing.proposals(plan, shown, {}),
                conflicts=showing.questions(plan, shown, {}),
                unsure=len(plan.unsure),
                left_open=plan.left_open,
                over_budget=_over(session, plan),
                gaps=list(plan.gaps),
                notes=[*plan.notes, *plan.fidelity, *showing.left_out(session)],
            )

    def explain(
        self,
        observer: Observer,
        plan_id: str,
        ids: Sequence[str] | None,
        *,
        unsure: bool,
        offset: int,
        limit: int,
    ) -> ExplainResult:
        """Texts, dates, scores and evidence of proposals."""
        with self._place.open(observer) as session:
            kept = self._kept(session, plan_id)
            plan = kept.plan
            actions = [*plan.actions, *plan.unsure] if ids else plan.unsure if unsure else plan.actions
            chosen = [action for action in actions if not ids or action.id in ids]
            if ids and len(chosen) != len(set(ids)):
                raise UsageError(
                    "The plan has no proposal with one of these ids; leave them out to list all."
                )
            page = chosen[offset : offset + limit]
            explanations = showing.explanations(plan, page, session.reporter(plan), kept.answers)
            return ExplainResult(plan_id=kept.id, total=len(chosen), explanations=explanations)

    def answer(self, observer: Observer, plan_id: str, answers: dict[str, str]) -> AnswerResult:
        """Keep what a person said about proposals; what follows from it is shown, and not done."""
        with self._place.open(observer) as session:
            kept = self._kept(session, plan_id)
            plan, given = kept.plan, {name: said.strip().lower() for name, said in answers.items()}
            kept = replace(kept, answers={**kept.answers, **decisions.checked(plan, given)})
            decision = decisions.decide(plan, kept.answers)
            final = decisions.completed(session, decision)
            kept = self._shelf.put(replace(kept, report=showing.report_of(session, final)))
            return AnswerResult(
                plan_id=kept.id,
                report=kept.report,
                proposed=showing.proposed(final),
                answered=dict(kept.answers),
                open_conflicts=sum(conflict.id not in kept.answers for conflict in plan.conflicts),
                over_budget=_over(session, final),
            )

    def apply(self, observer: Observer, plan_id: str) -> ApplyResult:
        """Apply a plan with its answers, as an attended pass does; finish it if that was cut off."""
        with self._place.open(observer) as session, session.locked():
            kept = self._kept(session, plan_id)
            if kept.purpose == FORGET:
                raise UsageError("This plan was made by dream_forget; pick from it there.")
            return self._applied(session, kept, kept.plan)

    def forget(
        self, observer: Observer, query: str | None, plan_id: str | None, pick: Sequence[str], *, limit: int
    ) -> ForgetResult:
        """Find what matches a query; or forget what was picked of an earlier search."""
        with self._place.open(observer) as session, session.locked():
            if plan_id is None:
                return self._search(session, query or "", limit)
            kept = self._kept(session, plan_id)
            known = {action.id for action in kept.plan.actions}
            if kept.purpose != FORGET or not pick or not set(pick) <= known:
                raise UsageError("Pick ids that an earlier dream_forget named, and give its plan_id.")
            actions = tuple(action for action in kept.plan.actions if action.id in pick)
            done = self._applied(session, kept, replace(kept.plan, actions=actions))
            return ForgetResult(plan_id=kept.id, applied=done)

    def undo(self, observer: Observer, run: str | None) -> UndoneResult:
        """Take a run back, the newest if none is named."""
        with self._place.open(observer) as session, session.locked():
            done = session.undo(run, now=_clock())
            return UndoneResult(
                run=done.run,
                summary=undo_summary(done),
                restored=done.restored,
                withdrawn=done.withdrawn,
                kept=[LeftAlone(memory=name, reason=reason) for name, reason in done.kept],
            )

    def status(self, observer: Observer) -> StatusResult:
        """What the store holds, and what was done to it."""
        with self._place.open(observer) as session:
            status = self._place.status(session).to_json()
            last = self._shelf.last(store=session.store.fingerprint)
            return StatusResult(
                **status, last_plan=last.id if last else None, may_write=self._place.may_write
            )

    def relevance(self, observer: Observer, learning: Learning, threshold: int | None) -> RelevanceResult:
        """Whether something is worth remembering, held against what the store holds."""
        from ..planning.graph.proposing import GraphPlanner
        from ..rules.graph.relevance import relevance
        from ..rules.graph.settings import GraphSettings

        with self._place.open(observer) as session:
            limits = GraphSettings()
            core: Sequence[tuple[str, str]] = ()
            if isinstance(session.planner, GraphPlanner):
                limits, core = session.planner.graph, session.planner.core
            if threshold is not None:
                limits = limits.model_copy(update={"keep_above": threshold})
            answer = relevance(
                learning,
                _nodes(session.read(self._place.scopes()).memories),
                core,
                encoder=session.encoder,
                settings=limits,
                now=self._place.moment(),
            )
        return RelevanceResult(**answer.to_json())

    def last_report(self, observer: Observer) -> str:
        """The report of the newest plan, as it stood last."""
        with self._place.open(observer) as session:
            kept = self._shelf.last(store=session.store.fingerprint)
        if kept is None:
            return "No plan was made yet; dream_plan makes one."
        state = f" (applied as run {kept.run})" if kept.done else ""
        return f"Plan {kept.id}{state}\n\n{kept.report}"

    def open_conflicts(self, observer: Observer) -> OpenConflicts:
        """Conflicts nobody answered yet."""
        with self._place.open(observer) as session:
            kept = self._shelf.last(store=session.store.fingerprint)
            if kept is None or kept.done:
                return OpenConflicts(plan_id=None, conflicts=[], left_open=self._left_open(session))
            plan = kept.plan
            left = tuple(conflict for conflict in plan.conflicts if conflict.id not in kept.answers)
            questions = showing.questions(replace(plan, actions=left), session.reporter(plan), {})
            return OpenConflicts(plan_id=kept.id, conflicts=questions, left_open=plan.left_open)

    def _left_open(self, session: Session) -> int:
        from ..answers import open_conflicts

        return open_conflicts(session.answered, session.read(self._place.scopes()).memories)

    def _keep(self, session: Session, plan: Plan, *, purpose: str = CONSOLIDATE) -> KeptPlan:
        kept = KeptPlan(
            id=name_of(plan),
            store=plan.store,
            text=dump_plan(plan),
            report=showing.report_of(session, plan),
            made_at=_clock().isoformat(),
            purpose=purpose,
        )
        return self._shelf.put(kept)

    def _kept(self, session: Session, plan_id: str) -> KeptPlan:
        return self._shelf.get(plan_id, store=session.store.fingerprint)

    def _search(self, session: Session, query: str, limit: int) -> ForgetResult:
        from ..planning.forgetting import forget_plan, rank
        from ..rules.hygiene import shown_text

        if not query.strip():
            raise UsageError("Say what to forget: give a query.")
        inventory = session.read(self._place.scopes())
        now = self._place.moment()
        matches = rank(query, inventory, encoder=session.encoder, now=now)[:limit]
        if not matches:
            return ForgetResult(plan_id=None)
        plan = forget_plan(
            [m for m in matches if not m.pinned],
            inventory,
            kind=session.store.kind,
            now=now,
            settings=session.settings,
        )
        names = {action.members[0].id: action.id for action in plan.actions}
        kept = self._keep(session, plan, purpose=FORGET)
        short = spoken_ids((memory.id for memory in inventory.memories), plan.kind)
        return ForgetResult(
            plan_id=kept.id,
            found=[
                Found(
                    id=names.get(m.id),
                    label=f"[{plan.kind}:{short[m.id]}]",
                    text=shown_text(m.text, session.settings),
                )
                for m in matches
            ],
        )

    def _applied(self, session: Session, kept: KeptPlan, plan: Plan) -> ApplyResult:
        if kept.done:
            raise PlanFileError(f"The plan {kept.id} was applied as run {kept.run}; make a new one.")
        if plan.gaps:
            raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing was changed.")
        decision, now = decisions.decide(plan, kept.answers), _clock()
        unfinished = _cut_off(session, kept)
        if unfinished is not None:
            final = parse_plan(unfinished.plan)
            result = session.resume(unfinished.id, now=now)
        else:
            final = decisions.completed(session, decision)
            kept = self._shelf.put(replace(kept, begun=now.isoformat()))
            result = session.apply(final, now=now, retire=self._place.retire)
        if not isinstance(result, RunResult):
            raise JournalError(f"Run {result.run} was being taken back, and is now.")
        decisions.remember(session, decision, now=_clock(), run=result.run)
        if result.run or decision.remembers:
            self._shelf.put(replace(kept, run=result.run, done=True))
        _mend(session, result, final)
        return self._told(result, final, session.reporter(final))

    def _told(self, result: RunResult, plan: Plan, shown: Report) -> ApplyResult:
        actions = {action.id: action for action in plan.actions}
        return ApplyResult(
            run=result.run,
            summary=summary(result) if result.run else NOTHING,
            merged=result.merged,
            pruned=result.pruned,
            resolved=result.resolved,
            skipped=result.skipped,
            removed=result.removed,
            added=result.added,
            moved=[
                Moved(id=name, line=shown.line(actions[name]) if name in actions else name, reason=reason)
                for name, reason in result.moved
            ],
            undo=self._place.command("undo", result.run) if result.run else None,
        )


def _cut_off(session: Session, kept: KeptPlan) -> Run | None:
    """The run that was applying this plan when it was cancelled or killed."""
    run = session.journal.interrupted(session.store.fingerprint)
    own = run is not None and run.state is RunState.APPLYING and run.started_at.isoformat() == kept.begun
    return run if own else None


def _mend(session: Session, result: RunResult, plan: Plan) -> None:
    """Where files had moved, their index says too little or too much: it follows what is there."""
    if result.moved and session.store.kind == decisions.MARKDOWN:
        mended = session.completed(replace(plan, actions=()))
        if mended.rewrites:
            session.apply(mended, now=_clock())


def _nodes(memories: Sequence[Memory]) -> tuple[Node, ...]:
    """Memories as the filter compares them; of another store than a graph the text is all there is."""
    from ..rules.graph.nodes import Node
    from ..stores.graph.usage import usage

    class Plain(Node):
        """A memory whose id says nothing."""

        __slots__ = ()

        @property
        def statement(self) -> str:
            """Its text."""
            return self.memory.text

    return tuple(
        Node.of(memory) if "observations" in memory.metadata else Plain(memory, (), (memory.text,), usage(()))
        for memory in sorted(memories, key=lambda memory: memory.id)
    )


def _over(session: Session, plan: Plan) -> str | None:
    over = session.overdraft(plan)
    return None if over is None else f"It removes {over}, more than {session.settings.max_delete:.0%}."


def _clock() -> datetime:
    return datetime.now(UTC)
