"""The pairs that only a person can decide: their order, the words for them, and what an answer means.

A doubt is a merge or a conflict of two memories that the plan holds under `unsure`. It changes nothing by
itself; a person's yes moves it into the plan, where it is applied like any other action.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...models.scorer import CONTRADICTION, DUPLICATE
from ...records import Label, Memory, rejection_key
from ..actions import Merge, Resolve, Side
from ..judging.labelling import labelled_keys, pair_line
from ..plan import Plan

Doubt = Merge | Resolve

ANSWERS_FILE = "answered-pairs.jsonl"
"""Where a person's answers are kept in the state directory, as pairs that `calibrate` reads."""


def ranked(doubts: Iterable[Doubt]) -> list[Doubt]:
    """The most probable first; equally probable ones by id, so that the order is always the same."""
    return sorted(doubts, key=lambda doubt: (-probability(doubt), [member.id for member in doubt.members]))


def probability(doubt: Doubt) -> float:
    """How likely the two memories speak of the same thing, in agreement or not."""
    pairs = [verdict.probabilities for verdict in doubt.verdicts]
    return max((max(pair[DUPLICATE], pair[CONTRADICTION]) for pair in pairs), default=0.0)


def contradicts(doubt: Doubt) -> bool:
    """Whether the scorer itself suspects a contradiction, so that choosing a side confirms one."""
    return all(pair.probabilities[CONTRADICTION] > pair.probabilities[DUPLICATE] for pair in doubt.verdicts)


def open_question(doubts: Iterable[Doubt]) -> str:
    """How many pairs are left to a person, in words.

    >>> open_question(())
    ''
    """
    kinds = [isinstance(doubt, Merge) for doubt in doubts]
    return suspicion(sum(kinds), len(kinds) - sum(kinds))


def suspicion(duplicates: int, contradictions: int) -> str:
    """The same from the numbers.

    >>> suspicion(3, 1)
    '3 more pairs may be duplicates, 1 more may contradict'
    """
    parts = []
    if duplicates:
        parts.append(f"{duplicates} more {'pairs' if duplicates > 1 else 'pair'} may be duplicates")
    if contradictions:
        noun = "" if duplicates else " pairs" if contradictions > 1 else " pair"
        parts.append(f"{contradictions} more{noun} may contradict")
    return ", ".join(parts)


def decided(plan: Plan, merges: Iterable[str], sides: dict[str, Side | None], done: Iterable[str]) -> Plan:
    """The plan after a person looked at doubts.

    Args:
        plan: As proposed.
        merges: Ids of doubts that are the same fact.
        sides: The side that stays, by id of a doubt.
        done: Ids of all doubts that were answered; they are no longer open.
    """
    answered = frozenset(done)
    left = tuple(doubt for doubt in plan.unsure if doubt.id not in answered)
    return replace(plan.accept(merges, sides), unsure=left)


def keep_answer(directory: Path, doubt: Doubt, label: Label) -> Path:
    """Append an answer to the pairs that `mem0-dream calibrate` learns from; each pair once.

    The file holds the texts of both memories, so only its owner may read it.
    """
    return keep_answers(directory, [(doubt, label)])


def keep_answers(directory: Path, answers: Iterable[tuple[Doubt, Label]]) -> Path:
    """Append several answers; see `keep_answer`."""
    file = directory / ANSWERS_FILE
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    known = set(labelled_keys(file))
    with file.open("a", encoding="utf-8") as stream:
        for doubt, label in answers:
            a, b = as_memories(doubt)
            if rejection_key(a, b) not in known:
                known.add(rejection_key(a, b))
                stream.write(pair_line(a, b, label))
    return file


def forget_answer(directory: Path, doubt: Doubt) -> None:
    """Take a pair out of the file of answers again."""
    file = directory / ANSWERS_FILE
    key = rejection_key(*as_memories(doubt))
    if not file.exists() or key not in labelled_keys(file):
        return
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.strip() and json.loads(line).get("key") != key]
    partial = file.with_suffix(".part")
    partial.touch(mode=0o600)
    partial.write_text("".join(kept), encoding="utf-8")
    partial.replace(file)


def answered_pairs(directory: Path) -> Path | None:
    """The file of a person's answers, if there are any."""
    file = directory / ANSWERS_FILE
    return file if file.exists() else None


def as_memories(doubt: Doubt) -> tuple[Memory, Memory]:
    """The two memories, as far as the plan kept them."""
    a, b = (
        Memory(
            member.id,
            member.text,
            doubt.scope,
            category=doubt.category,
            created_at=member.created_at,
            updated_at=member.updated_at,
        )
        for member in doubt.members[:2]
    )
    return a, b
