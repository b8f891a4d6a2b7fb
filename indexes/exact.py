"""Groups of texts that say literally the same; no model is needed to call them duplicates."""

from __future__ import annotations

from collections.abc import Sequence

from ..models.words import exact_key


def exact_groups(texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Rows of equal `exact_key`, in order of their first row; a text of its own is a group of one.

    >>> exact_groups(["Likes tea.", "Owns a dog", "likes  tea"])
    ((0, 2), (1,))
    """
    groups: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        groups.setdefault(exact_key(text), []).append(row)
    return tuple(tuple(rows) for rows in groups.values())
