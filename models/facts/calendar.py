"""When: days, months, years, days of the week, times of day, and how often something happens.

A part that is not said is compatible with any. Relative days ("yesterday") count only against the date of the
memory, which the caller passes in. Short forms that are also words ("sun", "may") count only with a capital.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import ClassVar

from ..text.tables import listed, pattern, table_pairs
from .details import Detail, Page, Row, read
from .numbers import ORDINALS, PERIODS, SMALL, Number, near, spelled, value_of

MONTHS = listed("january february march april may june july august september october november december")
MONTH_NUMBER = {name: number for number, name in enumerate(MONTHS, 1)}
MONTH_NUMBER |= {name[:3]: number for name, number in MONTH_NUMBER.items()} | {"sept": 9}
_FEASTS = {
    "new year's day": (1, 1), "new year's eve": (12, 31), "christmas eve": (12, 24),
    "christmas day": (12, 25), "valentine's day": (2, 14), "halloween": (10, 31),
}  # fmt: skip
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

    @property
    def parts(self) -> Parts:
        """Year, month, day and named part."""
        return (self.year, self.month, self.day, self.part or None)

    def _same(self, other: Day, /) -> bool:
        mine, theirs = self.parts, other.parts
        shares = mine == theirs or any(None not in pair for pair in zip(mine, theirs, strict=True))
        return shares and not self._excludes(other)

    def _holds(self, other: Day, /) -> bool:
        said = zip(self.parts, other.parts, strict=True)
        return self._same(other) and all(mine is not None for mine, theirs in said if theirs is not None)

    def _excludes(self, other: Day, /) -> bool:
        """Whether a part that both state differs; a bare month says nothing about a bare year."""
        return not any(_fits(mine, theirs) for mine in self._readings() for theirs in other._readings())

    def _readings(self) -> tuple[Parts, ...]:
        year, month, day, part = self.parts
        return ((year, month, day, part), (year, day, month, part)) if self.swapped else (self.parts,)


@dataclass(frozen=True, slots=True)
class Relative(Detail):
    """A day said relative to when the memory was written."""

    kind: ClassVar[str] = "relative"
    unit: str = "day"  # "day", "week", "month", "year" or a season
    offset: int = 0  # how many of them away; negative is past

    def _same(self, other: Relative, /) -> bool:
        """Whether both say the same distance, or it cannot be told from here."""
        return self.unit != other.unit or self.offset == other.offset

    def on(self, moment: datetime) -> Day:
        """Return what it means in a memory written at that moment."""
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


def _year_alone(match: re.Match[str]) -> tuple[Day, ...]:
    """A year, unless it counts something: "2000 people"."""
    in_year = pattern("in_year").search(match.string, max(0, match.start() - 12), match.start())
    if in_year is None and pattern("counted_year").match(match.string, match.start()) is not None:
        return ()
    return (Day(match.group(), int(match["y"])),)


def _named(match: re.Match[str]) -> list[Day]:
    """Days of a match that names a month, unless its numbers cannot be a date."""
    groups = match.groupdict()
    month = int(groups["m"]) if groups["m"].isdigit() else MONTH_NUMBER[groups["m"].lower().rstrip(".")]
    said = [groups[name].lower() for name in ("d", "d2") if groups.get(name)]
    days = [ORDINALS.get(day) or int("".join(filter(str.isdigit, day))) for day in said]
    if not 1 <= month <= 12 or not all(1 <= day <= 31 for day in days):
        return []
    return [Day(match.group().strip(), _year(groups.get("y")), month, day) for day in days or (None,)]


def _year(text: str | None) -> int | None:
    if not text:
        return None
    number = int(text.lstrip("'"))
    return number if number >= 100 else number + (2000 if number < _PIVOT else 1900)


def _numeric(name: str, match: re.Match[str]) -> tuple[Day, ...]:
    """A day in 14/10/2025, 14.10.25, 14-10-2025, and 14/10 or 03/09 where it cannot be a ratio."""
    groups = match.groupdict()
    one, two, year = int(groups["one"]), int(groups["two"]), groups.get("y")
    day, month = (one, two) if two <= 12 else (two, one)
    version = groups.get("sep") == "." and year is not None and len(year) == 2 and len(match.group()) < 8
    padded = groups["one"].startswith("0") or groups["two"].startswith("0")
    ratio = name == "short_date" and not padded and (max(one, two) <= 12 or two > 12)
    if version or ratio or not (1 <= month <= 12 and 1 <= day <= 31):
        return ()
    swapped = name != "german_date" and one <= 12 and two <= 12
    return (Day(match.group(), _year(year), month, day, "", swapped),)


DAYS_READ: tuple[Row[Day], ...] = (
    *((name, _named) for name in ("iso_date", "day_month", "month_day", "month_year")),
    *(
        (name, partial(_numeric, name))
        for name in ("numeric_date", "dashed_date", "short_date", "german_date")
    ),
    ("feast", lambda m: (Day(m[0], None, *_FEASTS[m[1].lower()]),)),
    (
        "quarter",
        lambda m: (Day(m[0], int(m["y"] or m["y2"] or 0) or None, part=f"Q{m['q'] or m['q2']}"),),
    ),
    ("week", lambda m: (Day(m[0], part=f"week {int(m['w'])}"),)),
    ("decade", lambda m: (Day(m[0], part=f"decade {m[1] or m[2]}"),)),
    ("month_alone", lambda m: (Day(m[0], None, MONTH_NUMBER[m["m"].lower().rstrip(".")]),)),
    ("year", _year_alone),
    ("short_year", lambda m: (Day(m[0], _year(m["y"])),)),
)


def _relative(match: re.Match[str]) -> tuple[Relative, ...]:
    word, which, count = match["word"], match["which"], match["n"]
    if word:
        return (Relative(match.group(), "day", {"yesterday": -1, "tomorrow": 1}.get(word.lower(), 0)),)
    if which:
        offset = {"last": -1, "next": 1, "this": 0}[which.lower()]
        return (Relative(match.group(), match["unit"].lower(), offset),)
    number = int(count[:4]) if count[0].isdigit() else SMALL.get(count.lower(), 1)
    return (Relative(match.group(), match["units"].lower(), -number),)


RELATIVES_READ: tuple[Row[Relative], ...] = (("relative", _relative),)
WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
WEEKDAY_NUMBER = {name: number for number, name in enumerate(WEEKDAYS)}
WEEKDAY_NUMBER |= {name[:3]: number for name, number in WEEKDAY_NUMBER.items()}
WEEKDAY_NUMBER |= {"tues": 1, "thur": 3, "thurs": 3, "weds": 2}


@dataclass(frozen=True, slots=True)
class Weekday(Detail):
    """A day of the week; ranges and "weekend" are read as all their days."""

    kind: ClassVar[str] = "weekday"
    number: int = 0  # 0 is Monday

    def _same(self, other: Weekday, /) -> bool:
        return self.number == other.number


def _week_range(match: re.Match[str]) -> list[Weekday]:
    first, last = map(_weekday, match.groups())
    return [Weekday(match[0], (first + step) % 7) for step in range((last - first) % 7 + 1)]


def _weekday(name: str) -> int:
    name = name.lower()
    return WEEKDAY_NUMBER[name[:-1] if name.endswith("days") else name]


WEEKDAYS_READ: tuple[Row[Weekday], ...] = (
    ("week_range", _week_range),
    ("one_weekday", lambda m: (Weekday(m[0], _weekday(m[0])),)),
    ("week_part", lambda m: [Weekday(m[0], day) for day in ((5, 6) if "end" in m[0].lower() else range(5))]),
)
_HALF_DAY = 720  # minutes


@dataclass(frozen=True, slots=True)
class Clock(Detail):
    """A time of day."""

    kind: ClassVar[str] = "time"
    minute: int = 0  # minutes after midnight
    either: bool = False  # whether it could be twelve hours later as well

    def on_hour(self, number: Number) -> bool:
        """Whether a plain number may be this hour."""
        hour = self.minute / 60
        return number.unit is None and number.value in {hour, hour - 12, hour + 12}

    def _same(self, other: Clock, /) -> bool:
        if self.either or other.either:
            return (self.minute - other.minute) % _HALF_DAY == 0
        return self.minute == other.minute

    def _holds(self, other: Clock, /) -> bool:
        return self._same(other) and (other.either or not self.either)


def _of_day(match: re.Match[str], *, sure: bool = False, either: bool = False) -> tuple[Clock, ...]:
    """Hours and minutes in digits; `sure` counts to 24, `either` may be twelve hours later."""
    groups = match.groupdict()
    part = groups.get("part") or groups.get("part2")
    minute, open_half = _minute(groups["h"], groups.get("m") or "0", groups.get("half"), part)
    if minute > 2 * _HALF_DAY:
        return ()
    padded = groups["h"].startswith("0") and len(groups["h"]) > 1
    doubtful = either or (open_half and not (sure or padded))
    return (Clock(match.group().strip(), minute % (2 * _HALF_DAY), doubtful),)


def _minute(hours: str, minutes: str, half: str | None, part: str | None) -> tuple[int, bool]:
    hour = int(hours)
    if hour > 12 or (not half and not part):
        return hour * 60 + int(minutes), 1 <= hour <= 12
    part = (part or "").lower()
    late = 6 <= hour < 12 if "night" in part else "morning" not in part
    late = half.strip().lower().startswith("p") if half else late
    return (hour % 12 + (12 if late else 0)) * 60 + int(minutes), False


def _spoken(match: re.Match[str]) -> tuple[Clock, ...]:
    hour_word = match["hour"] or match["whole"] or match["said"]
    hour = int(hour_word) if hour_word.isdigit() else int(spelled(hour_word))
    if not 1 <= hour <= 24:
        return ()
    minute, either = _minute(str(hour), "0", match["half"], match["part"])
    offset = match["offset"] or match["plainhalf"]
    if offset:
        word = offset.lower().removeprefix("a ").split(" ")[0]
        step = {"half": 30, "quarter": 15}.get(word) or int(word if word.isdigit() else spelled(word))
        minute += -step if (match["way"] or "").lower() == "to" else step
    return (Clock(match.group(), minute % (2 * _HALF_DAY), either),)


CLOCKS_READ: tuple[Row[Clock], ...] = (
    ("range_start", partial(_of_day, either=True)),
    ("iso_time", partial(_of_day, sure=True)),
    ("colon_time", _of_day),
    ("bare_time", _of_day),
    ("french_time", partial(_of_day, sure=True)),
    ("spoken_time", _spoken),
    ("noon", lambda m: (Clock(m[0], 0 if m["at"].lower() == "midnight" else _HALF_DAY),)),
)
_MANY = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0, "alternat": 2.0}
_ONCE = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_RATES = {word: tuple(map(float, row.split())) for word, row in table_pairs("units", "rates").items()}
_NEAR = 0.03


@dataclass(frozen=True, slots=True)
class Frequency(Detail):
    """How often something happens."""

    kind: ClassVar[str] = "frequency"
    seconds: tuple[float, ...] = ()  # the possible distances between two times it happens

    def _same(self, other: Frequency, /) -> bool:
        return any(near(mine, theirs, _NEAR) for mine in self.seconds for theirs in other.seconds)


def frequencies(page: Page) -> tuple[Frequency, ...]:
    """Take how often something happens; weekdays must be taken before, for "every other Friday"."""
    rates = []
    for match in page.find("counted_daily"):
        each, whole = _span(match["adverb"]), value_of(match["n"]) or 1.0
        page.mark(*match.span("adverb"))
        # Two tablets a day may be one twice a day; the number stays where the next reader finds it.
        rates.append(Frequency(match.group(), (each / whole, each)))
    return (*rates, *read(page, _FREQUENCIES))


def _counted(match: re.Match[str]) -> tuple[Frequency, ...]:
    word = match["n"].lower().removesuffix(" times")
    word = word if word.isalpha() else word.rstrip("x×")  # "6x", but "six"
    count = _ONCE.get(word) or value_of(word) or 1.0
    return (Frequency(match.group(), (_span(match["span"] or match["adverb"]) / count,)),)


def _every(match: re.Match[str]) -> tuple[Frequency, ...]:
    many = _MANY.get((match["other"] or "").lower(), 1.0)
    seconds = many * (value_of(match["n"]) or 1.0) * _span(match["span"] or "week")
    return (Frequency(match.group().strip(), (seconds,)),)


_FREQUENCIES: tuple[Row[Frequency], ...] = (
    *((name, _counted) for name in ("times_per", "daily_meals", "slashed_rate")),
    *((name, _every) for name in ("every_other", "every", "alternate")),
    ("rate_adverb", lambda m: (Frequency(m[0], _RATES[m[0].lower().replace("-", "")]),)),
)


def _span(word: str) -> float:
    word = word.lower()
    if word in {"morning", "evening", "afternoon", "weekday", "workday"}:
        return PERIODS["day"]
    return PERIODS.get(word) or PERIODS[word.removesuffix("s")]
