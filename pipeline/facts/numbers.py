"""Numbers with their units and periods: "75 mcg" is "0.075 mg", "CHF 300 a month" is "3,600 CHF per year".

Reads digits, digit groups, suffixes (96k, 3e-4), number words (two and a half, half a dozen), fractions, ratios
and ordinals. Refuses to guess: a bare "one", "a" or "first" is read, but too weak to contradict anything.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar

from .detail import Detail
from .tokens import Page
from .units import PERIODS, PREFIXES, UNITS, YEAR, Unit, unit_at

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "twentieth": 20}
_ORDINALS = dict(
    zip(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
        "sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        range(1, 21),
        strict=True,
    )
) | {"thirtieth": 30}
_UNIT_WORD = "|".join([*_TENS, *_SMALL])
_CARDINAL = rf"(?:{_UNIT_WORD})(?:[- ](?:{'|'.join(_SMALL)})\b)?"
_SCALE = "hundred|thousand|million|billion|dozen"
_WORDS = re.compile(
    rf"\b(?:half a dozen|(?:a|{_CARDINAL}|several)[- ](?:{_SCALE})(?:[- ](?:and[- ])?(?:{_CARDINAL}|{_SCALE})\b)*"
    rf"|{_CARDINAL}|(?:hundred|thousand|million)(?:[- ]and[- ](?:{_CARDINAL}))?|dozen)\b(?P<half>[- ]and[- ]a[- ](?:half|quarter))?",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(?P<sign>(?<![\w)\]%])[-+])?(?<![0-9A-Za-z_.])(?P<body>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\.[0-9]{3}){2,}"
    r"|[0-9]{1,3}(?:'[0-9]{3})+|[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?P<exp>[eE][-+]?[0-9]{1,3}\b)?"
    r"(?P<scale>(?:[kKMB]|bn|mn|tn)(?![^\W_])| ?(?:thousand|million|billion|mn|bn|trillion|hundred|dozen)\b)?(?P<glyph>[½¼¾])?"
)
_GLYPH = re.compile(r"(?<![0-9])[½¼¾]")
_GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_SUFFIX = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12, "trillion": 1e12, **_SCALES}
_FEET = re.compile(r"(?<![\w.])([0-9])\s?(?:'|ft\.?|feet|foot)\s?([0-9]{1,2})(?:\s?(?:\"|''|in\b|inch(?:es)?\b)|(?!\w|\.[0-9]))")
_OF = re.compile(r"(?<![\w./-])([0-9]+(?:\.[0-9]+)?)\s?/\s?([0-9]+)(?![\w/-]|\.[0-9])|\b(one|[0-9]+)(?: [a-z]+)? (?:in|out of) (?:every )?([0-9]+|[a-z]+)\b(?= |[.,;]|$)")
_FRACTION = re.compile(
    rf"\b(?<!and )(?<!and-)(?:(?P<top>a|one|two|three|four|{'|'.join(list(_SMALL)[5:10])})[- ])?(?P<part>half|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?)"
    r"(?:[- ](?P<of>of|a(?! dozen)|an|the|off)\b)?(?! past| to | after| a dozen)",
    re.IGNORECASE,
)
_ORDINALS |= {f"{tens}-{word}": _TENS[tens] + number for tens in ("twenty", "thirty") for word, number in list(_ORDINALS.items())[:9]}
_ORDINAL = re.compile(rf"\b(?:([0-9]+)(?:st|nd|rd|th)|({'|'.join(sorted(_ORDINALS, key=len, reverse=True))}))\b", re.IGNORECASE)
_SINGLE = re.compile(r"\b(?:a|an)[- ](second|minute|hour|day|week|fortnight|month|year|decade)\b", re.IGNORECASE)
_MULTIPLE = re.compile(r"\b(?:(twice|double[sd]?|doubling)|(thrice|triple[sd]?))\b", re.IGNORECASE)
_PER = re.compile(
    r"\s*(?:/\s?|per |a |an |each |every |in a |p\.\s?|, )?(s|sec|second|min|minute|h|hr|hour|d|day|night|w|wk|week|mo|month|quarter|y|yr|"
    r"year|annum|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)
_PER_JOINED = re.compile(r"\s*(?:/|per |a |an |each |every |in a |p\.)", re.IGNORECASE)
_PERIOD_WORD = re.compile(r"\b(annual|annually|yearly|p\.a\.|monthly|weekly|daily|quarterly|each month|every month|each year|per annum)", re.IGNORECASE)
_NOT_ONE = re.compile(r"\b(?:no|any|some|every|each|the|this|that|which|other|another|only|new|old)[- ]$", re.IGNORECASE)
_AFTER_ONE = re.compile(r"[- ](?:of|another|day|by|who|that|thing|day|should|must|can|has|is|might|may)\b", re.IGNORECASE)
_GENERIC_MONEY = {("USD", "CAD"), ("USD", "AUD"), ("SEK", "KRONE"), ("NOK", "KRONE"), ("DKK", "KRONE")}
_ROUNDING = 0.02
_EXACT = 1e-3
_CALENDAR = 0.03
_BINARY = (1.0, 1.024, 1.048576, 1.073741824, 1.099511627776)


@dataclass(frozen=True, slots=True)
class Number(Detail):
    """A number, its unit, and the period it is counted over.

    Attributes:
        value: As written, scale words applied.
        unit: The unit; None for a plain count.
        step: Half of the last digit written, in `value`'s unit: what rounding may have hidden.
        period: Seconds it is counted over ("a month"); None if not said.
        form: "cardinal", "ordinal" or "weak" (a bare "one" or "first": kept, but contradicts nothing).
    """

    kind: ClassVar[str] = "number"
    value: float
    unit: Unit | None = None
    step: float = 0.5
    period: float | None = None
    form: str = "cardinal"

    @property
    def base(self) -> float:
        """The value in base units of its dimension."""
        return self.value if self.unit is None else self.value * self.unit.factor + self.unit.offset

    @property
    def dimension(self) -> str:
        """What is measured; empty for a plain count."""
        return "" if self.unit is None else self.unit.dimension

    def agrees(self, other: Detail) -> bool:
        """Whether both may state the same amount, rounding across systems of units allowed."""
        if not isinstance(other, Number):
            return False
        if self.value == other.value and self._units_agree(other):
            return self.period is None or other.period is None or _near(self.period, other.period, _EXACT) or self._rate_agrees(other)
        if self.unit is None or other.unit is None:
            return self._plain_agrees(other)
        return self._rate_agrees(other)

    def rivals(self, other: Detail) -> bool:
        """Whether both count or measure the same kind of thing and are strong enough to conflict."""
        if not isinstance(other, Number) or "weak" in (self.form, other.form):
            return False
        ordinals = (self.form == "ordinal") == (other.form == "ordinal")
        return self.dimension == other.dimension and ordinals

    def _units_agree(self, other: Number) -> bool:
        if self.unit is None or other.unit is None or self.unit.name == other.unit.name:
            return True
        if self.dimension == other.dimension == "money":
            names = (self.unit.name, other.unit.name)
            return "ANY" in names or names in _GENERIC_MONEY or names[::-1] in _GENERIC_MONEY
        return {self.dimension, other.dimension} in ({"degree", "temperature"}, {"mass", "money"})

    def _plain_agrees(self, other: Number) -> bool:
        plain, unit = (self, other) if self.unit is None else (other, self)
        if unit.unit is None:
            return plain.value == unit.value
        if unit.dimension in {"ratio", "length", "multiple"}:
            return _near(plain.value, unit.base, 1e-9)
        return False

    def _rate_agrees(self, other: Number) -> bool:
        if self.unit is None or other.unit is None or self.dimension != other.dimension:
            return False
        if self.dimension == "money" and not self._units_agree(other):
            return False
        mine, theirs = self.base, other.base
        if self.period is not None and other.period is not None:
            mine, theirs = mine / self.period, theirs / other.period
        return self._close(other, mine, theirs)

    def _close(self, other: Number, mine: float, theirs: float) -> bool:
        left, right = self.unit, other.unit
        if left is None or right is None:
            return mine == theirs
        if left.name == right.name and self.period == other.period:
            return mine == theirs
        if self.dimension == "data":
            high, low = max(mine, theirs), min(mine, theirs)
            return any(_near(high, low * ratio, _EXACT) for ratio in _BINARY)
        if left.system == right.system:
            return _near(mine, theirs, _EXACT)
        if self.dimension == "time":
            return _near(mine, theirs, _CALENDAR)
        slack = max(self.step * left.factor, other.step * right.factor)
        limit = max(_ROUNDING * max(abs(mine), abs(theirs)), 0.6 if self.dimension == "temperature" else 0.0)
        return abs(mine - theirs) <= min(slack, limit) + _EXACT * abs(mine)


def _near(left: float, right: float, share: float) -> bool:
    """Whether two values differ by at most a share of the larger."""
    return left == right or (math.isfinite(left) and math.isfinite(right) and abs(left - right) <= share * max(abs(left), abs(right)))


def spelled(phrase: str) -> float:
    """Value of a number in words.

    >>> spelled("two and a half"), spelled("one hundred and thirty"), spelled("half a dozen")
    (2.5, 130.0, 6.0)
    """
    phrase = phrase.lower()
    if phrase == "half a dozen":
        return 6.0
    total, current, extra = 0.0, 0.0, 0.0
    for tail, value in ((" and a half", 0.5), ("-and-a-half", 0.5), (" and a quarter", 0.25)):
        if phrase.endswith(tail):
            phrase, extra = phrase[: -len(tail)], value
    for word in re.split(r"[- ]+", phrase):
        if word in _SMALL or word in _TENS:
            current += _SMALL.get(word, _TENS.get(word, 0))
        elif word in _SCALES:
            factor = _SCALES[word]
            current = max(current, 1.0) * factor
            if factor >= _SCALES["thousand"]:
                total, current = total + current, 0.0
    return total + current + extra


def numbers(page: Page) -> tuple[Number, ...]:
    """Take every number that no date, time, version or identifier has taken.

    >>> [(n.value, n.dimension) for n in numbers(Page("20 mg twice, 5 ft 11, half a dozen"))]
    [(71.0, 'length'), (2.0, 'multiple'), (20.0, 'mass'), (6.0, '')]
    """
    overall = _PERIOD_WORD.findall(page.text)
    default = PERIODS.get(overall[0].lower().removeprefix("each ").removeprefix("every ")) if len(overall) == 1 else None
    if overall and overall[0].lower() in {"p.a.", "per annum"}:
        default = YEAR
    return (*_heights(page), *_ordinals(page), *_shares(page), *_multiples(page), *_written(page, default), *_in_words(page, default), *_singles(page))


def _heights(page: Page) -> list[Number]:
    """Take feet and inches: 5'11", 5 ft 11."""
    inch = UNITS["inch"]
    return [
        Number(match.group().strip(), 12.0 * int(match.group(1)) + int(match.group(2)), inch, 0.5)
        for match in page.take(_FEET)
        if int(match.group(2)) < 12
    ]


def _shares(page: Page) -> list[Number]:
    """Take fractions and ratios: 87/100, one in twenty, three quarters, half of."""
    found = []
    percent = UNITS["%"]
    for match in page.find(_OF):
        top, bottom = (_value(group) for group in (match.group(1) or match.group(3), match.group(2) or match.group(4)))
        if top is None or not bottom or match.group(1, 2) == ("24", "7"):
            continue
        if match.group(3) and top >= bottom:
            continue
        page.mark(match.start(), match.end())
        found.append(Number(match.group(), 100 * top / bottom, percent, 0.5))
    for match in page.find(_FRACTION):
        top_word, part = match.group("top"), match.group("part").lower().rstrip("s")
        ordinal = part not in {"half", "quarter"} and (top_word or "a").lower() == "a"
        if ordinal or (part in {"half", "quarter"} and not (top_word or match.group("of"))):
            continue
        top = _value(top_word or "a") or 1.0
        share = top / _PARTS[part]
        page.mark(match.start(), match.end())
        unit = unit_at(page.rest, match.end())
        if unit and unit[0].dimension == "time":
            page.mark(match.end(), unit[1])
            found.append(Number(page.text[match.start() : unit[1]], share, unit[0], 0.0))
        else:
            found.append(Number(match.group(), 100 * share, percent, 0.0))
    return found


def _value(text: str | None) -> float | None:
    """Value of digits or of one number word."""
    if text is None:
        return None
    if text[0].isdigit():
        return float(text)
    word = text.lower()
    if word == "a":
        return 1.0
    return float(_SMALL[word]) if word in _SMALL else float(_TENS[word]) if word in _TENS else None


def _multiples(page: Page) -> list[Number]:
    """Take twice, double, triple."""
    unit = UNITS["x"]
    return [Number(match.group(), 2.0 if match.group(1) else 3.0, unit, 0.0) for match in page.take(_MULTIPLE)]


def _written(page: Page, default: float | None) -> list[Number]:
    """Take numbers in digits."""
    found = []
    for match in page.find(_DIGITS):
        value, step = _digits(match)
        found.append(_with_unit(page, match.start(), match.end(), value, step, default))
    for match in page.find(_GLYPH):
        found.append(_with_unit(page, match.start(), match.end(), _GLYPHS[match.group()], 0.0, default))
    return found


def _digits(match: re.Match[str]) -> tuple[float, float]:
    """Value of a number in digits, and half of its last digit."""
    body = match.group("body").replace("'", "")
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}", body):
        body = body.replace(".", "")
    elif re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", body):
        body = body.replace(",", "")
    body = body.replace(",", ".")
    scale = _SUFFIX.get((match.group("scale") or "").strip().lower(), 1.0)
    value = float(body + (match.group("exp") or "")) * scale + _GLYPHS.get(match.group("glyph") or "", 0.0)
    places = len(body.partition(".")[2])
    return (-value if match.group("sign") == "-" else value), 0.5 * scale / 10**places


def _in_words(page: Page, default: float | None) -> list[Number]:
    """Take numbers in words; "one" is weak, and nothing where it is a pronoun."""
    found = []
    for match in page.find(_WORDS):
        text = match.group()
        if text.lower() == "one" and (_NOT_ONE.search(page.text[: match.start()]) or _AFTER_ONE.match(page.text, match.end())):
            continue
        number = _with_unit(page, match.start(), match.end(), spelled(text), 0.0, default)
        if number.value == 1.0 and number.unit is None:
            number = replace(number, form="weak")
        found.append(number)
    return found


def _ordinals(page: Page) -> list[Number]:
    """Take first, 2nd, twentieth."""
    found = []
    for match in page.take(_ORDINAL):
        digits, word = match.groups()
        value = float(digits) if digits else float(_ORDINALS[word.lower()])
        found.append(Number(match.group(), value, None, 0.0, None, "weak" if value == 1.0 else "ordinal"))
    return found


def _singles(page: Page) -> list[Number]:
    """Take "a month", "an hour": too weak to contradict, but another text may call it 30 days."""
    return [Number(match.group(), 1.0, UNITS[match.group(1).lower()], 0.0, None, "weak") for match in page.take(_SINGLE)]


def _with_unit(page: Page, start: int, end: int, value: float, step: float, default: float | None) -> Number:
    """Look for a unit behind or a currency before a number, then for a period, and take all of it."""
    unit, stop = unit_at(page.rest, end) or (None, end)
    before = re.search(r"([A-Za-z]{0,3}[$€£¥₹]|\b[A-Za-z]{3})\s?[-+]?$", page.rest[:start])
    if before is not None and before.group(1) in PREFIXES:
        if unit is UNITS["m"] and page.rest[end : end + 1] == "m":
            value, step = value * 1e6, step * 1e6
        unit, start = (unit if unit and unit.dimension == "money" else UNITS[before.group(1)]), before.start()
    period = None
    if unit is None or unit.dimension != "ratio" or _PER_JOINED.match(page.rest, stop):
        match = _PER.match(page.rest, stop)
        if match is not None and (_PER_JOINED.match(match.group()) or match.group(1).endswith("ly")):
            period, stop = PERIODS[match.group(1)], match.end()
    if period is None and unit is not None and unit.dimension == "money":
        period = default
    page.mark(start, stop)
    return Number(page.text[start:stop].strip(), value, unit, step, period)
