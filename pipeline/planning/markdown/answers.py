"""What a plan means that was read from a file: its answers, and the indexes that follow from the rest.

A contradicted sentence goes, not the file around it. Lines may have been taken out of the file, and memories
changed since it was written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ....records import Memory
from ...actions import Action, Append, Cause, Merge, Reindex, Resolve, Rewrite, TextChange
from ...plan import Plan
from ...rules.markdown.contradictions import after
from ...stores.markdown.directories import MemoryDirectory
from .index_actions import IndexRules, index_actions, index_drafts
from .settlement import Texts, contradicted_by
from .survey import Survey


def with_answers(plan: Plan, *, only: Collection[str] | None = None) -> Plan:
    """The plan in which each answered conflict between sentences cuts the sentence that lost.

    Where the memory says nothing else it goes as a whole; where the sentence cannot be cut out any more
    the conflict stays open.

    Args:
        plan: A plan in which conflicts have a choice.
        only: Ids of the conflicts that are meant; all if omitted.
    """
    actions: list[Action] = list(plan.actions)
    for conflict in plan.conflicts:
        meant = only is None or conflict.id in only
        if meant and conflict.choice is not None and conflict.said:
            actions = _answered(actions, conflict)
    return replace(plan, actions=tuple(actions))


def _answered(actions: Sequence[Action], conflict: Resolve) -> list[Action]:
    texts = {member.id: member.text for member in conflict.members}
    for action in actions:
        if isinstance(action, Merge | TextChange) and action.survivor in texts:
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
        if isinstance(action, Merge | TextChange) and action.survivor == loser:
            kept.append(replace(action, text=rest))
            written = True
        elif action is not conflict:
            kept.append(action)
    if not written:
        member = next(member for member in conflict.members if member.id == loser)
        kept.append(
            Rewrite(
                id=f"w:{conflict.id}",
                scope=conflict.scope,
                category=conflict.category,
                members=(member,),
                text=rest,
                reason=contradicted_by(winner),
                causes=(Cause.CONTRADICTION,),
            )
        )
    return kept


def completed(
    plan: Plan,
    memories: Mapping[str, Memory],
    *,
    directories: Sequence[MemoryDirectory],
    indexes: Mapping[str, str],
) -> Plan:
    """The plan with the indexes as they follow from what will be done of it.

    Args:
        plan: The plan with its answers.
        memories: All memories as they are now, by id.
        directories: The memory directories.
        indexes: Present text of each index that may be written, by directory.
    """
    own = [action for action in plan.actions if not isinstance(action, Reindex)]
    done = [action for action in own if _stands(action, memories)]
    texts, added = Texts(Survey(plan, memories, {}, {})), []
    for action in done:
        if isinstance(action, Append):
            added.append(action)
        elif isinstance(action, Merge | TextChange):
            texts.new[str(action.survivor)] = action.text
    rules = IndexRules(certain=len(own) == len(plan.actions))
    drafts = index_drafts(done, texts, directories=directories, indexes=indexes, additions=added, rules=rules)
    return replace(plan, actions=(*own, *index_actions(drafts, indexes)))


def _stands(action: Action, memories: Mapping[str, Memory]) -> bool:
    """Whether an action will be applied: a removal of what is gone, or of what changed, is skipped."""
    if isinstance(action, Resolve) and action.choice is None:
        return False
    texts = {name: memory.text for name, memory in memories.items()}
    return isinstance(action, Append) or all(texts.get(member.id) == member.text for member in action.members)
