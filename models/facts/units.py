"""Units of measure and how they convert: one table, one look-up.

Currencies are units that never convert into each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..word_tables import table_lines, table_words
from .tokens import Expression

DAY = 86400.0
YEAR = 365.25 * DAY
MONTH = YEAR / 12


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of measure.

    Attributes:
        name: Canonical name, equal for all spellings.
        dimension: What it measures; only numbers of one dimension are compared.
        factor: How many base units one of it is.
        system: Conversions inside one system are exact; across systems people round.
        offset: Added after multiplying, for temperatures.
    """

    name: str
    dimension: str
    factor: float = 1.0
    system: str = "si"
    offset: float = 0.0


def _read() -> dict[str, Unit]:
    """Read the table into one look-up from spelling to unit."""
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
_IN_WORDS = dict(line.split("|") for line in table_lines("units", "spelled_out"))
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
_SPELLINGS = "|".join(re.escape(each) for each in sorted({*UNITS, *_IN_WORDS}, key=len, reverse=True))
_UNIT = Expression(rf"[ -]?-?({_SPELLINGS})(?![^\W_])(?!-(?:to|and)-)")


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit that starts at a position of the text, and where it ends.

    >>> unit_at("75 mcg", 2)[0].name
    'micrograms'
    """
    match = _UNIT.match(text, position)
    if match is None:
        return None
    spelling = _IN_WORDS.get(match.group(1), match.group(1))
    unit = UNITS.get(spelling)
    return None if unit is None else (unit, match.end())
