"""The words that differ between two texts of a report, marked so that a terminal can colour them.

A mark is kept beside the line, never inside it: no text can forge one, and wherever a line is cut, joined
or written to a file, the plain line is what is left.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Literal, Self

Tone = Literal["goes", "stays"]
Span = tuple[int, int, Tone]
"""Where a mark begins, where it ends, and whether the words go or stay."""
_PUNCTUATION = ".,;:!?\"'“”‘’()"


class Marked(str):
    """A line whose differing words are known."""

    __slots__ = ("spans",)
    spans: tuple[Span, ...]

    def __new__(cls, line: str, spans: Iterable[Span] = ()) -> Self:
        """Keep the line with its marks."""
        made = super().__new__(cls, line)
        made.spans = tuple(spans)
        return made

    def behind(self, prefix: str) -> Marked:
        """The line with something before it."""
        at = len(prefix)
        return Marked(prefix + self, ((start + at, end + at, tone) for start, end, tone in self.spans))


def marked(text: str, others: Sequence[str], *, tone: Tone) -> Marked:
    """A text with the words marked that one of the others does not say at that place.

    Args:
        text: One line, as it is shown.
        others: What it is held against.
        tone: Whether the text goes or stays.

    >>> marked("Lives in Oslo.", ["Lives in Bergen."], tone="goes").spans
    ((9, 14, 'goes'),)
    """
    words = text.split(" ")
    differing = {place for other in others for place in _differing(words, other.split(" "))}
    spans: list[Span] = []
    start, before = 0, -2
    for place, word in enumerate(words):
        end = start + len(word)
        if place in differing and place - 1 == before:
            spans[-1] = (spans[-1][0], end, tone)
        elif place in differing:
            spans.append((start, end, tone))
        if place in differing:
            before = place
        start = end + 1
    return Marked(text, spans)


def _differing(words: Sequence[str], others: Sequence[str]) -> set[int]:
    """Places of the words that the other text has not; case and punctuation are no difference."""
    keys, other_keys = [word_key(word) for word in words], [word_key(word) for word in others]
    blocks = difflib.SequenceMatcher(None, keys, other_keys, autojunk=False).get_matching_blocks()
    equal = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return set(range(len(keys))) - equal


def word_key(word: str) -> str:
    """What two words are compared by: neither case nor punctuation around them."""
    return word.strip(_PUNCTUATION).casefold() or word
