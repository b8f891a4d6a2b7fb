"""An amount and when two amounts are the same: 5 ft 11 and 180 cm, 0.5 GiB and 512 MiB, 1,500 ms and 1.5 s.

Inside one system of units conversion is exact; across systems the last digit written may hide a rounding.
A unit or a period that only one of them states is compatible; two currencies never are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .detail import Detail
from .units import Unit

_CROWNS = {("USD", "CAD"), ("USD", "AUD"), ("SEK", "KRONE"), ("NOK", "KRONE"), ("DKK", "KRONE")}
_SAME_NAME = ({"degree", "temperature"}, {"mass", "money"})  # degrees; pounds
_ROUNDING = 0.02  # the most that rounding across systems may hide, as a share
_HALF_DEGREE = 0.6
_TOLERANCE = 1e-3  # of amounts in one system of units, as a share
_CALENDAR = 0.03  # a month is 28 to 31 days
_BINARY = (1.0, 1.024, 1.048576, 1.073741824, 1.099511627776)  # "MB" is written for both


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
