"""Plans as an agent is shown them: the report of the command line to the letter, and the same as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..actions import Action, Member, Merge, Prune, Resolve, TextChange
from ..answers import Answer, content_key
from ..plan import Plan, spoken_id
from ..planning.doubts import open_question
from ..reporting import report as texts
from ..reporting.pair import spoken
from ..reporting.report import Report
from ..reporting.text import bracketed
from ..review import Review

if TYPE_CHECKING:
    from ..engine import Session

Data = dict[str, Any]
SHOWN = 50
"""Proposals that an answer names one by one; more would fill an agent's context."""
REPORT_LINES = 400
"""Lines of a report in an answer; the rest is asked for by dream_explain."""


def report_of(session: Session, plan: Plan) -> str:
    """The whole report, with the sentence that stands for an empty one."""
    left = [open_question(plan.unsure)] if plan.unsure else []
    shown = session.reporter(plan, texts=True)
    if not plan.actions:
        return "\n".join([*shown.nothing(), *left])
    lines, last = shown.lines(), shown.proposal()
    if len(lines) > REPORT_LINES:
        lines = [*lines[:REPORT_LINES], f"... and {len(lines) - REPORT_LINES} more lines: dream_explain"]
    shown_lines = [*lines, *left, *(f"Read-only: {gap}" for gap in plan.gaps), last]
    return "\n".join(map(bracketed, shown_lines))


def proposed(plan: Plan) -> Data:
    """The counts of a plan; the numbers of `--json`."""
    return {
        "merges": len(plan.merges),
        "prunes": len(plan.prunes),
        "conflicts": sum(conflict.choice is None for conflict in plan.conflicts),
        "changes": len(plan.rewrites),
    }


def proposals(plan: Plan, shown: Report) -> list[Data]:
    """The first changes, one line each."""
    chosen = [action for action in plan.actions if not isinstance(action, Resolve)][:SHOWN]
    return [{"id": item.id, "kind": str(item.kind), "line": shown.line(item)} for item in chosen]


def questions(review: Review, conflicts: Iterable[Resolve], shown: Report) -> list[Data]:
    """The first conflicts, with what both sides say."""
    return [_question(review, conflict, shown) for conflict in list(conflicts)[:SHOWN]]


def _question(review: Review, conflict: Resolve, shown: Report) -> Data:
    members = {member.id: member for member in conflict.members}
    first, second = members[conflict.a[0]], members[conflict.b[0]]
    a, b = conflict.said or (first.text, second.text)
    return {
        "id": conflict.id,
        "line": shown.line(conflict),
        "a": texts.explained(a),
        "b": texts.explained(b),
        "a_date": _day(first),
        "b_date": _day(second),
        "newer": conflict.newer,
        "answers": list(map(str, review.choices(conflict))),
    }


def outdated(review: Review, plan: Plan, shown: Report) -> list[Data]:
    """The memories that a settled conflict may have made untrue."""
    asked = [each for each in plan.unsure if isinstance(each, Prune)]
    return [
        {"id": each.id, "line": shown.line(each), "answers": list(map(str, review.choices(each)))}
        for each in asked
    ]


def explanations(review: Review, chosen: Iterable[Action], shown: Report) -> list[Data]:
    """Everything behind the chosen proposals."""
    answers = review.answers
    return [_explanation(review, action, answers.get(content_key(action)), shown) for action in chosen]


def _explanation(review: Review, action: Action, given: Answer | None, shown: Report) -> Data:
    goes = set(action.removes)
    verdicts = () if isinstance(action, Prune | TextChange) else action.verdicts
    text = action.text if isinstance(action, Merge | TextChange) else None
    kept = isinstance(action, Merge) and not (action.adds or action.rewrites)
    return {
        "id": action.id,
        "kind": str(action.kind),
        "line": shown.line(action),
        "scope": str(action.scope),
        "category": action.category,
        "memories": [
            {"id": member.id, "text": member.text, "date": _day(member), "stays": member.id not in goes}
            for member in action.members
        ],
        "becomes": None if kept else text,
        "reason": _reason(action),
        "scores": [
            {
                "a": spoken_id(verdict.pair.a),
                "b": spoken_id(verdict.pair.b),
                "label": str(verdict.label),
                **dict(zip(("duplicate", "contradiction", "distinct"), verdict.probabilities, strict=True)),
                "cosine": float(verdict.pair.cosine),
                "evidence": spoken(verdict.evidence),
            }
            for verdict in verdicts
        ],
        "answers": list(map(str, review.choices(action))),
        "answer": str(given.say) if given else None,
    }


def _day(member: Member) -> str | None:
    return member.stated_at.date().isoformat() if member.stated_at else None


def _reason(action: Action) -> str | None:
    if isinstance(action, Prune):
        return ", ".join(filter(None, (action.reason, action.detail)))
    return action.reason if isinstance(action, TextChange) else None
