"""Whether a text states a detail of another text, in the same kind or in another.

"By six" is a number and "18:00" a time; "Postgres 15" is a number and "15.4" a version; "CS" is the
initials of "Computer Science". What is stated in any of these ways does not differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from .aliases import named_among
from .amounts import Number
from .clocks import Clock
from .dates import Day, Relative
from .detail import Detail
from .extraction import Facts
from .literals import Identifier, Quote, Version
from .names import Name
from .tokens import fold

_SUBJECT = "user"  # "Anna has a dog" may be "User has a dog"


def stated(detail: Detail, others: Sequence[Detail], facts: Facts) -> bool:
    """Whether a text states a detail.

    Args:
        detail: A detail of one text.
        others: The details of the same kind in the other text.
        facts: Everything of the other text.
    """
    return any(detail.agrees(other) for other in others) or _elsewhere(detail, facts)


def _elsewhere(detail: Detail, facts: Facts) -> bool:
    """Whether a text states a detail in another kind."""
    elsewhere = False
    match detail:
        case Number():
            elsewhere = _number(detail, facts)
        case Day():
            elsewhere = _day(detail, facts)
        case Clock():
            elsewhere = any(detail.agrees(number) for number in facts.numbers)
        case Relative():
            elsewhere = bool(facts.days)
        case Version():
            elsewhere = any(_version_number(detail, number) for number in facts.numbers)
        case Name():
            elsewhere = _name(detail, facts)
        case Identifier():
            elsewhere = named_among(detail.key, facts.vocabulary)
        case Quote():
            elsewhere = detail.key in fold(facts.text)
    return elsewhere


def _number(number: Number, facts: Facts) -> bool:
    """Whether a number stands there as an hour, a version, a year, a day or a date written "3/6"."""
    if number.unit is not None:
        return _slashed_date(number.text, facts)
    if any(clock.agrees(number) for clock in facts.clocks):
        return True
    if any(_version_number(version, number) for version in facts.versions):
        return True
    return any(number.value in (day.year, day.day) for day in facts.days)


def _version_number(version: Version, number: Number) -> bool:
    """Whether a plain number is this version or its first part."""
    parts = (version.key, version.key.split(".")[0])
    return number.unit is None and (number.text in parts or f"{number.value:g}" in parts)


def _slashed_date(text: str, facts: Facts) -> bool:
    """Whether "3/6", read as a ratio, is a day and month of the other text."""
    one, slash, two = text.partition("/")
    if not (slash and one.isdecimal() and two.isdecimal()):
        return False
    return any({day.day, day.month} == {int(one[:4]), int(two[:4])} for day in facts.days)


def _day(day: Day, facts: Facts) -> bool:
    """Whether a day stands there as an ordinal, or a year as a plain number."""
    if any(number.form == "ordinal" and number.value == day.day for number in facts.numbers):
        return True
    bare_year = day.year is not None and day.month is None
    return bare_year and any(number.value == day.year for number in facts.numbers)


def _name(name: Name, facts: Facts) -> bool:
    """Whether the word of a name stands there in any case or spelling, as initials, or as the user."""
    if name.folded in facts.vocabulary or (name.opens and _SUBJECT in facts.vocabulary):
        return True
    if named_among(name.folded, facts.vocabulary):
        return True
    if name.text.isupper() and len(name.folded) > 1 and name.folded in facts.initials:
        return True
    return len(name.phrase) > 1 and "".join(word[0] for word in name.phrase) in facts.vocabulary
