"""What an answer to a proposal means, and the plan that follows from all answers.

Nothing is resolved without an answer, and no answer is guessed: a conflict nobody answered stays open, a
doubt nobody answered stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..actions import Action, Merge, Resolve, Side
from ..answers import Answer, AnswerKind
from ..plan import Plan
from ..planning.doubts import as_memories, decided
from .results import Choice

if TYPE_CHECKING:
    from ..engine import Session

MARKDOWN, GRAPH = "md", "graph"


@dataclass(frozen=True, slots=True)
class Decided:
    """A plan and what a person said about it.

    Attributes:
        plan: What is to be done.
        choices: The side that stays of each conflict that was answered.
        skipped: What was left open on purpose; it is not asked again.
        refused: Changes that are never to be proposed again.
        distinct: Doubts about pairs that are two different facts.
    """

    plan: Plan
    choices: Mapping[str, Side | None]
    skipped: tuple[Merge | Resolve, ...]
    refused: tuple[Action, ...]
    distinct: tuple[Merge | Resolve, ...]

    @property
    def remembers(self) -> bool:
        """Whether there is anything to remember besides what is applied."""
        return bool(self.skipped or self.refused or self.distinct)


def choices_for(plan: Plan, action: Action) -> list[Choice]:
    """What may be answered about an action."""
    doubtful = action in plan.unsure
    if doubtful and plan.kind == MARKDOWN:
        return ["no", "skip"]  # files are merged by what is certain alone
    if isinstance(action, Resolve):
        return ["a", "b", "no", "skip"] if doubtful else ["a", "b", "skip"]
    return ["yes", "no", "skip"]


def checked(plan: Plan, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers, if each of them may be given.

    Raises:
        UsageError: Naming the first that may not.
    """
    known = {action.id: action for action in (*plan.actions, *plan.unsure)}
    for name, answer in answers.items():
        if name not in known:
            raise UsageError(f"The plan has no proposal {name[:80]!r}; dream_explain lists all of them.")
        allowed = choices_for(plan, known[name])
        if answer not in allowed:
            raise UsageError(f"{name} is answered by {', '.join(allowed)}; {answer[:20]!r} is none of these.")
    return dict(answers)


def decide(plan: Plan, answers: Mapping[str, str]) -> Decided:
    """The plan as a person wants it."""
    sides: dict[str, Side | None] = {
        name: "a" if said == "a" else "b" for name, said in answers.items() if said in ("a", "b")
    }
    out = {
        action.id
        for action in plan.actions
        if not isinstance(action, Resolve) and answers.get(action.id) in ("no", "skip")
    }
    kept = replace(plan, actions=tuple(action for action in plan.actions if action.id not in out))
    doubts = {doubt.id for doubt in plan.unsure}
    wanted = [name for name in doubts if answers.get(name) == "yes"]
    done = [name for name in doubts if name in answers]
    asked = (*plan.conflicts, *plan.unsure)
    return Decided(
        plan=decided(kept, wanted, {name: side for name, side in sides.items() if name in doubts}, done),
        choices={name: side for name, side in sides.items() if name not in doubts},
        skipped=tuple(item for item in asked if answers.get(item.id) == "skip"),
        refused=tuple(item for item in plan.actions if answers.get(item.id) == "no"),
        distinct=tuple(item for item in plan.unsure if answers.get(item.id) == "no"),
    )


def completed(session: Session, decision: Decided) -> Plan:
    """The decided plan with what follows from it for its kind of store: indexes, relations."""
    return session.completed(decision.plan.with_choices(decision.choices))


def remember(session: Session, decision: Decided, *, now: datetime, run: str) -> None:
    """Keep what is not to be asked or proposed again, as an attended pass does."""
    session.remember_skips(decision.skipped, now=now, run=run)
    refused: Iterable[Action] = decision.refused
    answers = [Answer.to(action, AnswerKind.REJECTED, at=now) for action in refused]
    session.journal.answer(session.store.fingerprint, answers)
    for doubt in decision.distinct:
        session.reject(*as_memories(doubt), now=now)
