"""Figures as Markdown: what the programs of this folder print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


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


def outline(report: Mapping[str, Any], title: str = "") -> Iterator[str]:
    """A tree of figures: a line of what is plain, a table of parts that have the same plain figures."""
    parts = {name: part for name, part in report.items() if isinstance(part, dict) and part}
    plain = [f"{name} {shown(value)}" for name, value in report.items() if not isinstance(value, dict)]
    if plain:
        yield "; ".join([title, *plain] if title else plain)
    keys = {tuple(part) for part in parts.values()}
    deep = any(isinstance(cell, dict) for part in parts.values() for cell in part.values())
    if len(keys) == 1 and not deep:
        rows = [(title, *keys.pop()), *((name, *part.values()) for name, part in parts.items())]
        yield f"\n{markdown(rows)}\n"
        return
    for name, part in parts.items():
        yield from outline(part, f"{title}, {name}" if title else name)
