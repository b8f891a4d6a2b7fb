"""Common lower-case words of English, so that a capital at the start of a sentence is not taken for a name.

The list holds base forms only: `common` also accepts the regular plural, past, participle and adverb of each.
"""

from __future__ import annotations

from functools import lru_cache

from ..word_tables import table_words

_WORDS = frozenset(table_words("common", "words"))
_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
)
_SHORTEST_BASE = 3


@lru_cache(maxsize=65536)
def common(word: str) -> bool:
    """Return whether a folded word, or the base it is inflected from, is everyday vocabulary.

    >>> common("prefers"), common("stopped"), common("łukasz")
    (True, True, False)
    """
    if word in _WORDS:
        return True
    for ending, added in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_BASE:
            base = word[: -len(ending)]
            if base + added in _WORDS or (base[-1] == base[-2] and base[:-1] in _WORDS):
                return True
    return False
