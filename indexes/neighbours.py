"""The nearest rows among vectors that come and go: what was searched for once is not searched for again."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARE = 48  # nearest rows kept beyond those asked for: so many may go before a row is searched for anew
_CELLS_AT_ONCE = 1 << 22
_REBUILT = 4  # a search anew takes as long as adding one in so many rows


class Neighbours:
    """Lists of the nearest of all rows that were ever asked about, by cosine, nearest first.

    Rows are float32 [n, d] of length 1. The lists are those of exact search, but for rows whose cosines
    differ by less than the rounding of float32.
    """

    def __init__(self) -> None:
        self._row: dict[bytes, int] = {}
        self._units: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)
        self._ids: NDArray[np.int32] = np.zeros((0, 0), dtype=np.int32)
        self._cosines: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    def nearest(
        self, units: NDArray[np.float32], width: int, build: Callable[[NDArray[np.float32]], Any]
    ) -> NDArray[np.int64]:
        """Places [n, width] among `units` of the nearest of each, itself, too; `build` makes an index."""
        width = min(width, len(units))
        names = [blake2b(row.tobytes(), digest_size=16).digest() for row in units]
        if len(set(names)) < len(names) or len(units) * 2 < len(self._units):
            # rows that are alike have no lists of their own, and a few are found as fast without any
            found: NDArray[np.int64] = build(units).search(units, width)[1]
            return found
        new = [at for at, name in enumerate(names) if name not in self._row]
        if self._ids.shape[1] < width or len(new) * _REBUILT > len(units):
            self._row = {name: at for at, name in enumerate(names)}
            self._units = units
            self._cosines, ids = build(units).search(units, min(width + SPARE, len(units)))
            self._ids = ids.astype(np.int32)
        elif new:
            self._row |= {names[at]: len(self._row) + number for number, at in enumerate(new)}
            self._add(units[new])
        rows = np.array([self._row[name] for name in names], dtype=np.int64)
        place = np.full(len(self._units), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        listed = place[self._ids[rows]]
        there = listed >= 0
        order = np.argsort(~there, axis=1, kind="stable")[:, :width]
        nearest: NDArray[np.int64] = np.take_along_axis(listed, order, axis=1)
        few = np.flatnonzero(there.sum(axis=1) < width)
        if len(few):
            nearest[few] = build(units).search(units[few], width)[1]
        return nearest

    def _add(self, units: NDArray[np.float32]) -> None:
        """Lists of new rows, and these in the lists of the rows before."""
        before, width = len(self._units), self._ids.shape[1]
        self._units = np.concatenate([self._units, units])
        cosines = units @ self._units.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :width]
        own = np.take_along_axis(cosines, order, axis=1)
        numbers = np.arange(before, len(self._units), dtype=np.int32)
        step = max(1, _CELLS_AT_ONCE // (width + len(units)))
        for start in range(0, before, step):
            part = slice(start, min(start + step, before))
            count = part.stop - start
            ids = np.concatenate([self._ids[part], np.broadcast_to(numbers, (count, len(numbers)))], axis=1)
            both = np.concatenate([self._cosines[part], cosines[:, part].T], axis=1)
            best = np.argsort(-both, axis=1, kind="stable")[:, :width]
            self._ids[part] = np.take_along_axis(ids, best, axis=1)
            self._cosines[part] = np.take_along_axis(both, best, axis=1)
        self._ids = np.concatenate([self._ids, order.astype(np.int32)])
        self._cosines = np.concatenate([self._cosines, own])
