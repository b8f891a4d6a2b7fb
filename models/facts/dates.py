"""Days, months and years, whole or in part: "12 March", "March 12, 2025" and "2025-03-12" agree.

A part that is not said is compatible with any. Relative days ("yesterday", "next month") count only
against the date of the memory, which the caller passes in; without it they contradict nothing. No clock
is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar

from .detail import Detail
from .numerals import ORDINALS, SMALL
from .tokens import Expression, Page, listed

_MONTHS = listed("january february march april may june july august september october november december")
_MONTH_NUMBER = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBER |= {name[:3]: number for name, number in _MONTH_NUMBER.items()} | {"sept": 9}
_LOOSE = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
# Alone, "may", "march", "mar" and the like are months only with a capital.
_UNAMBIGUOUS = "|".join(
    name for name in _LOOSE.split("|") if name not in {"may", "march", "mar", "jun", "jul"}
)
_CAPITAL = "|".join(f"{name.capitalize()}|{name.upper()}" for name in _LOOSE.split("|"))
_LOOSE_MONTH = rf"(?:{_LOOSE})\b\.?"
_DAY_WORDS = {word: number for word, number in ORDINALS.items() if number <= 31}
_DAY = r"(?:[0-3]?[0-9])(?:st|nd|rd|th)?\b"
_DAY_WORD = "(?:" + "|".join(sorted(_DAY_WORDS, key=len, reverse=True)) + r")\b"
_YEAR = r"(?:(?:19[0-9]|20[0-3])[0-9])\b"
_AND_DAY = rf"(?: ?(?:-|to|and|&|or|until) ?(?P<d2>{_DAY})(?! ?(?:am|pm|%)))?"
_ISO = Expression(
    r"\b(?P<y>(?:19|20)[0-9]{2})[-/.](?P<m>[01]?[0-9])(?:[-/.](?P<d>[0-3]?[0-9]))?(?=\b|T)(?![-/.]?[0-9])",
    digits=True,
)
_DAY_MONTH = Expression(
    rf"\b(?:the )?(?P<d>{_DAY}|{_DAY_WORD}){_AND_DAY} ?(?:of )?-?(?P<m>{_LOOSE_MONTH})"
    rf"(?:,? ?-?(?P<y>{_YEAR}|'[0-9]{{2}}\b))?",
    re.IGNORECASE,
)
_MONTH_DAY = Expression(
    rf"\b(?P<m>{_LOOSE_MONTH}) ?(?:the )?(?P<d>{_DAY}|{_DAY_WORD})(?![.:][0-9]|%| ?(?:am|pm)\b){_AND_DAY}"
    rf"(?:,? ?(?:in )?(?P<y>{_YEAR}))?",
    re.IGNORECASE,
)
_MONTH_YEAR = Expression(
    rf"\b(?P<m>{_LOOSE_MONTH})(?:,| of| in)? (?P<y>{_YEAR}|'[0-9]{{2}}\b)", re.IGNORECASE, digits=True
)
_MONTH_ALONE = Expression(rf"\b(?:(?:mid|early|late)-)?(?P<m>(?:{_CAPITAL}|{_UNAMBIGUOUS})\b\.?)(?!')")
_NUMERIC = Expression(
    r"(?<![\w/.-])(?P<one>[0-3]?[0-9])(?P<sep>[/.])(?P<two>[0-3]?[0-9])(?P=sep)(?P<y>(?:19|20)?[0-9]{2})"
    r"(?![\w/]|[.-][0-9])",
    digits=True,
)
_DASHED = Expression(
    r"(?<![\w/.-])(?P<one>[0-3][0-9])-(?P<two>[0-3][0-9])-(?P<y>(?:19|20)[0-9]{2})(?![\w/]|[.-][0-9])",
    digits=True,
)
_SHORT = Expression(
    r"(?<![\w/.-])(?!24/7)(?P<one>[0-3]?[0-9])/(?P<two>[0-3]?[0-9])(?![\w/%]|[.-][0-9])", digits=True
)
_GERMAN = Expression(r"(?<![\w.])(?P<one>[0-3]?[0-9])\.(?P<two>[01]?[0-9])\.(?![0-9])", digits=True)
_QUARTER = Expression(
    r"\bQ(?P<q>[1-4])(?:[ -]?(?P<y>(?:19|20)[0-9]{2}))?\b|\b(?P<y2>(?:19|20)[0-9]{2})[ -]?Q(?P<q2>[1-4])\b",
    digits=True,
)
_WEEK = Expression(
    r"\b(?:[Ww]eek|[Cc]alendar week|[Ww]k|KW|CW) ?(?P<w>[0-5]?[0-9])\b(?![-%.]?[0-9])", digits=True
)
_DECADE = Expression(
    r"\b((?:19|20)[0-9]0)s\b|\b(?:his|her|their|my|the|early|mid|late)[ -]'?([1-9]0)'?s\b", digits=True
)
_YEAR_ALONE = Expression(
    rf"(?<![\w.,$€£#+-])(?P<y>{_YEAR})(?![.,:/-]?[0-9]|%| ?(?:ms|kcal|mg|km|[kMGT]i?B|m|USD|EUR|CHF|euros?|"
    r"dollars?|items?|steps)\b)",
    digits=True,
)
_IN_YEAR = Expression(
    r"\b(?:in|since|from|of|by|until|till|to|before|after|during|year|early|late|mid|and|for)[ -]$",
    re.IGNORECASE,
)
_COUNTED = Expression(r"2000\b|[0-9]{4} (?:[a-z]+s|[A-Z]{2,3}|people|[a-z]+ (?:per|a|an|each))\b")
_YEAR_SHORT = Expression(r"(?<![\w'])'(?P<y>[0-9]{2})\b(?!')", digits=True)
_FEASTS = {
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
}
_FEAST = Expression(r"\b(" + "|".join(_FEASTS) + r")\b", re.IGNORECASE)
_AGO = "|".join(["[0-9]+", "an?", *list(SMALL)[1:11]])
_RELATIVE = Expression(
    r"\b(?:(?P<word>yesterday|today|tonight|tomorrow)"
    r"|(?P<which>last|next|this) (?P<unit>week|month|year|spring|summer|autumn|fall|winter|quarter)"
    rf"|(?P<n>{_AGO}) (?P<units>day|week|month|year)s? ago)\b",
    re.IGNORECASE,
)
_PIVOT = 40  # '39 is 2039, '40 is 1940


@dataclass(frozen=True, slots=True)
class Day(Detail):
    """A date of which some parts may be missing.

    Attributes:
        year: Four digits, or None.
        month: 1-12, or None.
        day: 1-31, or None.
        part: "Q2", "week 42", "1990s": a named part of a year, or empty.
        swapped: Day and month may be the other way round (03/04/2025).
    """

    kind: ClassVar[str] = "date"
    year: int | None = None
    month: int | None = None
    day: int | None = None
    part: str = ""
    swapped: bool = False

    def agrees(self, other: Detail) -> bool:
        """Whether both state a part in common, and no part that both state differs."""
        return isinstance(other, Day) and self._shares(other) and self._fits(other)

    def rivals(self, other: Detail) -> bool:
        """Whether a part that both state differs; a bare month says nothing about a bare year."""
        return isinstance(other, Day) and not self._fits(other)

    def covers(self, other: Detail) -> bool:
        """Whether this one agrees and states every part the other states."""
        if not isinstance(other, Day) or not self.agrees(other):
            return False
        said = (
            (self.year, other.year),
            (self.month, other.month),
            (self.day, other.day),
            (self.part or None, other.part or None),
        )
        return all(mine is not None for mine, theirs in said if theirs is not None)

    def _fits(self, other: Day) -> bool:
        return any(_fits(mine, theirs) for mine in self._readings() for theirs in other._readings())

    def _shares(self, other: Day) -> bool:
        mine, theirs = (
            (self.year, self.month, self.day, self.part or None),
            (other.year, other.month, other.day, other.part or None),
        )
        return mine == theirs or any(
            x is not None and y is not None for x, y in zip(mine, theirs, strict=True)
        )

    def _readings(self) -> tuple[tuple[int | None, int | None, int | None, str], ...]:
        plain = (self.year, self.month, self.day, self.part)
        return (plain, (self.year, self.day, self.month, self.part)) if self.swapped else (plain,)


@dataclass(frozen=True, slots=True)
class Relative(Detail):
    """A day said relative to when the memory was written.

    Attributes:
        unit: "day", "week", "month", "year" or a season.
        offset: How many of them away; negative is past.
    """

    kind: ClassVar[str] = "relative"
    unit: str = "day"
    offset: int = 0

    def agrees(self, other: Detail) -> bool:
        """Whether both say the same distance, or it cannot be told from here."""
        return isinstance(other, Relative) and (self.unit != other.unit or self.offset == other.offset)

    def on(self, moment: datetime) -> Day:
        """Return what it means in a memory written at that moment.

        >>> Relative("last month", "month", -1).on(datetime(2025, 1, 9))
        Day(text='last month', year=2024, month=12, day=None, part='', swapped=False)
        """
        today = moment.date()
        if self.unit == "day":
            try:
                there = today + timedelta(days=self.offset)
            except OverflowError:
                there = date.max
            return Day(self.text, there.year, there.month, there.day)
        if self.unit in {"month", "week"}:
            months = today.year * 12 + today.month - 1 + (self.offset if self.unit == "month" else 0)
            return Day(self.text, months // 12, months % 12 + 1) if self.unit == "month" else Day(self.text)
        return Day(self.text, today.year + self.offset) if self.unit == "year" else Day(self.text)


def _fits(
    mine: tuple[int | None, int | None, int | None, str],
    theirs: tuple[int | None, int | None, int | None, str],
) -> bool:
    """Whether two readings of dates state no part differently."""
    if mine[3] and theirs[3] and mine[3][0] == theirs[3][0] and mine[3] != theirs[3]:
        return False
    return all(
        left is None or right is None or left == right
        for left, right in zip(mine[:3], theirs[:3], strict=True)
    )


def dates(page: Page) -> tuple[Day, ...]:
    """Take absolute dates and parts of dates.

    >>> [(d.year, d.month, d.day) for d in dates(Page("12 March, 2025-03-12, May 2024, in 2019"))]
    [(2025, 3, 12), (None, 3, 12), (2024, 5, None), (2019, None, None)]
    """
    days: list[Day] = []
    for pattern in (_ISO, _DAY_MONTH, _MONTH_DAY, _MONTH_YEAR):
        for match in page.find(pattern):
            days.extend(_taken(page, match))
    days.extend(_numeric(page))
    days.extend(Day(match.group(), None, *_FEASTS[match.group(1).lower()]) for match in page.take(_FEAST))
    days.extend(_parts(page))
    days.extend(Day(match.group(), None, _month(match.group("m"))) for match in page.take(_MONTH_ALONE))
    for match in page.find(_YEAR_ALONE):
        in_year = _IN_YEAR.search(page.text, max(0, match.start() - 12), match.start())
        if in_year is not None or _COUNTED.match(page.text, match.start()) is None:
            page.mark(match.start(), match.end())
            days.append(Day(match.group(), int(match.group("y"))))
    days.extend(Day(match.group(), _year(match.group("y"))) for match in page.take(_YEAR_SHORT))
    return tuple(days)


def _parts(page: Page) -> Iterator[Day]:
    """Take named parts of a year and decades: Q2 2025, week 42, 1990s."""
    for match in page.take(_QUARTER):
        year, quarter = match.group("y") or match.group("y2"), match.group("q") or match.group("q2")
        yield Day(match.group(), int(year) if year else None, part=f"Q{quarter}")
    for match in page.take(_WEEK):
        yield Day(match.group(), part=f"week {int(match.group('w'))}")
    for match in page.take(_DECADE):
        yield Day(match.group(), part=f"decade {match.group(1) or match.group(2)}")


def _taken(page: Page, match: re.Match[str]) -> list[Day]:
    """Take one match that names a month, unless its numbers cannot be a date."""
    groups = match.groupdict()
    month = int(groups["m"]) if groups["m"].isdigit() else _month(groups["m"])
    days: list[int | None] = [_day(groups[name]) for name in ("d", "d2") if groups.get(name)]
    if not 1 <= month <= 12 or any(day is None or not 1 <= day <= 31 for day in days):
        return []
    page.mark(match.start(), match.end())
    year = _year(groups.get("y"))
    return [Day(match.group().strip(), year, month, day) for day in days or [None]]


def _month(name: str) -> int:
    """Number of a month by name."""
    return _MONTH_NUMBER[name.lower().rstrip(".")]


def _day(text: str) -> int:
    """Number of a day: 3, 3rd, third."""
    word = _DAY_WORDS.get(text.lower())
    return word if word is not None else int("".join(char for char in text if char.isdigit()))


def _year(text: str | None) -> int | None:
    """Four-digit year of 2025, '25 or 25."""
    if not text:
        return None
    number = int(text.lstrip("'"))
    return number if number >= 100 else number + (2000 if number < _PIVOT else 1900)


def _numeric(page: Page) -> list[Day]:
    """Take 14/10/2025, 14.10.25, 14-10-2025, and 14/10 or 03/09 where it cannot be a ratio."""
    days = []
    for pattern in (_NUMERIC, _DASHED, _SHORT, _GERMAN):
        for match in page.find(pattern):
            one, two = int(match.group("one")), int(match.group("two"))
            day, month = (one, two) if two <= 12 else (two, one)
            if (
                pattern is _NUMERIC
                and match.group("sep") == "."
                and len(match.group("y")) == 2
                and len(match.group()) < 8
            ):
                continue
            padded = match.group("one").startswith("0") or match.group("two").startswith("0")
            if not (1 <= month <= 12 and 1 <= day <= 31) or (
                pattern is _SHORT and not padded and max(one, two) <= 12
            ):
                continue
            if pattern is _SHORT and two > 12 and not padded:
                continue
            page.mark(match.start(), match.end())
            year = None if pattern in (_SHORT, _GERMAN) else _year(match.group("y"))
            days.append(
                Day(match.group(), year, month, day, "", pattern is not _GERMAN and one <= 12 and two <= 12)
            )
    return days


def relatives(page: Page) -> tuple[Relative, ...]:
    """Take days said relative to the memory's date.

    >>> [(r.unit, r.offset) for r in relatives(Page("yesterday, next week, two months ago"))]
    [('day', -1), ('week', 1), ('month', -2)]
    """
    spans = []
    for match in page.take(_RELATIVE):
        word, which, count = match.group("word"), match.group("which"), match.group("n")
        if word:
            spans.append(
                Relative(match.group(), "day", {"yesterday": -1, "tomorrow": 1}.get(word.lower(), 0))
            )
        elif which:
            spans.append(
                Relative(
                    match.group(),
                    match.group("unit").lower(),
                    {"last": -1, "next": 1, "this": 0}[which.lower()],
                )
            )
        else:
            number = int(count[:4]) if count[0].isdigit() else SMALL.get(count.lower(), 1)
            spans.append(Relative(match.group(), match.group("units").lower(), -number))
    return tuple(spans)
