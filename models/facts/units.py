"""Units of measure and how they convert: one table, one look-up.

Only units that memories are written in. A unit that two dimensions share keeps the commoner one ("m" is
metres, "bps" is basis points). Currencies are units that never convert into each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .tokens import Expression, listed

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


_TABLE = """
time|1e-9|si|ns nanosecond nanoseconds
time|1e-6|si|μs us microsecond microseconds
time|1e-3|si|ms msec msecs millisecond milliseconds millis
time|1|si|s sec secs second seconds
time|60|si|min mins minute minutes
time|3600|si|h hr hrs hour hours
time|86400|si|d day days
time|604800|si|wk wks week weeks
time|1209600|si|fortnight fortnights
time|2629800|month|month months mo mos mths
time|31557600|month|yr yrs year years y.o. yo
time|315576000|month|decade decades
length|0.001|si|mm millimetre millimetres millimeter millimeters
length|0.01|si|cm centimetre centimetres centimeter centimeters
length|1|si|m metre metres meter meters
length|1000|si|km kms kilometre kilometres kilometer kilometers
length|0.0254|imperial|inch inches
length|0.3048|imperial|ft foot feet
length|0.9144|imperial|yd yard yards
length|1609.344|imperial|mi mile miles
mass|1e-9|si|mcg μg ug microgram micrograms
mass|1e-6|si|mg milligram milligrams
mass|0.001|si|g gram grams gr
mass|1|si|kg kgs kilo kilos kilogram kilograms
mass|1000|si|t tonne tonnes
mass|0.45359237|imperial|lb lbs pound pounds
mass|0.028349523|imperial|oz ounce ounces
mass|6.35029318|imperial|st stone
volume|0.001|si|ml mL millilitre millilitres milliliter milliliters
volume|0.01|si|cl cL
volume|0.1|si|dl dL
volume|1|si|l L litre litres liter liters
volume|3.785411784|imperial|gallon gallons gal
volume|0.473176473|imperial|pint pints
data|0.125|si|bit bits
data|1|si|B byte bytes
data|1e3|si|kB KB kb kilobyte kilobytes
data|1e6|si|MB mb megabyte megabytes
data|1e9|si|GB gb Gb gigabyte gigabytes gigs gig
data|1e12|si|TB tb terabyte terabytes
data|1e15|si|PB petabyte petabytes
data|1024|binary|KiB kib
data|1048576|binary|MiB mib Mi
data|1073741824|binary|GiB gib Gi
data|1099511627776|binary|TiB tib Ti
bandwidth|1e3|si|kbps kbit/s kb/s
bandwidth|1e6|si|Mbps mbps Mbit/s mbit/s Mb/s
bandwidth|1e9|si|Gbps gbps Gbit/s gbit/s
bandwidth|8e6|si|MB/s
bandwidth|8e9|si|GB/s
ratio|0.01|si|% percent pct percents
ratio|0.0001|si|bps bp
ratio|0.001|si|‰
power|1e-3|si|mW
power|1|si|W watt watts
power|1e3|si|kW kilowatt kilowatts
power|1e6|si|MW
energy|1|si|Wh
energy|1e3|si|kWh kwh
energy|1e6|si|MWh
food energy|1|si|kcal calories cal kcals
charge|1|si|mAh
voltage|1|si|V volt volts
current|1|si|A amp amps
frequency|1|si|Hz hz
frequency|1e3|si|kHz khz
frequency|1e6|si|MHz mhz
frequency|1e9|si|GHz ghz
cpu|0.001|si|millicores millicore
cpu|1|si|vCPU vCPUs vcpu vcpus cores core CPUs
speed|1|si|km/h kph kmh
speed|1.609344|imperial|mph
area|1|si|m2 m² sqm
area|0.09290304|imperial|sqft ft²
area|10000|si|ha hectare hectares
area|4046.856|imperial|acre acres
pixels|1|si|px pixel pixels
loudness|1|si|dB
multiple|1|si|x X × times fold
multiple|12|si|dozen dozens
money USD|1|si|$ USD usd US$ dollar dollars bucks
money EUR|1|si|€ EUR eur euro euros
money EUR|0.01|si|ct
money GBP|1|si|£ GBP gbp quid
money JPY|1|si|¥ JPY jpy yen
money INR|1|si|₹ INR inr rupee rupees
money CHF|1|si|CHF chf franc francs
money PLN|1|si|zł PLN pln zloty zlotys
money SEK|1|si|SEK sek
money NOK|1|si|NOK nok
money DKK|1|si|DKK dkk
money KRONE|1|si|kr krone kroner krona kronor
money CAD|1|si|CAD C$
money AUD|1|si|AUD A$
money ANY|0.01|si|cent cents
"""


def _read() -> dict[str, Unit]:
    """Read the table into one look-up from spelling to unit."""
    units = {}
    for line in _TABLE.strip().splitlines():
        dimension, factor, system, spellings = line.split("|")
        names = listed(spellings)
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
PREFIXES = frozenset(
    listed(
        "$ € £ ¥ ₹ US$ C$ A$ CHF USD EUR GBP JPY INR PLN SEK NOK DKK CAD AUD "
        "chf usd eur gbp jpy inr pln sek nok dkk"
    )
)
_IN_WORDS = {
    "square metre": "m2",
    "square metres": "m2",
    "square meter": "m2",
    "square meters": "m2",
    "sq m": "m2",
    "square foot": "sqft",
    "square feet": "sqft",
    "sq ft": "sqft",
    "per cent": "%",
    "basis points": "bps",
    "basis point": "bps",
    "US dollars": "USD",
    "kilometres per hour": "km/h",
    "miles per hour": "mph",
    "degrees Celsius": "°C",
    "degrees celsius": "°C",
    "degrees Fahrenheit": "°F",
    "years old": "years",
    "year old": "years",
    "year-old": "years",
    "years-old": "years",
}
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
