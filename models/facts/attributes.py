"""Rival values of one attribute: Python 3.9 and 3.12, lives in Oslo and lives in Bergen, tabs and spaces.

Two texts are set side by side in two ways: equal words around one typed value that differs, and one attribute
that both name in whatever words. Another person, time, place or condition makes another frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..text.tables import found, table_set
from ..text.vocabulary import FRAME_WORDS, opposite
from . import Facts
from .calendar import Day
from .details import Detail
from .frames import differences, swap_of_one
from .names import Name
from .numbers import Number
from .values import Value

_SAME_FRAME = 0.8
_NEAR_FRAME = 0.5
_SMALLEST_FRAME = 2
_NO_LABEL, _LABELLED, _VERBS, _STATIVE, _PAST, _PLACED = (
    table_set("values", key) for key in ("no_label", "labelled", "label_verbs", "stative", "past", "placed")
)
_OPENING = 3
_OF_ONE = ("number", "version", "frequency", "time", "weekday", "date", "name")
_COMPARED = (*_OF_ONE, "identifier", "path", "url")
_OPPOSITE = "opposite"
_SHORT = frozenset({"version", _OPPOSITE})  # attributes that one shared word is enough for
_SURE = frozenset({"number", "version", "frequency", "time", "deadline", "place", "home", _OPPOSITE})
"""Attributes whose rival values were contradictions in at least 85 of 100 pairs (decision 10)."""


class Rival(NamedTuple):
    """Two values that one attribute has in two texts."""

    attribute: str  # what it is a value of: "number", "home", "ci",
    mine: str  # the value in the first text
    theirs: str  # the value in the second text
    share: float = 1.0  # how much of the words around the values both texts share

    @property
    def equal(self) -> bool:
        """Whether all else is equal, so that the two values are set against each other."""
        return self.share >= _SAME_FRAME or self.attribute == _OPPOSITE

    @property
    def sure(self) -> bool:
        """Whether texts with such rivals nearly always contradict each other, as measured."""
        return self.equal and self.attribute in _SURE


def rival(left: Facts, right: Facts) -> Rival | None:
    """Return the rival values that two texts give to one attribute, or None."""
    if left.text == right.text or not (left.bag and right.bag):
        return None
    shared = len(left.frame & right.frame)
    share = shared / max(1, len(left.frame | right.frame))
    near = share >= _NEAR_FRAME or len(left.words) == len(right.words)
    framed = _framed(left, right) if shared and near else None
    # whether so many words and names around their values are shared that these answer one question
    names = {name.folded for name in left.names} & {name.folded for name in right.names}
    enough = share >= _NEAR_FRAME and shared + len(names) >= _SMALLEST_FRAME
    if framed is not None and (framed.attribute in _SHORT or enough):
        return framed._replace(share=share)
    return _named(left, right)


def _framed(left: Facts, right: Facts) -> Rival | None:
    if sum(each.hard for each in left.negations) % 2 != sum(each.hard for each in right.negations) % 2:
        return None
    differing = [
        each
        for each in differences(left, right)
        if each.kind in _COMPARED  # "daily" may go without saying
        and (all if each.kind == "frequency" else any)((each.only_left, each.only_right))
    ]
    if not differing:
        places = swap_of_one(left, right)
        opposed = places is not None and opposite(places[0].folded, places[1].folded)
        return Rival(_OPPOSITE, places[0].text, places[1].text) if places and opposed else None
    if len(differing) > 1:
        return None
    kind, *_, mine, theirs = differing[0]
    if kind not in _OF_ONE or len(_phrases(mine)) != 1 or len(_phrases(theirs)) != 1:
        return None
    if not mine[0].rivals(theirs[0]):
        return None
    attribute = _attribute(kind, mine[0], theirs[0], left, right)
    return Rival(attribute, _said(mine), _said(theirs)) if attribute else None


def _phrases(details: Sequence[Detail]) -> set[object]:
    return {each.phrase if isinstance(each, Name) else each for each in details}


def _said(details: Sequence[Detail]) -> str:
    return " ".join(dict.fromkeys(each.text for each in details))


def _attribute(kind: str, mine: Detail, theirs: Detail, left: Facts, right: Facts) -> str | None:
    """The attribute whose value a detail is; None for what tells one thing or time from another."""
    if isinstance(mine, Number) and isinstance(theirs, Number):
        forms = {mine.form, theirs.form}
        if forms != {"cardinal"} or is_label(left, mine) or is_label(right, theirs):
            return None
        return "event" if _tells(left) and _tells(right) else "number"
    if isinstance(mine, Day):
        return "deadline" if _both("due", left, right) else None
    if isinstance(mine, Name) and isinstance(theirs, Name):
        if mine.opens or theirs.opens or mine.before != theirs.before or mine.before not in _PLACED:
            return None
        return "place" if _both("lasting", left, right) else None
    return kind


def _both(name: str, left: Facts, right: Facts) -> bool:
    return all(found(name, each.text) for each in (left, right))


def _tells(facts: Facts) -> bool:
    """Whether a text opens by telling what happened, which may happen again: "ran 10 km in the park"."""
    opening = [word.folded for word in facts.words[:_OPENING]]
    return _STATIVE.isdisjoint(opening) and any(word in _PAST or word.endswith("ed") for word in opening)


def is_label(facts: Facts, number: Number) -> bool:
    """Whether a number without unit is the name of something, like "line 14" or "case 4471"."""
    if number.unit is not None:
        return False
    start = facts.text.find(number.text)
    before = [word.folded for word in facts.words if word.end <= start]
    after = [word for word in facts.words if word.start >= start + len(number.text)]
    if not before or before[-1] in FRAME_WORDS or before[-1] in _NO_LABEL:
        return False
    if before[-1] in _LABELLED or (len(before) <= _OPENING and not before[-1].endswith("s")):
        return True
    return not after or after[0].opens or after[0].folded in FRAME_WORDS or after[0].folded in _VERBS


def _named(left: Facts, right: Facts) -> Rival | None:
    for mine in left.values:
        for theirs in right.values:
            if mine.agrees(theirs) or not mine.about_as(theirs):
                continue
            if not _several(mine, left.values) and not _several(theirs, right.values):
                return Rival(mine.attribute, mine.text, theirs.text)
    return None


def named_attribute(left: Facts, right: Facts) -> str | None:
    """The name of the attribute to which two texts give rival values, if it is one with a name."""
    named = _named(left, right)
    return named.attribute if named is not None else None


def _several(value: Value, values: Sequence[Value]) -> bool:
    return any(other.attribute == value.attribute and not other.agrees(value) for other in values)
