"""Turns a row of signals into calibrated probabilities with boosted decision trees, evaluated in numpy.

The trees are plain arrays in an `.npz` file: nothing is unpickled, and scikit-learn is needed for fitting
only.
Several boosters fitted with different seeds are averaged. Algorithm: gradient boosting over histograms
(Friedman 2001; Ke et al. 2017), multinomial loss, softmax over the sum of the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int32]

CLASSES = 3
_ARRAYS = ("feature", "threshold", "left", "right", "value", "root", "column", "member", "baseline")
_MISSING = "missing_left"  # not in files of earlier versions, whose signals had no gaps


@dataclass(frozen=True, slots=True)
class Calibrator:
    """An average of boosters as flat arrays over all nodes of all trees.

    Attributes:
        feature: int32 [nodes], column that a node tests; -1 for a leaf.
        threshold: float64 [nodes]; a row goes left where its value is at most this.
        missing_left: bool [nodes]; where a row goes that has no value (NaN).
        left: int32 [nodes], index of the left child. `right`: of the right child.
        value: float64 [nodes], what a leaf adds.
        root: int32 [trees], index of each tree's first node.
        column: int32 [trees], class a tree adds to. `member`: booster it belongs to.
        baseline: float64 [members, 3], where each booster starts.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    root: Ints
    column: Ints
    member: Ints
    baseline: Floats
    missing_left: NDArray[np.bool_]

    def probabilities(self, rows: Floats) -> Floats:
        """float64 [n, 3] (duplicate, contradiction, distinct) of signals [n, columns]; rows sum to 1."""
        count, members = len(rows), len(self.baseline)
        node = np.broadcast_to(self.root, (count, len(self.root))).copy()
        at = np.arange(count)[:, None]
        while (self.feature[node] >= 0).any():
            test = self.feature[node]
            tested = rows[at, np.maximum(test, 0)]
            goes_left = np.where(np.isnan(tested), self.missing_left[node], tested <= self.threshold[node])
            following = np.where(goes_left, self.left[node], self.right[node])
            node = np.where(test >= 0, following, node)
        added = self.value[node]
        scores = np.repeat(self.baseline[None], count, axis=0)
        for tree in range(len(self.root)):
            scores[:, self.member[tree], self.column[tree]] += added[:, tree]
        raised = np.exp(scores - scores.max(axis=2, keepdims=True))
        mean: Floats = (raised / raised.sum(axis=2, keepdims=True)).sum(axis=1) / members
        return mean

    def save(self, path: Path) -> None:
        """Write all arrays to an `.npz` file."""
        np.savez_compressed(path, **{name: getattr(self, name) for name in (*_ARRAYS, _MISSING)})

    @classmethod
    def load(cls, path: Path) -> Calibrator:
        """Read what `save` wrote.

        Raises:
            OSError: no such file.
            ValueError: not such a file, or one that holds pickled objects.
            KeyError: an array is missing.
        """
        with np.load(path, allow_pickle=False) as arrays:
            known = {name: arrays[name] for name in _ARRAYS}
            missing = arrays.get(_MISSING, np.zeros(len(known["feature"]), dtype=bool))
            return cls(**known, missing_left=missing)
