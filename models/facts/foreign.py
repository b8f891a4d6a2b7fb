"""Negations of other languages than English: "Mag keine Katzen" is no copy of "Mag Katzen".

The other facts read English. A text in another language that denies what a near text says would pass them,
and the encoder hardly sees a negation; so a negation that only one of two texts has forbids a merge.
"""

from __future__ import annotations

import re

from ..word_tables import table_words
from .extraction import Facts
from .frames import Change
from .tokens import Expression

_WORDS = table_words("denials", "words")
_NEGATION = Expression(
    rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])|\bn['’](?=[aeéèêiouhy])|"
    r"[不没沒無无未]|ない|ません|않|없|안 (?=\w)",
    re.IGNORECASE,
)
_SPANISH = Expression(
    r"(?<![\w-])no (?=(?:me|te|se|le|les|nos|lo|la|los|las|es|está|hay|tiene|quiere|puede|bebe|come|vive|usa|"
    r"trabaja|fuma|habla|necesita|tengo|quiero|puedo)\b)",
    re.IGNORECASE,
)


def foreign_denial(left: Facts, right: Facts) -> Change | None:
    """Return the negations of both texts where only one of them has any.

    >>> from .extraction import extract
    >>> foreign_denial(extract("Mag keine Katzen"), extract("Mag Katzen"))
    ('keine', '-')
    >>> foreign_denial(extract("Does not like cats"), extract("Likes cats")) is None
    True
    """
    mine, theirs = _negation(left.text), _negation(right.text)
    return (mine or "-", theirs or "-") if bool(mine) != bool(theirs) else None


def _negation(text: str) -> str:
    """The first negation of another language; empty if there is none."""
    match = _NEGATION.search(text) or _SPANISH.search(text)
    return match[0].strip() if match is not None else ""
