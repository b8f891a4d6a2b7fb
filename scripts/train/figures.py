"""Figures of a three-way decision: macro-F1, precision and recall, recall at a stated precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold on one probability gives, in weighted pairs."""

    threshold: float
    precision: float
    recall: float


def macro_f1(predicted: Ints, label: Ints, weight: Floats) -> float:
    """Unweighted mean of the three labels' F1, counts weighted by pair."""
    return float(np.mean([_f1(predicted == k, label == k, weight) for k in range(3)]))


def point(score: Floats, positive: NDArray[np.bool_], weight: Floats, threshold: float) -> Point:
    """Precision and recall of `score >= threshold`; precision is 1 where nothing is chosen."""
    chosen = score >= threshold
    hit = float(weight[chosen & positive].sum())
    total, wanted = float(weight[chosen].sum()), float(weight[positive].sum())
    return Point(threshold, hit / total if total else 1.0, hit / wanted if wanted else 0.0)


def at_precision(score: Floats, positive: NDArray[np.bool_], weight: Floats, precision: float) -> Point:
    """The point of highest recall whose precision is at least the stated one."""
    best = point(score, positive, weight, np.inf)
    for threshold in np.unique(score):
        candidate = point(score, positive, weight, float(threshold))
        if candidate.precision >= precision and candidate.recall > best.recall:
            best = candidate
    return best


def _f1(predicted: NDArray[np.bool_], actual: NDArray[np.bool_], weight: Floats) -> float:
    both = float(weight[predicted & actual].sum())
    total = float(weight[predicted].sum() + weight[actual].sum())
    return 2 * both / total if total else 0.0
