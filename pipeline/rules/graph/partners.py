"""Which memories of one type may be about one thing, by their words."""

from __future__ import annotations

from ....models.words import significant_words


def same_subject(a: str, b: str) -> bool:
    """Whether each statement holds every word of the other's name."""
    names = [significant_words(text.partition(":")[0]) for text in (a, b)]
    return names[0] <= significant_words(b) and names[1] <= significant_words(a)
