"""Relative dates made absolute: only words that certainly mean one day, week or month, from a certain day.

Durations, comparisons and conditions stay, as do code, quotations, links, headings and tables. Words are
reckoned from a date in the line or its heading, else from the day in the file's name or frontmatter and the
day on which the line's author committed it, if these agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

from ...models.markdown_blocks import PROSE, markdown_lines
from ...models.text.tables import expression, pattern
from ...records import Memory
from ..stores.markdown.project import line_days

DayOf = Callable[[str], date | None]  # the day on which a line was written; None if that is not certain
_ISO = pattern("free_iso_date")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE, _UNCERTAIN, _AFTER, _PLANNED = (
    expression("markdown", key) for key in ("relative", "uncertain", "after", "planned")
)
_FEWEST_WORDS = 3  # a label such as "Yesterday" stands alone; a sentence says what happened
_NEAR = timedelta(days=1)  # a day that was written in one zone may be the next one in another


def absolute(text: str, written: date | DayOf | None) -> str:
    """Replace every word that certainly means one day, week or month.

    `written` is the day the Markdown text was written, or how to find it for a line; without it only lines
    with a date of their own, or under a dated heading, are touched.

    >>> absolute("The service moved to Bern yesterday.", date(2026, 11, 21))
    'The service moved to Bern 2026-11-20.'
    """
    if not _RELATIVE.search(text):
        return text
    pieces: list[str] = []
    under: dict[int, date | None] = {}
    for line in markdown_lines(text):
        new = line.text
        if line.kind == "heading":
            dates = _ISO.findall(new)
            under = {level: day for level, day in under.items() if level < line.level}
            under[line.level] = _day(dates[0]) if len(dates) == 1 else None
        elif line.kind in PROSE and _RELATIVE.search(new):
            leading, dates = (
                pattern("leading_date").match(new, line.said),
                _ISO.findall(new),
            )
            dated = [under[level] for level in sorted(under, reverse=True) if under[level]]
            day = _day(leading[1]) if leading else dated[0] if dated else None
            if not leading and day is None:
                day = written(new) if callable(written) else written
            if day is not None and len(dates) <= bool(leading):  # a line that names other days is not certain
                anchor = day.date() if isinstance(day, datetime) else day
                kept = [match.span() for match in pattern("kept_verbatim").finditer(new)]
                new = "".join(
                    _sentence(m[0], m.start(), kept, anchor) for m in pattern("one_sentence").finditer(new)
                )
        pieces.append(new + line.ending)
    return "".join(pieces)


def day_of(memory: Memory, path: Path | None, known: dict[Path, dict[str, date | None]]) -> DayOf:
    """How to find the day of a line of a memory in a file; `known` keeps the days of the lines of files."""
    said = memory.metadata.get("day")
    stated = date.fromisoformat(said) if isinstance(said, str) and said else None

    def find(line: str) -> date | None:
        if path is not None and path not in known:
            known[path] = {_bare(said): day for said, day in line_days(path).items()}
        committed = known[path].get(_bare(line)) if path is not None else None
        if committed is None or stated is None:
            return stated or committed
        return stated if abs(committed - stated) <= _NEAR else None

    return find


def _bare(line: str) -> str:
    read = markdown_lines(line.strip())
    return line.strip()[read[0].said :].strip() if read else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None


def _sentence(said: str, offset: int, kept: list[tuple[int, int]], anchor: date) -> str:
    """A sentence with its one word that certainly means a day, if it has one, written out."""
    matches = [
        match
        for match in _RELATIVE.finditer(said)
        if not any(match.start() + offset < stop and match.end() + offset > start for start, stop in kept)
    ]
    if len(matches) != 1:
        return said
    (match,) = matches
    phrase, before, after = match[0].lower(), said[: match.start()], said[match.end() :]
    plain = re.sub(r"`[^`]*`", "", before + after)
    opens = not re.search(r"\w", before)
    ahead = phrase.startswith(("tomorrow", "next", "day after", "the day after"))
    uncertain = (
        _UNCERTAIN.search(plain)
        or len(re.findall(r"\w+", before + after)) < _FEWEST_WORDS
        or pattern("no_day_behind").search(before)
        or not _AFTER.match(after)
        or (match[0][0].isupper() and not opens)
        or (ahead and not _PLANNED.search(plain))
    )
    if uncertain:
        return said
    meant = _meant(phrase.split(), anchor)
    if opens and meant[0].isdigit():
        meant = f"on {meant}"
    return f"{before}{meant[0].upper() + meant[1:] if match[0][0].isupper() else meant}{after}"


def _meant(words: list[str], anchor: date) -> str:
    step = 1 if {"tomorrow", "next"} & set(words) else -1
    if words[-1] == "month":
        month = anchor.year * 12 + anchor.month - 1 + step
        return f"in {month // 12}-{month % 12 + 1:02}"
    if words[-1] == "week":
        return f"in the week of {anchor - timedelta(days=anchor.weekday() - 7 * step)}"
    if words[0] == "last":
        return str(anchor - timedelta(days=(anchor.weekday() - _DAYS.index(words[1]) - 1) % 7 + 1))
    return str(anchor + timedelta(days=step * (2 if "day" in words else 1)))
