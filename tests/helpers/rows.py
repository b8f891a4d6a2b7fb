"""Rows of cases that stand in a table of their own beside the tests."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parents[1] / "models" / "facts"


def rows_of(name: str, key: str, *, cells: int) -> list[tuple[str, ...]]:
    """The rows under a key: what stands behind it, filled up with empty cells."""
    lines = (line.split("\t") for line in (CASES / name).read_text(encoding="utf-8").splitlines())
    return [tuple([*line[1:], ""][:cells]) for line in lines if line[0] == key]
