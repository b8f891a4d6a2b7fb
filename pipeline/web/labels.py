"""Answers of a review as labelled pairs, in the form that `mem0-dream calibrate` reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...records import Label
from ..actions import Action, Merge, Resolve
from ..judging.labelling import labelled_keys
from ..planning.doubts import Doubt, answered_pairs, contradicts, forget_answer, keep_answers
from .pending import Say

OFFER = 50
"""Answers from which a calibration is offered."""
_MERGES = {Say.ACCEPT: Label.DUPLICATE, Say.REJECT: Label.DISTINCT}


def lesson(action: Action, say: Say) -> tuple[Doubt, Label] | None:
    """The pair that an answer is about and what it is; None where it says nothing about one pair.

    Of a merge of three nobody knows which of them were meant, exact copies teach nothing, and the sentences
    of files are not what the scorer judged alone.
    """
    if isinstance(action, Merge) and len(action.members) == 2 and not action.exact and say in _MERGES:
        return action, _MERGES[say]
    if not isinstance(action, Resolve) or action.said:
        return None
    members = {member.id: member for member in action.members}
    pair = replace(action, members=(members[action.a[0]], members[action.b[0]]))
    if say is Say.BOTH:
        return pair, Label.DISTINCT
    # Of rival values that the scorer took for one fact nobody knows whether they are two.
    return (pair, Label.CONTRADICTION) if say in (Say.A, Say.B) and contradicts(action) else None


def learn(directory: Path, answers: Iterable[tuple[Action, Say]]) -> None:
    """Keep what answers teach."""
    lessons = [taught for action, say in answers if (taught := lesson(action, say)) is not None]
    if lessons:
        keep_answers(directory, lessons)


def unlearn(directory: Path, action: Action, say: Say) -> None:
    """Forget what an answer taught."""
    taught = lesson(action, say)
    if taught is not None:
        forget_answer(directory, taught[0])


def learnt(directory: Path) -> int:
    """How many pairs the answers have labelled so far."""
    file = answered_pairs(directory)
    return len(labelled_keys(file)) if file else 0
