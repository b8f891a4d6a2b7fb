"""Plans as an agent is shown them: the report of the command line to the letter, and the same as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..actions import Action, Member, Merge, Prune, Resolve, TextChange
from ..plan import Plan, spoken_id
from ..planning.doubts import open_question
from ..reporting import report as texts
from ..reporting.report import Report
from ..reporting.spoken_evidence import spoken
from .decisions import choices_for
from .results import Explanation, Proposal, Proposed, Question, Said, Score

if TYPE_CHECKING:
    from ..engine import Session

SHOWN = 50
"""Proposals that an answer names one by one; more would fill an agent's context."""
REPORT_LINES = 400
"""Lines of a report in an answer; the rest is asked for by dream_explain."""


def report_of(session: Session, plan: Plan) -> str:
    """The whole report, with the sentence that stands for an empty one."""
    if not plan.actions:
        return "\n".join([_nothing(plan), *_open(plan)])
    shown = session.reporter(plan, texts=True)
    lines, last = shown.lines(), shown.proposal()
    if len(lines) > REPORT_LINES:
        lines = [*lines[:REPORT_LINES], f"... and {len(lines) - REPORT_LINES} more lines: dream_explain"]
    return "\n".join([*lines, *_open(plan), *(f"Read-only: {gap}" for gap in plan.gaps), last])


def left_out(session: Session) -> list[str]:
    """Files of a Markdown directory that may not be read, with the reason."""
    from ..reporting.markdown.report import left_out as files_left_out
    from ..stores.markdown.store import MarkdownStore

    store = session.store
    return files_left_out(store.directories) if isinstance(store, MarkdownStore) else []


def _nothing(plan: Plan) -> str:
    if not plan.totals:
        return texts.NOTHING_STORED
    if plan.unsure:
        return texts.NOTHING_CERTAIN
    return texts.NOTHING_NEW if plan.left_open else texts.NOTHING_FOUND


def _open(plan: Plan) -> list[str]:
    return [open_question(plan.unsure)] if plan.unsure else []


def proposed(plan: Plan) -> Proposed:
    """The counts of a plan."""
    return Proposed(
        merges=len(plan.merges),
        prunes=len(plan.prunes),
        conflicts=sum(conflict.choice is None for conflict in plan.conflicts),
        changes=len(plan.rewrites),
    )


def proposals(plan: Plan, shown: Report, answers: Mapping[str, str]) -> list[Proposal]:
    """The first changes, one line each."""
    chosen = [action for action in plan.actions if not isinstance(action, Resolve)][:SHOWN]
    return [
        Proposal(id=item.id, kind=item.kind, line=shown.line(item), answer=answers.get(item.id))
        for item in chosen
    ]


def questions(plan: Plan, shown: Report, answers: Mapping[str, str]) -> list[Question]:
    """The first conflicts, with what both sides say."""
    return [_question(plan, conflict, shown, answers) for conflict in plan.conflicts[:SHOWN]]


def _question(plan: Plan, conflict: Resolve, shown: Report, answers: Mapping[str, str]) -> Question:
    members = {member.id: member for member in conflict.members}
    first, second = members[conflict.a[0]], members[conflict.b[0]]
    a, b = conflict.said or (first.text, second.text)
    return Question(
        id=conflict.id,
        line=shown.line(conflict),
        a=texts.explained(a),
        b=texts.explained(b),
        a_date=_day(first),
        b_date=_day(second),
        newer=conflict.newer,
        answers=choices_for(plan, conflict),
        answer=answers.get(conflict.id),
    )


def explanations(
    plan: Plan, chosen: Iterable[Action], shown: Report, answers: Mapping[str, str]
) -> list[Explanation]:
    """Everything behind the chosen proposals."""
    return [
        Explanation(
            id=action.id,
            kind=action.kind,
            line=shown.line(action),
            scope=str(action.scope),
            category=action.category,
            memories=_memories(action),
            becomes=_becomes(action),
            reason=_reason(action),
            scores=_scores(action),
            answers=choices_for(plan, action),
            answer=answers.get(action.id),
        )
        for action in chosen
    ]


def _memories(action: Action) -> list[Said]:
    goes = set(action.removes)
    return [
        Said(
            id=member.id,
            text=member.text,
            date=_day(member),
            stays=member.id not in goes,
        )
        for member in action.members
    ]


def _day(member: Member) -> str | None:
    return member.stated_at.date().isoformat() if member.stated_at else None


def _becomes(action: Action) -> str | None:
    if isinstance(action, TextChange):
        return action.text
    return action.text if isinstance(action, Merge) and (action.adds or action.rewrites) else None


def _reason(action: Action) -> str | None:
    if isinstance(action, Prune):
        return ", ".join(filter(None, (action.reason, action.detail)))
    return action.reason if isinstance(action, TextChange) else None


def _scores(action: Action) -> list[Score]:
    verdicts = () if isinstance(action, Prune | TextChange) else action.verdicts
    return [
        Score(
            a=spoken_id(verdict.pair.a),
            b=spoken_id(verdict.pair.b),
            label=str(verdict.label),
            duplicate=verdict.probabilities[0],
            contradiction=verdict.probabilities[1],
            distinct=verdict.probabilities[2],
            cosine=float(verdict.pair.cosine),
            evidence=spoken(verdict.evidence),
        )
        for verdict in verdicts
    ]
