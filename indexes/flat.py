"""Exact search: every row against every other. Right up to tens of thousands of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .nearest import FaissIndex, search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .base import RowPairs


class FlatIndex:
    """Exact inner products through FAISS.

    Each row finds its `neighbours` nearest, and a pair counts if either side found it. Of rows at equal
    distance the first ones are taken, so that more identical vectors than `neighbours` all pair with the
    same first few: they stay connected, in n * neighbours pairs and not n squared.
    """

    def pairs(self, vectors: NDArray[np.float32], *, floor: float, neighbours: int) -> RowPairs:
        """Each row with its `neighbours` nearest rows of cosine >= floor; see `Index.pairs`."""
        return search(vectors, brute_force, floor=floor, neighbours=neighbours)


def brute_force(units: NDArray[np.float32]) -> FaissIndex:
    """An exact inner-product index of float32 [m, d] unit rows: each row is compared with every other."""
    import faiss

    index = faiss.IndexFlatIP(units.shape[1])
    index.add(units)
    return index
