"""Amounts, their units, and when two amounts are the same: 5 ft 11 and 180 cm, 0.5 GiB and 512 MiB.

Inside one system of units conversion is exact; across systems the last digit written may hide a rounding. A
unit or a period that only one of them states is compatible; two currencies never are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from ..text.tables import table_lines, table_words
from .details import Detail, Expression

DAY = 86400.0
YEAR = 365.25 * DAY
MONTH = YEAR / 12


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of measure."""

    name: str  # canonical name, equal for all spellings
    dimension: str  # what it measures; only numbers of one dimension are compared
    factor: float = 1.0  # how many base units one of it is
    system: str = "si"  # conversions inside one system are exact; across systems people round
    offset: float = 0.0  # added after multiplying, for temperatures


def _read() -> dict[str, Unit]:
    units = {}
    for line in table_lines("units", "units"):
        dimension, factor, system, spellings = line.split("|")
        names = spellings.split()
        kind, _, currency = dimension.partition(" ")
        for spelling in names:
            name = currency if kind == "money" else names[-1]
            units[spelling] = Unit(name, kind if kind == "money" else dimension, float(factor), system)
    for spelling in ("°C", "℃", "Celsius", "celsius", "°c"):
        units[spelling] = Unit("celsius", "temperature", 1.0, "si")
    for spelling in ("°F", "℉", "Fahrenheit", "fahrenheit", "°f"):
        units[spelling] = Unit("fahrenheit", "temperature", 5 / 9, "imperial", -160 / 9)
    for spelling in ("°", "degree", "degrees"):
        units[spelling] = Unit("degree", "degree")
    return units


UNITS = _read()
PREFIXES = frozenset(table_words("units", "before_number"))
UNITS_IN_WORDS = dict(line.split("|") for line in table_lines("units", "spelled_out"))
PERIODS = {
    **dict.fromkeys(("s", "sec", "second"), 1.0),
    **dict.fromkeys(("min", "minute"), 60.0),
    **dict.fromkeys(("h", "hr", "hour"), 3600.0),
    **dict.fromkeys(("d", "day", "night", "daily", "nightly"), DAY),
    **dict.fromkeys(("w", "wk", "week", "weekly"), 7 * DAY),
    **dict.fromkeys(("mo", "month", "monthly"), MONTH),
    **dict.fromkeys(("quarter", "quarterly"), YEAR / 4),
    **dict.fromkeys(("y", "yr", "year", "annum", "yearly", "annual", "annually"), YEAR),
}
_SPELLINGS = "|".join(re.escape(each) for each in sorted({*UNITS, *UNITS_IN_WORDS}, key=len, reverse=True))
_UNIT = Expression(rf"[ -]?-?({_SPELLINGS})(?![^\W_])(?!-(?:to|and)-)")


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit that starts at a position of the text, and where it ends.

    >>> unit_at("75 mcg", 2)[0].name
    'micrograms'
    """
    match = _UNIT.match(text, position)
    if match is None:
        return None
    spelling = UNITS_IN_WORDS.get(match.group(1), match.group(1))
    unit = UNITS.get(spelling)
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

    def agrees(self, other: Detail) -> bool:
        """Whether both may state the same amount."""
        if not isinstance(other, Number):
            return False
        if self.value == other.value and self._units_agree(other) and self._periods_agree(other):
            return True
        if self.unit is None or other.unit is None:
            return self._plain_agrees(other)
        return self._converted_agrees(other)

    def covers(self, other: Detail) -> bool:
        """Whether this is the same amount and drops neither the other's unit nor its period."""
        if not isinstance(other, Number) or not self.agrees(other):
            return False
        said = self.unit is not None or other.unit is None
        return said and (self.period is not None or other.period is None)

    def rivals(self, other: Detail) -> bool:
        """Whether both count or measure the same kind of thing and are strong enough to conflict."""
        if not isinstance(other, Number) or "weak" in (self.form, other.form):
            return False
        return self.dimension == other.dimension and (self.form == "ordinal") == (other.form == "ordinal")

    def _periods_agree(self, other: Number) -> bool:
        return self.period is None or other.period is None or near(self.period, other.period, _TOLERANCE)

    def _units_agree(self, other: Number) -> bool:
        if self.unit is None or other.unit is None or self.unit.name == other.unit.name:
            return True
        if self.dimension == other.dimension == "money":
            names = (self.unit.name, other.unit.name)
            return "ANY" in names or names in _CROWNS or names[::-1] in _CROWNS
        return {self.dimension, other.dimension} in _SAME_NAME

    def _plain_agrees(self, other: Number) -> bool:
        plain, unit = (self, other) if self.unit is None else (other, self)
        if unit.dimension in {"ratio", "length", "multiple"}:
            return near(plain.value, unit.base, 1e-9)
        return False

    def _converted_agrees(self, other: Number) -> bool:
        if self.dimension != other.dimension or (self.dimension == "money" and not self._units_agree(other)):
            return False
        mine, theirs = self.base, other.base
        if self.period is not None and other.period is not None:
            mine, theirs = mine / self.period, theirs / other.period
        return self._close(other, mine, theirs)

    def _close(self, other: Number, mine: float, theirs: float) -> bool:
        left, right = self.unit, other.unit
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
    """Whether two values differ by at most a share of the larger.

    >>> near(100.0, 100.05, 1e-3), near(100.0, 101.0, 1e-3)
    (True, False)
    """
    if left == right:
        return True
    finite = math.isfinite(left) and math.isfinite(right)
    return finite and abs(left - right) <= share * max(abs(left), abs(right))
