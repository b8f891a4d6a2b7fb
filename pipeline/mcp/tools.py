"""The tools for agents: what each takes, what it does, and what it gives, as plain data.

Every call opens the store and closes it again: the agent whose memory it is uses the same store. Between two
calls lie the answers, in the journal (see `pipeline.review`), and a kept plan: what was proposed, how it was
shown, and what became of it. It is only ever applied as it was shown.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ...errors import DreamError, JournalError, PlanFileError, UsageError
from ..answers import content_key, open_conflicts
from ..engine import Session
from ..fronts import StoreAccess, about, answer_lines, done_by, found_status, settle
from ..plan import Action, Member, Merge, Plan, Prune, Resolve, RunResult, TextChange, spoken_id
from ..planning.doubts import conflict_clusters, open_question
from ..planning.forgetting import forget_plan
from ..planning.plan_file import dump_plan, parse_plan
from ..planning.stages import Observer
from ..reporting.pair import check_json, spoken
from ..reporting.report import Report, summary, undo_summary
from ..reporting.text import bracketed, visible_lines, whole
from ..review import Review, digest
from ..rules.graph_relevance import Learning
from ..stores.files import Database
from ..writing.journal import RunState

Data = dict[str, Any]
PlanId = Annotated[str, Field(description="The plan_id that dream_plan gave.")]
Answers = Literal["yes", "no", "skip", "edit", "a", "b", "both", "same", "still"]
NOTHING = "Nothing had to be changed."
SHOWN = 50  # proposals that an answer names one by one; more would fill an agent's context
REPORT_LINES = 400  # lines of a report in an answer; the rest is asked for by dream_explain
CHANGES = ("apply", "undo", "forget")  # tools that change memories, under the store's lock
KEPT = 20  # plans that are kept of each store; older ones are forgotten
CONSOLIDATE, FORGET = "consolidate", "forget"
_COLUMNS = "id, store, plan, report, purpose, begun, run, done"


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan that was shown."""

    id: str  # by which it is named; equal plans have equal ids
    store: str  # fingerprint of its store
    text: str  # the plan as JSON Lines
    report: str = ""  # its report, as it was shown last
    purpose: str = CONSOLIDATE  # a pass, or a search for what is to be forgotten
    # When applying it began, in ISO form; empty if it never did. Its run began at that moment.
    begun: str = ""
    run: str = ""  # the run that applied it; empty if none did, or nothing had to be done
    done: bool = False  # whether it was applied

    @classmethod
    def of(cls, plan: Plan, *, purpose: str = CONSOLIDATE) -> KeptPlan:
        """A plan as it is proposed."""
        return cls(digest(plan)[:12], plan.store, dump_plan(plan), purpose=purpose)

    @property
    def plan(self) -> Plan:
        """The plan as it was proposed."""
        return parse_plan(self.text)


class KeptPlans(Database):
    """The kept plans of a state directory, in the journal's file."""

    schema = """
    CREATE TABLE IF NOT EXISTS proposals (
        store TEXT NOT NULL, id TEXT NOT NULL, plan TEXT NOT NULL, report TEXT NOT NULL,
        purpose TEXT NOT NULL, begun TEXT NOT NULL, run TEXT NOT NULL, done INTEGER NOT NULL,
        PRIMARY KEY (store, id));
    """

    def put(self, kept: KeptPlan) -> KeptPlan:
        """Keep a plan, or what became of it, as the newest of its store."""
        with self.transaction():
            marks = ", ".join("?" * len(astuple(kept)))
            self.tell(f"INSERT OR REPLACE INTO proposals ({_COLUMNS}) VALUES ({marks})", astuple(kept))
            newest = "SELECT rowid FROM proposals WHERE store = ? ORDER BY rowid DESC LIMIT ?"
            old = f"DELETE FROM proposals WHERE store = ? AND rowid NOT IN ({newest})"
            self.tell(old, (kept.store, kept.store, KEPT))
        return kept

    def get(self, plan_id: str, *, store: str) -> KeptPlan:
        """The plan of this name."""
        found = self._rows("WHERE id = ?", plan_id) if plan_id.isalnum() else []
        own = [kept for kept in found if kept.store == store]
        if not own:
            told = "was made for another store" if found else "is not known"
            raise PlanFileError(f"The plan {plan_id[:40]!r} {told}; make one with dream_plan.")
        return own[0]

    def last(self, *, store: str) -> KeptPlan | None:
        """The plan of a pass over this store that was made or answered last; None if there is none."""
        return next(iter(self._rows("WHERE store = ? AND purpose = ?", store, CONSOLIDATE)), None)

    def _rows(self, where: str, *values: str) -> list[KeptPlan]:
        rows = self.ask(f"SELECT {_COLUMNS} FROM proposals {where} ORDER BY rowid DESC", values)
        return [KeptPlan(*row) for row in rows]


class Tools:
    """Does what an agent asks for, on one store; `tools.toml` says what it is told of each tool."""

    _plans: KeptPlans  # opened for each call, like the store

    def __init__(self, access: StoreAccess, *, may_write: bool = False) -> None:
        self._access, self.may_write = access, may_write

    def sentence(self, error: DreamError) -> str:
        """What an error says, with commands that can be copied."""
        return visible_lines(self._access.spoken(str(error)))

    def call(self, name: str, observer: Observer, **given: Any) -> Any:  # noqa: ANN401
        """Do one thing, named as its method, on the store that is opened for it."""
        with self._access.open(observer) as session, contextlib.ExitStack() as held:
            self._plans = held.enter_context(contextlib.closing(KeptPlans(session.directory)))
            if name in CHANGES:
                held.enter_context(session.locked())
            return getattr(self, name)(session, **given)

    def plan(self, session: Session) -> Data:
        """Look for duplicates, contradictions and stale memories, and propose what to do about them."""
        plan = self._access.look(session).plan
        review, told = Review(session, plan), session.reporter(plan)
        changes = [action for action in plan.actions if not isinstance(action, Resolve)][:SHOWN]
        old = [doubt for doubt in plan.unsure if isinstance(doubt, Prune)]
        return {
            **self._stands(session, review, KeptPlan.of(plan)),
            "store": plan.kind,
            "proposals": [{"id": a.id, "kind": str(a.kind), "line": told.line(a)} for a in changes],
            "conflicts": _questions(review, plan.conflicts, told),
            "outdated": [
                {
                    "id": d.id,
                    "line": told.line(d),
                    "text": whole(d.members[0].text),
                    "answers": review.choices(d),
                }
                for d in old
            ],
            "unsure": len(plan.unsure),
            "left_open": plan.left_open,
            "gaps": list(plan.gaps),
            "notes": [*plan.notes, *plan.fidelity, *session.kind.left_out()],
        }

    def explain(
        self,
        session: Session,
        *,
        plan_id: PlanId,
        ids: Annotated[list[str] | None, Field(description="Only these proposals.")] = None,
        unsure: Annotated[bool, Field(description="The doubtful pairs instead of the proposals.")] = False,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> Data:
        """Texts, dates, scores and evidence behind the proposals of a plan, and what may be answered."""
        kept = self._kept(session, plan_id)
        plan = kept.plan
        actions = [*plan.actions, *plan.unsure] if ids else plan.unsure if unsure else plan.actions
        chosen = [action for action in actions if not ids or action.id in ids]
        if ids and len(chosen) != len(set(ids)):
            raise UsageError("The plan has no proposal with one of these ids; leave them out to list all.")
        review, told = Review(session, plan), session.reporter(plan)
        page = [_explanation(review, action, told) for action in chosen[offset : offset + limit]]
        return {"plan_id": kept.id, "total": len(chosen), "explanations": page}

    def answer(
        self,
        session: Session,
        *,
        plan_id: PlanId,
        answers: Annotated[
            dict[str, Answers] | None,
            Field(description='What the person said, by the id of the proposal: {"c1": "b", "m2": "no"}.'),
        ] = None,
        texts: Annotated[
            dict[str, str] | None, Field(description='The text a person wrote, for each answer "edit".')
        ] = None,
        withdraw: Annotated[list[str] | None, Field(description="Ids whose answers are taken back.")] = None,
    ) -> Data:
        """Keep what the person said about proposals of a plan; nothing is changed before dream_apply."""
        kept, now = self._kept(session, plan_id), self._access.clock()
        review, given = Review(session, kept.plan), answers or {}
        for name, said in given.items():
            if said.strip().lower() not in review.choices(review.find(name)):
                review.answer(name, said, now=now)  # says what may be answered, before any is kept
        review.withdraw(*(withdraw or ()))
        for name, said in given.items():
            review.answer(name, said, (texts or {}).get(name), now=now)
        waiting = len(_waiting(review, kept.plan))
        return self._stands(session, review, kept) | {"open_conflicts": waiting}

    def apply(self, session: Session, *, plan_id: PlanId) -> Data:
        """Apply a plan that the person has seen and agreed to, with the answers that were given."""
        kept = self._kept(session, plan_id)
        if kept.purpose == FORGET:
            raise UsageError("This plan was made by dream_forget; pick from it there.")
        return self._applied(session, kept, kept.plan)

    def undo(
        self,
        session: Session,
        *,
        run: Annotated[str | None, Field(description="The run to take back; the newest if left out.")] = None,
    ) -> Data:
        """Take a run back: restore what it removed, withdraw what it added."""
        done = session.undo(run, now=self._access.clock())
        told = {name: getattr(done, name) for name in ("kept", "lost")}
        named = {k: [{"memory": name, "reason": why} for name, why in each] for k, each in told.items()}
        return {**asdict(done), "summary": undo_summary(done), **named}

    def status(self, session: Session) -> Data:
        """What the store holds, what was done to it, and what the person answered; changes nothing."""
        last = self._plans.last(store=session.store.fingerprint)
        answers = [given for given in session.answered if not given.applied]
        return {
            **found_status(session, self._access.scopes(), now=self._access.moment()),
            "answers": [line.strip() for line in answer_lines(session, answers)],
            "last_plan": last.id if last else None,
            "may_write": self.may_write,
        }

    def forget(
        self,
        session: Session,
        *,
        query: Annotated[str | None, Field(description="What to look for.")] = None,
        plan_id: Annotated[str | None, Field(description="Of an earlier search, with pick.")] = None,
        pick: Annotated[list[str] | None, Field(description="Ids of the search that are to go.")] = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Data:
        """Forget memories, in two calls: with a query it finds them and removes nothing."""
        if plan_id is None:
            return self._search(session, query or "", limit)
        kept = self._kept(session, plan_id)
        known = {action.id for action in kept.plan.actions}
        if kept.purpose != FORGET or not pick or not set(pick) <= known:
            raise UsageError("Pick ids that an earlier dream_forget named, and give its plan_id.")
        actions = tuple(action for action in kept.plan.actions if action.id in pick)
        done = self._applied(session, kept, session.completed(replace(kept.plan, actions=actions)))
        return {"plan_id": kept.id, "found": [], "applied": done}

    def check(
        self,
        session: Session,
        *,
        texts: Annotated[list[str] | None, Field(description="What you are about to remember.")] = None,
        learning: Annotated[
            Learning | None, Field(description="One learning, to be scored: is it worth remembering at all?")
        ] = None,
        threshold: Annotated[int | None, Field(description="Score from which a learning is saved.")] = None,
    ) -> Data:
        """Ask before you store something whether it is known already; stores nothing."""
        texts = texts or []
        if learning is None and not any(text.strip() for text in texts):
            raise UsageError("There is nothing to check; give texts, or a learning.")
        now = self._access.moment()
        known = session.known(self._access.scopes(), now=now)
        inventory = session.inventory
        assert inventory is not None  # noqa: S101  (`known` has read it)
        data: Data = {"texts": [check_json(known.check(text), session.shown) for text in texts]}
        if learning is not None:
            data["learning"] = session.kind.relevance(
                learning, inventory.memories, known=known, encoder=session.models.encoder,
                threshold=threshold, now=now,
            ).to_json()  # fmt: skip
        return data | {"gaps": list(inventory.gaps)}

    def last_report(self, session: Session) -> str:
        """The report of the newest plan, as it stood last."""
        kept = self._plans.last(store=session.store.fingerprint)
        if kept is None:
            return "No plan was made yet; dream_plan makes one."
        state = f" (applied as run {kept.run})" if kept.done else ""
        return f"Plan {kept.id}{state}\n\n{kept.report}"

    def open_conflicts(self, session: Session) -> Data:
        """Conflicts of the newest plan that nobody answered yet, and how many were skipped earlier."""
        kept = self._plans.last(store=session.store.fingerprint)
        if kept is None or kept.done:
            memories = session.read(self._access.scopes()).memories
            left = open_conflicts(session.answered, memories)
            return {"plan_id": None, "conflicts": [], "left_open": left}
        plan = kept.plan
        review, told = Review(session, plan), session.reporter(plan)
        asked = _questions(review, _waiting(review, plan), told)
        return {"plan_id": kept.id, "conflicts": asked, "left_open": plan.left_open}

    def _stands(self, session: Session, review: Review, kept: KeptPlan) -> Data:
        """A plan as it stands with the answers, and is kept from now on."""
        final = review.planned(session)
        over, limit = session.overdraft(final), session.settings.max_delete
        kept = self._plans.put(replace(kept, report=report_of(session, final)))
        return {
            "plan_id": kept.id,
            "report": kept.report,
            "proposed": {
                "merges": len(final.merges),
                "prunes": len(final.prunes),
                "conflicts": sum(conflict.choice is None for conflict in final.conflicts),
                "changes": len(final.rewrites),
            },
            "answered": review.effects(final),
            "over_budget": f"It removes {over}, more than {limit:.0%}." if over else None,
        }

    def _kept(self, session: Session, plan_id: str) -> KeptPlan:
        return self._plans.get(plan_id, store=session.store.fingerprint)

    def _search(self, session: Session, query: str, limit: int) -> Data:
        if not query.strip():
            raise UsageError("Say what to forget: give a query.")
        now, kind = self._access.moment(), session.store.kind
        inventory, matches = about(session, query, self._access.scopes(), now=now, limit=limit)
        if not matches:
            return {"plan_id": None, "found": [], "applied": None}
        chosen = [memory for memory, _, _ in matches if not memory.pinned]
        plan = forget_plan(chosen, inventory, kind=kind, now=now, settings=session.settings)
        names = {action.members[0].id: action.id for action in plan.actions}
        kept = self._plans.put(replace(KeptPlan.of(plan, purpose=FORGET), report=report_of(session, plan)))
        found = [{"id": names.get(m.id), "label": label, "text": text} for m, label, text in matches]
        return {"plan_id": kept.id, "found": found, "applied": None}

    def _applied(self, session: Session, kept: KeptPlan, plan: Plan) -> Data:
        if kept.done:
            raise PlanFileError(f"The plan {kept.id} was applied as run {kept.run}; make a new one.")
        review, now = Review(session, plan), self._access.clock()
        cut_off = session.journal.interrupted(session.store.fingerprint)
        begun = (cut_off.state, cut_off.started_at.isoformat()) if cut_off else ()
        if cut_off is not None and begun == (RunState.APPLYING, kept.begun):
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
        settle(self._access, session, result, final)
        told = session.reporter(final)
        lines = {action.id: told.line(action) for action in final.actions}
        moved = [{"id": name, "line": lines.get(name, name), "reason": why} for name, why in result.moved]
        return {
            **asdict(result),
            "summary": summary(result) if result.run else NOTHING,
            "done": dict(sorted(Counter(str(each.kind) for each in done_by(session, result)).items())),
            "answered": effects,
            "moved": moved,
            "undo": self._access.command("undo", result.run) if result.run else None,
        }


def shown(value: Any) -> Any:  # noqa: ANN401
    """Data in which every character that a terminal acts on is an escape."""
    if isinstance(value, str):
        return visible_lines(value)
    if isinstance(value, Mapping):
        return {shown(key): shown(inner) for key, inner in value.items()}
    return [shown(inner) for inner in value] if isinstance(value, list | tuple) else value


def report_of(session: Session, plan: Plan) -> str:
    """The whole report, with the sentence that stands for an empty one."""
    shown = session.reporter(plan)
    left = [open_question(more)] if (more := [d for d in plan.unsure if d not in shown.shown_doubts]) else []
    doubts = shown.doubtful()[: -1 if left else None]  # without the option of the command line for more
    if not plan.actions:
        return "\n".join(map(bracketed, [*shown.nothing(), *doubts, *left]))
    lines = shown.lines()
    lines += [] if set(doubts) <= set(lines) else doubts
    if len(lines) > REPORT_LINES:
        lines = [*lines[:REPORT_LINES], f"... and {len(lines) - REPORT_LINES} more lines: dream_explain"]
    lines += [*left, *(f"Read-only: {gap}" for gap in plan.gaps), shown.proposal()]
    return "\n".join(map(bracketed, lines))


def _waiting(review: Review, plan: Plan) -> list[Resolve]:
    said_about = {review.questions[key].id for key in review.answers}
    return [conflict for conflict in plan.conflicts if conflict.id not in said_about]


def _questions(review: Review, conflicts: Sequence[Resolve], told: Report) -> list[Data]:
    """The first conflicts; those that share memories, best asked as one question, name each other."""
    groups = [[each.id for each in group] for group in conflict_clusters(conflicts)]
    shared = {name: {"asked_with": group} for group in groups if len(group) > 1 for name in group}
    return [_question(review, each, told) | shared.get(each.id, {}) for each in conflicts[:SHOWN]]


def _question(review: Review, conflict: Resolve, told: Report) -> Data:
    members = {member.id: member for member in conflict.members}
    first, second = members[conflict.a[0]], members[conflict.b[0]]
    a, b = conflict.said or (first.text, second.text)
    return {
        "id": conflict.id,
        "line": told.line(conflict),
        "a": whole(a),
        "b": whole(b),
        "a_date": _day(first),
        "b_date": _day(second),
        "newer": conflict.newer,
        "kept_if_lost": {told.label(name): whole(text) for name, text in conflict.rests.items()},
        "answers": review.choices(conflict),
    }


def _explanation(review: Review, action: Action, told: Report) -> Data:
    given = review.answers.get(content_key(action))
    writes = isinstance(action, TextChange) or (
        isinstance(action, Merge) and (action.adds or action.rewrites)
    )
    why = (getattr(action, "reason", None), getattr(action, "detail", None))
    return {
        "id": action.id,
        "kind": str(action.kind),
        "line": told.line(action),
        "scope": str(action.scope),
        "category": action.category,
        "memories": [
            {
                "id": member.id,
                "text": member.text,
                "date": _day(member),
                "stays": member.id not in action.removes,
            }
            for member in action.members
        ],
        "becomes": getattr(action, "text", None) if writes else None,
        "reason": None if why[0] is None else ", ".join(filter(None, why)),
        "scores": [
            {
                "a": spoken_id(verdict.pair.a),
                "b": spoken_id(verdict.pair.b),
                "label": str(verdict.label),
                **dict(zip(("duplicate", "contradiction", "distinct"), verdict.probabilities, strict=True)),
                "cosine": float(verdict.pair.cosine),
                "evidence": spoken(verdict.evidence),
            }
            for verdict in getattr(action, "verdicts", ())
        ],
        "answers": review.choices(action),
        "answer": str(given.say) if given else None,
    }


def _day(member: Member) -> str | None:
    return member.stated_at.date().isoformat() if member.stated_at else None
