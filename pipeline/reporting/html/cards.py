"""One proposal as the page shows it: what stands, what goes, where they differ, and why."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....models.guards import KINDS, WHOLE
from ....models.merger import keeps
from ....models.text.statements import clauses, sentences
from ....records import ActionKind, Evidence, Verdict
from ...actions import Action, Member, Merge, Prune, Resolve, TextChange, in_order
from ...answers import content_key
from ...planning.doubts import probability
from ...writing.journal import Outcome
from ..differences import Places, changed_lines, unlike
from ..pair import spoken, told_once
from ..report import newer_side

Place = Callable[[Member, Action], int]
"""Notes a memory in the page's table and gives its row."""
DIGITS = 3
"""Digits of a score."""
CLAUSES_UP_TO = 4_000
"""Characters of a text up to which its clauses are held against the others; documents show their lines."""
_SAME = WHOLE | {"same"}
"""Evidence that two texts are one fact; all other speaks against it."""


def card(
    action: Action,
    *,
    unsure: bool,
    place: Place,
    outcomes: Mapping[str, tuple[Outcome, str]],
) -> dict[str, Any]:
    """The data of one proposal for the page; defaults are left out."""
    members = _ordered(action, unsure=unsure)
    outcome = outcomes.get(action.id)
    shown = {
        "id": action.id,
        "key": content_key(action),
        "kind": str(action.kind),
        "members": [place(member, action) for member in members],
        "stays": next((n for n, member in enumerate(members) if member.id == action.survivor), None),
        "unsure": int(unsure) or None,
        "p": _confidence(action),
        "verdicts": [_verdict(verdict, members, action.kind) for verdict in getattr(action, "verdicts", ())],
        "outcome": [str(outcome[0]), outcome[1]] if outcome else None,
        **_own(action, members),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _own(action: Action, members: Sequence[Member]) -> dict[str, Any]:
    match action:
        case Merge():
            return _merge(action, members)
        case Resolve():
            first_of_b = members[len(action.a)]
            sides = (action.said or (members[0].text, first_of_b.text))[:2]
            return {
                "topic": action.topic,
                "newer": newer_side(action),
                "choice": action.choice,
                "sides": [len(action.a), len(action.b)],
                "said": list(action.said),
                "marks": [_differing(*sides), _differing(*sides[::-1])],
            }
        case Prune():
            return {"reason": action.reason, "detail": action.detail, "age": action.age_days}
        case TextChange():
            before = members[0].text
            lined = "\n" in before + action.text
            return {
                "reason": action.reason,
                "text": action.text,
                "lines": changed_lines(before, action.text) if lined else None,
                "come": None if lined else _differing(action.text, before),
                "marks": None if lined else [_differing(before, action.text)],
            }


def _merge(action: Merge, members: Sequence[Member]) -> dict[str, Any]:
    """What stands, marked where none of the others says it; and each text that goes, where it differs."""
    texts = [member.text for member in members]
    before = next((member.text for member in members if member.id == action.rewrites), None)
    lined = before is not None and "\n" in before + action.text
    return {
        "text": None if action.survivor and not action.rewrites else action.text,
        "writes": "new" if action.adds else "rewrites" if action.rewrites else None,
        "exact": [number for number, member in enumerate(members) if member.id in action.exact],
        "lines": changed_lines(before or "", action.text) if lined else None,
        "come": []
        if action.adds
        else _differing(action.text, *(text for text in texts if text != action.text)),
        "marks": [lost_words(text, action.text, texts if action.adds else ()) for text in texts],
        "merged": {
            key: [str(value) for value in values] for key, values in sorted(action.disagreements.items())
        },
        "expires": action.expires,
    }


def _differing(text: str, *others: str) -> Places:
    return _as_drawn(text, [[start, end, 0] for start, end in unlike(text, others)])


def lost_words(source: str, stands: str, others: Sequence[str] = ()) -> Places:
    """Places in a source that differ, each with 1 if the clause it is in is not kept by what stands.

    A source that goes into a new text is held against the other ones.

    >>> lost_words("Has a dog. Takes 20 mg.", "Owns a dog.")
    [[0, 3, 0], [11, 23, 1]]
    """
    if source == stands:
        return []
    short = max(len(source), len(stands)) <= CLAUSES_UP_TO
    places = clause_places(source) if short else []
    lost = [place for place in places if not keeps(stands, source[slice(*place)])]
    marks: Places = []
    for start, end in unlike(source, [text for text in others if text != source] or [stands]):
        edges = {start, end, *(edge for place in lost for edge in place if start < edge < end)}
        for left, right in itertools.pairwise(sorted(edges)):
            if source[left:right].strip():
                marks.append([left, right, int(any(a <= left and right <= b for a, b in lost))])
    return _as_drawn(source, marks)


def _as_drawn(text: str, places: Places) -> Places:
    """Places as a browser counts them, for which some characters are two."""
    if text.isascii() or max(text) <= "\uffff":
        return places
    at = list(itertools.accumulate((1 + (char > "\uffff") for char in text), initial=0))
    return [[at[start], at[end], *more] for start, end, *more in places]


def _ordered(action: Action, *, unsure: bool) -> list[Member]:
    """The sides of a conflict one behind the other; of a merge what stays first, unless it is a question."""
    if isinstance(action, Resolve):
        place = {memory_id: number for number, memory_id in enumerate((*action.a, *action.b))}
        return sorted(action.members, key=lambda member: place[member.id])
    if unsure:
        return in_order(action)
    return sorted(action.members, key=lambda member: (member.id != action.survivor, member.id))


def _confidence(action: Action) -> float | None:
    """How sure the scorer is: of a merge its weakest pair, of a conflict its strongest."""
    verdicts = getattr(action, "verdicts", ())
    if isinstance(action, Merge):
        judged = [1.0 if verdict.pair.exact else verdict.probabilities[0] for verdict in verdicts]
        return round(min(judged, default=1.0), DIGITS)
    return round(probability(action), DIGITS) if isinstance(action, Resolve) and verdicts else None


def _verdict(verdict: Verdict, members: Sequence[Member], kind: ActionKind) -> dict[str, Any]:
    rows = {member.id: number for number, member in enumerate(members)}
    pair = [rows.get(verdict.pair.a, -1), rows.get(verdict.pair.b, -1)]
    return {
        "pair": pair,
        "auto": int(verdict.auto),
        "exact": int(verdict.pair.exact),
        "cosine": round(verdict.pair.cosine, DIGITS),
        "p": [round(value, DIGITS) for value in verdict.probabilities],
        "entails": [round(value, DIGITS) for value in verdict.entailment],
        "evidence": [_evidence(item, kind, pair) for item in told_once(verdict.evidence)],
    }


def _evidence(item: Evidence, kind: ActionKind, pair: Sequence[int]) -> list[Any]:
    """Kind, words, whether it is a veto, and whether it speaks for what is proposed."""
    flipped = pair[0] > pair[1] >= 0
    names = [chr(ord("A") + row % 26) if row >= 0 else "the merged text" for row in pair]
    words = spoken([item], flipped=flipped, names=names[::-1] if flipped else names)
    speaks_for = item.kind in (KINDS if kind is ActionKind.RESOLVE else _SAME)
    return [item.kind, words, int(item.veto), int(speaks_for)]


def clause_places(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a text begin and end.

    >>> clause_places("Has a dog. Likes tea; it is green.")
    [(0, 10), (11, 20), (22, 34)]
    """
    places: list[tuple[int, int]] = []
    at = 0
    for clause in (part for sentence in sentences(text) for part in clauses(sentence)):
        start = text.find(clause, at)
        if start >= 0:
            at = start + len(clause)
            places.append((start, at))
    return places
