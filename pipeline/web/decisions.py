"""From what a person said to the plan that is applied: for each kind of store what follows from the answers.

Nothing is judged anew, and nothing is done that was not accepted or follows from what was: an index follows
the files that go, relations follow the entities that merge. What follows is shown before it happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from ...records import Scope
from ..actions import Action, Append, Cause, Merge, Reindex, Resolve, Rewrite, Side, TextChange
from ..plan import Plan
from .pending import Pending, Say

if TYPE_CHECKING:
    from ..engine import Session
    from ..planning.proposal import Proposal

Proposed = TypeVar("Proposed", bound=Action)
_CONSEQUENCES = frozenset({Cause.LINKS, Cause.INDEX, Cause.CONTRADICTION})
"""What a new text comes from that follows from other changes."""


def asked_about(proposal: Proposal) -> tuple[Action, ...]:
    """All that a person is asked about."""
    return (*proposal.plan.actions, *proposal.plan.unsure)


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a person said, by the ids of the actions.

    Attributes:
        accepted: Merges, prunes and rewrites that are wanted.
        sides: The side that stays, of conflicts.
        texts: Texts written instead of drafted ones.
        refused: What is not wanted.
    """

    accepted: frozenset[str] = frozenset()
    sides: Mapping[str, Side] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()

    @classmethod
    def of(cls, answers: Mapping[str, Pending]) -> Decisions:
        """Sort answers that are named by the ids of their actions."""
        sides: dict[str, Side] = {
            name: "a" if given.say is Say.A else "b"
            for name, given in answers.items()
            if given.say in (Say.A, Say.B)
        }
        return cls(
            frozenset(name for name, given in answers.items() if given.say is Say.ACCEPT),
            sides,
            {name: given.text for name, given in answers.items() if given.text is not None},
            frozenset(name for name, given in answers.items() if given.say in (Say.REJECT, Say.BOTH)),
        )


def decided(session: Session, proposal: Proposal, decisions: Decisions, *, now: datetime) -> Plan:
    """The plan that does what was accepted, and what follows from it."""
    from ..planning.markdown.planner import MarkdownFindings

    if isinstance(proposal.findings, MarkdownFindings):
        plan = _settled(session, proposal, decisions, now=now)
    else:
        chosen = replace(proposal, asked=_chosen(proposal.plan, decisions))
        plan = session.complete(chosen, {}, now=now).plan
    return _with_rest(plan, proposal, decisions)


def _with_rest(plan: Plan, proposal: Proposal, decisions: Decisions) -> Plan:
    """The plan with what it leaves to a person, as the journal tells of every run."""
    heard = decisions.accepted | decisions.refused | set(decisions.sides)
    shown = proposal.plan
    doubts = tuple(doubt for doubt in shown.unsure if doubt.id not in heard)
    left_open = sum(conflict.id not in heard for conflict in shown.conflicts)
    return replace(plan, unsure=doubts, left_open=shown.left_open + left_open)


def _chosen(plan: Plan, decisions: Decisions) -> Plan:
    """The accepted actions and answered conflicts, doubts included as far as they touch nothing else."""
    sides: dict[str, Side | None] = dict(decisions.sides)
    wanted = [item for item in plan.actions if item.id in decisions.accepted or item.id in sides]
    doubts = [_worded(item, decisions) for item in plan.unsure]
    chosen = replace(plan, actions=tuple(_worded(item, decisions) for item in wanted), unsure=tuple(doubts))
    return chosen.accept(decisions.accepted, sides).with_choices(sides)


def _worded(action: Proposed, decisions: Decisions) -> Proposed:
    """A merge in the words of a person, where they wrote some."""
    text = decisions.texts.get(action.id)
    return replace(action, text=text) if isinstance(action, Merge) and text is not None else action


def _settled(session: Session, proposal: Proposal, decisions: Decisions, *, now: datetime) -> Plan:
    """The plan of a survey of which only what was accepted is left."""
    survey, shown = proposal.findings.survey, proposal.plan
    rewritten = {
        action.members[0].id: action.id for action in shown.rewrites if action.id in decisions.accepted
    }
    wanted = [
        _worded(action, decisions)
        for action in proposal.asked.actions
        if action.id in decisions.sides or action.id in decisions.accepted
    ]
    doubtful = [item for item in proposal.asked.unsure if item.id in decisions.accepted]
    survivors = {action.survivor for action in (*wanted, *doubtful) if isinstance(action, Merge)}
    edits = {name: edit for name, edit in survey.edits.items() if name in rewritten or name in survivors}
    doubts = tuple(_worded(doubt, decisions) for doubt in proposal.asked.unsure)
    asked = replace(proposal.asked, actions=tuple(wanted), unsure=doubts)
    left = replace(
        proposal,
        asked=asked.accept(decisions.accepted, dict(decisions.sides)),
        findings=replace(proposal.findings, survey=replace(survey, edits=edits)),
    )
    plan = session.complete(left, dict(decisions.sides), now=now).plan
    answered = [
        action for action in plan.actions if not isinstance(action, Resolve) or action.choice is not None
    ]
    kept = [action for action in answered if not isinstance(action, TextChange)]
    touched = {action.scope for action in kept}
    touched |= {action.scope for action in shown.actions if action.id in decisions.sides}
    touched |= {action.scope for action in shown.rewrites if action.id in decisions.accepted}
    rewrites = [
        action
        for action in answered
        if isinstance(action, TextChange) and _follows(action, decisions, rewritten, touched)
    ]
    return replace(plan, actions=(*kept, *rewrites))


def _follows(
    action: TextChange, decisions: Decisions, rewritten: Mapping[str, str], touched: AbstractSet[Scope]
) -> bool:
    """Whether a new text was accepted, or follows from what was."""
    if isinstance(action, Append):
        return action.id in decisions.accepted
    if isinstance(action, Reindex):
        return action.id not in decisions.refused and (
            action.scope in touched or action.id in decisions.accepted
        )
    follows = isinstance(action, Rewrite) and not _CONSEQUENCES.isdisjoint(action.causes)
    return follows or action.members[0].id in rewritten


def moved(session: Session, plan: Plan) -> frozenset[str]:
    """Ids of the memories that are no longer as the plan saw them."""
    members = {member.id: member for action in plan.actions for member in action.members}
    snapshots = session.store.fetch(sorted(members))
    away = {memory_id for memory_id in members if memory_id not in snapshots}
    for memory_id, snapshot in snapshots.items():
        memory, member = session.store.parse(snapshot), members[memory_id]
        if memory.text_hash != member.text_hash or memory.updated_at != member.updated_at or memory.pinned:
            away.add(memory_id)
    return frozenset(away)
