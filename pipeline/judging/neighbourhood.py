"""Where a pair stands among the other memories of its scope and category, from their vectors alone.

Two texts that are each other's nearest, with nothing else near, are more likely one fact than two of many
similar texts. No verdict is inferred through a third memory: these numbers only join the pair's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...indexes import nearest_rows
from ...models.scorer import PairContext
from .shared_words import SharedWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EXACT_LIMIT = 4_096
"""Memories up to which every third memory may be the bridge; above, those among the `NEAREST` of a side."""

NEAREST = 64
"""Ranks are counted up to this; all higher ranks are equal."""

CROWD = 5

DECIMALS = 6
"""Cosines are rounded to this, so that equal texts stay equally near in every order of the memories."""

_CELLS_AT_ONCE = 1 << 22
_NONE = -2.0  # below every cosine


def contexts_of(vectors: NDArray[np.float32], texts: Sequence[str], pairs: Ints) -> list[PairContext]:
    """The context of each pair of rows, in their order.

    Args:
        vectors: float32 [n, d], the memories of one scope and category, copies left out.
        texts: What they say, in the same order.
        pairs: int64 [m, 2] rows.
    """
    return [PairContext(*row) for row in context_table(vectors, texts, pairs).tolist()]


def context_table(vectors: NDArray[np.float32], texts: Sequence[str], pairs: Ints) -> Floats:
    """float64 [m, 13], columns in the order of the fields of `PairContext`."""
    if not len(pairs):
        return np.zeros((0, 13))
    units = vectors.astype(np.float64)
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-12)
    involved, rows = np.unique(pairs, return_inverse=True)
    a, b = rows.reshape(pairs.shape).T
    whole = np.round(units[involved] @ units.T, DECIMALS) if len(units) <= EXACT_LIMIT else None
    values, ids = _nearest(units, involved, whole)
    sides = (pairs[:, 0], pairs[:, 1])
    cosine = np.round(np.einsum("ij,ij->i", units[sides[0]], units[sides[1]]), DECIMALS)
    ranks, margins, tops = _standing(cosine, pairs, (values[a], values[b]), (ids[a], ids[b]))
    bridge = _bridge_among(units, sides, (ids[a], ids[b])) if whole is None else _bridge(whole, (a, b), sides)
    size = np.full(len(pairs), np.round(np.log2(len(units))))
    words = SharedWords(texts)
    share = words.of_pairs(*sides)
    values, ids = words.nearest(involved, NEAREST + 2)
    sharing, telling, _ = _standing(share, pairs, (values[a], values[b]), (ids[a], ids[b]))
    crowds = [_mean(top[:, :CROWD]) for top in tops]
    return np.stack([*ranks, *margins, *crowds, bridge, size, share, *sharing, *telling], axis=1).astype(
        float
    )


def _standing(
    value: Floats, pairs: Ints, values: tuple[Floats, Floats], ids: tuple[Ints, Ints]
) -> tuple[list[Ints], list[Floats], list[Floats]]:
    """From each side of the pairs: rank and margin of the other, and the third memories, nearest first."""
    thirds = [
        np.where((near == pairs[:, :1]) | (near == pairs[:, 1:]) | (near < 0), _NONE, known)
        for near, known in zip(ids, values, strict=True)
    ]
    ranks = [np.minimum((third > value[:, None]).sum(axis=1), NEAREST) for third in thirds]
    tops = [-np.sort(-third, axis=1) for third in thirds]
    margins = [value - np.where(top[:, 0] > _NONE, top[:, 0], 0.0) for top in tops]
    return ranks, [np.round(margin, DECIMALS) for margin in margins], tops


def _nearest(units: Floats, involved: Ints, whole: Floats | None) -> tuple[Floats, Ints]:
    """Cosines and rows [k, NEAREST + 2] of the nearest of each involved row, itself among them."""
    if whole is None:
        ids = nearest_rows(units.astype(np.float32), involved, NEAREST + 2)
        return _cosines(units, involved, ids), ids
    width = min(NEAREST + 2, len(units))
    ids = np.argpartition(-whole, width - 1, axis=1)[:, :width]
    return np.take_along_axis(whole, ids, axis=1), ids


def _cosines(units: Floats, rows: Ints, others: Ints) -> Floats:
    """Cosine of each row [k] with each of its others [k, w]."""
    cosines = np.zeros(others.shape)
    step = max(1, _CELLS_AT_ONCE // (others.shape[1] * units.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        cosines[part] = np.einsum("id,iwd->iw", units[rows[part]], units[others[part]])
    return np.round(cosines, DECIMALS)


def _mean(top: Floats) -> Floats:
    there = top > _NONE
    mean: Floats = np.where(there, top, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return np.round(mean, DECIMALS)


def _bridge(whole: NDArray[np.floating], rows: tuple[Ints, Ints], sides: tuple[Ints, Ints]) -> Floats:
    best = np.zeros(len(rows[0]))
    whole = whole.astype(np.float32)  # half as much to fetch; rounded to as many decimals below
    step = max(1, _CELLS_AT_ONCE // whole.shape[1])
    for start in range(0, len(best), step):
        part = slice(start, start + step)
        both = np.minimum(whole[rows[0][part]], whole[rows[1][part]])
        at = np.arange(len(both))
        both[at, sides[0][part]] = both[at, sides[1][part]] = _NONE
        best[part] = both.max(axis=1)
    return np.where(best > _NONE, np.round(best, DECIMALS), 0.0)


def _bridge_among(units: Floats, sides: tuple[Ints, Ints], near: tuple[Ints, Ints]) -> Floats:
    """The same over the third memories that are near one of the two."""
    best = np.zeros(len(sides[0]))
    for at, (i, j) in enumerate(zip(*sides, strict=True)):
        third = np.union1d(near[0][at], near[1][at])
        third = third[(third >= 0) & (third != i) & (third != j)]
        both = (units[third] @ units[[i, j]].T).min(axis=1)
        best[at] = np.round(both.max(initial=_NONE), DECIMALS)
    return np.where(best > _NONE, best, 0.0)
