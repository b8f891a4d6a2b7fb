"""Whether a text is English, told by its script and its function words: the bundled network reads no other.

Where it is not, the network has no say: one statement written twice, typed facts and words of denial decide,
and everything else is kept apart. A text of a few names and numbers counts as English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .text.tables import table_words

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FOREIGN = frozenset(table_words("languages", "foreign"))
_ENGLISH = frozenset(table_words("languages", "english"))
_DENIALS = frozenset(table_words("denials", "words"))
MOST_FOREIGN_LETTERS = 0.3
SHORT = 3
_READ = ("LATIN", "MICRO SIGN", "MODIFIER", "FEMININE ORDINAL", "MASCULINE ORDINAL")


@lru_cache(maxsize=8_192)
def is_english(text: str) -> bool:
    """Whether a text may be read by a scorer that knows English only.

    >>> [is_english(text) for text in ("User lives in Köln", "Der Nutzer wohnt in Köln", "用户住在科隆")]
    [True, False, False]
    """
    letters = [char for char in text[:1_000] if char.isalpha()]
    other = sum(not unicodedata.name(char, "LATIN").startswith(_READ) for char in letters)
    if other > MOST_FOREIGN_LETTERS * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text[:1_000])]
    foreign = {word for word in words if word in _FOREIGN}
    if len(foreign) < 2 and not any(len(word) > SHORT for word in foreign):
        return True  # "til", "en", "por": one of them stands in English texts, too
    return len(foreign) <= sum(word in _ENGLISH for word in words)


def only_denied(a: str, b: str) -> bool:
    """Whether a word of denial of another language is all that one of two texts has more than the other.

    >>> only_denied("Der Nutzer mag keine Katzen", "Der Nutzer mag Katzen")
    True
    """
    first, second = ({word.lower() for word in _WORD.findall(text)} for text in (a, b))
    return bool(first ^ second) and first ^ second <= _DENIALS
