"""Reads the numbers of a text: digits, groups, suffixes (96k, 3e-4), words, fractions, ratios, ordinals.

Each number takes its unit and period with it ("CHF 300 a month"). A bare "one", "a month" or "first" is
read as weak: it must be kept by a merge, but contradicts nothing. Dates, times and identifiers are taken
before.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .amounts import Number
from .numerals import ORDINALS, PARTS, SCALE, SCALES, SMALL, SPELLED, spelled, value_of
from .tokens import Expression, Page
from .units import PERIODS, PREFIXES, UNITS, unit_at

__all__ = ["Number", "numbers"]
_DIGITS = Expression(
    r"(?P<sign>(?<![\w)\]%\x00])[-+]|\bminus )?(?<![0-9A-Za-z_.])"
    r"(?P<body>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,2}|[0-9]{1,3}(?:\.[0-9]{3}){2,}"
    r"|[0-9]{1,3}(?: [0-9]{3})+(?=\s?(?:€|EUR|zł|kr|Kč|CHF|SEK|NOK|DKK|PLN)(?![A-Za-z]))"
    r"|[0-9]{1,3}(?:'[0-9]{3})+"
    r"|[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?P<exp>[eE][-+]?[0-9]{1,3}\b)?"
    r"(?P<scale>(?:[kKMB]|bn|mn|tn)(?![^\W_])| ?(?:thousand|million|billion|mn|bn|trillion|hundred|dozen)\b)?"
    r"(?P<glyph>[½¼¾])?",
    digits=True,
)
_GROUPED = Expression(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$")
_DOTTED = Expression(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,2}$|\.[0-9]{3}$)")
_PRICE_GROUP = Expression(r"(?<![0-9.,])[0-9]{1,3}\.[0-9]{3}(?![0-9.,])")
_SUFFIX = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12, "trillion": 1e12, **SCALES}
_RANGE_END = Expression(r" ?(?:-|to|and|or|nor) ?(?:above |below |over |under )?[-+]?[0-9][0-9.,]*")
_MINUS = Expression(r"\bminus $", re.IGNORECASE)
_WORD_STEP = 0.5
_GLYPH = Expression(r"(?<![0-9])[½¼¾]")
_GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_FEET = Expression(
    r"(?<![\w.])([0-9])\s?(?:'|ft\.?|feet|foot)\s?([0-9]{1,2})"
    r"(?:\s?(?:\"|''|in\b|inch(?:es)?\b)|(?!\w|\.[0-9]))",
    digits=True,
)
_INCHES_PER_FOOT = 12
_SLASHED = Expression(r"(?<![\w./-])([0-9]+(?:\.[0-9]+)?)\s?/\s?([0-9]+)(?![\w/-]|\.[0-9])", digits=True)
_ONE_IN = Expression(r"\b(one|[0-9]+)(?: [a-z]+)? (?:in|out of) (?:every )?([0-9]+|[a-z]+)\b(?= |[.,;]|$)")
_TOP = "|".join(("a", *list(SMALL)[1:10]))
_PART = "|".join(f"{part}s?" if part != "half" else part for part in PARTS)
_FRACTION = Expression(
    rf"\b(?<!and )(?<!and-)(?:(?P<top>{_TOP})[- ])?(?P<part>{_PART})\b"
    r"(?:[- ](?P<of>of|a(?! dozen)|an|the|off)\b)?(?! past| to | after| a dozen)",
    re.IGNORECASE,
)
_SCALE_NEXT = Expression(rf"[- ](?:a |of a )?({SCALE})\b", re.IGNORECASE)
_ORDINAL = Expression(
    rf"\b(?:([0-9]+)(?:st|nd|rd|th)|({'|'.join(sorted(ORDINALS, key=len, reverse=True))}))\b", re.IGNORECASE
)
_SINGLE = Expression(
    r"\b(?:a|an)[- ](second|minute|hour|day|week|fortnight|month|year|decade)\b", re.IGNORECASE
)
_MULTIPLE = Expression(r"\b(?:(twice|double[sd]?|doubling)|(thrice|triple[sd]?))\b", re.IGNORECASE)
_PER = Expression(
    r"\s*(?P<join>/\s?|per |a |an |each |every |in a |p\.\s?)?"
    r"(?P<span>s|sec|second|min|minute|h|hr|hour|d|day|night|w|wk|week|mo|month|quarter|y|yr|year|annum|"
    r"daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)
_OVERALL = Expression(
    r"\b(annual|annually|yearly|monthly|weekly|daily|quarterly|(?:(?<=each )|(?<=every )|(?<=per )|"
    r"(?<= a ))(?:month|year|annum))\b|\b(p\.a)\.",
    re.IGNORECASE,
)
_CURRENCY_BEFORE = Expression(r"([A-Za-z]{0,3}[$€£¥₹]|\b[A-Za-z]{3})\s?[-+]?$")
_NOT_ONE = Expression(
    r"\b(?:no|any|some|every|each|the|this|that|which|other|another|only|new|old)[- ]$", re.IGNORECASE
)
_AFTER_ONE = Expression(
    r"[- ](?:of|another|day|by|who|that|thing|should|must|can|has|is|might|may)\b", re.IGNORECASE
)
_ALWAYS_OPEN = ("24", "7")

Span = tuple[int, int]


def numbers(page: Page) -> tuple[Number, ...]:
    """Take every number that no date, time, version or identifier has taken.

    >>> [(n.value, n.dimension) for n in numbers(Page("20 mg twice, 5 ft 11, half a dozen"))]
    [(71.0, 'length'), (2.0, 'multiple'), (20.0, 'mass'), (6.0, '')]
    """
    period = _overall_period(page)
    return (
        *_heights(page),
        *_ordinals(page),
        *_ratios(page),
        *_fractions(page),
        *_multiples(page),
        *_in_digits(page, period),
        *_in_words(page, period),
        *_singles(page),
    )


def _overall_period(page: Page) -> float | None:
    """The period that a text as a whole speaks of, if there is just one: "Annual salary: $96,000"."""
    periods = {(match.group(1) or "year").lower() for match in _OVERALL.all(page.text)}
    return PERIODS[periods.pop()] if len(periods) == 1 else None


def _heights(page: Page) -> list[Number]:
    """Take feet and inches: 5'11", 5 ft 11."""
    heights = []
    for match in page.find(_FEET):
        feet, inches = (float(group) for group in match.groups())
        if inches < _INCHES_PER_FOOT:
            page.mark(match.start(), match.end())
            heights.append(
                Number(match.group().strip(), feet * _INCHES_PER_FOOT + inches, UNITS["inch"], 0.5)
            )
    return heights


def _ordinals(page: Page) -> list[Number]:
    """Take first, 2nd, twentieth; those that name a part ("a third of") are left to the fractions."""
    ordinals = []
    for match in page.find(_ORDINAL):
        digits, word = match.groups()
        if (
            word
            and word.lower() in PARTS
            and _FRACTION.match(page.rest, _phrase_start(page.rest, match.start()))
        ):
            continue
        page.mark(match.start(), match.end())
        value = float(digits) if digits else float(ORDINALS[word.lower()])
        ordinals.append(Number(match.group(), value, None, 0.0, None, "weak" if value == 1.0 else "ordinal"))
    return ordinals


def _phrase_start(text: str, position: int) -> int:
    """Where "one third" starts, given where "third" starts; the position itself if nothing stands before."""
    before = re.search(rf"\b(?:{_TOP})[- ]$", text[max(0, position - 8) : position], re.IGNORECASE)
    if before is None or before.group().strip().lower() == "a":
        return len(text)
    return max(0, position - 8) + before.start()


def _ratios(page: Page) -> list[Number]:
    """Take 87/100 and one in twenty."""
    ratios = []
    for pattern in (_SLASHED, _ONE_IN):
        for match in page.find(pattern):
            top, bottom = value_of(match.group(1)), value_of(match.group(2))
            if top is None or not bottom or top > bottom or match.groups() == _ALWAYS_OPEN:
                continue
            if pattern is _ONE_IN and top == bottom:
                continue
            page.mark(match.start(), match.end())
            ratios.append(Number(match.group(), 100 * top / bottom, UNITS["%"], 0.5))
    return ratios


def _fractions(page: Page) -> list[Number]:
    """Take three quarters, half of, half an hour, a quarter of a million."""
    fractions = []
    for match in page.find(_FRACTION):
        top, part = match.group("top"), match.group("part").lower().removesuffix("s")
        halved = part in {"half", "quarter"}
        if not (halved or (top and top.lower() != "a")) or (halved and not (top or match.group("of"))):
            continue
        share = (value_of(top or "a") or 1.0) / PARTS[part]
        scale = _SCALE_NEXT.match(page.rest, match.end())
        unit = unit_at(page.rest, match.end())
        if scale is not None:
            value = share * SCALES[scale.group(1).lower()]
            fractions.append(_measured(page, (match.start(), scale.end()), value, 0.0))
        elif unit is not None and unit[0].dimension == "time":
            page.mark(match.start(), unit[1])
            fractions.append(Number(page.text[match.start() : unit[1]], share, unit[0], 0.0))
        else:
            page.mark(match.start(), match.end())
            fractions.append(Number(match.group(), 100 * share, UNITS["%"], 0.0))
    return fractions


def _multiples(page: Page) -> list[Number]:
    """Take twice, double, triple."""
    return [
        Number(match.group(), 2.0 if match.group(1) else 3.0, UNITS["x"], 0.0)
        for match in page.take(_MULTIPLE)
    ]


def _in_digits(page: Page, period: float | None) -> list[Number]:
    """Take numbers in digits."""
    quantities = []
    for match in page.find(_DIGITS):
        value, step = _digits(match)
        quantities.append(_measured(page, match.span(), value, step, period))
    quantities.extend(
        _measured(page, match.span(), _GLYPHS[match.group()], 0.0) for match in page.find(_GLYPH)
    )
    return quantities


def _digits(match: re.Match[str]) -> tuple[float, float]:
    """Value of a number in digits, and half of its last digit."""
    body = match.group("body").replace("'", "").replace(" ", "")
    if _GROUPED.match(body):
        body = body.replace(",", "")
    elif _DOTTED.match(body):
        body = body.replace(".", "")
    body = body.replace(",", ".")
    scale = _SUFFIX.get((match.group("scale") or "").strip().lower(), 1.0)
    value = float(body + (match.group("exp") or "")) * scale + _GLYPHS.get(match.group("glyph") or "", 0.0)
    places = len(body.partition(".")[2])
    return (-value if match.group("sign") in {"-", "minus "} else value), 0.5 * scale / 10**places


def _in_words(page: Page, period: float | None) -> list[Number]:
    """Take numbers in words; "one" is weak, and nothing where it is a pronoun."""
    quantities = []
    for match in page.find(SPELLED):
        text, start, end = match.group(), match.start(), match.end()
        if text.lower() == "one" and (
            _NOT_ONE.search(page.text, max(0, start - 9), start) or _AFTER_ONE.match(page.text, end)
        ):
            continue
        value = spelled(text)
        step = _WORD_STEP if value.is_integer() else _WORD_STEP / 2
        if _MINUS.search(page.text, max(0, start - 8), start):
            value = -value
        number = _measured(page, (start, end), value, step, period)
        quantities.append(replace(number, form="weak") if value == 1.0 and number.unit is None else number)
    return quantities


def _singles(page: Page) -> list[Number]:
    """Take "a month", "an hour": too weak to contradict, but another text may call it 30 days."""
    return [
        Number(match.group(), 1.0, UNITS[match.group(1).lower()], 0.0, None, "weak")
        for match in page.take(_SINGLE)
    ]


def _measured(page: Page, span: Span, value: float, step: float, period: float | None = None) -> Number:
    """Look for a unit behind or a currency before a number, then for a period, and take all of it."""
    start, end = span
    unit, stop = unit_at(page.rest, end) or (None, end)
    if unit is None:
        further = _RANGE_END.match(page.rest, end)
        unit = (unit_at(page.rest, further.end()) or (None,))[0] if further else None
    before = _CURRENCY_BEFORE.search(page.rest, max(0, start - 8), start)
    if before is not None and before.group(1) in PREFIXES:
        if unit is UNITS["m"] and page.rest[end : end + 1] == "m":
            value, step = value * 1e6, step * 1e6
        unit = unit if unit is not None and unit.dimension == "money" else UNITS[before.group(1)]
        start = before.start()
    money = unit is not None and unit.dimension == "money"
    if money and _PRICE_GROUP.search(page.text, start, stop):
        value, step = value * 1e3, step * 1e3  # "€1.450": prices have no third decimal
    said, stop = _period_at(page, stop)
    page.mark(start, stop)
    over = said if said is not None else period if money else None
    return Number(page.text[start:stop].strip(), value, unit, step, over)


def _period_at(page: Page, position: int) -> tuple[float | None, int]:
    """The period that follows at a position, and where it ends: " a month", "/yr", " weekly"."""
    match = _PER.match(page.rest, position)
    if match is None or not (match.group("join") or match.group("span").endswith("ly")):
        return None, position
    return PERIODS[match.group("span")], match.end()
