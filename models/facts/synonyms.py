"""Everyday words that may stand for each other in an equal sentence, and words without content.

They keep the guard for exchanged words from taking a change of style for a change of fact.
"""

from __future__ import annotations

from ..word_tables import table_lines, table_words
from .tokens import rough_stem

_NUMBERS: dict[str, set[int]] = {}
for _number, _line in enumerate(table_lines("synonyms", "groups")):
    for _word in _line.split():
        _NUMBERS.setdefault(rough_stem(_word), set()).add(_number)
FRAME_WORDS = frozenset(table_words("grammar", "frame"))


def synonyms(left: str, right: str) -> bool:
    """Whether two folded words may stand for each other.

    >>> synonyms("needs", "requires"), synonyms("medicine", "law")
    (True, False)
    """
    return not _NUMBERS.get(rough_stem(left), set()).isdisjoint(_NUMBERS.get(rough_stem(right), set()))
