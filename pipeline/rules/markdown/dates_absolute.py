"""Relative dates made absolute: only words that certainly mean one day, reckoned from a certain day.

"Yesterday", "tomorrow", "last Tuesday" and the days next to them can mean a day. "In 7 days", "within",
"every", "expires in", comparisons, ranges and conditions are durations or cases and stay, as do code,
quotations, links, headings and tables. A line that gives a date of its own is reckoned from that, or left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from ...stores.markdown.raw_text import Line, split_lines

DayOf = Callable[[str], date | None]
"""The day on which a line was written; None if that is not certain."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE = re.compile(
    rf"(?<![\w'’/.=_-])(?:(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday|tomorrow"
    rf"|last\s+(?:{'|'.join(_DAYS)}))(?![\w'’=_/-])",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:today|tonight|now|nowadays|(?:last|next|this|past)\s+\w+|\d+\s+\w+\s+ago)\b", re.IGNORECASE
)
_UNCERTAIN = re.compile(
    r"\b(?:every|each|any|daily|nightly|weekly|monthly|hourly|always|never|usually|typically|often|whenever|when|if|unless"
    r"|until|till|since|than|vs|versus|compar\w+|between|within|expir\w+|would|could|might|may|should|e\.g|i\.e"
    r"|such\s+as|like|or|cron|per\s+day|relative|phrases?|label\w*|filter\w*|button\w*|tab|column\w*|returns?|means?)\b"
    r"|→|->|<|>|=|/",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:from|of|with|to|for|the|a|an|by|before|after|and|is|was|on)\s+$", re.IGNORECASE)
_AFTER = re.compile(
    r"^(?:\s*$|\s*[.,;:!?)—–]|\s+(?:we|i|it|they|he|she|the|our|my|a|an|in|at|on|by|with|because|after|before|to|and"
    r"|morning|evening|afternoon|night|\w+ed|was|were)\b)",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\b(?:will|we|i|going|plan\w*|schedul\w*|meeting|starts?|launch\w*|releas\w+|demo|deadline|freeze|deploy\w*)\b|'ll\b",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<![\w-])\d{4}[-/]\d{2}[-/]\d{2}(?![\w-]|/\d)")
_LEADING = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?[\s*_(\[]*(\d{4}[-/]\d{2}[-/]\d{2})(?![\w/-])")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s")
_KEEP = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)"  # code
    r"|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)"  # quotations
    r"|\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\]|<[^>\n]+>|\b[a-z][a-z0-9+.-]*://\S+"  # links
)
_SENTENCE = re.compile(r".+?(?:[.!?]+(?=\s|$)|$)")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_QUOTE = re.compile(r"^\s*(?:[-*+]\s+)?[>|]")
_FEWEST_WORDS = 3
"""A label such as "Yesterday" stands alone; a sentence says what happened."""


def absolute(text: str, written: date | DayOf | None) -> str:
    """Replace every word that certainly means one day.

    Args:
        text: Markdown.
        written: The day the text was written, or how to find it for a line; without it only lines
            with a date of their own, or under a dated heading, are touched.

    >>> absolute("The service moved to Bern yesterday.", date(2026, 11, 21))
    'The service moved to Bern 2026-11-20.'
    """
    if not _RELATIVE.search(text):
        return text
    return "".join(_written(line, own, written) + line.ending for line, own in _lines(text))


@dataclass(frozen=True, slots=True)
class _Own:
    """What a line says about its day.

    Attributes:
        closed: Nothing in it may be touched.
        day: The day that it or its heading gives.
    """

    closed: bool = False
    day: date | None = None


def _written(line: Line, own: _Own, written: date | DayOf | None) -> str:
    if own.closed or not _RELATIVE.search(line.raw):
        return line.raw
    anchor = own.day or (written(line.raw) if callable(written) else written)
    if anchor is None:
        return line.raw
    return _line(line.raw, anchor.date() if isinstance(anchor, datetime) else anchor)


def _lines(text: str) -> Iterator[tuple[Line, _Own]]:
    """Each line with what it says about its day."""
    fence = ""
    in_list = False
    under: dict[int, date | None] = {}
    for line in split_lines(text):
        mark = _FENCE.match(line.raw)
        inside = bool(fence) or mark is not None
        if fence:
            fence = "" if line.raw.strip().startswith(fence) and not line.raw.strip(" `~") else fence
        elif mark:
            fence = mark[1]
        in_list = bool(_LIST_ITEM.match(line.raw)) or (in_list and line.raw[:1] in (" ", "\t", ""))
        heading = None if inside else _HEADING.match(line.raw)
        if heading:
            level = len(heading[1])
            under = {known: day for known, day in under.items() if known < level} | {level: _only(line.raw)}
        indented = line.raw.startswith(("    ", "\t")) and not in_list
        touchable = not (inside or indented or heading or _QUOTE.match(line.raw))
        yield line, _own_day(line.raw, under) if touchable else _Own(closed=True)


def _own_day(line: str, under: dict[int, date | None]) -> _Own:
    """The day a line begins with, else its nearest dated heading's; closed if it names other days."""
    leading = _LEADING.match(line)
    dates = _ISO.findall(line)
    if len(dates) > bool(leading):
        return _Own(closed=True)
    if leading:
        day = _day(leading[1])
        return _Own(closed=day is None, day=day)
    return _Own(day=next((day for _, day in sorted(under.items(), reverse=True) if day), None))


def _only(line: str) -> date | None:
    dates = _ISO.findall(line)
    return _day(dates[0]) if len(dates) == 1 else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None


def _line(line: str, anchor: date) -> str:
    kept = [match.span() for match in _KEEP.finditer(line)]
    sentences = _SENTENCE.finditer(line)
    return "".join(_sentence(sentence[0], sentence.start(), kept, anchor) for sentence in sentences)


def _sentence(said: str, offset: int, kept: list[tuple[int, int]], anchor: date) -> str:
    matches = [
        match
        for match in _RELATIVE.finditer(said)
        if not any(match.start() + offset < stop and match.end() + offset > start for start, stop in kept)
    ]
    if len(matches) != 1:
        return said
    match = matches[0]
    before, after = said[: match.start()], said[match.end() :]
    plain = re.sub(r"`[^`]*`", "", before + after)
    opens = not re.search(r"\w", before)
    if (
        _UNCERTAIN.search(plain)
        or _OTHER.search(plain)
        or len(re.findall(r"\w+", before + after)) < _FEWEST_WORDS
    ):
        return said
    if _BEFORE.search(before) or not _AFTER.match(after) or (match[0][0].isupper() and not opens):
        return said
    if "tomorrow" in match[0].lower() and not _PLANNED.search(plain):
        return said
    return f"{before}{_meant(match[0], anchor).isoformat()}{after}"


def _meant(phrase: str, anchor: date) -> date:
    words = phrase.lower().split()
    if words[0] == "last":
        return anchor - timedelta(days=(anchor.weekday() - _DAYS.index(words[1]) - 1) % 7 + 1)
    days = 2 if "day" in words else 1
    return anchor + timedelta(days=days if "tomorrow" in words else -days)
