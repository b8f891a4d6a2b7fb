"""What each tool does, one call after the other, without the protocol.

Every call opens the store and closes it again: the agent whose memory it is uses the same store. What lies
between two calls is a kept plan, and the answers in the journal. Only `apply`, `forget` and `undo` write,
under the store's lock.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ...errors import DreamError, JournalError, PlanFileError, UsageError
from ..answers import open_conflicts
from ..fronts import about, counts, mend
from ..plan import Plan
from ..planning.plan_file import parse_plan
from ..reporting.report import summary, undo_summary, visible
from ..reporting.status import answer_line
from ..results import RunResult
from ..review import Review
from ..stores.files.database import state_directory
from ..writing.journal import RunState
from . import showing
from .kept import FORGET, KeptPlan, KeptPlans
from .showing import Data

if TYPE_CHECKING:
    from ..engine import Session
    from ..fronts import StoreAccess
    from ..planning.stages import Observer
    from ..rules.graph.relevance import Learning

NOTHING = "Nothing had to be changed."


class Tools:
    """Does what an agent asks for, on one store; every result is plain data that a terminal may show."""

    def __init__(self, access: StoreAccess, *, may_write: bool = False) -> None:
        """Open nothing yet."""
        self._access = access
        self._may_write = may_write
        self._plans = KeptPlans(state_directory(access.state_dir))

    def sentence(self, error: DreamError) -> str:
        """What an error says, with commands that can be copied."""
        return "\n".join(visible(line) for line in self._access.spoken(str(error)).split("\n"))

    def plan(self, observer: Observer) -> Data:
        """Read, judge and propose; the plan is kept, and what was answered before still holds."""
        with self._access.open(observer) as session:
            plan = self._access.look(session).plan
            review = _review(session, plan)
            final = review.planned(session)
            kept = self._plans.put(KeptPlan.of(plan, showing.report_of(session, final)))
            shown = session.reporter(plan)

            return {
                "plan_id": kept.id,
                "store": plan.kind,
                "report": kept.report,
                "proposed": showing.proposed(final),
                "proposals": showing.proposals(plan, shown),
                "conflicts": showing.questions(review, plan.conflicts, shown),
                "outdated": showing.outdated(review, plan, shown),
                "answered": review.effects(final),
                "unsure": len(plan.unsure),
                "left_open": plan.left_open,
                "over_budget": _over(session, final),
                "gaps": list(plan.gaps),
                "notes": [*plan.notes, *plan.fidelity, *session.kind.left_out()],
            }

    def explain(
        self,
        observer: Observer,
        plan_id: str,
        ids: Sequence[str] | None,
        *,
        unsure: bool,
        offset: int,
        limit: int,
    ) -> Data:
        """Texts, dates, scores and evidence of proposals."""
        with self._access.open(observer) as session:
            kept = self._kept(session, plan_id)
            plan = kept.plan
            actions = [*plan.actions, *plan.unsure] if ids else plan.unsure if unsure else plan.actions
            chosen = [action for action in actions if not ids or action.id in ids]
            if ids and len(chosen) != len(set(ids)):
                raise UsageError(
                    "The plan has no proposal with one of these ids; leave them out to list all."
                )
            page = chosen[offset : offset + limit]
            explained = showing.explanations(_review(session, plan), page, session.reporter(plan))
            return {"plan_id": kept.id, "total": len(chosen), "explanations": explained}

    def answer(
        self,
        observer: Observer,
        plan_id: str,
        answers: Mapping[str, str],
        texts: Mapping[str, str],
        withdraw: Sequence[str],
    ) -> Data:
        """Keep what a person said about proposals; what follows from it is shown, and not done."""
        with self._access.open(observer) as session:
            kept, now = self._kept(session, plan_id), self._access.clock()
            review = _review(session, kept.plan)
            for name, said in answers.items():
                if said.strip().lower() not in review.choices(review.find(name)):
                    review.answer(name, said, now=now)  # says what may be answered, before any is kept
            for name in withdraw:
                review.withdraw(name)
            for name, said in answers.items():
                review.answer(name, said, texts.get(name), now=now)
            final = review.planned(session)
            kept = self._plans.put(replace(kept, report=showing.report_of(session, final)))
            said_about = {review.questions[key].id for key in review.answers}
            return {
                "plan_id": kept.id,
                "report": kept.report,
                "proposed": showing.proposed(final),
                "answered": review.effects(final),
                "open_conflicts": sum(item.id not in said_about for item in kept.plan.conflicts),
                "over_budget": _over(session, final),
            }

    def apply(self, observer: Observer, plan_id: str) -> Data:
        """Apply a plan with its answers, as an attended pass does; finish it if that was cut off."""
        with self._access.open(observer) as session, session.locked():
            kept = self._kept(session, plan_id)
            if kept.purpose == FORGET:
                raise UsageError("This plan was made by dream_forget; pick from it there.")
            return self._applied(session, kept, kept.plan)

    def forget(
        self, observer: Observer, query: str | None, plan_id: str | None, pick: Sequence[str], *, limit: int
    ) -> Data:
        """Find what matches a query; or forget what was picked of an earlier search."""
        with self._access.open(observer) as session, session.locked():
            if plan_id is None:
                return self._search(session, query or "", limit)
            kept = self._kept(session, plan_id)
            known = {action.id for action in kept.plan.actions}
            if kept.purpose != FORGET or not pick or not set(pick) <= known:
                raise UsageError("Pick ids that an earlier dream_forget named, and give its plan_id.")
            actions = tuple(action for action in kept.plan.actions if action.id in pick)
            done = self._applied(session, kept, session.completed(replace(kept.plan, actions=actions)))
            return {"plan_id": kept.id, "found": [], "applied": done}

    def undo(self, observer: Observer, run: str | None) -> Data:
        """Take a run back, the newest if none is named."""
        with self._access.open(observer) as session, session.locked():
            done = session.undo(run, now=self._access.clock())
            kept = [{"memory": name, "reason": reason} for name, reason in done.kept]
            return {**asdict(done), "summary": undo_summary(done), "kept": kept}

    def status(self, observer: Observer) -> Data:
        """What the store holds, what was done to it, and what a person answered."""
        with self._access.open(observer) as session:
            last = self._plans.last(store=session.store.fingerprint)
            return {
                **self._access.status(session).to_json(),
                "answers": [
                    answer_line(given, session.store.kind).strip()
                    for given in session.answered
                    if not given.applied
                ],
                "last_plan": last.id if last else None,
                "may_write": self._may_write,
            }

    def check(
        self, observer: Observer, texts: Sequence[str], learning: Learning | None, threshold: int | None
    ) -> Data:
        """What each text is to what the store holds, and whether a learning is worth saving."""
        from ..reporting.pair import check_json
        from ..rules.hygiene import shown_text

        if learning is None and not any(text.strip() for text in texts):
            raise UsageError("There is nothing to check; give texts, or a learning.")
        with self._access.open(observer) as session:
            now = self._access.moment()
            known = session.known(self._access.scopes(), now=now)
            inventory = session.inventory
            assert inventory is not None  # noqa: S101  (`known` has read it)
            show = functools.partial(shown_text, settings=session.settings)
            data: Data = {"texts": [check_json(known.check(text), show) for text in texts]}
            if learning is not None:
                data["learning"] = session.kind.relevance(
                    learning, inventory.memories, known=known, encoder=session.models.encoder,
                    threshold=threshold, now=now,
                ).to_json()  # fmt: skip
            return data | {"gaps": list(inventory.gaps)}

    def last_report(self, observer: Observer) -> str:
        """The report of the newest plan, as it stood last."""
        with self._access.open(observer) as session:
            kept = self._plans.last(store=session.store.fingerprint)
        if kept is None:
            return "No plan was made yet; dream_plan makes one."
        state = f" (applied as run {kept.run})" if kept.done else ""
        return f"Plan {kept.id}{state}\n\n{kept.report}"

    def open_conflicts(self, observer: Observer) -> Data:
        """Conflicts of the newest plan that nobody answered yet, and how many were skipped earlier."""
        with self._access.open(observer) as session:
            kept = self._plans.last(store=session.store.fingerprint)
            if kept is None or kept.done:
                memories = session.read(self._access.scopes()).memories
                left = open_conflicts(session.answered, memories)
                return {"plan_id": None, "conflicts": [], "left_open": left}
            plan = kept.plan
            review = _review(session, plan)
            said_about = {review.questions[key].id for key in review.answers}
            waiting = [conflict for conflict in plan.conflicts if conflict.id not in said_about]
            questions = showing.questions(review, waiting, session.reporter(plan))
            return {"plan_id": kept.id, "conflicts": questions, "left_open": plan.left_open}

    def _kept(self, session: Session, plan_id: str) -> KeptPlan:
        return self._plans.get(plan_id, store=session.store.fingerprint)

    def _search(self, session: Session, query: str, limit: int) -> Data:
        from ..planning.forgetting import forget_plan

        if not query.strip():
            raise UsageError("Say what to forget: give a query.")
        now, kind = self._access.moment(), session.store.kind
        inventory, matches = about(session, query, self._access.scopes(), now=now, limit=limit)
        if not matches:
            return {"plan_id": None, "found": [], "applied": None}
        chosen = [memory for memory, _, _ in matches if not memory.pinned]
        plan = forget_plan(chosen, inventory, kind=kind, now=now, settings=session.settings)
        names = {action.members[0].id: action.id for action in plan.actions}
        kept = self._plans.put(KeptPlan.of(plan, showing.report_of(session, plan), purpose=FORGET))
        found = [
            {"id": names.get(memory.id), "label": label, "text": text} for memory, label, text in matches
        ]
        return {"plan_id": kept.id, "found": found, "applied": None}

    def _applied(self, session: Session, kept: KeptPlan, plan: Plan) -> Data:
        if kept.done:
            raise PlanFileError(f"The plan {kept.id} was applied as run {kept.run}; make a new one.")
        review, now = _review(session, plan), self._access.clock()
        cut_off = session.journal.interrupted(session.store.fingerprint)
        if (
            cut_off is not None
            and cut_off.state is RunState.APPLYING
            and cut_off.started_at.isoformat() == kept.begun
        ):
            final = parse_plan(cut_off.plan)
            effects = review.effects(final)
            result = session.resume(cut_off.id, now=now)
            if not isinstance(result, RunResult):
                raise JournalError(f"Run {result.run} was being taken back, and is now.")
            review.note(session, result, final)
        else:
            final = review.planned(session)
            effects = review.effects(final)
            kept = self._plans.put(replace(kept, begun=now.isoformat()))
            result = review.apply(session, final, now=now, retire=self._access.retire, within_budget=True)
        if result.run or effects:
            self._plans.put(replace(kept, run=result.run, done=True))
        self._access.settled(session, result)
        mend(session, result, final, now=self._access.clock())
        shown, actions = session.reporter(final), {action.id: action for action in final.actions}
        moved = [
            {"id": name, "line": shown.line(actions[name]) if name in actions else name, "reason": reason}
            for name, reason in result.moved
        ]
        return {
            **asdict(result),
            "summary": summary(result) if result.run else NOTHING,
            "done": counts(session, result, final),
            "answered": effects,
            "moved": moved,
            "undo": self._access.command("undo", result.run) if result.run else None,
        }


def shown(value: Any) -> Any:  # noqa: ANN401
    """Data in which every character that a terminal acts on is an escape."""
    if isinstance(value, str):
        return "\n".join(visible(line) for line in value.split("\n"))
    if isinstance(value, Mapping):
        return {shown(key): shown(inner) for key, inner in value.items()}
    return [shown(inner) for inner in value] if isinstance(value, list | tuple) else value


def _review(session: Session, plan: Plan) -> Review:
    return Review(session.directory, plan, unites=session.kind.scoped)


def _over(session: Session, plan: Plan) -> str | None:
    over = session.overdraft(plan)
    return None if over is None else f"It removes {over}, more than {session.settings.max_delete:.0%}."
