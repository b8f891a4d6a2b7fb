"""Two texts that are equal sentences except in one place: a word swapped, a count or an exception added.

Each rule looks at the words only and needs the rest of the sentence to be equal; a rephrased sentence is left
to the scorer. `stated` tells whether a text states a detail of another, in the same kind or in another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from ..text.vocabulary import FRAME_WORDS, synonyms
from ..text.words import Word, fold, stem
from .amounts import Number
from .calendar import Day, Relative
from .details import Detail, Expression
from .extraction import Facts
from .literals import Identifier, Quote, Version
from .names import Name, named_among
from .times import Clock

_SUBJECT = "user"  # "Anna has a dog" may be "User has a dog"


def stated(detail: Detail, others: Sequence[Detail], facts: Facts) -> bool:
    """Whether a text states a detail.

    Args:
        detail: A detail of one text.
        others: The details of the same kind in the other text.
        facts: Everything of the other text.
    """
    return any(detail.agrees(other) for other in others) or _elsewhere(detail, facts)


def _elsewhere(detail: Detail, facts: Facts) -> bool:
    elsewhere = False
    match detail:
        case Number():
            elsewhere = _number(detail, facts)
        case Day():
            elsewhere = _day(detail, facts)
        case Clock():
            elsewhere = any(detail.agrees(number) for number in facts.numbers)
        case Relative():
            elsewhere = bool(facts.days)
        case Version():
            elsewhere = any(_version_number(detail, number) for number in facts.numbers)
        case Name():
            elsewhere = _name(detail, facts)
        case Identifier():
            elsewhere = named_among(detail.key, facts.vocabulary)
        case Quote():
            elsewhere = detail.key in fold(facts.text)
    return elsewhere


def _number(number: Number, facts: Facts) -> bool:
    """Whether a number stands there as an hour, a version, a year, a day or a date written "3/6"."""
    if number.unit is not None:
        return _slashed_date(number.text, facts)
    if any(clock.agrees(number) for clock in facts.clocks):
        return True
    if any(_version_number(version, number) for version in facts.versions):
        return True
    return any(number.value in (day.year, day.day) for day in facts.days)


def _version_number(version: Version, number: Number) -> bool:
    parts = (version.key, version.key.split(".")[0])
    return number.unit is None and (number.text in parts or f"{number.value:g}" in parts)


def _slashed_date(text: str, facts: Facts) -> bool:
    one, slash, two = text.partition("/")
    if not (slash and one.isdecimal() and two.isdecimal()):
        return False
    return any({day.day, day.month} == {int(one[:4]), int(two[:4])} for day in facts.days)


def _day(day: Day, facts: Facts) -> bool:
    if any(number.form == "ordinal" and number.value == day.day for number in facts.numbers):
        return True
    bare_year = day.year is not None and day.month is None
    return bare_year and any(number.value == day.year for number in facts.numbers)


def _name(name: Name, facts: Facts) -> bool:
    """Whether the word of a name stands there in any case or spelling, as initials, or as the user."""
    if name.folded in facts.vocabulary or (name.opens and _SUBJECT in facts.vocabulary):
        return True
    if named_among(name.folded, facts.vocabulary):
        return True
    if name.text.isupper() and len(name.folded) > 1 and name.folded in facts.initials:
        return True
    return len(name.phrase) > 1 and "".join(word[0] for word in name.phrase) in facts.vocabulary


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
    return [word for word in words if word.folded not in FRAME_WORDS]


def _alike(mine: Word, theirs: Word) -> bool:
    return mine.folded == theirs.folded or stem(mine.folded) == stem(theirs.folded)


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


_COUNT = r"(?<![\w.,])(\d[\d,.]*)\s+(?:([\w-]+)\s+)?"
_LIST = re.compile(rf"{_COUNT}([a-z]{{2,}}s)\s*(?:,|\band\b|\bplus\b|\+|&)\s*{_COUNT}\3\b", re.IGNORECASE)
_ONE = re.compile(rf"{_COUNT}([a-z]{{2,}}s)\b", re.IGNORECASE)

Count = tuple[str, str, str]


def added_count(left: Facts, right: Facts) -> tuple[str, str] | None:
    """The counts of one kind of thing in both texts, where only one text has another beside it.

    >>> from .extraction import extract
    >>> added_count(extract("Has 64 A100 GPUs"), extract("Has 64 A100 GPUs and 32 H100 GPUs"))
    ('64 A100 GPUs', '64 A100 GPUs and 32 H100 GPUs')
    """
    for mine, theirs in ((left.text, right.text), (right.text, left.text)):
        for listing in _LIST.finditer(mine):
            first = (listing[1], (listing[2] or "").lower(), listing[3].lower())
            second = (listing[4], (listing[5] or "").lower(), listing[3].lower())
            known = {_key(match): match.group() for match in _ONE.finditer(theirs)}
            if (first in known) != (second in known):
                other = known[first if first in known else second]
                pair = (listing.group(), other)
                return pair if mine == left.text else (pair[1], pair[0])
    return None


def _key(match: re.Match[str]) -> Count:
    return match[1], (match[2] or "").lower(), match[3].lower()
