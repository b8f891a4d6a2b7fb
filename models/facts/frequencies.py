"""How often something happens: "every other week" is "fortnightly", "2x daily" is "twice a day".

"Biweekly" agrees with both of its meanings. A rate of something counted ("5 requests per second") is a
number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from .amounts import near
from .detail import Detail
from .numerals import value_of
from .tokens import Expression, Page
from .units import DAY, MONTH, PERIODS, YEAR

_COUNT = r"[0-9]+|two|three|four|five|six|seven|eight|nine|ten"
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
    rf"|(?P<n>{_COUNT}|a couple of|a few) )?(?P<span>{_SPAN}|{_PARTS})\b",
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
        return any(near(mine, theirs, _NEAR) for mine in self.seconds for theirs in other.seconds)


def frequencies(page: Page) -> tuple[Frequency, ...]:
    """Take how often something happens; weekdays must be taken before, for "every other Friday".

    >>> [each.seconds[0] / 86400 for each in frequencies(Page("twice a day, every other week, monthly"))]
    [0.5, 14.0, 30.4375]
    """
    rates = []
    for match in page.find(_COUNTED):
        each, whole = _span(match.group("adverb")), value_of(match.group("n")) or 1.0
        page.mark(*match.span("adverb"))
        # Two tablets a day may be one twice a day; the number stays where the next reader finds it.
        rates.append(Frequency(match.group(), (each / whole, each)))
    for pattern in (_TIMES, _MEALS, _SLASHED):
        for match in page.take(pattern):
            word = match.group("n").lower().removesuffix(" times").rstrip("x×")
            count = _ONCE.get(word) or value_of(word) or 1.0
            rates.append(
                Frequency(match.group(), (_span(match.group("span") or match.group("adverb")) / count,))
            )
    for pattern in (_OTHER_DAY, _EVERY, _ALTERNATE):
        for match in page.take(pattern):
            many = _MANY.get((match.group("other") or "").lower(), 1.0)
            times = value_of(match.group("n")) or 1.0
            span = _span(match.group("span") or "week")
            rates.append(Frequency(match.group().strip(), (many * times * span,)))
    rates.extend(
        Frequency(match.group(), _ADVERBS[match.group().lower().replace("-", "")])
        for match in page.take(_ADVERB)
    )
    return tuple(rates)


def _span(word: str) -> float:
    """Seconds of a span of time; a part of the day comes back every day."""
    word = word.lower()
    if word in {"morning", "evening", "afternoon", "weekday", "workday"}:
        return DAY
    return PERIODS.get(word) or PERIODS[word.removesuffix("s")]
