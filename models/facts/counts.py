"""Counts of one kind of thing that stand side by side: "64 A100 GPUs and 32 H100 GPUs".

Together they are a total, so a text that has only one of them states another total: more is not merely
said, something was added. "From 72 hours to 41 hours" is no such list.
"""

from __future__ import annotations

import re

from .extraction import Facts

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
