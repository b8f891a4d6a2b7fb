"""Where pairs worth judging come from: exact groups, exact search, approximate search."""

from .neighbours import (
    FLAT_LIMIT,
    ApproximateIndex,
    FlatIndex,
    Index,
    MeasuredIndex,
    RowPairs,
    choose_index,
    exact_groups,
    measured_recall,
    nearest_rows,
    row_pairs,
)

__all__ = [
    "FLAT_LIMIT", "ApproximateIndex", "FlatIndex", "Index", "MeasuredIndex", "RowPairs", "choose_index",
    "exact_groups", "measured_recall", "nearest_rows", "row_pairs",
]  # fmt: skip
