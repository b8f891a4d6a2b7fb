"""Rival values of one attribute: Python 3.9 and 3.12, lives in Oslo and lives in Bergen, tabs and spaces.

Two texts are set side by side in two ways: equal words around one typed value that differs, and one attribute
that both name in whatever words (home, wake-up time, CI). Another person, time, place or condition makes
another frame, and then nothing is said. No model, no network, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..text.tables import listed
from ..text.vocabulary import FRAME_WORDS, opposite
from .amounts import Number
from .calendar import Day
from .details import Detail, Expression
from .extraction import Facts
from .frames import stated, swap_of_one
from .names import Name
from .values import Value

_SAME_FRAME = 0.8
_NEAR_FRAME = 0.5
_SMALLEST_FRAME = 2
_NO_LABEL = FRAME_WORDS | frozenset(
    listed(
        "least most around about nearly only almost now takes costs pays lasts approximately roughly every "
        "no gets has needs uses plus minus under over between until since exactly total"
    )
)
_LABELLED = frozenset(
    listed(
        "number no nr chapter version step level line room page unit case order part sprint issue "
        "item section phase ward gate bay lane bus flight route apartment flat floor id code port pen "
        "crane case channel entry fact note task ticket stage week day year class group team block "
        "house track"
    )
)
_VERBS = frozenset(listed("is are was has took lacks runs needs gets goes holds uses fills costs"))
_OPENING = 3
_STATIVE = frozenset(listed("is are has have gets takes costs"))
_PAST = frozenset(
    listed(
        "ran did went bought spent paid ate drank swam rode lost won had took made got sold met saw drove "
        "flew slept read wrote gave caught shot beat scored came left sent lent hit cut"
    )
)
_DUE = Expression(
    r"\b(?:due|deadline|until|expires?|ends?|closes?|set for|will|is on|are on|is in|starts?|begins?|by|"
    r"date of|scheduled|planned)\b",
    re.IGNORECASE,
)
_PLACED = frozenset(listed("in on by is are with at"))
_STATES = Expression(
    r"\b(?:is|are|lives?|runs?|sits?|done|hosted|stored|built|written|based|deployed|goes|go|kept|made|works?|"
    r"studies|stays?|rents?)\b",
    re.IGNORECASE,
)
_OF_ONE = ("number", "version", "frequency", "time", "weekday", "date", "name")
_OPPOSITE = "opposite"
_SHORT = frozenset({"version", _OPPOSITE})
"""Attributes that one shared word is enough for."""

_SURE = frozenset({"number", "version", "frequency", "time", "deadline", "place", "home", _OPPOSITE})
"""Attributes whose rival values were contradictions in at least 85 of 100 pairs (decision 10)."""


@dataclass(frozen=True, slots=True)
class Rival:
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
    """Return the rival values that two texts give to one attribute, or None.

    >>> from .extraction import extract
    >>> rival(extract("The job gives up after 120 seconds"), extract("The job gives up after 10 minutes"))
    Rival(attribute='number', mine='120 seconds', theirs='10 minutes', share=1.0)
    >>> rival(extract("Ran 10 km on March 3"), extract("Ran 10 km on April 9")) is None
    True
    """
    if left.text == right.text or not (left.bag and right.bag):
        return None
    shared = len(left.frame & right.frame)
    share = shared / max(1, len(left.frame | right.frame))
    near = share >= _NEAR_FRAME or len(left.words) == len(right.words)
    framed = _framed(left, right) if shared and near else None
    if framed is not None and (framed.attribute in _SHORT or (share >= _NEAR_FRAME and _enough(left, right))):
        return replace(framed, share=share)
    return _named(left, right)


def _enough(left: Facts, right: Facts) -> bool:
    """Whether two texts share so many words and names around their values that these answer one question."""
    names = {name.folded for name in left.names} & {name.folded for name in right.names}
    return len(left.frame & right.frame) + len(names) >= _SMALLEST_FRAME


def _framed(left: Facts, right: Facts) -> Rival | None:
    if sum(each.hard for each in left.negations) % 2 != sum(each.hard for each in right.negations) % 2:
        return None
    differing = [
        (kind, mine, theirs)
        for kind, mine, theirs in _only(left, right)
        if (mine and theirs) or (kind != "frequency" and (mine or theirs))  # "daily" may go without saying
    ]
    if not differing:
        return _opposites(left, right)
    if len(differing) > 1:
        return None
    kind, mine, theirs = differing[0]
    if kind not in _OF_ONE or len(_phrases(mine)) != 1 or len(_phrases(theirs)) != 1:
        return None
    if not mine[0].rivals(theirs[0]):
        return None
    attribute = _attribute(kind, mine[0], theirs[0], left, right)
    return Rival(attribute, _said(mine), _said(theirs)) if attribute else None


def _only(left: Facts, right: Facts) -> list[tuple[str, list[Detail], list[Detail]]]:
    kinds: tuple[tuple[str, Sequence[Detail], Sequence[Detail]], ...] = (
        ("number", left.numbers, right.numbers),
        ("version", left.versions, right.versions),
        ("frequency", left.frequencies, right.frequencies),
        ("time", left.clocks, right.clocks),
        ("weekday", left.weekdays, right.weekdays),
        ("date", (*left.days, *left.relatives), (*right.days, *right.relatives)),
        ("name", left.names, right.names),
        ("identifier", left.identifiers, right.identifiers),
        ("path", (*left.paths, *left.links), (*right.paths, *right.links)),
    )
    return [
        (
            kind,
            [each for each in mine if not stated(each, theirs, right)],
            [each for each in theirs if not stated(each, mine, left)],
        )
        for kind, mine, theirs in kinds
        if mine or theirs
    ]


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
        return "deadline" if is_due(left) and is_due(right) else None
    if isinstance(mine, Name) and isinstance(theirs, Name):
        if mine.opens or theirs.opens or mine.before != theirs.before or mine.before not in _PLACED:
            return None
        return "place" if _STATES.search(left.text) and _STATES.search(right.text) else None
    return kind


def is_due(facts: Facts) -> bool:
    """Whether a text speaks of a time that is set, so that another date changes it."""
    return _DUE.search(facts.text) is not None


def _tells(facts: Facts) -> bool:
    """Whether a text opens by telling what happened, which may happen again: "ran 10 km in the park"."""
    opening = facts.words[:_OPENING]
    if any(word.folded in _STATIVE for word in opening):
        return False
    return any(word.folded in _PAST or word.folded.endswith("ed") for word in opening)


def is_label(facts: Facts, number: Number) -> bool:
    """Whether a number without unit is the name of something, like "line 14" or "case 4471"."""
    if number.unit is not None:
        return False
    start = facts.text.find(number.text)
    before = [word for word in facts.words if word.end <= start]
    after = [word for word in facts.words if word.start >= start + len(number.text)]
    if not before or before[-1].folded in _NO_LABEL:
        return False
    if before[-1].folded in _LABELLED or (len(before) <= _OPENING and not before[-1].folded.endswith("s")):
        return True
    return not after or after[0].opens or after[0].folded in FRAME_WORDS or after[0].folded in _VERBS


def _opposites(left: Facts, right: Facts) -> Rival | None:
    places = swap_of_one(left, right)
    if places is None or not opposite(places[0].folded, places[1].folded):
        return None
    return Rival(_OPPOSITE, places[0].text, places[1].text)


def _named(left: Facts, right: Facts) -> Rival | None:
    if not left.values or not right.values:
        return None
    for mine in left.values:
        for theirs in right.values:
            if mine.agrees(theirs) or not mine.about_as(theirs):
                continue
            if not _several(mine, left.values) and not _several(theirs, right.values):
                return Rival(mine.attribute, mine.text, theirs.text)
    return None


def named_attribute(left: Facts, right: Facts) -> str | None:
    """The name of the attribute to which two texts give rival values, if it is one with a name.

    >>> from .extraction import extract
    >>> named_attribute(extract("Mum lives in Lisbon"), extract("Her mother has moved to Cascais"))
    'home'
    """
    named = _named(left, right)
    return named.attribute if named is not None else None


def _several(value: Value, values: Sequence[Value]) -> bool:
    return any(other.attribute == value.attribute and not other.agrees(value) for other in values)
