"""Two texts side by side: what they share stands in one column, what differs is marked.

It decides nothing. Every character that could forge, colour or turn round a line of the terminal is
written as its escape, and a long text is cut to what surrounds its differences.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .marks import word_key
from .report import one_line

if TYPE_CHECKING:
    from rich.text import Text

CUT_FROM = 300
"""Characters of a text from which only the surroundings of its differences are shown."""
CONTEXT = 6
"""Words that are kept before and after a difference when a text is cut."""
MAX_COLUMNS = 90
"""Words of a cut text that are shown at most: about eight lines of a terminal."""
MAX_WORD = 60
"""Characters of one word that are shown at most."""
MATCHED_WORDS = 400
"""Words between the common beginning and end that are compared; the comparison is quadratic."""
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Column:
    """One word of each text, or nothing where a text has none.

    Attributes:
        a: A word of the first text, escaped.
        b: A word of the second text, escaped.
        differs: Whether they say different things.
    """

    a: str
    b: str
    differs: bool = False


_CUT = Column(_ELLIPSIS, _ELLIPSIS)


def columns(a: str, b: str) -> tuple[Column, ...]:
    """Align two texts word by word; case and punctuation around a word are no difference."""
    words_a, words_b = one_line(a).split(" "), one_line(b).split(" ")
    aligned = list(_aligned(words_a, words_b))
    if max(len(a), len(b)) > CUT_FROM:
        aligned = list(_around_differences(aligned))[:MAX_COLUMNS]
        aligned += [_CUT] if len(aligned) == MAX_COLUMNS else []
    return tuple(aligned)


def rows(aligned: Sequence[Column], *, width: int) -> Iterator[tuple[Column, ...]]:
    """Break the columns into rows of at most `width` cells, marks included."""
    row: list[Column] = []
    used = 0
    for column in aligned:
        needed = max(_cells(column.a), _cells(column.b)) + 1 + 2 * column.differs
        if row and used + needed > width + 1:
            yield tuple(row)
            row, used = [], 0
        row.append(column)
        used += needed
    if row:
        yield tuple(row)


def bracketed(row: Iterable[Column]) -> tuple[str, str]:
    """A row as two lines of plain text, differences in brackets.

    >>> bracketed((Column("a", "a"), Column("", "brindle", True), Column("dog", "dog")))
    ('a           dog', 'a [brindle] dog')
    """
    lines: list[list[str]] = [[], []]
    for differs, sides in _groups(row):
        marked = [f"[{side}]" if differs and side else side for side in sides]
        for line, text in zip(lines, _padded(marked), strict=True):
            line.append(text)
    return " ".join(lines[0]).rstrip(), " ".join(lines[1]).rstrip()


def coloured(row: Iterable[Column]) -> tuple[Text, Text]:
    """A row as two lines for a terminal, differences in colour and underlined."""
    from rich.text import Text

    lines = (Text(), Text())
    for differs, sides in _groups(row):
        for line, side, text, colour in zip(lines, sides, _padded(sides), ("red", "green"), strict=True):
            line.append(side, style=f"bold underline {colour}" if differs else "")
            line.append(text[len(side) :] + " ")
    for line in lines:
        line.rstrip()
    return lines


def excerpts(a: str, b: str) -> tuple[str, str]:
    """Both texts on one line each, whole if they are short, else cut around their differences."""
    if max(len(a), len(b)) <= CUT_FROM:
        return one_line(a), one_line(b)
    aligned = columns(a, b)
    return " ".join(c.a for c in aligned if c.a), " ".join(c.b for c in aligned if c.b)


def _aligned(a: Sequence[str], b: Sequence[str]) -> Iterator[Column]:
    keys_a, keys_b = [word_key(word) for word in a], [word_key(word) for word in b]
    start = _common(keys_a, keys_b)
    end = _common(keys_a[start:][::-1], keys_b[start:][::-1])
    yield from map(_equal, a[:start], b[:start])
    yield from _between((a, keys_a), (b, keys_b), start, end)
    yield from map(_equal, a[len(a) - end :], b[len(b) - end :])


def _between(
    first: tuple[Sequence[str], list[str]], second: tuple[Sequence[str], list[str]], start: int, end: int
) -> Iterator[Column]:
    (a, keys_a), (b, keys_b) = first, second
    a_end, b_end = len(a) - end, len(b) - end
    a_stop, b_stop = min(a_end, start + MATCHED_WORDS), min(b_end, start + MATCHED_WORDS)
    matcher = difflib.SequenceMatcher(None, keys_a[start:a_stop], keys_b[start:b_stop], autojunk=False)
    for kind, i, j, k, n in matcher.get_opcodes():
        left, right = a[start + i : start + j], b[start + k : start + n]
        if kind == "equal":
            yield from map(_equal, left, right)
        else:
            yield from (_different(x, y) for x, y in itertools.zip_longest(left, right, fillvalue=""))
    if (a_stop, b_stop) != (a_end, b_end):
        yield Column(_ELLIPSIS if a_stop < a_end else "", _ELLIPSIS if b_stop < b_end else "", differs=True)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _equal(a: str, b: str) -> Column:
    return Column(_clipped(a, 0), _clipped(b, 0))


def _different(a: str, b: str) -> Column:
    at = _common(a, b)
    return Column(_clipped(a, at), _clipped(b, at), differs=True)


def _clipped(word: str, at: int) -> str:
    """A word, or if it is too long its part around a place."""
    if len(word) <= MAX_WORD:
        return word
    start = max(0, min(at - CONTEXT, len(word) - MAX_WORD))
    stop = start + MAX_WORD
    return _ELLIPSIS * (start > 0) + word[start:stop] + _ELLIPSIS * (stop < len(word))


def _around_differences(aligned: Sequence[Column]) -> Iterator[Column]:
    """The differing columns with their context; a cut for what is left out.

    Equal texts are shown from their beginning.
    """
    places = [place for place, column in enumerate(aligned) if column.differs] or [0]
    near: set[int] = set()
    for place in places:
        near.update(range(max(0, place - CONTEXT), min(len(aligned), place + CONTEXT + 1)))
    for kept, group in itertools.groupby(enumerate(aligned), key=lambda item: item[0] in near):
        if kept:
            yield from (column for _, column in group)
        else:
            yield _CUT


def _groups(row: Iterable[Column]) -> Iterator[tuple[bool, tuple[str, str]]]:
    """Neighbouring columns of one sort as one; equal ones stay apart, so that they align."""
    for differs, group in itertools.groupby(row, key=lambda column: column.differs):
        members = list(group)
        if differs:
            yield True, (" ".join(c.a for c in members if c.a), " ".join(c.b for c in members if c.b))
        else:
            yield from ((False, (column.a, column.b)) for column in members)


def _padded(sides: Sequence[str]) -> list[str]:
    width = max(map(_cells, sides))
    return [side + " " * (width - _cells(side)) for side in sides]


def _cells(text: str) -> int:
    """Columns of the terminal that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)
