"""Search for very many rows: an inverted file finds pairs, cosines are exact, recall is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .base import RowPairs
from .flat import brute_force
from .nearest import FaissIndex, search

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 20_260
"""Seed of the clustering and of the sample, so that one input gives one result."""

PROBED_SHARE = 8
"""One of so many cells is searched for each row."""

LEAST_PROBES = 8

_TRAIN_PER_CELL = 64


class ApproximateIndex:
    """Inverted file over about 4 * sqrt(n) cells; candidates are re-scored exactly.

    It can miss pairs, never invent one: whatever it returns has its exact cosine. `measured_recall` says
    how much it missed. An inverted file is built the same way on any number of threads; a navigable
    graph (HNSW) is not.
    """

    def pairs(self, vectors: NDArray[np.float32], *, floor: float, neighbours: int) -> RowPairs:
        """Each row with about its `neighbours` nearest rows of cosine >= floor; see `Index.pairs`."""
        return search(vectors, inverted_file, floor=floor, neighbours=neighbours)


def inverted_file(units: NDArray[np.float32]) -> FaissIndex:
    """An inverted file that holds float32 [m, d] unit rows."""
    import faiss

    rows, width = units.shape
    cells = max(1, min(int(4 * rows**0.5), rows // _TRAIN_PER_CELL))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = SEED
    index.train(units)
    index.add(units)
    index.nprobe = max(LEAST_PROBES, cells // PROBED_SHARE)
    return index


def measured_recall(
    pairs: RowPairs, vectors: NDArray[np.float32], *, floor: float, neighbours: int, sample: int = 500
) -> float:
    """Share of the pairs which exact search finds for a sample of rows that are among the given ones.

    Args:
        pairs: What an index gave for these vectors, floor and neighbours.
        vectors: float32 [n, d].
        floor: Lowest cosine of a pair.
        neighbours: Most partners of each row.
        sample: How many rows are searched for exactly.

    Returns:
        1.0 if exact search finds nothing either.
    """
    rng = np.random.default_rng(SEED)
    rows = frozenset(rng.choice(len(vectors), size=min(sample, len(vectors)), replace=False).tolist())
    truth = search(vectors, brute_force, floor=floor, neighbours=neighbours, sample=rows)
    return float(np.isin(_keys(truth), _keys(pairs)).mean()) if len(truth) else 1.0


def _keys(pairs: RowPairs) -> NDArray[np.int64]:
    return (pairs.rows[:, 0] << 32) | pairs.rows[:, 1]
