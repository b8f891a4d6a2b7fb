"""The search that all FAISS indexes share: unit rows in, nearest partners out, ties broken by row number.

FAISS returns an arbitrary choice of rows at equal distance, and a graph index loses copies altogether.
So identical rows are searched for as one and expanded afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import RowPairs, row_pairs, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

FaissIndex = Any
"""An index of FAISS, which is untyped for us because it is imported late."""


def search(
    vectors: NDArray[np.float32],
    build: Callable[[NDArray[np.float32]], FaissIndex],
    *,
    floor: float,
    neighbours: int,
    sample: frozenset[int] | None = None,
) -> RowPairs:
    """Pair each row with its nearest ones.

    Args:
        vectors: float32 [n, d].
        build: Makes a filled inner-product index of float32 [m, d] unit rows.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one row looks for; of equally near ones the first.
        sample: Look only for the partners of these rows (and of rows equal to them).
    """
    units, kept = unit_rows(vectors)
    copies = _equal_rows(units)
    if len(kept) < 2:
        return row_pairs(vectors, kept[:0], kept[:0], floor=floor)
    distinct = np.ascontiguousarray(units[[rows[0] for rows in copies]])
    asked = [
        number for number, rows in enumerate(copies) if sample is None or not sample.isdisjoint(kept[rows])
    ]
    _, nearest = build(distinct).search(distinct[asked], min(neighbours + 1, len(distinct)))
    if len(copies) == len(units):
        first, second = _without_itself(np.asarray(asked), nearest, neighbours)
    else:
        pairs = [
            pair
            for number, near in zip(asked, nearest.tolist(), strict=True)
            for pair in _expanded(number, near, copies, neighbours)
        ]
        first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return row_pairs(vectors, kept[first], kept[second], floor=floor)


def _without_itself(
    asked: NDArray[np.int64], near: NDArray[np.int64], neighbours: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each row with the first `neighbours` rows it found, itself and padding (-1) left out."""
    others = (near != asked[:, None]) & (near >= 0)
    others &= np.cumsum(others, axis=1) <= neighbours
    return np.repeat(asked, others.sum(axis=1)), near[others]


def _expanded(
    number: int, near: list[int], copies: list[list[int]], neighbours: int
) -> Iterator[tuple[int, int]]:
    """Each copy of a distinct row with its nearest rows: the other copies first, then what was found."""
    rows = copies[number]
    others = [row for other in near if other not in {number, -1} for row in copies[other]][:neighbours]
    for row in rows:
        twins = [twin for twin in rows[: neighbours + 1] if twin != row]
        yield from ((row, partner) for partner in (twins + others)[:neighbours])


def _equal_rows(units: NDArray[np.float32]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(units):
        groups.setdefault(row.tobytes(), []).append(number)
    return list(groups.values())
