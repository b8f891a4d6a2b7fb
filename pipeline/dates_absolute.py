"""Relative dates made absolute, anchored at the day a memory was written.

What a date means is dateparser's business; here is decided which words may be touched: none in code,
quotations and links, none in sentences about habits, and none whose day would be a guess.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from .markdown.raw_text import Line, split_lines

_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RELATIVE = re.compile(
    rf"(?<![\w'’/.-])(?:"
    rf"(?P<vague>(?:last|next)\s+(?:week|month|year))"
    rf"|(?P<day>(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow)|yesterday|today|tomorrow|(?:last|next)\s+{_DAY})"
    rf"|(?P<ahead>in\s+{_COUNT}\s+(?:day|week|month|year)s?(?:['’]\s+time)?)"
    rf"|(?P<ago>{_COUNT}\s+(?:day|week|month|year)s?\s+ago)"
    rf")(?!['’]s|[\w-])",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:every|each|daily|nightly|weekly|monthly|hourly|always|never|usually|typically|whenever|cron|per\s+day|relative"
    r"|phrases?)\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)"  # code
    r"|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)"  # quotations
    r"|\]\([^)\n]*\)|\[\[[^\]\n]*\]\]|<[^>\n]+>|\b[a-z][a-z0-9+.-]*://\S+"  # links
)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?]+(?=\s|$)|\n|$|[.!?])")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_QUOTE = re.compile(r"^\s*(?:[-*+]\s+)?>")


def absolute(text: str, anchor: datetime | None) -> str:
    """Replace every relative date whose day is certain.

    Args:
        text: Markdown.
        anchor: When the text was written; without it nothing is touched.

    >>> from datetime import UTC
    >>> absolute("Moved to Bern yesterday.", datetime(2026, 11, 21, tzinfo=UTC))
    'Moved to Bern 2026-11-20.'
    """
    if anchor is None or not _RELATIVE.search(text):
        return text
    return "".join(
        (_line(line.raw, anchor) if touchable else line.raw) + line.ending for line, touchable in _lines(text)
    )


def _lines(text: str) -> list[tuple[Line, bool]]:
    """All lines, and whether dates in them may be touched: not in code blocks, not in quotations."""
    found: list[tuple[Line, bool]] = []
    fence = ""
    in_list = False
    for line in split_lines(text):
        mark = _FENCE.match(line.raw)
        inside = bool(fence) or mark is not None
        if fence:
            fence = "" if line.raw.strip().startswith(fence) and not line.raw.strip(" `~") else fence
        elif mark:
            fence = mark[1]
        in_list = bool(_LIST_ITEM.match(line.raw)) or (in_list and line.raw[:1] in (" ", "\t", ""))
        indented = line.raw.startswith(("    ", "\t")) and not in_list
        found.append((line, not inside and not indented and not _QUOTE.match(line.raw)))
    return found


def _line(line: str, anchor: datetime) -> str:
    kept = [match.span() for match in _KEEP.finditer(line)]
    pieces: list[str] = []
    for sentence in _SENTENCE.finditer(line):
        said = sentence[0]
        if not _HABIT.search(said):
            start = sentence.start()
            said = _RELATIVE.sub(lambda match, at=start: _replaced(match, at, kept, anchor), said)  # type: ignore[misc]
        pieces.append(said)
    return "".join(pieces)


def _replaced(match: re.Match[str], offset: int, kept: list[tuple[int, int]], anchor: datetime) -> str:
    start, end = match.start() + offset, match.end() + offset
    if any(start < stop and end > begin for begin, stop in kept):
        return match[0]
    phrase = " ".join(match[0].lower().removesuffix(" time").rstrip("'’").split())
    moment = _parsed(phrase, anchor)
    if moment is None:
        return match[0]
    if match["vague"]:
        new = _period(phrase, moment)
    elif match["ago"] or match["ahead"]:
        new = _counted(phrase, moment)
    else:
        new = moment.date().isoformat()
    return new[0].upper() + new[1:] if match[0][0].isupper() else new


def _period(phrase: str, moment: datetime) -> str:
    """A week, month or year, no more exactly than it was said."""
    if phrase.endswith("year"):
        return f"in {moment.year}"
    if phrase.endswith("month"):
        return f"in {moment:%B %Y}"
    return f"in the week of {moment.date() - timedelta(days=moment.weekday())}"


def _counted(phrase: str, moment: datetime) -> str:
    """A count of days is a day; of weeks, months or years it is no more than about one."""
    if "day" in phrase:
        return f"on {moment.date().isoformat()}"
    if "week" in phrase:
        return f"around {moment.date().isoformat()}"
    return f"around {moment:%B %Y}" if "month" in phrase else f"around {moment.year}"


def _parsed(phrase: str, anchor: datetime) -> datetime | None:
    import dateparser

    settings: Any = {"RELATIVE_BASE": anchor.replace(tzinfo=None), "TIMEZONE": "UTC"}
    return dateparser.parse(phrase.removeprefix("the "), languages=["en"], settings=settings)
