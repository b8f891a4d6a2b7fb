"""What every index gives: pairs of rows and their cosine. An index finds; it never judges.

Similarity is the cosine of the two rows, higher is closer. It is computed in one place, `exact_cosines`,
for every index, so that all of them agree to the last bit on a pair they both find.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAIRS_AT_ONCE = 1_024
"""Pairs that are re-scored together, few enough for the processor's cache at the usual widths."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """Pairs of rows, each unordered pair once, sorted by (i, j).

    Attributes:
        rows: int64 [m, 2], columns i < j.
        cosines: float32 [m], in [-1, 1].
    """

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        for (i, j), cosine in zip(self.rows.tolist(), self.cosines.tolist(), strict=True):
            yield i, j, cosine


class Index(Protocol):
    """Finds the rows that are near each other."""

    def pairs(self, vectors: NDArray[np.float32], *, floor: float, neighbours: int) -> RowPairs:
        """Each row with up to `neighbours` nearest rows of cosine >= floor.

        Args:
            vectors: float32 [n, d]; the length of a row does not matter, a row of zeros pairs with none.
            floor: Lowest cosine of a pair.
            neighbours: Most partners that one row looks for; other rows may find it as well.

        Raises:
            ModelError: If a value is not a finite number.
        """
        ...


def unit_rows(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The rows that point anywhere, scaled to length 1, and their numbers: float32 [m, d], int64 [m].

    Raises:
        ModelError: If a value is not a finite number.
    """
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ModelError(f"The encoder gave a vector with values that are no numbers (row {row}).")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    kept = np.flatnonzero(lengths > 0)
    scaled = vectors[kept].astype(np.float64) / lengths[kept, None]
    return np.ascontiguousarray(scaled, dtype=np.float32), kept


def row_pairs(
    vectors: NDArray[np.float32], first: NDArray[np.int64], second: NDArray[np.int64], *, floor: float
) -> RowPairs:
    """Put found pairs into their one form: i < j, each once, sorted, re-scored, cosine >= floor.

    Args:
        vectors: float32 [n, d], no row of zeros among those named.
        first: int64 [m], one row of each pair, in any order and as often as it was found.
        second: int64 [m], the other row.
        floor: Lowest cosine of a pair.
    """
    keys = np.unique(np.minimum(first, second) * len(vectors) + np.maximum(first, second))
    rows = np.stack([keys // max(1, len(vectors)), keys % max(1, len(vectors))], axis=1)
    cosines = exact_cosines(vectors, rows)
    near = cosines >= np.float32(floor)
    return RowPairs(np.ascontiguousarray(rows[near]), cosines[near])


def exact_cosines(vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Cosine of each pair of rows, float32 [m]; summed in float64, so that no library's blocking shows."""
    parts = [
        _cosines(
            vectors[rows[start : start + _PAIRS_AT_ONCE, 0]], vectors[rows[start : start + _PAIRS_AT_ONCE, 1]]
        )
        for start in range(0, len(rows), _PAIRS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def _cosines(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    a, b = first.astype(np.float64), second.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
    cosines: NDArray[np.float64] = np.einsum("ij,ij->i", a, b) / lengths
    return np.clip(cosines, -1.0, 1.0).astype(np.float32)
