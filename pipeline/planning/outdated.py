"""Which other memories a settled conflict may have made untrue: those that name what only the loser named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...models.guards import missing
from ...models.text.words import significant_words
from ...records import Memory
from ..plan import Plan

_OF_WORDS = frozenset({"name", "place", "proper"})
"""Kinds of details that name something by themselves; of a number another word must be shared, too."""
_UNNAMED = frozenset({"negation", "denial", "hedge"})


def outdated(plan: Plan, memories: Iterable[Memory]) -> list[Memory]:
    """Memories of the scopes of settled conflicts that name an old value, in order of their ids.

    Args:
        plan: What was done; conflicts without a choice count for nothing.
        memories: What stands afterwards.
    """
    touched = {member.id for action in plan.actions for member in action.members}
    present = [m for m in memories if m.id not in touched and not m.is_retired(plan.now.date())]
    found = {
        memory.id: memory
        for scope, kind, value, loser in _old_values(plan)
        for memory in present
        if memory.scope == scope
        and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", memory.text, re.IGNORECASE)
        and (kind in _OF_WORDS or _shares(memory.text, loser, value))
    }
    return [found[name] for name in sorted(found)]


def _old_values(plan: Plan) -> Iterator[tuple[object, str, str, str]]:
    for conflict in plan.conflicts:
        texts = {member.id: member.text for member in conflict.members}
        for name in conflict.removes:
            for detail in missing([texts[name]], texts[str(conflict.survivor)]):
                if detail.kind not in _UNNAMED and detail.detail:
                    yield conflict.scope, detail.kind, detail.detail, texts[name]


def _shares(text: str, loser: str, value: str) -> bool:
    return bool(significant_words(text) & significant_words(loser) - significant_words(value))
