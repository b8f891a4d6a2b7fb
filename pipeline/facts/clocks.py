"""Times of day and how often: "5 pm" is "17:00" is "five in the afternoon"; "every other week" is fortnightly.

A time without am or pm that could be either agrees with both. "Biweekly" agrees with both of its meanings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .detail import Detail
from .numbers import Number, spelled
from .tokens import Page
from .units import DAY, MONTH, PERIODS, YEAR

_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HALF = r"(?P<half>\s?(?:a\.?m\.?|p\.?m\.?|AM|PM|A\.M\.|P\.M\.)(?![A-Za-z]))"
_PART = r"(?P<part>,? (?:in the |at )(?:early |late )?(?:morning|afternoon|evening|night))"
_COLON = re.compile(rf"(?<![\w.:/-])(?:T)?(?P<h>[01]?[0-9]|2[0-4])[:h](?P<m>[0-5][0-9])(?::[0-5][0-9])?(?:{_HALF}|{_PART})?(?![0-9])")
_BARE = re.compile(rf"(?<![\w.:/,$€£])(?P<h>1[0-2]|0?[0-9])(?:[.](?P<m>[0-5][0-9]))?(?:{_HALF}|{_PART}| o'?clock\b{_PART.replace('part', 'part2')}?)")
_FRENCH = re.compile(r"(?<![\w.])(?P<h>[01]?[0-9]|2[0-3])h\b(?=\s|$|[.,;])")
_ISO_TIME = re.compile(r"T(?P<h>[01][0-9]|2[0-3]):(?P<m>[0-5][0-9])(?::[0-5][0-9])?")
_SPOKEN = re.compile(
    rf"\b(?:(?:(?P<plainhalf>half)(?= (?:{_HOURS})\b)|(?P<offset>half|quarter|a quarter|(?:five|ten|twenty|twenty-five)(?: minutes?)?|[0-9]{{1,2}} minutes?|(?<![.:])[0-9]{{1,2}}(?= past)) (?P<way>past|to)) (?P<hour>{_HOURS}|[0-9]{{1,2}})"
    rf"|(?P<whole>{_HOURS}) o'?clock|(?P<said>{_HOURS})(?=,? (?:in the (?:early |late )?(?:morning|afternoon|evening)|at night)))\b(?:{_PART})?(?:{_HALF})?",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"(?<![\w.:/$€£-])(?P<h>1[0-2]|[1-9])(?:[.:](?P<m>[0-5][0-9]))?(?= ?(?:-|to|and|until|till) ?(?:1[0-2]|[0-9])(?:[.:][0-9]{{2}})?\s?(?P<half>am|pm|AM|PM)\b)")
_NOON = re.compile(r"\b(?P<at>noon|midday|midnight)\b", re.IGNORECASE)
_N = r"(?:[0-9]+|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few)"
_SPAN = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|months?|quarters?|years?|yrs?)"
_TIMES = re.compile(rf"\b(?P<n>once|twice|thrice|(?:[0-9]+|two|three|four|five|six|seven|eight|nine|ten)(?: times|x|×)|[0-9]+(?:x|×)) (?:(?:a|an|per|each|every) (?P<span>{_SPAN})|(?P<adverb>daily|weekly|monthly|yearly))\b|\b(?P<n2>[0-9]+|two|three|four|five|six|seven|eight|nine|ten) (?:[a-z]+ (?P<adverb2>daily|weekly)|(?P<adverb3>daily|weekly) [a-z]+s)\b|(?<![.,$€£0-9])(?P<x>[0-9]+)x?/(?P<span2>day|week|month|year|wk|mo|yr)\b", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:every|each) (?P<other2>other|second|third|fourth) (?P<span2>week)?(?=\x00)"
    rf"|\b(?:(?:every|each)|once (?:in|every)) (?:(?P<other>other|second|third|fourth) |(?P<n>{_N}) )?(?P<span>{_SPAN}|morning|evening|afternoon|weekday|workday)\b"
    r"|\balternat(?:e|ing) (?P<span3>days|weeks|months)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"\b(hourly|half-yearly|daily|nightly|weekly|fortnightly|bi-?weekly|semi-?weekly|monthly|bi-?monthly|quarterly|yearly|annually|bi-?annual(?:ly)?|semi-?annual(?:ly)?)\b", re.IGNORECASE)
_ADVERBS: dict[str, tuple[float, ...]] = {
    "hourly": (3600.0,),
    "halfyearly": (YEAR / 2,),
    "daily": (DAY,),
    "nightly": (DAY,),
    "weekly": (7 * DAY,),
    "fortnightly": (14 * DAY,),
    "biweekly": (14 * DAY, 3.5 * DAY),
    "semiweekly": (3.5 * DAY,),
    "monthly": (MONTH,),
    "bimonthly": (2 * MONTH, MONTH / 2),
    "quarterly": (3 * MONTH,),
    "yearly": (YEAR,),
    "annually": (YEAR,),
    "biannual": (YEAR / 2, 2 * YEAR),
    "biannually": (YEAR / 2, 2 * YEAR),
    "semiannual": (YEAR / 2,),
    "semiannually": (YEAR / 2,),
}
_NEAR = 0.03
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Clock(Detail):
    """A time of day.

    Attributes:
        minute: Minutes after midnight.
        either: Whether it could be twelve hours later as well.
    """

    kind: ClassVar[str] = "time"
    minute: int = 0
    either: bool = False

    def agrees(self, other: Detail) -> bool:
        """Whether both may be the same minute; a plain number counts as an hour."""
        if isinstance(other, Number):
            return other.unit is None and other.value in {self.minute / 60, self.minute / 60 - 12, self.minute / 60 + 12}
        if not isinstance(other, Clock):
            return False
        if self.either or other.either:
            return (self.minute - other.minute) % _HALF_DAY == 0
        return self.minute == other.minute

    def covers(self, other: Detail) -> bool:
        """Whether this is the same time, said at least as exactly."""
        return isinstance(other, Clock) and self.agrees(other) and (other.either or not self.either)


@dataclass(frozen=True, slots=True)
class Frequency(Detail):
    """How often something happens.

    Attributes:
        seconds: The possible distances between two times it happens.
    """

    kind: ClassVar[str] = "frequency"
    seconds: tuple[float, ...] = ()

    def agrees(self, other: Detail) -> bool:
        """Whether one meaning of each is the same distance."""
        if not isinstance(other, Frequency):
            return False
        return any(abs(mine - theirs) <= _NEAR * max(mine, theirs) for mine in self.seconds for theirs in other.seconds)


def clocks(page: Page) -> tuple[Clock, ...]:
    """Take times of day.

    >>> [each.minute for each in clocks(Page("5 pm, 17:00, quarter to seven in the evening, noon"))]
    [1020, 1020, 1125, 720]
    """
    found = []
    for match in page.find(_RANGE):
        minute, either = _minute(match.group("h"), match.group("m") or "0", match.group("half"), None)
        found.append(Clock(match.group(), minute, either=True or either))
        page.mark(match.start(), match.end())
    for pattern in (_ISO_TIME, _COLON, _BARE, _FRENCH):
        for match in page.find(pattern):
            groups = match.groupdict()
            part = groups.get("part") or groups.get("part2")
            minute, either = _minute(groups["h"], groups.get("m") or "0", groups.get("half"), part)
            sure = pattern in (_ISO_TIME, _FRENCH) or (groups["h"].startswith("0") and len(groups["h"]) > 1)
            if minute <= 2 * _HALF_DAY:
                page.mark(match.start(), match.end())
                found.append(Clock(match.group().strip(), minute % (2 * _HALF_DAY), either and not sure))
    found.extend(_spoken(page))
    for match in page.take(_NOON):
        found.append(Clock(match.group(), 0 if match.group("at").lower() == "midnight" else _HALF_DAY))
    return tuple(found)


def _minute(hours: str, minutes: str, half: str | None, part: str | None) -> tuple[int, bool]:
    """Minutes after midnight, and whether the other half of the day is possible."""
    hour = int(hours)
    if hour > 12 or (not half and not part):
        return hour * 60 + int(minutes), 1 <= hour <= 12
    late = half.strip().lower().startswith("p") if half else _late(part or "", hour)
    return (hour % 12 + (12 if late else 0)) * 60 + int(minutes), False


def _late(part: str, hour: int) -> bool:
    """Whether a named part of the day means the second half for this hour."""
    if "night" in part.lower():
        return 6 <= hour < 12
    return "morning" not in part.lower()


def _spoken(page: Page) -> list[Clock]:
    """Take half past six, quarter to seven, five o'clock, four in the afternoon."""
    found = []
    for match in page.find(_SPOKEN):
        hour_word = match.group("hour") or match.group("whole") or match.group("said")
        hour = int(hour_word) if hour_word.isdigit() else int(spelled(hour_word))
        if not 1 <= hour <= 24:
            continue
        minute, either = _minute(str(hour), "0", match.group("half"), match.group("part"))
        offset = match.group("offset") or match.group("plainhalf")
        if offset:
            word = offset.lower().removeprefix("a ").split(" ")[0]
            step = {"half": 30, "quarter": 15}.get(word) or (int(word) if word.isdigit() else int(spelled(word)))
            minute += -step if (match.group("way") or "").lower() == "to" else step
        page.mark(match.start(), match.end())
        found.append(Clock(match.group(), minute % (2 * _HALF_DAY), either))
    return found


def frequencies(page: Page) -> tuple[Frequency, ...]:
    """Take how often something happens.

    >>> [each.seconds[0] / 86400 for each in frequencies(Page("twice a day, every other week, monthly"))]
    [0.5, 14.0, 30.4375]
    """
    found = []
    for match in page.take(_TIMES):
        word = (match.group("n") or match.group("n2") or match.group("x")).lower().removesuffix("x").removesuffix("×").removesuffix(" times")
        word = word.strip()
        count = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get(word) or (float(word) if word.isdigit() else spelled(word))
        span = _span(match.group("span") or match.group("span2") or match.group("adverb") or match.group("adverb2") or match.group("adverb3"))
        found.append(Frequency(match.group(), (span / max(count, 1.0),)))
    for match in page.take(_EVERY):
        other, number = match.group("other") or match.group("other2"), match.group("n")
        other = "other" if match.group("span3") else other
        many = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0}.get((other or "").lower(), 1.0)
        if number:
            many = float(number) if number[0].isdigit() else spelled(number)
        if many > 0:
            found.append(Frequency(match.group(), (many * _span(match.group("span") or match.group("span3") or "week"),)))
    for match in page.take(_ADVERB):
        found.append(Frequency(match.group(), _ADVERBS[match.group().lower().replace("-", "")]))
    return tuple(found)


def _span(word: str) -> float:
    """Seconds of a span of time; a part of the day comes back every day."""
    word = word.lower()
    if word in {"morning", "evening", "afternoon", "weekday", "workday"}:
        return DAY
    return PERIODS.get(word) or PERIODS[word.removesuffix("s")]
