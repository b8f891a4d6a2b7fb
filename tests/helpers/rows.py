"""Rows of cases that stand in a table of their own beside the tests."""

from pathlib import Path


def rows_of(table: Path, *keys: str, cells: int = 0) -> list[tuple[str, ...]]:
    """The rows under a key: what stands behind it, filled up with empty cells; under several, with their keys.

    What is written as a backslash and an n is a line break.
    """
    lines = (line.replace("\\n", "\n").split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    rows = (line[len(keys) == 1 :] for line in lines if line[0] in keys)
    return [(*row, *[""] * (cells - len(row))) for row in rows]
