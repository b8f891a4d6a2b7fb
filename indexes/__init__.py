"""Where pairs worth judging come from: groups of one statement, and near rows.

Near rows are found by exact search with FAISS, or by an inverted file above tens of thousands of rows.

A search finds; it never judges. Similarity is the cosine of the two rows, higher is closer, computed in one
place (`exact_cosines`), so that all searches agree to the last bit on a pair they both find. FAISS returns an
arbitrary choice of rows at equal distance, and a graph index loses copies altogether, so identical rows are
searched for as one and expanded afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from ..models.same_statement import statement_key
from .neighbours import Neighbours

if TYPE_CHECKING:
    from numpy.typing import NDArray

FaissIndex = Any  # untyped for us because it is imported late
FLAT_LIMIT = 100_000  # rows up to which exact search is used: below, an inverted file takes longer
LEAST_RECALL = 0.995  # share of the near pairs of a sample that approximate search must find
_SEED = 20_260
_ROWS_AT_ONCE = 4_096
_PAIRS_AT_ONCE = 1_024  # that are re-scored together, few enough for the processor's cache
_PROBED_SHARE, _LEAST_PROBES = 8, 8  # one of so many cells is searched for each row
_TRAIN_PER_CELL = 64


def exact_groups(
    texts: Sequence[str], beside: Sequence[Hashable] | None = None
) -> tuple[tuple[int, ...], ...]:
    """Rows that are one statement by their words alone, in order of their first row; no model is needed.

    `beside` holds for each text what must be equal, too.

    >>> exact_groups(["Likes tea.", "Owns a dog", "- likes  the tea"])
    ((0, 2), (1,))
    """
    groups: dict[Hashable, list[int]] = {}
    for row, text in enumerate(texts):
        groups.setdefault((statement_key(text), beside[row] if beside else None), []).append(row)
    return tuple(tuple(rows) for rows in groups.values())


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """Pairs of rows, each unordered pair once, sorted by (i, j)."""

    rows: NDArray[np.int64]  # int64 [m, 2], columns i < j
    cosines: NDArray[np.float32]  # float32 [m], in [-1, 1]
    note: str = ""  # how they were found, where that was not by exact search alone

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        for (i, j), cosine in zip(self.rows.tolist(), self.cosines.tolist(), strict=True):
            yield i, j, cosine


def row_pairs(
    vectors: NDArray[np.float32], first: NDArray[np.int64], second: NDArray[np.int64], *, floor: float
) -> RowPairs:
    """Found pairs in their one form: i < j, each once, sorted, re-scored, cosine >= floor.

    Takes float32 [n, d] vectors and the int64 [m] rows of both sides, in any order, as often as they were
    found; none is a row of zeros.
    """
    keys = np.unique(np.minimum(first, second) * len(vectors) + np.maximum(first, second))
    rows = np.stack([keys // max(1, len(vectors)), keys % max(1, len(vectors))], axis=1)
    cosines = exact_cosines(vectors, rows)
    near = cosines >= np.float32(floor)
    return RowPairs(np.ascontiguousarray(rows[near]), cosines[near])


def exact_cosines(vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Cosine of each pair of rows, float32 [m]; summed in float64, so that no library's blocking shows."""
    cosines = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _PAIRS_AT_ONCE):
        a, b = (vectors[some].astype(np.float64) for some in rows[start : start + _PAIRS_AT_ONCE].T)
        lengths = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
        cosines[start : start + len(a)] = np.clip(np.einsum("ij,ij->i", a, b) / lengths, -1.0, 1.0)
    return cosines


def brute_force(units: NDArray[np.float32]) -> FaissIndex:
    """An exact inner-product index of float32 [m, d] unit rows: each row is compared with every other."""
    import faiss

    index = faiss.IndexFlatIP(units.shape[1])
    index.add(units)
    return index


def inverted_file(units: NDArray[np.float32]) -> FaissIndex:
    """An inverted file that holds float32 [m, d] unit rows."""
    import faiss

    rows, width = units.shape
    cells = max(1, min(int(4 * rows**0.5), rows // _TRAIN_PER_CELL))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = _SEED
    index.train(units)
    index.add(units)
    index.nprobe = max(_LEAST_PROBES, cells // _PROBED_SHARE)
    return index


def near_pairs(
    vectors: NDArray[np.float32], *, floor: float, neighbours: int, known: Neighbours | None = None
) -> RowPairs:
    """Each row with its nearest rows; see `search`.

    Above `FLAT_LIMIT` rows by approximate search, where that finds `LEAST_RECALL` of a sample; a note says
    so. It can miss pairs, never invent one. An inverted file is built the same way on any number of threads,
    unlike a navigable graph (HNSW). What is `known` of the nearest rows is not searched for again.
    """
    if len(vectors) <= FLAT_LIMIT:
        return search(vectors, brute_force, floor=floor, neighbours=neighbours, known=known)
    found = search(vectors, inverted_file, floor=floor, neighbours=neighbours)
    recall = measured_recall(found, vectors, floor=floor, neighbours=neighbours)
    note = f"Approximate search among {len(vectors)} texts found {recall:.2%} of the near pairs of a sample"
    if recall >= LEAST_RECALL:
        return replace(found, note=f"{note}.")
    found = search(vectors, brute_force, floor=floor, neighbours=neighbours)
    return replace(found, note=f"{note}, too few: exact search was used.")


def measured_recall(
    pairs: RowPairs, vectors: NDArray[np.float32], *, floor: float, neighbours: int, sample: int = 500
) -> float:
    """Share of the pairs which exact search finds for a sample of rows that are among those given, or 1.

    The pairs are what `search` found for these vectors, floor and neighbours.
    """
    rng = np.random.default_rng(_SEED)
    rows = frozenset(rng.choice(len(vectors), size=min(sample, len(vectors)), replace=False).tolist())
    truth = search(vectors, brute_force, floor=floor, neighbours=neighbours, sample=rows)
    known, found = ((some.rows[:, 0] << 32) | some.rows[:, 1] for some in (truth, pairs))
    return float(np.isin(known, found).mean()) if len(truth) else 1.0


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """float64 [..., d]: the same rows with length 1; a row of zeros stays so."""
    rows: NDArray[np.float64] = vectors / lengths_of(vectors)
    return rows


def lengths_of(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """float64 [..., 1]: the length of each row, hardly more than nothing for a row of zeros."""
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors, dtype=np.float64))
    safe: NDArray[np.float64] = np.maximum(lengths, 1e-12)[..., None]
    return safe


def _searched(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1 as an index holds them, some at a time: few numbers are held in double."""
    units = np.empty(vectors.shape, dtype=np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        units[part] = unit_rows(vectors[part])
    return units


def nearest_rows(
    vectors: NDArray[np.float32], asked: NDArray[np.int64], width: int, known: Neighbours | None = None
) -> NDArray[np.int64]:
    """Row numbers [k, width] of the nearest rows of the asked ones [k], nearest first, -1 for none.

    Of float32 [n, d] vectors; a row finds itself, too.
    """
    units = _searched(vectors)
    if known is not None and len(units) <= FLAT_LIMIT:
        return known.nearest(units, width, brute_force)[asked]
    build = brute_force if len(units) <= FLAT_LIMIT else inverted_file
    rows: NDArray[np.int64] = build(units).search(units[asked], min(width, len(units)))[1]
    return rows


def search(
    vectors: NDArray[np.float32],
    build: Callable[[NDArray[np.float32]], FaissIndex],
    *,
    floor: float,
    neighbours: int,
    sample: frozenset[int] | None = None,
    known: Neighbours | None = None,
) -> RowPairs:
    """Each row with up to `neighbours` nearest rows of cosine >= floor; a pair counts if either found it.

    Of rows at equal distance the first ones are taken, so that more identical vectors than `neighbours` all
    pair with the same first few: they stay connected, in n * neighbours pairs and not n squared.

    Args:
        vectors: float32 [n, d]; the length of a row does not matter, a row of zeros pairs with none.
        build: Makes a filled inner-product index of float32 [m, d] unit rows.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one row looks for.
        sample: Look only for the partners of these rows (and of rows equal to them).
        known: Lists of nearest rows, to be used and added to; only where the index is exact.

    Raises:
        ModelError: If a value is not a finite number.
    """
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ModelError(f"The encoder gave a vector with values that are no numbers (row {row}).")
    kept = np.flatnonzero(vectors.any(axis=1))
    units = _searched(vectors[kept])
    equal: dict[bytes, list[int]] = {}
    for number, row in enumerate(units):
        equal.setdefault(blake2b(row.tobytes(), digest_size=16).digest(), []).append(number)
    copies = list(equal.values())
    if len(kept) < 2:
        return row_pairs(vectors, kept[:0], kept[:0], floor=floor)
    distinct = np.ascontiguousarray(units[[rows[0] for rows in copies]])
    asked = [
        number for number, rows in enumerate(copies) if sample is None or not sample.isdisjoint(kept[rows])
    ]
    width = min(neighbours + 1, len(distinct))
    nearest = (
        build(distinct).search(distinct[asked], width)[1]
        if known is None
        else known.nearest(distinct, width, build)[asked]
    )
    if len(copies) == len(units):
        rows = np.asarray(asked)
        others = (nearest != rows[:, None]) & (nearest >= 0)  # neither itself nor padding
        others &= np.cumsum(others, axis=1) <= neighbours
        first, second = np.repeat(rows, others.sum(axis=1)), nearest[others]
    else:
        pairs = [
            pair
            for number, near in zip(asked, nearest.tolist(), strict=True)
            for pair in _expanded(number, near, copies, neighbours)
        ]
        first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return row_pairs(vectors, kept[first], kept[second], floor=floor)


def _expanded(
    number: int, near: list[int], copies: list[list[int]], neighbours: int
) -> Iterator[tuple[int, int]]:
    """Each copy of a distinct row with its nearest rows: the other copies first, then what was found."""
    rows = copies[number]
    others = [row for other in near if other not in {number, -1} for row in copies[other]][:neighbours]
    for row in rows:
        twins = [twin for twin in rows[: neighbours + 1] if twin != row]
        yield from ((row, partner) for partner in (twins + others)[:neighbours])
