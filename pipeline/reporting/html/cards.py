"""One proposal as the page shows it: the memories in order, where they differ, why, and what stays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....records import Evidence, Verdict
from ...actions import Action, Member, Merge, Prune, Resolve, TextChange
from ...planning.doubts import probability
from ...writing.journal import Outcome
from ..spoken_evidence import spoken
from .differences import changed_lines, differing, kept_clauses, origins

Place = Callable[[str, Member, Action], int]
"""Notes a memory in the page's table and gives its row."""
DIGITS = 3
"""Digits of a score."""
CLAUSES_UP_TO = 4_000
"""Characters of a text up to which its clauses are held against the others; documents show their lines."""


def card_key(action: Action) -> str:
    """Name of a question by what it is about; equal as long as its texts and its proposal are."""
    parts = [str(action.kind), *sorted(f"{member.id}\0{member.text_hash}" for member in action.members)]
    match action:
        case Merge() | TextChange():
            parts.append(action.text)
        case Resolve():
            parts += [*action.a, "\0", *action.b, *action.said]
        case Prune():
            parts.append(action.reason)
    return hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def card(
    action: Action,
    *,
    unsure: bool,
    place: Place,
    outcomes: Mapping[str, tuple[Outcome, str]],
) -> dict[str, Any]:
    """The data of one proposal for the page; defaults are left out."""
    members = _in_order(action)
    shown = {
        "id": action.id,
        "key": card_key(action),
        "kind": str(action.kind),
        "members": [place(member.id, member, action) for member in members],
        "stays": _row(action.survivor, members),
        "unsure": int(unsure) or None,
        "p": _confidence(action),
        "verdicts": [_verdict(verdict, members) for verdict in getattr(action, "verdicts", ())],
        "outcome": _outcome(action, outcomes),
        **_own(action, members),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _own(action: Action, members: Sequence[Member]) -> dict[str, Any]:
    """What only this kind of proposal has."""
    match action:
        case Merge():
            return _merge(action, members)
        case Resolve():
            sides = (action.said or (members[0].text, _first_of_b(action, members).text))[:2]
            return {
                "topic": action.topic,
                "newer": action.newer,
                "choice": action.choice,
                "sides": [len(action.a), len(action.b)],
                "said": list(action.said),
                "diff": differing(*sides),
            }
        case Prune():
            return {"reason": action.reason, "detail": action.detail, "age": action.age_days}
        case TextChange():
            before = members[0].text
            return {
                "reason": action.reason,
                "text": action.text,
                "lines": changed_lines(before, action.text) if "\n" in before + action.text else None,
                "diff": differing(before, action.text),
            }


def _merge(action: Merge, members: Sequence[Member]) -> dict[str, Any]:
    """The text that stays: beside its sources where it is new, else only where it leaves something out."""
    sources = [member.text for member in members]
    exact = [number for number, member in enumerate(members) if member.id in action.exact]
    new = action.text not in sources
    short = max(len(text) for text in (action.text, *sources)) <= CLAUSES_UP_TO
    kept = [kept_clauses(text, action.text) if short and text != action.text else [] for text in sources]
    before = sources[0] if action.rewrites else None
    lined = before is not None and "\n" in before + action.text
    told = new or any(place[2] == 0 for places in kept for place in places)
    return {
        "text": None if action.survivor and not action.rewrites else action.text,
        "writes": "new" if action.adds else "rewrites" if action.rewrites else None,
        "exact": exact,
        "diff": differing(sources[0], sources[1]) if len(members) == 2 else None,
        "diffs": [differing(sources[0], text) for text in sources[1:]] if len(members) > 2 else None,
        "lines": changed_lines(before or "", action.text) if lined else None,
        "kept": kept if told else None,
        "origins": origins(action.text, sources) if new and short else None,
        "merged": {
            key: [str(value) for value in values] for key, values in sorted(action.disagreements.items())
        },
        "expires": action.expires,
    }


def _in_order(action: Action) -> list[Member]:
    """The memory that stays first; in a conflict A before B."""
    if isinstance(action, Resolve):
        place = {memory_id: number for number, memory_id in enumerate((*action.a, *action.b))}
        return sorted(action.members, key=lambda member: place[member.id])
    return sorted(action.members, key=lambda member: (member.id != action.survivor, member.id))


def _first_of_b(action: Resolve, members: Sequence[Member]) -> Member:
    return next(member for member in members if member.id == action.b[0])


def _row(memory_id: str | None, members: Sequence[Member]) -> int | None:
    """The row of the member that stays."""
    return next((number for number, member in enumerate(members) if member.id == memory_id), None)


def _confidence(action: Action) -> float | None:
    """How sure the scorer is: of a merge its weakest pair, of a conflict its strongest."""
    verdicts = getattr(action, "verdicts", ())
    if isinstance(action, Merge):
        judged = [1.0 if verdict.pair.exact else verdict.probabilities[0] for verdict in verdicts]
        return round(min(judged, default=1.0), DIGITS)
    return round(probability(action), DIGITS) if isinstance(action, Resolve) and verdicts else None


def _verdict(verdict: Verdict, members: Sequence[Member]) -> dict[str, Any]:
    rows = {member.id: number for number, member in enumerate(members)}
    return {
        "pair": [rows.get(verdict.pair.a, -1), rows.get(verdict.pair.b, -1)],
        "label": str(verdict.label),
        "auto": int(verdict.auto),
        "exact": int(verdict.pair.exact),
        "cosine": round(verdict.pair.cosine, DIGITS),
        "p": [round(value, DIGITS) for value in verdict.probabilities],
        "entails": [round(value, DIGITS) for value in verdict.entailment],
        "evidence": [_evidence(item) for item in verdict.evidence],
    }


def _evidence(item: Evidence) -> list[Any]:
    return [item.kind, spoken([item]), int(item.veto)]


def _outcome(action: Action, outcomes: Mapping[str, tuple[Outcome, str]]) -> list[str] | None:
    outcome = outcomes.get(action.id)
    return [str(outcome[0]), outcome[1]] if outcome else None
