"""Reads the numbers of a text: digits, groups, suffixes (96k, 3e-4), words, fractions, ratios, ordinals.

Each number takes its unit and period with it ("CHF 300 a month"). A bare "one", "a month" or "first" is read
as weak: it must be kept by a merge, but contradicts nothing. Dates, times and identifiers are taken before.
Numerals are read as English writes them; other languages' are words here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from ..text.tables import listed
from .amounts import PERIODS, PREFIXES, UNITS, Number, unit_at
from .details import Expression, Page, Row, read

_NUMERALS = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
SMALL = {word: value for value, word in enumerate(_NUMERALS)}
TENS = dict(
    zip(listed("twenty thirty forty fifty sixty seventy eighty ninety"), range(20, 100, 10), strict=True)
)
SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}
PARTS = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
    "twentieth": 20,
}
_FIRST_ORDINALS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = {word: number for number, word in enumerate(_FIRST_ORDINALS, 1)} | {"thirtieth": 30}
ORDINALS |= {
    f"{tens}-{word}": TENS[tens] + number
    for tens in ("twenty", "thirty")
    for number, word in enumerate(_FIRST_ORDINALS[:9], 1)
}
SCALE = "|".join(SCALES)
_UNIT_WORD = "|".join([*TENS, *SMALL])
CARDINAL = rf"(?:{_UNIT_WORD})(?:[- ](?:{'|'.join(SMALL)})\b)?"
SPELLED = Expression(
    rf"\b(?:half a dozen|(?:a|{CARDINAL}|several)[- ](?:{SCALE})(?:[- ](?:and[- ])?(?:{CARDINAL}|{SCALE})\b)*"
    rf"|{CARDINAL}|(?:hundred|thousand|million)(?:[- ]and[- ](?:{CARDINAL}))?|dozen)\b"
    rf"(?P<half>[- ]and[- ]a[- ](?:half|quarter))?(?(half)(?:[- ](?:{SCALE})\b)?)",
    re.IGNORECASE,
)
_HALF_SCALE = Expression(rf"(?:half|quarter)[- ]({SCALE})$")
_SEPARATOR = Expression("[^- ]+")
_EXTRAS = ((" and a half", 0.5), ("-and-a-half", 0.5), (" and a quarter", 0.25), ("-and-a-quarter", 0.25))


def spelled(phrase: str) -> float:
    """Value of a number in words.

    >>> spelled("two and a half"), spelled("one hundred and thirty"), spelled("half a dozen")
    (2.5, 130.0, 6.0)
    """
    phrase = phrase.lower()
    if phrase == "half a dozen":
        return 6.0
    scaled = _HALF_SCALE.search(phrase)
    if scaled is not None:
        return spelled(phrase[: scaled.start(1)].rstrip("- ")) * SCALES[scaled.group(1)]
    total, current, extra = 0.0, 0.0, 0.0
    for tail, value in _EXTRAS:
        if phrase.endswith(tail):
            phrase, extra = phrase.removesuffix(tail), value
    for match in _SEPARATOR.all(phrase):
        word = match.group()
        if word in SMALL or word in TENS:
            current += SMALL.get(word, TENS.get(word, 0))
        elif word in SCALES:
            current = max(current, 1.0) * SCALES[word]
            if SCALES[word] >= SCALES["thousand"]:
                total, current = total + current, 0.0
    return total + current + extra


def value_of(text: str | None) -> float | None:
    """Value of digits, of "a", or of one number word; None for anything else.

    >>> value_of("12"), value_of("twenty"), value_of("many")
    (12.0, 20.0, None)
    """
    if not text:
        return None
    if text[0].isdigit():
        return float(text)
    word = text.lower()
    if word == "a":
        return 1.0
    value = SMALL.get(word, TENS.get(word))
    return None if value is None else float(value)


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
        *read(page, (_FEET, _height), (_ORDINAL, lambda match: _ordinal(page, match)), *_SHARES),
        *_fractions(page),
        *read(page, (_MULTIPLE, _multiple)),
        *_in_digits(page, period),
        *_in_words(page, period),
        *read(page, (_SINGLE, _single)),
    )


def _overall_period(page: Page) -> float | None:
    """The period that a text as a whole speaks of, if there is just one: "Annual salary: $96,000"."""
    periods = {(match.group(1) or "year").lower() for match in _OVERALL.all(page.text)}
    return PERIODS[periods.pop()] if len(periods) == 1 else None


def _height(match: re.Match[str]) -> tuple[Number, ...]:
    feet, inches = (float(group) for group in match.groups())
    if inches >= _INCHES_PER_FOOT:
        return ()
    return (Number(match.group().strip(), feet * _INCHES_PER_FOOT + inches, UNITS["inch"], 0.5),)


def _ordinal(page: Page, match: re.Match[str]) -> tuple[Number, ...]:
    """First, 2nd, twentieth; those that name a part ("a third of") are left to the fractions."""
    digits, word = match.groups()
    if word and word.lower() in PARTS and _FRACTION.match(page.rest, _phrase_start(page.rest, match.start())):
        return ()
    value = float(digits) if digits else float(ORDINALS[word.lower()])
    return (Number(match.group(), value, None, 0.0, None, "weak" if value == 1.0 else "ordinal"),)


def _phrase_start(text: str, position: int) -> int:
    """Where "one third" starts, given where "third" starts; the position itself if nothing stands before."""
    before = re.search(rf"\b(?:{_TOP})[- ]$", text[max(0, position - 8) : position], re.IGNORECASE)
    if before is None or before.group().strip().lower() == "a":
        return len(text)
    return max(0, position - 8) + before.start()


def _ratio(match: re.Match[str], *, proper: bool = False) -> tuple[Number, ...]:
    top, bottom = value_of(match[1]), value_of(match[2])
    if (
        top is None
        or not bottom
        or top > bottom
        or match.groups() == _ALWAYS_OPEN
        or (proper and top == bottom)
    ):
        return ()
    return (Number(match.group(), 100 * top / bottom, UNITS["%"], 0.5),)


_SHARES: tuple[Row[Number], ...] = ((_SLASHED, _ratio), (_ONE_IN, partial(_ratio, proper=True)))


def _fractions(page: Page) -> list[Number]:
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


def _multiple(match: re.Match[str]) -> tuple[Number, ...]:
    return (Number(match.group(), 2.0 if match[1] else 3.0, UNITS["x"], 0.0),)


def _in_digits(page: Page, period: float | None) -> list[Number]:
    quantities = []
    for match in page.find(_DIGITS):
        value, step = _digits(match)
        quantities.append(_measured(page, match.span(), value, step, period))
    quantities.extend(
        _measured(page, match.span(), _GLYPHS[match.group()], 0.0) for match in page.find(_GLYPH)
    )
    return quantities


def _digits(match: re.Match[str]) -> tuple[float, float]:
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


def _single(match: re.Match[str]) -> tuple[Number, ...]:
    """A month, an hour: too weak to contradict, but another text may call it 30 days."""
    return (Number(match.group(), 1.0, UNITS[match[1].lower()], 0.0, None, "weak"),)


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
