"""Turns a row of signals into calibrated probabilities with boosted decision trees, evaluated in numpy.

The trees are plain arrays in an `.npz` file: nothing is unpickled, and only fitting needs scikit-learn
(gradient boosting over histograms: Friedman 2001; Ke et al. 2017). Boosters of several seeds are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

ROWS_AT_ONCE = 128  # few enough for the processor's cache


@dataclass(frozen=True, slots=True)
class Calibrator:
    """An average of boosters as flat arrays over all nodes of all trees."""

    feature: Ints  # int32 [nodes], column that a node tests; -1 for a leaf
    threshold: Floats  # float64 [nodes]; a row goes left where its value is at most this
    left: Ints  # int32 [nodes], index of the left child
    right: Ints  # of the right child
    value: Floats  # float64 [nodes], what a leaf adds
    root: Ints  # int32 [trees], index of each tree's first node
    column: Ints  # int32 [trees], class a tree adds to
    member: Ints  # booster it belongs to
    baseline: Floats  # float64 [members, 3], where each booster starts
    missing_left: NDArray[np.bool_]  # bool [nodes]; where a row goes that has no value (NaN)

    def probabilities(self, rows: Floats) -> Floats:
        """float64 [n, 3] (duplicate, contradiction, distinct) of signals [n, columns]; rows sum to 1."""
        group = self.member * self.baseline.shape[1] + self.column
        trees = [(int(at), np.flatnonzero(group == at)) for at in np.unique(group)]
        starts = range(0, len(rows), ROWS_AT_ONCE)
        parts = [self._block(rows[start : start + ROWS_AT_ONCE], trees) for start in starts]
        return np.concatenate(parts) if parts else np.zeros((0, self.baseline.shape[1]))

    def _block(self, rows: Floats, trees: Sequence[tuple[int, NDArray[np.int64]]]) -> Floats:
        count, (members, classes) = len(rows), self.baseline.shape
        added = self.value[self._leaves(rows)]
        scores = np.repeat(self.baseline.reshape(1, -1), count, axis=0)
        for at, of_group in trees:
            scores[:, at] += added[:, of_group].sum(axis=1)
        scores = scores.reshape(count, members, classes)
        raised = np.exp(scores - scores.max(axis=2, keepdims=True))
        mean: Floats = (raised / raised.sum(axis=2, keepdims=True)).sum(axis=1) / members
        return mean

    def _leaves(self, rows: Floats) -> NDArray[np.int64]:
        """The leaf that each row reaches in each tree: int64 [n, trees]."""
        own = np.arange(len(self.feature))
        leaf = self.feature < 0
        tested = np.where(leaf, 0, self.feature)  # a leaf leads to itself, whatever it tests
        children = [np.where(leaf, own, child) for child in (self.right, self.left)]
        child = np.stack(children, axis=1).ravel()  # of node n: right at 2n, left at 2n + 1
        gaps = bool(np.isnan(rows).any())
        start = (np.arange(len(rows)) * rows.shape[1])[:, None]
        flat = np.ascontiguousarray(rows).ravel()
        node = np.repeat(self.root[None].astype(np.int64), len(rows), axis=0)
        while True:
            values = flat.take(start + tested.take(node))
            goes_left = values <= self.threshold.take(node)
            if gaps:
                goes_left |= np.isnan(values) & self.missing_left.take(node)
            following: NDArray[np.int64] = child.take(2 * node + goes_left)
            if np.array_equal(following, node):
                return following
            node = following

    def arrays(self, prefix: str = "") -> dict[str, Any]:
        """All arrays by name: what a file holds."""
        return {prefix + field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, Any], prefix: str = "") -> Calibrator:
        """The trees of what `arrays` gave; KeyError if one is missing."""
        return cls(*(arrays[prefix + field.name] for field in fields(cls)))

    @classmethod
    def load(cls, path: Path) -> Calibrator:
        """Read a file of `arrays`; ValueError or KeyError for pickled objects or a missing array."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls.of(arrays)
