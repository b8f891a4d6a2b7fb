"""Figures as Markdown: what the programs of this folder print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as a table; the first row is its head."""
    head, *lines = ("| " + " | ".join(map(shown, row)) + " |" for row in rows)
    return "\n".join((head, "|---" * (head.count(" | ") + 1) + "|", *lines)).replace("|  |", "| |")


def shown(value: object) -> str:
    """A cell: three places of a share, and a dash for what there is none of."""
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "-"
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
