"""Times of day: "5 pm" is "17:00" is "five in the afternoon"; "half past six" is 6:30 or 18:30.

A time without am or pm that could be either agrees with both. A bare number is no time, but agrees with
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .amounts import Number
from .detail import Detail
from .numerals import spelled
from .tokens import Expression, Page

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
            return other.unit is None and other.value in {
                self.minute / 60,
                self.minute / 60 - 12,
                self.minute / 60 + 12,
            }
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
    times = []
    for match in page.find(_RANGE):
        minute, _ = _minute(match.group("h"), match.group("m") or "0", match.group("half"), None)
        times.append(Clock(match.group(), minute, either=True))
        page.mark(match.start(), match.end())
    for pattern in (_ISO_TIME, _COLON, _BARE, _FRENCH):
        for match in page.find(pattern):
            groups = match.groupdict()
            part = groups.get("part") or groups.get("part2")
            minute, either = _minute(groups["h"], groups.get("m") or "0", groups.get("half"), part)
            sure = pattern in (_ISO_TIME, _FRENCH) or (groups["h"].startswith("0") and len(groups["h"]) > 1)
            if minute <= 2 * _HALF_DAY:
                page.mark(match.start(), match.end())
                times.append(Clock(match.group().strip(), minute % (2 * _HALF_DAY), either and not sure))
    times.extend(_spoken(page))
    times.extend(
        Clock(match.group(), 0 if match.group("at").lower() == "midnight" else _HALF_DAY)
        for match in page.take(_NOON)
    )
    return tuple(times)


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
    times = []
    for match in page.find(_SPOKEN):
        hour_word = match.group("hour") or match.group("whole") or match.group("said")
        hour = int(hour_word) if hour_word.isdigit() else int(spelled(hour_word))
        if not 1 <= hour <= 24:
            continue
        minute, either = _minute(str(hour), "0", match.group("half"), match.group("part"))
        offset = match.group("offset") or match.group("plainhalf")
        if offset:
            word = offset.lower().removeprefix("a ").split(" ")[0]
            step = {"half": 30, "quarter": 15}.get(word) or (
                int(word) if word.isdigit() else int(spelled(word))
            )
            minute += -step if (match.group("way") or "").lower() == "to" else step
        page.mark(match.start(), match.end())
        times.append(Clock(match.group(), minute % (2 * _HALF_DAY), either))
    return times
