"""What a plan would do to the answers of a search: no fact that stays may drop out of them.

Questions are the texts of memories, those that were read lately first; an answer is the nearest memories
of the scope. A merge that makes a fact harder to find is left out of the plan and named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ...records import Memory, text_hash
from ..plan import Action, Merge, Plan, TextChange, draft_id, spoken_id

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

TOP = 10  # memories an agent gets for a question: mem0's own `search` gives ten by default
UNATTENDED_QUESTIONS = 50  # of an unattended run, unless the settings say otherwise

# How many of them answer the question: only these must still be among the answers. At the end of the list
# memories change places with every new wording: of 35 merges that write a text, asking for all ten left out
# 32, for five 9, for three 2.
NEAREST = 3

ANSWERS = 0.4  # least cosine of what answers a question: in a small store something is always nearest
_DECIMALS = 6  # of cosines, so that equal texts stay equally near in every order


Loss = tuple[
    str, str, list[str]
]  # a question, a fact that would not answer it any more, and the actions to blame


def checked(
    plan: Plan,
    memories: Sequence[Memory],
    *,
    encode: Encode,
    questions: int,
    accessed: Mapping[str, datetime],
) -> Plan:
    """The plan without what would hide a fact from so many questions, and with a note for each."""
    asked = _questions(plan, memories, questions, accessed)
    notes: dict[str, str] = {}
    while lost := _losses(plan, memories, asked, encode):
        for question, fact, actions in lost:
            for name in actions:
                told = (
                    f"Recall check: {name} is left out, since memory {spoken_id(fact)} would drop out of the "
                    f"{TOP} best answers to what memory {question} says."
                )
                notes.setdefault(name, told)
        plan = replace(plan, actions=tuple(action for action in plan.actions if action.id not in notes))
    return replace(plan, notes=(*plan.notes, *notes.values()))


def _questions(
    plan: Plan, memories: Sequence[Memory], count: int, accessed: Mapping[str, datetime]
) -> tuple[Memory, ...]:
    # a removal alone changes nothing that is found: it only makes room
    felt = [action for action in plan.actions if isinstance(action, Merge | TextChange)]
    scopes = {action.scope for action in felt}
    touched = {member.id for action in felt for member in action.members}

    def place(memory: Memory) -> tuple[int, float, str]:
        """The order of questions; without a read, by a hash, so that no neighbourhood is preferred."""
        read = max((at for at in (accessed.get(memory.id), memory.accessed_at) if at), default=None)
        if read is not None:
            return 0, -read.timestamp(), memory.id
        return (1 if memory.id in touched else 2), 0.0, text_hash(memory.id)

    asked = sorted((memory for memory in memories if memory.scope in scopes), key=place)
    return tuple(asked[:count])


def _losses(plan: Plan, memories: Sequence[Memory], asked: Sequence[Memory], encode: Encode) -> list[Loss]:
    losses: list[Loss] = []
    for scope in sorted({memory.scope for memory in asked}):
        before = {memory.id: memory.text for memory in memories if memory.scope == scope}
        after, becomes, written = _planned(before, [each for each in plan.actions if each.scope == scope])
        questions = [memory for memory in asked if memory.scope == scope]
        texts = [memory.text for memory in questions]
        answers = zip(_answers(before, texts, encode), _answers(after, texts, encode), strict=True)
        for question, (then, now) in zip(questions, answers, strict=True):
            # What answered before and stays, under the name it has then.
            near = [name for name, cosine in list(then.items())[:NEAREST] if cosine >= ANSWERS]
            kept = {becomes.get(name, name) for name in near} & after.keys()
            for fact in sorted(kept - now.keys()):
                # What moved is to blame: the fact's own new text, else the new texts that took its place.
                risen = [written[name] for name in now if name in written and name not in then]
                names = [written[fact]] if fact in written else sorted(set(risen))
                losses += [(question.id, fact, names)] if names else []
    return losses


def _planned(
    before: Mapping[str, str], actions: Sequence[Action]
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    after, becomes, written = dict(before), dict[str, str](), dict[str, str]()
    for action in actions:
        for memory_id in action.removes:
            after.pop(memory_id, None)
        if not isinstance(action, Merge | TextChange):
            continue
        stays = action.survivor or draft_id(action.members)
        if before.get(stays) != action.text:
            written[stays] = action.id
        after[stays] = action.text
        becomes |= dict.fromkeys(action.removes, stays)
    return after, becomes, written


def _answers(texts: Mapping[str, str], questions: Sequence[str], encode: Encode) -> list[dict[str, float]]:
    ids = sorted(texts)
    if not ids:
        return [{} for _ in questions]
    cosines = np.round(encode(questions) @ encode([texts[name] for name in ids]).T, _DECIMALS)
    return [{ids[at]: float(row[at]) for at in np.argsort(-row, kind="stable")[:TOP]} for row in cosines]
