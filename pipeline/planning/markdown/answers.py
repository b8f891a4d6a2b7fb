"""Answers that somebody wrote into a plan file: a contradicted sentence goes, not the file around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...plan import Action, Merge, Plan, Resolve, Rewrite
from ...rules.markdown.contradictions import after
from .settlement import contradicted_by


def with_answers(plan: Plan) -> Plan:
    """The plan in which each answered conflict between sentences cuts the sentence that lost.

    Where the memory says nothing else it goes as a whole; where the sentence cannot be cut out any more
    the conflict stays open.
    """
    actions: list[Action] = list(plan.actions)
    for conflict in plan.conflicts:
        if conflict.choice is not None and conflict.said:
            actions = _answered(actions, conflict)
    return replace(plan, actions=tuple(actions))


def _answered(actions: Sequence[Action], conflict: Resolve) -> list[Action]:
    texts = {member.id: member.text for member in conflict.members}
    for action in actions:
        if isinstance(action, Rewrite | Merge) and action.survivor in texts:
            texts[str(action.survivor)] = action.text
    winner, loser = (
        (conflict.a[0], conflict.b[0]) if conflict.choice == "a" else (conflict.b[0], conflict.a[0])
    )
    rest = after(conflict, conflict.choice or "a", texts)
    if rest == "":
        return list(actions)
    if rest is None:
        return [conflict.choose(None) if action is conflict else action for action in actions]
    kept: list[Action] = []
    written = False
    for action in actions:
        if isinstance(action, Rewrite | Merge) and action.survivor == loser:
            kept.append(replace(action, text=rest))
            written = True
        elif action is not conflict:
            kept.append(action)
    if not written:
        member = next(member for member in conflict.members if member.id == loser)
        reason = contradicted_by(winner)
        kept.append(
            Rewrite(
                id=f"w:{conflict.id}",
                scope=conflict.scope,
                category=conflict.category,
                members=(member,),
                text=rest,
                reason=reason,
            )
        )
    return kept
