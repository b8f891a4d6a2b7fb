"""Times of day and how often something happens: "5 pm" is "17:00", "fortnightly" is "every two weeks".

A time without am or pm that could be either agrees with both; a bare number is no time, but agrees with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from .amounts import DAY, MONTH, PERIODS, YEAR, Number, near
from .details import Detail, Expression, Page, Row, read
from .numbers import spelled, value_of

_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HALF = r"(?P<half>\s?(?:a\.?m\.?|p\.?m\.?|AM|PM|A\.M\.|P\.M\.)(?![A-Za-z]))"
_PART = r"(?P<part>,? (?:in the |at )(?:early |late )?(?:morning|afternoon|evening|night))"
_COLON = Expression(
    r"(?<![\w.:/])(?<![A-Za-z]-)(?:T)?(?P<h>[01]?[0-9]|2[0-4])[:h](?P<m>[0-5][0-9])(?::[0-5][0-9])?"
    rf"(?:{_HALF}|{_PART})?(?![0-9])",
    digits=True,
)
_BARE = Expression(
    r"(?<![\w.:/,$€£])(?P<h>1[0-2]|0?[0-9])(?:[.](?P<m>[0-5][0-9]))?"
    rf"(?:{_HALF}|{_PART}| o'?clock\b{_PART.replace('part', 'part2')}?)",
    digits=True,
)
_FRENCH = Expression(r"(?<![\w.])(?P<h>[01]?[0-9]|2[0-3])h\b(?=\s|$|[.,;])", digits=True)
_ISO_TIME = Expression(r"T(?P<h>[01][0-9]|2[0-3]):(?P<m>[0-5][0-9])(?::[0-5][0-9])?", digits=True)
_MINUTES = r"(?:five|ten|twenty|twenty-five)(?: minutes?)?|[0-9]{1,2} minutes?|(?<![.:])[0-9]{1,2}(?= past)"
_SPOKEN = Expression(
    rf"\b(?:(?:(?P<plainhalf>half)(?= (?:{_HOURS})\b)|(?P<offset>half|quarter|a quarter|{_MINUTES}) "
    rf"(?P<way>past|to)) (?P<hour>{_HOURS}|[0-9]{{1,2}})|(?P<whole>{_HOURS}) o'?clock"
    rf"|(?P<said>{_HOURS})(?=,? (?:in the (?:early |late )?(?:morning|afternoon|evening)|at night)))\b"
    rf"(?:{_PART})?(?:{_HALF})?",
    re.IGNORECASE,
)
_RANGE = Expression(
    r"(?<![\w.:/$€£-])(?P<h>1[0-2]|[1-9])(?:[.:](?P<m>[0-5][0-9]))?"
    r"(?= ?(?:-|to|and|until|till) ?(?:1[0-2]|[0-9])(?:[.:][0-9]{2})?\s?(?P<half>am|pm|AM|PM)\b)",
    digits=True,
)
_NOON = Expression(r"\b(?P<at>noon|midday|midnight)\b", re.IGNORECASE)
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Clock(Detail):
    """A time of day."""

    kind: ClassVar[str] = "time"
    minute: int = 0  # minutes after midnight
    either: bool = False  # whether it could be twelve hours later as well

    def agrees(self, other: Detail) -> bool:
        """Whether both may be the same minute; a plain number counts as an hour."""
        if isinstance(other, Number):
            hour = self.minute / 60
            return other.unit is None and other.value in {hour, hour - 12, hour + 12}
        if not isinstance(other, Clock):
            return False
        if self.either or other.either:
            return (self.minute - other.minute) % _HALF_DAY == 0
        return self.minute == other.minute

    def covers(self, other: Detail) -> bool:
        """Whether this is the same time, said at least as exactly."""
        return isinstance(other, Clock) and self.agrees(other) and (other.either or not self.either)


def clocks(page: Page) -> tuple[Clock, ...]:
    """Take times of day.

    >>> [each.minute for each in clocks(Page("5 pm, 17:00, quarter to seven in the evening, noon"))]
    [1020, 1020, 1125, 720]
    """
    return read(page, *_CLOCKS)


def _of_day(*, sure: bool = False, either: bool = False) -> Callable[[re.Match[str]], tuple[Clock, ...]]:
    """Read hours and minutes in digits; `sure` counts to 24, `either` may be twelve hours later."""

    def parse(match: re.Match[str]) -> tuple[Clock, ...]:
        groups = match.groupdict()
        part = groups.get("part") or groups.get("part2")
        minute, open_half = _minute(groups["h"], groups.get("m") or "0", groups.get("half"), part)
        if minute > 2 * _HALF_DAY:
            return ()
        padded = groups["h"].startswith("0") and len(groups["h"]) > 1
        doubtful = either or (open_half and not (sure or padded))
        return (Clock(match.group().strip(), minute % (2 * _HALF_DAY), doubtful),)

    return parse


def _minute(hours: str, minutes: str, half: str | None, part: str | None) -> tuple[int, bool]:
    hour = int(hours)
    if hour > 12 or (not half and not part):
        return hour * 60 + int(minutes), 1 <= hour <= 12
    late = half.strip().lower().startswith("p") if half else _late(part or "", hour)
    return (hour % 12 + (12 if late else 0)) * 60 + int(minutes), False


def _late(part: str, hour: int) -> bool:
    if "night" in part.lower():
        return 6 <= hour < 12
    return "morning" not in part.lower()


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


def _noon(match: re.Match[str]) -> tuple[Clock, ...]:
    return (Clock(match.group(), 0 if match["at"].lower() == "midnight" else _HALF_DAY),)


_CLOCKS: tuple[Row[Clock], ...] = (
    (_RANGE, _of_day(either=True)),
    (_ISO_TIME, _of_day(sure=True)),
    (_COLON, _of_day()),
    (_BARE, _of_day()),
    (_FRENCH, _of_day(sure=True)),
    (_SPOKEN, _spoken),
    (_NOON, _noon),
)

_COUNT = r"[0-9]+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_SPAN = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|months?|quarters?|years?|yrs?)"
)
_PARTS = r"morning|evening|afternoon|weekday|workday"
_TIMES = Expression(
    rf"\b(?P<n>once|twice|thrice|(?:{_COUNT})(?: times|x|×)) (?:(?:a|an|per|each|every) (?P<span>{_SPAN})"
    r"|(?P<adverb>daily|weekly|monthly|yearly))\b",
    re.IGNORECASE,
)
_MEALS = Expression(
    rf"\b(?P<n>{_COUNT}) (?P<adverb>daily|weekly) [a-z]+s\b(?P<span>)",
    re.IGNORECASE,
)
_MEASURED = (
    r"(?:seconds|minutes|mins|hours|hrs|days|weeks|months|years|"
    r"miles|met|kilo|pounds|dollars|euros|grams|lit)"
)
_COUNTED = Expression(
    rf"\b(?P<n>{_COUNT}) (?!{_MEASURED})[a-z]{{3,}}s (?P<adverb>daily|weekly)\b", re.IGNORECASE
)
_SLASHED = Expression(
    r"(?<![.,$€£0-9])(?P<n>[0-9]+)x?/(?P<span>day|week|month|year|wk|mo|yr)\b(?P<adverb>)", digits=True
)
_OTHER_DAY = Expression(
    r"\b(?:every|each) (?P<other>other|second|third|fourth) (?P<n>)(?P<span>week)?(?=\x00)", re.IGNORECASE
)
_EVERY = Expression(
    r"\b(?:(?:every|each)|once (?:in|every)) (?:(?P<other>other|second|third|fourth) "
    rf"|(?P<n>{_COUNT}|a couple of|a few) )?(?P<span>{_SPAN}|{_PARTS}|(?<=[0-9] )[sh])\b",
    re.IGNORECASE,
)
_ALTERNATE = Expression(r"\b(?P<other>alternat)(?P<n>)(?:e|ing) (?P<span>days|weeks|months)\b", re.IGNORECASE)
_ADVERB = Expression(
    r"\b(hourly|half-yearly|daily|nightly|weekly|fortnightly|bi-?weekly|semi-?weekly|monthly|bi-?monthly|quarterly|"
    r"yearly|annually|bi-?annual(?:ly)?|semi-?annual(?:ly)?)\b",
    re.IGNORECASE,
)
_MANY = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0, "alternat": 2.0}
_ONCE = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_ADVERBS: dict[str, tuple[float, ...]] = {
    "hourly": (3600.0,), "halfyearly": (YEAR / 2,), "daily": (DAY,), "nightly": (DAY,), "weekly": (7 * DAY,),
    "fortnightly": (14 * DAY,), "biweekly": (14 * DAY, 3.5 * DAY), "semiweekly": (3.5 * DAY,),
    "monthly": (MONTH,), "bimonthly": (2 * MONTH, MONTH / 2), "quarterly": (3 * MONTH,), "yearly": (YEAR,),
    "annually": (YEAR,),
    "biannual": (YEAR / 2, 2 * YEAR), "biannually": (YEAR / 2, 2 * YEAR), "semiannual": (YEAR / 2,),
    "semiannually": (YEAR / 2,),
}  # fmt: skip
_NEAR = 0.03


@dataclass(frozen=True, slots=True)
class Frequency(Detail):
    """How often something happens."""

    kind: ClassVar[str] = "frequency"
    seconds: tuple[float, ...] = ()  # the possible distances between two times it happens

    def agrees(self, other: Detail) -> bool:
        """Whether one meaning of each is the same distance."""
        if not isinstance(other, Frequency):
            return False
        return any(near(mine, theirs, _NEAR) for mine in self.seconds for theirs in other.seconds)


def frequencies(page: Page) -> tuple[Frequency, ...]:
    """Take how often something happens; weekdays must be taken before, for "every other Friday".

    >>> [each.seconds[0] / 86400 for each in frequencies(Page("twice a day, every other week, monthly"))]
    [0.5, 14.0, 30.4375]
    """
    rates = []
    for match in page.find(_COUNTED):
        each, whole = _span(match["adverb"]), value_of(match["n"]) or 1.0
        page.mark(*match.span("adverb"))
        # Two tablets a day may be one twice a day; the number stays where the next reader finds it.
        rates.append(Frequency(match.group(), (each / whole, each)))
    return (*rates, *read(page, *_RATES))


def _counted(match: re.Match[str]) -> tuple[Frequency, ...]:
    word = match["n"].lower().removesuffix(" times")
    word = word if word.isalpha() else word.rstrip("x×")  # "6x", but "six"
    count = _ONCE.get(word) or value_of(word) or 1.0
    return (Frequency(match.group(), (_span(match["span"] or match["adverb"]) / count,)),)


def _every(match: re.Match[str]) -> tuple[Frequency, ...]:
    many = _MANY.get((match["other"] or "").lower(), 1.0)
    seconds = many * (value_of(match["n"]) or 1.0) * _span(match["span"] or "week")
    return (Frequency(match.group().strip(), (seconds,)),)


def _adverb(match: re.Match[str]) -> tuple[Frequency, ...]:
    return (Frequency(match.group(), _ADVERBS[match.group().lower().replace("-", "")]),)


_RATES: tuple[Row[Frequency], ...] = (
    *((pattern, _counted) for pattern in (_TIMES, _MEALS, _SLASHED)),
    *((pattern, _every) for pattern in (_OTHER_DAY, _EVERY, _ALTERNATE)),
    (_ADVERB, _adverb),
)


def _span(word: str) -> float:
    word = word.lower()
    if word in {"morning", "evening", "afternoon", "weekday", "workday"}:
        return DAY
    return PERIODS.get(word) or PERIODS[word.removesuffix("s")]
