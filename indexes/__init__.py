"""Where pairs worth judging come from: exact groups, exact search, approximate search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .approximate import ApproximateIndex, inverted_file, measured_recall
from .base import Index, RowPairs
from .exact import exact_groups
from .flat import FlatIndex, brute_force

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FLAT_LIMIT",
    "ApproximateIndex",
    "FlatIndex",
    "Index",
    "RowPairs",
    "choose_index",
    "exact_groups",
    "measured_recall",
    "nearest_rows",
]

FLAT_LIMIT = 50_000
"""Rows up to which exact search is used: about 20 s on one core at 384 dimensions (decision 0041)."""


def choose_index(rows: int) -> Index:
    """The exact index, or the approximate one above `FLAT_LIMIT` rows."""
    return FlatIndex() if rows <= FLAT_LIMIT else ApproximateIndex()


def nearest_rows(units: NDArray[np.float32], asked: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Row numbers [k, width] of the nearest rows of the asked ones, nearest first, -1 for none.

    Args:
        units: float32 [n, d], rows of length 1.
        asked: int64 [k] rows.
        width: How many to find of each; a row finds itself, too.
    """
    build = brute_force if len(units) <= FLAT_LIMIT else inverted_file
    _, neighbours = build(units).search(units[asked], min(width, len(units)))
    rows: NDArray[np.int64] = neighbours
    return rows
