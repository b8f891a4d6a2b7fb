"""Groups of texts that are one statement by their words alone; no model is needed to call them duplicates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..models.same_statement import statement_key


def exact_groups(
    texts: Sequence[str], beside: Sequence[Hashable] | None = None
) -> tuple[tuple[int, ...], ...]:
    """Rows of one `statement_key`, in order of their first row; a text of its own is a group of one.

    Args:
        texts: The texts.
        beside: For each text what must be equal, too.

    >>> exact_groups(["Likes tea.", "Owns a dog", "- likes  the tea"])
    ((0, 2), (1,))
    """
    groups: dict[Hashable, list[int]] = {}
    for row, text in enumerate(texts):
        groups.setdefault((statement_key(text), beside[row] if beside else None), []).append(row)
    return tuple(tuple(rows) for rows in groups.values())
