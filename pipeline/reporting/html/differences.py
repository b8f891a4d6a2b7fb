"""Where two texts differ, and what a merged text keeps of its sources: as places, never as marked-up text.

The page marks the places itself. Words are counted as the page counts them: whatever stands between
spaces, tabs and line breaks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ....models.merger import clauses, keeps, sentences
from ..alignment import MATCHED_WORDS
from ..marks import word_key

Places = list[list[int]]
_WORD = re.compile(r"[^ \t\r\n]+")
_AROUND = 2
"""Lines that are shown before and after a line that changes."""


def differing(a: str, b: str) -> Places:
    """Ranges of words that differ, each as first and behind-last word of either text.

    Case, and punctuation around a word, is no difference.

    >>> differing("Takes 20 mg daily", "takes 40 mg, daily")
    [[1, 2, 1, 2]]
    """
    first, second = ([word_key(word) for word in _WORD.findall(text)] for text in (a, b))
    start = _common(first, second)
    end = _common(first[start:][::-1], second[start:][::-1])
    left, right = first[start : len(first) - end], second[start : len(second) - end]
    if max(len(left), len(right)) > MATCHED_WORDS:
        return [[start, len(first) - end, start, len(second) - end]]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return [
        [start + i, start + j, start + k, start + n]
        for kind, i, j, k, n in matcher.get_opcodes()
        if kind != "equal"
    ]


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Lines that go, come and surround them; an ellipsis where lines are left out.

    >>> changed_lines("a", "b")
    [('-', 'a'), ('+', 'b')]
    """
    old, new = (text.split("\n") if text else [] for text in (before, after))
    lines: list[tuple[str, str]] = []
    for row in list(difflib.unified_diff(old, new, lineterm="", n=_AROUND))[2:]:
        if row.startswith("@@"):
            lines += [("…", "")] if lines else []
        else:
            lines.append((row[0], row[1:]))
    return lines


def kept_clauses(source: str, merged: str) -> Places:
    """The clauses of a source as places of characters, each with 1 if the merged text keeps it, else 0."""
    return [[start, end, int(keeps(merged, source[start:end]))] for start, end in clause_places(source)]


def origins(merged: str, sources: Sequence[str]) -> Places:
    """The clauses of a merged text as places, each with the number of the source that it stands in, or -1."""
    places: Places = []
    for start, end in clause_places(merged):
        clause = merged[start:end]
        whose = next((number for number, text in enumerate(sources) if clause in text), None)
        if whose is None:
            whose = next((number for number, text in enumerate(sources) if keeps(text, clause)), -1)
        places.append([start, end, whose])
    return places


def clause_places(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a text begin and end.

    >>> clause_places("Has a dog. Likes tea; it is green.")
    [(0, 10), (11, 20), (22, 34)]
    """
    places: list[tuple[int, int]] = []
    at = 0
    for clause in (part for sentence in sentences(text) for part in clauses(sentence)):
        start = text.find(clause, at)
        if start >= 0:
            at = start + len(clause)
            places.append((start, at))
    return places


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words both begin with."""
    return next(
        (at for at, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
    )
