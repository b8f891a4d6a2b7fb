"""Two texts that are equal sentences except in one place: a word swapped, an exception added.

Each rule looks at the words only and needs the rest of the sentence to be equal; a rephrased sentence is
left to the scorer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from .extraction import Facts
from .synonyms import FRAME_WORDS, synonyms
from .tokens import Expression, Word, rough_stem

_SHORTEST_FRAME = 2
_LONGEST_SWAP = 3
_EXCEPTION = Expression(
    r"\b(?:except|apart from|other than|aside from|but not|excluding|save for|besides)\b", re.IGNORECASE
)
_UNIVERSAL = Expression(r"\b(?:all|every|everything|everyone|always|any|each|whole|entire)\b", re.IGNORECASE)

Change = tuple[str, str]


def exception(left: Facts, right: Facts) -> Change | None:
    """Return the exception that only one of two general statements makes.

    >>> from .extraction import extract
    >>> exception(extract("Every bill is paid by card"), extract("Every bill except rent is paid by card"))
    ('-', 'except')
    """
    mine, theirs = _EXCEPTION.search(left.text), _EXCEPTION.search(right.text)
    if (mine is None) == (theirs is None):
        return None
    if _UNIVERSAL.search(left.text) is None or _UNIVERSAL.search(right.text) is None:
        return None
    return (mine.group() if mine else "-", theirs.group() if theirs else "-")


def swap(left: Facts, right: Facts) -> Change | None:
    """Return the different words that two texts hold in one place of an otherwise equal sentence.

    >>> from .extraction import extract
    >>> swap(extract("Nephew Dmitri studies medicine"), extract("Nephew Dmitri studies law"))
    ('medicine', 'law')
    """
    mine, theirs = left.words, right.words
    shorter = min(len(mine), len(theirs))
    head = next((i for i in range(shorter) if not _alike(mine[i], theirs[i])), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if not _alike(mine[-1 - i], theirs[-1 - i])), rest)
    core, other = mine[head : len(mine) - tail], theirs[head : len(theirs) - tail]
    frame = _content((*mine[:head], *mine[len(mine) - tail :]))
    parts = _content(core), _content(other)
    sizes = [len(part) for part in parts]
    if min(sizes) < 1 or max(sizes) > _LONGEST_SWAP or len(frame) < max(_SHORTEST_FRAME, *sizes):
        return None
    if _explained(parts[0], parts[1]) or _typed(parts[0], left) or _typed(parts[1], right):
        return None
    return surface(left, core), surface(right, other)


def swap_of_one(left: Facts, right: Facts) -> tuple[Word, Word] | None:
    """Return the words in the only place in which two texts of equal length differ.

    >>> from .extraction import extract
    >>> places = swap_of_one(extract("Likes loud music"), extract("Likes quiet music"))
    >>> places and (places[0].text, places[1].text)
    ('loud', 'quiet')
    """
    if len(left.words) != len(right.words):
        return None
    swapped = None
    for mine, theirs in zip(left.words, right.words, strict=True):
        if not _alike(mine, theirs):
            if swapped is not None:
                return None
            swapped = (mine, theirs)
    return swapped


def _content(words: Sequence[Word]) -> list[Word]:
    """The words that carry content."""
    return [word for word in words if word.folded not in FRAME_WORDS]


def _alike(mine: Word, theirs: Word) -> bool:
    """Whether two words are the same up to their endings."""
    return mine.folded == theirs.folded or rough_stem(mine.folded) == rough_stem(theirs.folded)


def _explained(core: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two exchanged parts may mean the same: a shared stem or synonym, or other punctuation."""
    if "".join(word.folded for word in core) == "".join(word.folded for word in other):
        return True
    return any(_alike(x, y) or synonyms(x.folded, y.folded) for x in core for y in other)


def _typed(part: Sequence[Word], facts: Facts) -> bool:
    """Whether a part holds a name, number, date, time or negation, which have guards of their own."""
    typed = chain(
        facts.names,
        facts.identifiers,
        facts.numbers,
        facts.days,
        facts.clocks,
        facts.frequencies,
        facts.weekdays,
        facts.relatives,
        facts.negations,
    )
    spans = [each.text for each in typed]
    return any(word.text in span for word in part for span in spans)


def surface(facts: Facts, part: Sequence[Word]) -> str:
    """A run of words as it stands in the text."""
    return facts.text[part[0].start : part[-1].end]
