"""One slip of the pen: a word that is none, where another text has the word that was meant.

A slip is one letter added, left out, replaced or exchanged with its neighbour. Never a name, a number or an
identifier, and never where both spellings are words: "form" is no slip for "from".
"""

from __future__ import annotations

import re
from functools import lru_cache

from .facts import extract
from .text.vocabulary import common, is_word, known_names
from .text.words import CACHED_TEXTS, STOP_WORDS, fold

_SHORTEST = 4
_ENGLISH = 0.5  # of the plain words of the other text; in other languages a slip cannot be told
_MOST_DIFFERING = 6
_SPELT_APART = re.compile(r"`+[^`]*`+|\S*[/\\_@#$=]\S*|(?<!\S)-\S+")
_TWIN_ENDING = re.compile(r"(?:ate|ite|ide|ine|ane|ene|yne|one|ol|al|yl|ase|ose)s?$")
"""Endings of substances: one letter makes another of them ("nitrate", "nitrite")."""


def slip_in(a: str, b: str) -> tuple[str, str] | None:
    """A word of `a` that is a slip for a word of `b`, and that word; None where there is not just one.

    >>> slip_in("Is alergic to nuts", "Is allergic to nuts")
    ('alergic', 'allergic')
    >>> slip_in("Met Jon", "Met Jan") is None, slip_in("Fill in the form", "Fill in the from") is None
    (True, True)
    """
    mine, theirs = _spelt(a), _spelt(b)
    if len(mine.keys() ^ theirs.keys()) > _MOST_DIFFERING:
        return None
    odd = [word for word, named in mine.items() if word not in theirs and not named and not is_word(word)]
    slips = [
        (word, meant) for word in odd for meant, named in theirs.items() if not named and _meant(word, meant)
    ]
    return slips[0] if len(slips) == 1 and _english(theirs, but=slips[0][1]) else None


def mended(text: str, slip: str, meant: str) -> str:
    """The text with one word put right; a capital stays one."""
    pattern = re.compile(rf"(?<![^\W_]){re.escape(slip)}(?![^\W_])", re.IGNORECASE)
    return pattern.sub(lambda match: meant.capitalize() if match[0][0].isupper() else meant, text, count=1)


@lru_cache(maxsize=CACHED_TEXTS)
def _spelt(text: str) -> dict[str, bool]:
    """The words of a text outside code, folded, each with whether it may be a name."""
    spelt: dict[str, bool] = {}
    for word in extract(text).words:
        if word.text.isalpha():
            spelt[word.folded] = spelt.get(word.folded, False) or _named(word.text, opens=word.opens)
    for code in _SPELT_APART.findall(text):
        spelt.update((word.folded, True) for word in extract(code).words)
    return spelt


def _named(word: str, *, opens: bool) -> bool:
    """Whether a word may be a name: by a capital inside a sentence, or by the tables."""
    lower = fold(word)
    if word.islower() or (opens and word[1:].islower()):
        return lower in known_names()
    return not (word.isupper() and common(lower))


def _meant(word: str, meant: str) -> bool:
    """Whether one edit makes a known word of a word that is none."""
    if len(meant) < _SHORTEST and not (meant in STOP_WORDS and sorted(word) == sorted(meant)):
        return False
    if abs(len(word) - len(meant)) > 1 or not is_word(meant) or not _one_edit(word, meant):
        return False
    one, other = _TWIN_ENDING.search(word), _TWIN_ENDING.search(meant)
    return not (one and other and one[0] != other[0] and word[: one.start()] == meant[: other.start()])


def _one_edit(x: str, y: str) -> bool:
    short, long = sorted((x, y), key=len)
    head = next((i for i, (p, q) in enumerate(zip(short, long, strict=False)) if p != q), len(short))
    if len(short) < len(long):
        return short[head:] == long[head + 1 :]
    rest, other = short[head:], long[head:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])


def _english(words: dict[str, bool], *, but: str) -> bool:
    plain = [is_word(word) for word, named in words.items() if not named and word != but]
    return bool(plain) and sum(plain) >= _ENGLISH * len(plain)
