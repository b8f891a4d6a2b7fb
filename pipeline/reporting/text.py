"""Foreign text on its way to a person: escaped, on one line, shortened, and marked where two texts differ.

A mark is kept beside its line, never inside it: no text can forge one, and wherever a line is cut, joined
or written to a file, the plain line is what is left.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, Self

TEXT_WIDTH = 100  # characters of a text in a line of the report
WHOLE_UP_TO = 1_000
"""Characters up to which a text is shown whole; longer ones are documents, too long for a terminal."""
ID_WIDTH = 8
NAMED = ("md", "graph")  # kinds of stores whose ids are names


def visible(text: str) -> str:
    r"""The text with an escape for each character that could forge, colour or turn round a line.

    Everything foreign that is shown to a person goes through here, whatever shows it.

    >>> visible("red \x1b[31m alert, \u202e turned")
    'red \\x1b[31m alert, \\u202e turned'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(visible, text.split("\n")))


def one_line(text: str) -> str:
    """The text with white space collapsed and every other control character as its escape."""
    return visible(" ".join(text.split()))


def clip(text: str, width: int = TEXT_WIDTH) -> str:
    """One line of at most `width` characters, with an ellipsis where it was cut."""
    flat = one_line(text)
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def whole(text: str) -> str:
    """A text in full on one line; of a document the beginning, with its length."""
    flat = one_line(text)
    return flat if len(flat) <= WHOLE_UP_TO else f"{clip(flat, WHOLE_UP_TO)} ({len(text):,} characters)"


def day(moment: datetime | None) -> str:
    """The date of a moment."""
    return moment.date().isoformat() if moment else "no date"


def spoken_ids(ids: Iterable[str], kind: str) -> dict[str, str]:
    """Ids as a person reads them; a path or a name stays whole, for cut off it would name another one."""
    return {memory_id: memory_id for memory_id in ids} if kind in NAMED else short_ids(ids)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Shorten ids to the fewest leading characters, at least eight, that tell all of them apart.

    >>> short_ids(["aaaaaaaaaa1", "aaaaaaaaaa2"])
    {'aaaaaaaaaa1': 'aaaaaaaaaa1', 'aaaaaaaaaa2': 'aaaaaaaaaa2'}
    """
    unique = sorted(set(ids))
    longest = max(map(len, unique), default=0)
    for width in range(ID_WIDTH, longest):
        if len({memory_id[:width] for memory_id in unique}) == len(unique):
            return {memory_id: memory_id[:width] for memory_id in unique}
    return {memory_id: memory_id for memory_id in unique}


def bracketed(line: str) -> str:
    """A line as plain text; where it has marks, in brackets."""
    for start, end, _ in reversed(getattr(line, "spans", ())):
        line = f"{line[:start]}[{line[start:end]}]{line[end:]}"
    return str(line)


Tone = Literal["goes", "stays"]
Span = tuple[int, int, Tone]  # where a mark begins, where it ends, and whether the words go or stay
Places = list[list[int]]
CUT_FROM = 300  # characters of a text from which only the surroundings of its differences are shown
CONTEXT = 6  # words that are kept before and after a difference when a text is cut
MAX_WORDS = 90  # words of a cut text that are shown at most: about eight lines of a terminal
MAX_WORD = 60  # characters of one word of a cut text that are shown at most
MATCHED_WORDS = 400
"""Words between the common beginning and end that are compared; the comparison is quadratic."""
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Kana and Han, written without spaces: each character is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^ \t\r\n{_UNSPACED}]+")
_GAP = re.compile(rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_PUNCTUATION = ".,;:!?\"'“”‘’()"
_LINES_AROUND = 2


class Marked(str):
    """A line whose differing words are known."""

    __slots__ = ("spans",)
    spans: tuple[Span, ...]

    def __new__(cls, line: str, spans: Iterable[Span] = ()) -> Self:
        """Keep the line with its marks."""
        made = super().__new__(cls, line)
        made.spans = tuple(spans)
        return made

    def followed(self, more: str) -> Marked:
        """The line with something after it."""
        return Marked(self + more, self.spans)

    def behind(self, prefix: str) -> Marked:
        """The line with something before it."""
        at = len(prefix)
        return Marked(prefix + self, ((start + at, end + at, tone) for start, end, tone in self.spans))


def differing(a: str, b: str) -> Places:
    """Ranges of words that differ, each as first and behind-last word of either text.

    A word is what stands between spaces, tabs and line breaks, or one character of a script that has no
    spaces. Case, and punctuation around a word, is no difference.

    >>> differing("Takes 20 mg daily", "takes 40 mg, daily")
    [[1, 2, 1, 2]]
    """
    words = map(_WORD.findall, (a, b))
    first, second = ([word.strip(_PUNCTUATION).casefold() or word for word in said] for said in words)
    start = _common(first, second)
    end = _common(first[start:][::-1], second[start:][::-1])
    left, right = first[start : len(first) - end], second[start : len(second) - end]
    if max(len(left), len(right)) > MATCHED_WORDS:
        return [[start, len(first) - end, start, len(second) - end]]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    changed = (places for kind, *places in matcher.get_opcodes() if kind != "equal")
    return [[start + place for place in places] for places in changed]


def marked(text: str, others: Sequence[str], *, tone: Tone) -> Marked:
    """A text with the words marked that one of the others does not say at that place.

    >>> marked("Lives in Oslo.", ["Lives in Bergen."], tone="goes").spans
    ((9, 14, 'goes'),)
    """
    places = set().union(*(_words_of(differing(text, other)) for other in others))
    return Marked(text, _spans(text, places, tone))


def unlike(text: str, others: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text says what none of the others says there, as ranges of characters.

    >>> unlike("Lives in Oslo.", ["Lives in Bergen.", "Works in Bergen."])
    [(9, 14)]
    """
    each = [_words_of(differing(text, other)) for other in others]
    places = set.intersection(*each) if each else set()
    return [(start, end) for start, end, _ in _spans(text, places, "goes")]


def _words_of(places: Places) -> set[int]:
    return {at for i, j, _, _ in places for at in range(i, j)}


def excerpts(a: str, b: str) -> tuple[Marked, Marked]:
    """Both texts on one line each, differing words marked; if one is long, both are cut around these."""
    a, b = one_line(a), one_line(b)
    places = differing(a, b)
    turned = [[k, n, i, j] for i, j, k, n in places]
    if max(len(a), len(b)) <= CUT_FROM:
        gone, come = _spans(a, _words_of(places), "goes"), _spans(b, _words_of(turned), "stays")
        return Marked(a, gone), Marked(b, come)
    words_a, words_b = _WORD.findall(a), _WORD.findall(b)
    return _cut(words_a, words_b, places, "goes"), _cut(words_b, words_a, turned, "stays")


def changes(old: str, new: str) -> list[str]:
    r"""The lines that go and come, indented, with a sign for whatever a terminal would act on.

    Of a long line that changed in one place, what stays the same is left out but for some words around it.

    >>> changes("a\nb", "a\nc")
    ['    - b', '    + c']
    """
    texts = (text.removesuffix("\n").split("\n") if text else [] for text in (old, new))
    before, after = (list(map(visible, lines)) for lines in texts)
    rows: list[str] = []
    for kind, i, j, k, n in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, come = before[i:j], after[k:n]
        if len(gone) == len(come):
            pairs = [_changed(*pair) for pair in zip(gone, come, strict=True)]
            rows += [a.behind("    - ") for a, _ in pairs] + [b.behind("    + ") for _, b in pairs]
        else:
            rows += [f"    - {line}".rstrip() for line in gone] + [f"    + {line}".rstrip() for line in come]
    return rows


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Lines that go, come and surround them, as they stand; an ellipsis where lines are left out.

    >>> changed_lines("a", "b")
    [('-', 'a'), ('+', 'b')]
    """
    old, new = (text.split("\n") if text else [] for text in (before, after))
    lines: list[tuple[str, str]] = []
    for row in list(difflib.unified_diff(old, new, lineterm="", n=_LINES_AROUND))[2:]:
        if row.startswith("@@"):
            lines += [("…", "")] if lines else []
        else:
            lines.append((row[0], row[1:]))
    return lines


def _changed(old: str, new: str) -> tuple[Marked, Marked]:
    if max(len(old), len(new)) > CUT_FROM:
        return excerpts(old, new)
    return marked(old.rstrip(), [new], tone="goes"), marked(new.rstrip(), [old], tone="stays")


def _spans(text: str, places: Iterable[int], tone: Tone) -> Iterable[Span]:
    words = list(_WORD.finditer(text))
    for start, end in _runs(places):
        yield words[start].start(), words[end - 1].end(), tone


def _runs(places: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Neighbouring numbers as ranges: 1, 2 and 5 as (1, 3) and (5, 6)."""
    for _, group in itertools.groupby(enumerate(sorted(places)), key=lambda item: item[1] - item[0]):
        run = [place for _, place in group]
        yield run[0], run[-1] + 1


def _cut(words: Sequence[str], others: Sequence[str], places: Places, tone: Tone) -> Marked:
    differs = _words_of(places)
    near = {at for i, j, _, _ in places or [[0, 0, 0, 0]] for at in range(i - CONTEXT, j + CONTEXT)}
    kept = sorted(near & set(range(len(words))))[:MAX_WORDS]
    counterpart = {i + at: others[k + at] for i, j, k, n in places for at in range(min(j - i, n - k))}
    shown: list[str] = []
    marks: set[int] = set()
    for start, end in _runs(kept):
        shown += ["…"] if start or shown else []
        for at in range(start, end):
            marks |= {len(shown)} if at in differs else set()
            shown.append(_clipped(words[at], _common(words[at], counterpart.get(at, ""))))
    shown += ["…"] if not kept or kept[-1] + 1 < len(words) else []
    line = _GAP.sub("", " ".join(shown))
    return Marked(line, _spans(line, marks, tone))


def _clipped(word: str, at: int) -> str:
    if len(word) <= MAX_WORD:
        return word
    start = max(0, min(at - CONTEXT, len(word) - MAX_WORD))
    stop = start + MAX_WORD
    return "…" * (start > 0) + word[start:stop] + "…" * (stop < len(word))


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
