"""Numbers with their units: digits, groups, suffixes (96k, 3e-4), words, fractions, ratios, ordinals.

Each number takes its unit and period with it ("CHF 300 a month"). A bare "one", "a month" or "first" is weak:
it must be kept by a merge, but contradicts nothing. A unit or a period that only one amount states is
compatible; two currencies never are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar, NamedTuple

from ..text.tables import pattern, spelled_out, table_lines, table_pairs, table_set
from .details import Detail, Page, Row, read


class Unit(NamedTuple):
    """One unit of measure."""

    name: str  # canonical name, equal for all spellings
    dimension: str  # what it measures; only numbers of one dimension are compared
    factor: float = 1.0  # how many base units one of it is
    system: str = "si"  # conversions inside one system are exact; across systems people round
    offset: float = 0.0  # added after multiplying, for temperatures


UNITS: dict[str, Unit] = {}
for _line in table_lines("units", "units"):
    _dimension, _factor, _system, _spellings, *_offset = _line.split("|")
    _names, _money = _spellings.split(), _dimension.removeprefix("money ")
    _named = (_names[-1], _dimension) if _money == _dimension else (_money, "money")
    UNITS |= dict.fromkeys(_names, Unit(*_named, float(_factor), _system, *map(float, _offset)))
PREFIXES = table_set("units", "before_number")
UNITS_IN_WORDS = dict(line.split("|") for line in table_lines("units", "spelled_out"))
PERIODS = {
    word: float(seconds)
    for seconds, words in table_pairs("units", "periods").items()
    for word in words.split()
}
SMALL = {word: value for value, word in enumerate(spelled_out("small").split("|"))}
TENS = dict(zip(spelled_out("tens").split("|"), range(20, 100, 10), strict=True))
SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}
PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "twentieth": 20,
}  # fmt: skip
_FIRST_ORDINALS = spelled_out("first_twenty").split("|")
ORDINALS = {word: number for number, word in enumerate(_FIRST_ORDINALS, 1)} | {"thirtieth": 30}
ORDINALS |= {
    f"{tens}-{word}": TENS[tens] + number
    for tens in ("twenty", "thirty")
    for number, word in enumerate(_FIRST_ORDINALS[:9], 1)
}


@cache
def _unit_pattern() -> re.Pattern[str]:
    spellings = "|".join(map(re.escape, sorted({*UNITS, *UNITS_IN_WORDS}, key=len, reverse=True)))
    return re.compile(rf"[ -]?-?({spellings})(?![^\W_])(?!-(?:to|and)-)")


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit that starts at a position of the text, and where it ends."""
    match = _unit_pattern().match(text, position)
    if match is None:
        return None
    unit = UNITS.get(UNITS_IN_WORDS.get(match[1], match[1]))
    return None if unit is None else (unit, match.end())


_CROWNS = {("USD", "CAD"), ("USD", "AUD"), ("SEK", "KRONE"), ("NOK", "KRONE"), ("DKK", "KRONE")}
_SAME_NAME = ({"degree", "temperature"}, {"mass", "money"})  # degrees; pounds
_ROUNDING = 0.02  # the most that rounding across systems may hide, as a share
_HALF_DEGREE = 0.6
_TOLERANCE = 1e-3  # of amounts in one system of units, as a share
_CALENDAR = 0.03  # a month is 28 to 31 days
_BINARY = (1.0, 1.024, 1.048576, 1.073741824, 1.099511627776)  # "MB" is written for both


@dataclass(frozen=True, slots=True)
class Number(Detail):
    """A number, its unit, and the period it is counted over."""

    kind: ClassVar[str] = "number"
    value: float  # as written, scale words applied
    unit: Unit | None = None  # the unit; None for a plain count
    step: float = 0.5  # half of the last digit written, in `value`'s unit: what rounding may have hidden
    period: float | None = None  # seconds it is counted over ("a month"); None if not said
    form: str = "cardinal"

    @property
    def base(self) -> float:
        """The value in base units of its dimension."""
        return self.value if self.unit is None else self.value * self.unit.factor + self.unit.offset

    @property
    def dimension(self) -> str:
        """What is measured; empty for a plain count."""
        return "" if self.unit is None else self.unit.dimension

    def _same(self, other: Number, /) -> bool:
        periods = self.period is None or other.period is None or near(self.period, other.period, _TOLERANCE)
        if self.value == other.value and self._units_agree(other) and periods:
            return True
        if self.unit is not None and other.unit is not None:
            return self._converted_agrees(other)
        plain, unit = (self, other) if self.unit is None else (other, self)
        shares = unit.dimension in {"ratio", "length", "multiple"}
        return shares and near(plain.value, unit.base, 1e-9)

    def _holds(self, other: Number, /) -> bool:
        """Whether this is the same amount and drops neither the other's unit nor its period."""
        said = self.unit is not None or other.unit is None
        return self._same(other) and said and (self.period is not None or other.period is None)

    def _excludes(self, other: Number, /) -> bool:
        """Whether both count or measure the same kind of thing and are strong enough to conflict."""
        if "weak" in (self.form, other.form):
            return False
        return self.dimension == other.dimension and (self.form == "ordinal") == (other.form == "ordinal")

    def _units_agree(self, other: Number) -> bool:
        if self.unit is None or other.unit is None or self.unit.name == other.unit.name:
            return True
        if self.dimension == other.dimension == "money":
            names = (self.unit.name, other.unit.name)
            return "ANY" in names or names in _CROWNS or names[::-1] in _CROWNS
        return {self.dimension, other.dimension} in _SAME_NAME

    def _converted_agrees(self, other: Number) -> bool:
        left, right = self.unit, other.unit
        if self.dimension != other.dimension or (self.dimension == "money" and not self._units_agree(other)):
            return False
        mine, theirs = self.base, other.base
        if self.period is not None and other.period is not None:
            mine, theirs = mine / self.period, theirs / other.period
        if left is None or right is None or (left.name == right.name and self.period == other.period):
            return mine == theirs
        if self.dimension == "data":
            high, low = max(mine, theirs), min(mine, theirs)
            return any(near(high, low * ratio, _TOLERANCE) for ratio in _BINARY)
        if left.system == right.system:
            return near(mine, theirs, _TOLERANCE)
        if self.dimension == "time":
            return near(mine, theirs, _CALENDAR)
        slack = max(self.step * left.factor, other.step * right.factor)
        degree = _HALF_DEGREE if self.dimension == "temperature" else 0.0
        limit = max(_ROUNDING * max(abs(mine), abs(theirs)), degree)
        return abs(mine - theirs) <= min(slack, limit) + _TOLERANCE * abs(mine)


def near(left: float, right: float, share: float) -> bool:
    """Whether two values differ by at most a share of the larger."""
    finite = math.isfinite(left) and math.isfinite(right)
    return left == right or (finite and abs(left - right) <= share * max(abs(left), abs(right)))


_EXTRAS = ((" and a half", 0.5), ("-and-a-half", 0.5), (" and a quarter", 0.25), ("-and-a-quarter", 0.25))
_SUFFIX = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12, "trillion": 1e12, **SCALES}
_WORD_STEP = 0.5
_GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_ALWAYS_OPEN = ("24", "7")


def spelled(phrase: str) -> float:
    """Value of a number in words."""
    phrase = phrase.lower()
    if phrase == "half a dozen":
        return 6.0
    scaled = pattern("half_scale").search(phrase)
    if scaled is not None:
        return spelled(phrase[: scaled.start(1)].rstrip("- ")) * SCALES[scaled.group(1)]
    total, current, extra = 0.0, 0.0, 0.0
    for tail, value in _EXTRAS:
        if phrase.endswith(tail):
            phrase, extra = phrase.removesuffix(tail), value
    for word in phrase.replace("-", " ").split(" "):
        if word in SMALL or word in TENS:
            current += SMALL.get(word, TENS.get(word, 0))
        elif word in SCALES:
            current = max(current, 1.0) * SCALES[word]
            if SCALES[word] >= SCALES["thousand"]:
                total, current = total + current, 0.0
    return total + current + extra


def value_of(text: str | None) -> float | None:
    """Value of digits, of "a", or of one number word; None for anything else."""
    if text and text[0].isdigit():
        return float(text)
    value = {"a": 1, **SMALL, **TENS}.get((text or "").lower())
    return None if value is None else float(value)


def numbers(page: Page) -> tuple[Number, ...]:
    """Take every number that no date, time, version or identifier has taken."""
    # The period that the text as a whole speaks of: "Annual salary: $96,000".
    overall = {(match[1] or "year").lower() for match in pattern("overall").finditer(page.text)}
    period = PERIODS[overall.pop()] if len(overall) == 1 else None
    ordinal: Row[Number] = ("ordinal", partial(_ordinal, page))
    return (
        *read(page, (("height", _height), ordinal, *_SHARES)),
        *_fractions(page),
        *read(page, [("multiple", lambda m: (Number(m[0], 2.0 if m[1] else 3.0, UNITS["x"], 0.0),))]),
        *[_measured(page, match.span(), *_digits(match), period) for match in page.find("digits")],
        *[_measured(page, match.span(), _GLYPHS[match.group()], 0.0) for match in page.find("glyph")],
        *_in_words(page, period),
        # A month, an hour: too weak to contradict, but another text may call it 30 days.
        *read(page, [("single", lambda m: (Number(m[0], 1.0, UNITS[m[1].lower()], 0.0, None, "weak"),))]),
    )


def _height(match: re.Match[str]) -> tuple[Number, ...]:
    feet, inches = map(float, match.groups())
    return (Number(match[0].strip(), feet * 12 + inches, UNITS["inch"], 0.5),) if inches < 12 else ()


def _ordinal(page: Page, match: re.Match[str]) -> tuple[Number, ...]:
    """First, 2nd, twentieth; those that name a part ("a third of") are left to the fractions."""
    digits, word = match.groups()
    if word and word.lower() in PARTS:
        start = max(0, match.start() - 8)
        before = pattern("before_part").search(page.rest[start : match.start()])
        many = before is not None and before.group().strip().lower() != "a"
        if before and many and pattern("fraction").match(page.rest, start + before.start()):
            return ()
    value = float(digits) if digits else float(ORDINALS[word.lower()])
    return (Number(match.group(), value, None, 0.0, None, "weak" if value == 1.0 else "ordinal"),)


def _ratio(match: re.Match[str], *, proper: bool = False) -> tuple[Number, ...]:
    top, bottom = value_of(match[1]), value_of(match[2])
    if top is None or not bottom or top > bottom or match.groups() == _ALWAYS_OPEN:
        return ()
    return () if proper and top == bottom else (Number(match[0], 100 * top / bottom, UNITS["%"], 0.5),)


_SHARES: tuple[Row[Number], ...] = (("ratio", _ratio), ("one_in", partial(_ratio, proper=True)))


def _fractions(page: Page) -> list[Number]:
    fractions = []
    for match in page.find("fraction"):
        top, part = match["top"], match["part"].lower().removesuffix("s")
        halved = part in {"half", "quarter"}
        if not (halved or (top and top.lower() != "a")) or (halved and not (top or match["of"])):
            continue
        share = (value_of(top or "a") or 1.0) / PARTS[part]
        scale = pattern("scale_next").match(page.rest, match.end())
        unit = unit_at(page.rest, match.end())
        if scale is not None:
            value = share * SCALES[scale[1].lower()]
            fractions.append(_measured(page, (match.start(), scale.end()), value, 0.0))
        elif unit is not None and unit[0].dimension == "time":
            page.mark(match.start(), unit[1])
            fractions.append(Number(page.text[match.start() : unit[1]], share, unit[0], 0.0))
        else:
            page.mark(match.start(), match.end())
            fractions.append(Number(match.group(), 100 * share, UNITS["%"], 0.0))
    return fractions


def _digits(match: re.Match[str]) -> tuple[float, float]:
    body = match["body"].replace("'", "").replace(" ", "")
    if pattern("grouped").match(body):
        body = body.replace(",", "")
    elif pattern("dotted_groups").match(body):
        body = body.replace(".", "")
    body = body.replace(",", ".")
    scale = _SUFFIX.get((match["scale"] or "").strip().lower(), 1.0)
    value = float(body + (match["exp"] or "")) * scale + _GLYPHS.get(match["glyph"] or "", 0.0)
    places = len(body.partition(".")[2])
    return (-value if match["sign"] in {"-", "minus "} else value), 0.5 * scale / 10**places


def _in_words(page: Page, period: float | None) -> list[Number]:
    quantities = []
    for match in page.find("spelled"):
        text, start, end = match.group(), match.start(), match.end()
        counts = pattern("not_one").search(page.text, max(0, start - 9), start) is None
        if text.lower() == "one" and not (counts and pattern("after_one").match(page.text, end) is None):
            continue
        value = spelled(text)
        step = _WORD_STEP if value.is_integer() else _WORD_STEP / 2
        if pattern("minus").search(page.text, max(0, start - 8), start):
            value = -value
        number = _measured(page, (start, end), value, step, period)
        quantities.append(replace(number, form="weak") if value == 1.0 and number.unit is None else number)
    return quantities


def _measured(
    page: Page, span: tuple[int, int], value: float, step: float, period: float | None = None
) -> Number:
    """Look for a unit behind or a currency before a number, then for a period, and take all of it."""
    start, end = span
    unit, stop = unit_at(page.rest, end) or (None, end)
    millions = page.rest[end:stop] == "m"
    if unit is None:
        further = pattern("range_end").match(page.rest, end)
        unit = (unit_at(page.rest, further.end()) or (None,))[0] if further else None
    before = pattern("currency_before").search(page.rest, max(0, start - 8), start)
    if before is not None and before[1] in PREFIXES:
        if millions:
            value, step = value * 1e6, step * 1e6
        unit = unit if unit is not None and unit.dimension == "money" else UNITS[before[1]]
        start = before.start()
    money = unit is not None and unit.dimension == "money"
    if money and pattern("price_group").search(page.text, start, stop):
        value, step = value * 1e3, step * 1e3  # "€1.450": prices have no third decimal
    over = period if money else None
    per = pattern("per").match(page.rest, stop)  # " a month", "/yr", " weekly"
    if per is not None and (per["join"] or per["span"].endswith("ly")):
        over, stop = PERIODS[per["span"]], per.end()
    page.mark(start, stop)
    return Number(page.text[start:stop].strip(), value, unit, step, over)
