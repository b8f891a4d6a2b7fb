"""Days of the week: "Mondays" is "Mon", "Mon-Thu" is four days, "weekend" is two.

Short forms that are also words ("sun", "sat", "wed") count only with a capital.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .detail import Detail
from .tokens import Expression, Page, listed

_WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAY_NUMBER = {name: number for number, name in enumerate(_WEEKDAYS)}
_WEEKDAY_NUMBER |= {name[:3]: number for name, number in _WEEKDAY_NUMBER.items()}
_WEEKDAY_NUMBER |= {"tues": 1, "thur": 3, "thurs": 3, "weds": 2}
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
    """A day of the week; ranges and "weekend" are read as all their days.

    Attributes:
        number: 0 is Monday.
    """

    kind: ClassVar[str] = "weekday"
    number: int = 0

    def agrees(self, other: Detail) -> bool:
        """Whether both are the same day of the week."""
        return isinstance(other, Weekday) and self.number == other.number


def weekdays(page: Page) -> tuple[Weekday, ...]:
    """Take days of the week; a range counts as all its days.

    >>> [day.number for day in weekdays(Page("Fri-Sun and on Tuesdays"))]
    [4, 5, 6, 1]
    """
    days: list[Weekday] = []
    for match in page.take(_WEEK_RANGE):
        first, last = (_weekday(group) for group in match.groups())
        days.extend(Weekday(match.group(), (first + step) % 7) for step in range((last - first) % 7 + 1))
    days.extend(Weekday(match.group(), _weekday(match.group())) for match in page.take(_ONE_WEEKDAY))
    for match in page.take(_WEEK_PART):
        span = (5, 6) if "end" in match.group().lower() else range(5)
        days.extend(Weekday(match.group(), number) for number in span)
    return tuple(days)


def _weekday(name: str) -> int:
    """Number of a weekday by name, plural or short."""
    name = name.lower()
    return _WEEKDAY_NUMBER[name[:-1] if name.endswith("days") else name]
