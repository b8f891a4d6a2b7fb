"""Where two long memories oppose each other: the statements that speak of the same thing in other words."""

from __future__ import annotations

from ...models.same_statement import statement_key
from ...models.text.statements import split_statements
from ...models.text.words import significant_words


def opposing_statements(older: str, newer: str) -> tuple[str, str]:
    """The statement of each text that shares most words with one of the other without saying the same.

    The whole texts where one of them is a single statement, or where no two statements share a word.

    >>> opposing_statements("Is reading the Rust book. Has a dog.", "Has finished the Rust book. Is old.")
    ('Is reading the Rust book.', 'Has finished the Rust book.')
    """
    mine, theirs = split_statements(older), split_statements(newer)
    if min(len(mine), len(theirs)) < 2:
        return older, newer
    near = [(_overlap(a, b), a, b) for a in mine for b in theirs if statement_key(a) != statement_key(b)]
    share, a, b = max(near, key=lambda candidate: candidate[0], default=(0.0, older, newer))
    return (a, b) if share > 0 else (older, newer)


def _overlap(a: str, b: str) -> float:
    first, second = significant_words(a), significant_words(b)
    return len(first & second) / max(1, len(first | second))
