"""Plain opposites: a word and the one that turns a statement round in its place."""

from __future__ import annotations

from ..word_tables import table_words
from .tokens import rough_stem

_OPPOSITES: dict[str, set[str]] = {}
for _pair in " ".join(table_words("opposites", "pairs")).split(","):
    _one, _other = (rough_stem(word) for word in _pair.split())
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)


def opposite(left: str, right: str) -> bool:
    """Whether two folded words are plain opposites.

    >>> opposite("likes", "dislikes"), opposite("before", "after")
    (True, False)
    """
    return rough_stem(right) in _OPPOSITES.get(rough_stem(left), ())
