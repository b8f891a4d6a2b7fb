"""Where pairs worth judging come from: exact groups, exact search, approximate search."""

from __future__ import annotations

from .approximate import ApproximateIndex, measured_recall
from .base import Index, RowPairs
from .exact import exact_groups
from .flat import FlatIndex

__all__ = [
    "FLAT_LIMIT",
    "ApproximateIndex",
    "FlatIndex",
    "Index",
    "RowPairs",
    "choose_index",
    "exact_groups",
    "measured_recall",
]

FLAT_LIMIT = 50_000
"""Rows up to which exact search is used: about 20 s on one core at 384 dimensions (decision 0041)."""


def choose_index(rows: int) -> Index:
    """The exact index, or the approximate one above `FLAT_LIMIT` rows."""
    return FlatIndex() if rows <= FLAT_LIMIT else ApproximateIndex()
