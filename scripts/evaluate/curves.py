"""Points of precision/recall curves and reliability diagrams, from arrays alone; `plots` draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mem0_dream.scripts.evaluate.metrics import BINS, Floats
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall of `score >= threshold`, for every score there is, the highest first.

    Attributes:
        threshold: float64 [k], falling.
        precision: float64 [k].
        recall: float64 [k], rising.
    """

    threshold: Floats
    precision: Floats
    recall: Floats

    @property
    def average_precision(self) -> float:
        """Area under the steps of the curve."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))


@dataclass(frozen=True, slots=True)
class Bins:
    """Stated against true probability, in those of ten equal bins that hold a pair.

    Attributes:
        stated: float64 [k], mean probability of a bin.
        true: float64 [k], share of it that is right.
        share: float64 [k], part of all pairs that lies in it.
    """

    stated: Floats
    true: Floats
    share: Floats


def precision_recall(score: Floats, positive: NDArray[np.bool_], weight: Floats) -> Curve:
    """The curve of one score.

    >>> precision_recall(np.array([0.9, 0.5, 0.5]), np.array([True, False, True]), np.ones(3)).recall
    array([0.5, 1. ])
    """
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    last = np.append(ranked[1:] != ranked[:-1], np.ones(min(1, len(ranked)), dtype=bool))
    right = np.cumsum(np.where(positive, weight, 0.0)[order])[last]
    taken = np.cumsum(weight[order])[last]
    wanted = weight[positive].sum()
    recall = right / wanted if wanted else np.zeros_like(right)
    return Curve(ranked[last], right / taken, recall)


def reliability(confidence: Floats, right: NDArray[np.bool_], weight: Floats) -> Bins:
    """The bins of the calibration error (`metrics.calibration_error`)."""
    number = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    mass = np.bincount(number, weights=weight, minlength=BINS)
    held = mass > 0
    stated = np.bincount(number, weights=weight * confidence, minlength=BINS)[held] / mass[held]
    true = np.bincount(number, weights=weight * right, minlength=BINS)[held] / mass[held]
    return Bins(stated, true, mass[held] / mass.sum())
