"""Days, months, years and days of the week: "12 March" and "2025-03-12" agree, "Mon-Thu" is four days.

A part that is not said is compatible with any. Relative days ("yesterday", "next month") count only against
the date of the memory, which the caller passes in; without it they contradict nothing. No clock is read here.
Short forms that are also words ("sun", "sat", "may") count only with a capital.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar

from ..text.tables import listed
from .details import Detail, Expression, Page, Row, read
from .numbers import ORDINALS, SMALL

MONTHS = listed("january february march april may june july august september october november december")
MONTH_NUMBER = {name: number for number, name in enumerate(MONTHS, 1)}
MONTH_NUMBER |= {name[:3]: number for name, number in MONTH_NUMBER.items()} | {"sept": 9}
_LOOSE = "|".join(sorted(MONTH_NUMBER, key=len, reverse=True))
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


Parts = tuple[int | None, int | None, int | None, str | None]


@dataclass(frozen=True, slots=True)
class Day(Detail):
    """A date of which some parts may be missing."""

    kind: ClassVar[str] = "date"
    year: int | None = None  # four digits, or None
    month: int | None = None  # 1-12, or None
    day: int | None = None  # 1-31, or None
    part: str = ""  # "Q2", "week 42", "1990s": a named part of a year, or empty
    swapped: bool = False  # day and month may be the other way round (03/04/2025)

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
        said = zip(self.parts, other.parts, strict=True)
        return all(mine is not None for mine, theirs in said if theirs is not None)

    @property
    def parts(self) -> Parts:
        """Year, month, day and named part."""
        return (self.year, self.month, self.day, self.part or None)

    def _fits(self, other: Day) -> bool:
        """Whether some reading of both states no part differently."""
        return any(_fits(mine, theirs) for mine in self._readings() for theirs in other._readings())

    def _shares(self, other: Day) -> bool:
        mine, theirs = self.parts, other.parts
        return mine == theirs or any(None not in pair for pair in zip(mine, theirs, strict=True))

    def _readings(self) -> tuple[Parts, ...]:
        year, month, day, part = self.parts
        return ((year, month, day, part), (year, day, month, part)) if self.swapped else (self.parts,)


@dataclass(frozen=True, slots=True)
class Relative(Detail):
    """A day said relative to when the memory was written."""

    kind: ClassVar[str] = "relative"
    unit: str = "day"  # "day", "week", "month", "year" or a season
    offset: int = 0  # how many of them away; negative is past

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
        if self.unit == "month":
            months = today.year * 12 + today.month - 1 + self.offset
            return Day(self.text, months // 12, months % 12 + 1)
        return Day(self.text, today.year + self.offset) if self.unit == "year" else Day(self.text)


def _fits(mine: Parts, theirs: Parts) -> bool:
    if mine[3] and theirs[3] and mine[3][0] == theirs[3][0] and mine[3] != theirs[3]:
        return False
    return all(None in pair or pair[0] == pair[1] for pair in zip(mine[:3], theirs[:3], strict=True))


def dates(page: Page) -> tuple[Day, ...]:
    """Take absolute dates and parts of dates.

    >>> [(d.year, d.month, d.day) for d in dates(Page("12 March, 2025-03-12, May 2024, in 2019"))]
    [(2025, 3, 12), (None, 3, 12), (2024, 5, None), (2019, None, None)]
    """
    return (
        *read(page, *_DATES),
        *read(page, (_YEAR_ALONE, lambda match: _year_alone(page, match)), _SHORT_YEAR),
    )


def _year_alone(page: Page, match: re.Match[str]) -> tuple[Day, ...]:
    """A year, unless it counts something: "2000 people"."""
    in_year = _IN_YEAR.search(page.text, max(0, match.start() - 12), match.start())
    if in_year is None and _COUNTED.match(page.text, match.start()) is not None:
        return ()
    return (Day(match.group(), int(match["y"])),)


def _named(match: re.Match[str]) -> list[Day]:
    """Days of a match that names a month, unless its numbers cannot be a date."""
    groups = match.groupdict()
    month = int(groups["m"]) if groups["m"].isdigit() else _month(groups["m"])
    days: list[int | None] = [_day(groups[name]) for name in ("d", "d2") if groups.get(name)]
    if not 1 <= month <= 12 or any(day is None or not 1 <= day <= 31 for day in days):
        return []
    return [Day(match.group().strip(), _year(groups.get("y")), month, day) for day in days or [None]]


def _month(name: str) -> int:
    return MONTH_NUMBER[name.lower().rstrip(".")]


def _day(text: str) -> int:
    word = _DAY_WORDS.get(text.lower())
    return word if word is not None else int("".join(char for char in text if char.isdigit()))


def _year(text: str | None) -> int | None:
    if not text:
        return None
    number = int(text.lstrip("'"))
    return number if number >= 100 else number + (2000 if number < _PIVOT else 1900)


def _numeric(pattern: Expression) -> Row[Day]:
    """A row for 14/10/2025, 14.10.25, 14-10-2025, and 14/10 or 03/09 where it cannot be a ratio."""

    def parse(match: re.Match[str]) -> tuple[Day, ...]:
        groups = match.groupdict()
        one, two, year = int(groups["one"]), int(groups["two"]), groups.get("y")
        day, month = (one, two) if two <= 12 else (two, one)
        version = groups.get("sep") == "." and year is not None and len(year) == 2 and len(match.group()) < 8
        padded = groups["one"].startswith("0") or groups["two"].startswith("0")
        ratio = pattern is _SHORT and not padded and (max(one, two) <= 12 or two > 12)
        if version or ratio or not (1 <= month <= 12 and 1 <= day <= 31):
            return ()
        swapped = pattern is not _GERMAN and one <= 12 and two <= 12
        return (Day(match.group(), _year(year), month, day, "", swapped),)

    return pattern, parse


def _part_of_year(match: re.Match[str]) -> tuple[Day, ...]:
    year, quarter = match["y"] or match["y2"], match["q"] or match["q2"]
    return (Day(match.group(), int(year) if year else None, part=f"Q{quarter}"),)


_DATES: tuple[Row[Day], ...] = (
    *((pattern, _named) for pattern in (_ISO, _DAY_MONTH, _MONTH_DAY, _MONTH_YEAR)),
    *map(_numeric, (_NUMERIC, _DASHED, _SHORT, _GERMAN)),
    (_FEAST, lambda match: (Day(match.group(), None, *_FEASTS[match[1].lower()]),)),
    (_QUARTER, _part_of_year),
    (_WEEK, lambda match: (Day(match.group(), part=f"week {int(match['w'])}"),)),
    (_DECADE, lambda match: (Day(match.group(), part=f"decade {match[1] or match[2]}"),)),
    (_MONTH_ALONE, lambda match: (Day(match.group(), None, _month(match["m"])),)),
)
_SHORT_YEAR: Row[Day] = (_YEAR_SHORT, lambda match: (Day(match.group(), _year(match["y"])),))


def relatives(page: Page) -> tuple[Relative, ...]:
    """Take days said relative to the memory's date.

    >>> [(r.unit, r.offset) for r in relatives(Page("yesterday, next week, two months ago"))]
    [('day', -1), ('week', 1), ('month', -2)]
    """
    return read(page, (_RELATIVE, _relative))


def _relative(match: re.Match[str]) -> tuple[Relative, ...]:
    word, which, count = match["word"], match["which"], match["n"]
    if word:
        return (Relative(match.group(), "day", {"yesterday": -1, "tomorrow": 1}.get(word.lower(), 0)),)
    if which:
        offset = {"last": -1, "next": 1, "this": 0}[which.lower()]
        return (Relative(match.group(), match["unit"].lower(), offset),)
    number = int(count[:4]) if count[0].isdigit() else SMALL.get(count.lower(), 1)
    return (Relative(match.group(), match["units"].lower(), -number),)


WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
WEEKDAY_NUMBER = {name: number for number, name in enumerate(WEEKDAYS)}
WEEKDAY_NUMBER |= {name[:3]: number for name, number in WEEKDAY_NUMBER.items()}
WEEKDAY_NUMBER |= {"tues": 1, "thur": 3, "thurs": 3, "weds": 2}
_WEEKDAY = (
    r"(?:(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
    r"|(?:Mon|Tues?|Weds?|Thurs?|Thu|Fri|Sat|Sun|mon|tues?|weds|thurs?|thu|fri)\b)"
)
_WEEK_RANGE = Expression(rf"\b({_WEEKDAY})\.?(?: ?(?:-|to|through|thru|till|until) ?)({_WEEKDAY})\b")
_ONE_WEEKDAY = Expression(rf"\b({_WEEKDAY})\b")
_WEEK_PART = Expression(
    r"\b(week-?ends?|week-?days?|work-?days?|working days|business days|school days)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Weekday(Detail):
    """A day of the week; ranges and "weekend" are read as all their days."""

    kind: ClassVar[str] = "weekday"
    number: int = 0  # 0 is Monday

    def agrees(self, other: Detail) -> bool:
        """Whether both are the same day of the week."""
        return isinstance(other, Weekday) and self.number == other.number


def weekdays(page: Page) -> tuple[Weekday, ...]:
    """Take days of the week; a range counts as all its days.

    >>> [day.number for day in weekdays(Page("Fri-Sun and on Tuesdays"))]
    [4, 5, 6, 1]
    """
    return read(page, *WEEK_ROWS)


def _week_range(match: re.Match[str]) -> list[Weekday]:
    first, last = (_weekday(group) for group in match.groups())
    return [Weekday(match.group(), (first + step) % 7) for step in range((last - first) % 7 + 1)]


def _week_part(match: re.Match[str]) -> list[Weekday]:
    days = (5, 6) if "end" in match.group().lower() else range(5)
    return [Weekday(match.group(), number) for number in days]


def _weekday(name: str) -> int:
    name = name.lower()
    return WEEKDAY_NUMBER[name[:-1] if name.endswith("days") else name]


WEEK_ROWS: tuple[Row[Weekday], ...] = (
    (_WEEK_RANGE, _week_range),
    (_ONE_WEEKDAY, lambda match: (Weekday(match.group(), _weekday(match.group())),)),
    (_WEEK_PART, _week_part),
)
