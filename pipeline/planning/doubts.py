"""The pairs that only a person can decide: their order, the words for them, and what an answer teaches.

A doubt is a merge or a conflict of two memories, or a memory that a settled conflict may have made untrue,
under `unsure` of the plan. A person's yes moves it into the plan, like any other action.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...models.scorer import CONTRADICTION, DUPLICATE
from ...records import ActionKind, Label
from ..actions import Action, Member, Merge, Prune, Resolve
from ..answers import Say
from ..judging.calibration import pair_line

Pair = Merge | Resolve
Doubt = Pair | Prune
CLUSTER = 6  # memories that one question is about at most; more cannot be compared at a glance
_TAUGHT_BY_MERGES = {Say.YES: Label.DUPLICATE, Say.EDIT: Label.DUPLICATE, Say.NO: Label.DISTINCT}
_TAUGHT_BY_CONFLICTS = {Say.BOTH: Label.DISTINCT, Say.SAME: Label.DUPLICATE}


def ranked(doubts: Iterable[Doubt]) -> list[Doubt]:
    """The most probable first; equally probable ones by id. What may be untrue follows, as it was ranked."""

    def place(doubt: Doubt) -> tuple[float, list[str]]:
        asked = isinstance(doubt, Prune)
        return (1.0, []) if asked else (-probability(doubt), [member.id for member in doubt.members])

    return sorted(doubts, key=place)


def pairs(doubts: Iterable[Doubt]) -> list[Pair]:
    """Those about two memories, the most probable first."""
    return [doubt for doubt in ranked(doubts) if not isinstance(doubt, Prune)]


def clusters(doubts: Iterable[Doubt]) -> list[list[Doubt]]:
    """Pairs that share memories stand together, the most probable first; of `CLUSTER` memories at most."""
    left, found = ranked(doubts), list[list[Doubt]]()
    while left:
        group, ids, rest = list[Doubt](), set[str](), list[Doubt]()
        for doubt in left:
            members = {member.id for member in doubt.members}
            shares = ids & members and len(ids | members) <= CLUSTER
            fits = not ids or (shares and not isinstance(doubt, Prune))
            (group if fits else rest).append(doubt)
            ids |= members if fits else set()
        found.append(group)
        left = rest
    return found


def probability(doubt: Doubt) -> float:
    """How likely the two memories speak of the same thing, in agreement or not."""
    judged = [verdict.probabilities for verdict in getattr(doubt, "verdicts", ())]
    return max((max(pair[DUPLICATE], pair[CONTRADICTION]) for pair in judged), default=0.0)


def open_question(doubts: Iterable[Doubt]) -> str:
    """How many questions are left to a person, in words."""
    kinds = [str(doubt.kind) for doubt in doubts]
    return suspicion(*map(kinds.count, (ActionKind.MERGE, ActionKind.RESOLVE, ActionKind.PRUNE)))


def suspicion(duplicates: int, contradictions: int, outdated: int = 0) -> str:
    """The same from the numbers."""
    parts = []
    if duplicates:
        parts.append(f"{duplicates} more {'pairs' if duplicates > 1 else 'pair'} may be duplicates")
    if contradictions:
        noun = "" if duplicates else " pairs" if contradictions > 1 else " pair"
        parts.append(f"{contradictions} more{noun} may contradict")
    if outdated:
        parts.append(f"{outdated} {'memories' if outdated > 1 else 'memory'} may have gone out of date")
    return ", ".join(parts)


def lesson(action: Action, say: Say) -> str:
    """What an answer teaches a scorer, as a line that `calibrate` reads; empty if nothing about one pair.

    Only merges of two distinct memories or sentences become labels: larger ones are ambiguous, exact copies
    carry no signal.
    """
    label = None
    pair: tuple[Member, ...] = action.members
    if isinstance(action, Merge):
        if action.said:
            pair = tuple(replace(pair[0], text=said) for said in action.said)
        if len(pair) == 2 and not action.exact and pair[0].text != pair[1].text:
            label = _TAUGHT_BY_MERGES.get(say)
    elif isinstance(action, Resolve):
        members = {member.id: member for member in pair}
        pair = (members[action.a[0]], members[action.b[0]])
        if action.said:
            pair = tuple(replace(m, text=said) for m, said in zip(pair, action.said, strict=True))
        label = _TAUGHT_BY_CONFLICTS.get(say)
        # Of rival values that the scorer took for one fact, a choice does not say whether they are two.
        if say in (Say.A, Say.B) and all(
            verdict.probabilities[CONTRADICTION] > verdict.probabilities[DUPLICATE]
            for verdict in action.verdicts
        ):
            label = Label.CONTRADICTION
    return pair_line(pair[0], pair[1], label, category=action.category) if label is not None else ""
