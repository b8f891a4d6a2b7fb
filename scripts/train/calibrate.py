"""Fits the calibrator over the signals, cross-validated by user, store and fold, and its thresholds.

Cross-validated figures are the honest ones; the shipped calibrator is fitted on all development pairs
afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...models.bundled.calibrator import Calibrator
from ...models.scorer import Thresholds
from ..evaluate.metrics import calibration_error
from .figures import at_precision, macro_f1, point
from .signals import Table

FOLDS = 6
MEMBERS = 6
ROUNDS = 120
RATE = 0.06
LEAVES = 8
SMALLEST_LEAF = 12
PENALTY = 3.0
BALANCE = 0.3  # 0 keeps the labels' natural shares within an origin, 1 makes them equal
ORIGIN_MASS = {"hard": 1.0, "real": 1.0, "store": 0.6, "world": 2.0}
AUTO_PRECISION = 0.965  # of real pairs alone: nearly all that is wrong above it is of one of twelve users
INSIDE_PRECISION = 0.97  # of candidates in worlds, where far more looks alike than in most stores
HARD_FALSE_MERGES = 0.0
CONTRADICTION_PRECISION = 0.85  # a person decides each one, but a report that is wrong costs trust
INSIDE_CONTRADICTION = 0.90  # of pairs; several pairs of one fact are one report, so 0.86 of the reports
SHOWN_PRECISION = 0.80
INSIDE_SHOWN = 0.75
ALONE = ("hard", "real")  # origins of pairs of which no store is known

Floats = NDArray[np.float64]


def sample_weight(data: Table) -> Floats:
    """Weights that give each origin its share of the mass; real pairs count by the root of their weight."""
    weight = np.sqrt(data.weight)
    for origin, mass in ORIGIN_MASS.items():
        inside = data.origin == origin
        if inside.any():
            for label in np.unique(data.label[inside]):
                chosen = inside & (data.label == label)
                weight[chosen] *= (weight[inside].sum() / weight[chosen].sum()) ** BALANCE
            weight[inside] *= mass * len(weight) / len(ORIGIN_MASS) / weight[inside].sum()
    return np.asarray(weight)


def fit(data: Table, chosen: NDArray[np.bool_] | None = None, *, seed: int) -> Calibrator:
    """A calibrator fitted on the chosen rows (all by default), `MEMBERS` boosters averaged."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    keep = np.ones(len(data.label), dtype=bool) if chosen is None else chosen
    weight = sample_weight(data)
    rows = np.where(np.isnan(data.rows[keep]).all(axis=0), 0.0, data.rows[keep])  # no value, no split
    rng = np.random.default_rng(seed)
    boosters = []
    for member in range(MEMBERS):
        # Each member sees its own random weights (a Bayesian bootstrap), which averages out single pairs.
        noise = rng.exponential(size=len(weight)) * 0.4 + 0.6
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF,
            l2_regularization=PENALTY, max_features=0.5, early_stopping=False, random_state=seed + member,
        )  # fmt: skip
        boosters.append(model.fit(rows, data.label[keep], sample_weight=(weight * noise)[keep]))
    return flatten(boosters)


def flatten(boosters: Sequence[object]) -> Calibrator:
    """The trees of fitted scikit-learn boosters as one `Calibrator`."""
    parts: dict[str, list[NDArray[np.float64]]] = {
        k: [] for k in ("feature", "threshold", "left", "right", "value", "missing_left")
    }
    root, column, member, start = [], [], [], 0
    for number, booster in enumerate(boosters):
        for round_trees in booster._predictors:  # type: ignore[attr-defined]  # noqa: SLF001
            for label, tree in enumerate(round_trees):
                nodes = tree.nodes
                leaf = nodes["is_leaf"].astype(bool)
                parts["feature"].append(np.where(leaf, -1, nodes["feature_idx"]))
                parts["threshold"].append(np.where(leaf, 0.0, nodes["num_threshold"]))
                parts["missing_left"].append(nodes["missing_go_to_left"])
                parts["left"].append(np.where(leaf, 0, nodes["left"] + start))
                parts["right"].append(np.where(leaf, 0, nodes["right"] + start))
                parts["value"].append(np.where(leaf, nodes["value"], 0.0))
                root.append(start)
                column.append(label)
                member.append(number)
                start += len(nodes)
    baselines = [booster._baseline_prediction.reshape(1, -1) for booster in boosters]  # type: ignore[attr-defined]  # noqa: SLF001
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Calibrator(
        feature=joined["feature"].astype(np.int32), threshold=joined["threshold"].astype(np.float64),
        left=joined["left"].astype(np.int32), right=joined["right"].astype(np.int32),
        missing_left=joined["missing_left"].astype(bool), value=joined["value"].astype(np.float64),
        root=np.array(root, np.int32), column=np.array(column, np.int32),
        member=np.array(member, np.int32), baseline=np.concatenate(baselines).astype(np.float64),
    )  # fmt: skip


def fit_folds(data: Table, fold: Sequence[int], *, seed: int) -> dict[int, Calibrator]:
    """For each fold a calibrator that never saw its groups."""
    of_pair = np.array(fold)
    return {int(number): fit(data, of_pair != number, seed=seed) for number in np.unique(of_pair)}


def cross_validated(data: Table, fold: Sequence[int], calibrators: Mapping[int, Calibrator]) -> Floats:
    """Probabilities [n, 3] of each pair from the calibrator of its fold."""
    of_pair = np.array(fold)
    probabilities = np.zeros((len(of_pair), 3))
    for number, calibrator in calibrators.items():
        held = of_pair == number
        probabilities[held] = calibrator.probabilities(data.rows[held])
    return probabilities


def mergeable(probability: Floats, data: Table) -> Floats:
    """Duplicate probability [n], zero where a guard vetoes: the score that an automatic merge goes by."""
    return np.where(data.refused, 0.0, probability[:, 0])


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of pairs inside a store, and of pairs of which no store is known."""

    inside: Thresholds
    alone: Thresholds


def thresholds(probability: Floats, data: Table) -> Limits:
    """Thresholds from cross-validated probabilities.

    Alone: `auto` keeps `AUTO_PRECISION` on real pairs at natural prevalence and merges at most
    `HARD_FALSE_MERGES` of the hard pairs that are not duplicates; `contradiction` keeps
    `CONTRADICTION_PRECISION` on hard pairs, `duplicate` keeps `SHOWN_PRECISION` on real ones. Inside: `auto`
    keeps `INSIDE_PRECISION` over all candidates of worlds and merges nothing wrong in a labelled store; the
    others keep `INSIDE_CONTRADICTION` and `INSIDE_SHOWN` there. Without worlds both are one.
    """
    score, same, opposed = mergeable(probability, data), data.label == 0, data.label == 1

    def at(rows: NDArray[np.bool_], columns: Floats, right: NDArray[np.bool_], precision: float) -> float:
        """The lowest threshold on these rows that keeps a precision with the highest recall."""
        return at_precision(columns[rows], right[rows], data.weight[rows], precision).threshold

    hard, real, store, world = (data.origin == origin for origin in ("hard", "real", "store", "world"))
    wrong_hard = np.sort(score[hard & ~same])[::-1]
    auto = max(
        at(real, score, same, AUTO_PRECISION),
        _above(wrong_hard[int(len(wrong_hard) * HARD_FALSE_MERGES)]),
    )
    unharmed = _above(score[store & ~same].max(initial=0.0))
    alone = Thresholds(
        auto=auto,
        duplicate=min(at(real, score, same, SHOWN_PRECISION), auto),
        contradiction=at(hard, probability[:, 1], opposed, CONTRADICTION_PRECISION),
    )
    if not (world & same).any():
        alone = replace(alone, auto=max(auto, unharmed))
        return Limits(inside=alone, alone=alone)
    auto = max(at(world, score, same, INSIDE_PRECISION), unharmed)
    inside = Thresholds(
        auto=auto,
        duplicate=min(at(world, score, same, INSIDE_SHOWN), auto),
        contradiction=at(world, probability[:, 1], opposed, INSIDE_CONTRADICTION),
    )
    return Limits(inside=inside, alone=alone)


def _above(value: float) -> float:
    return float(np.nextafter(np.float32(value), np.float32(2)))


def report(probability: Floats, data: Table, fitted: Limits) -> dict[str, dict[str, float]]:
    """Figures per origin for the log and the model card; merges count as automatic ones without a veto.

    `world` is whole worlds, `small` the same pairs inside groups too small to tell anything.
    """
    figures: dict[str, dict[str, float]] = {}
    score = mergeable(probability, data)
    named = np.where((data.origin == "world") & ~data.placed, "small", data.origin)
    for origin in np.unique(named):
        inside = named == origin
        p, label, weight = probability[inside], data.label[inside], data.weight[inside]
        best, auto = p.argmax(axis=1), score[inside]
        limits = fitted.alone if origin in ALONE else fitted.inside
        merged = point(auto, label == 0, weight, limits.auto)
        conflict = point(p[:, 1], label == 1, weight, limits.contradiction)
        figures[str(origin)] = {
            "macro_f1": macro_f1(best, label, weight),
            "auto_precision": merged.precision,
            "auto_recall": merged.recall,
            "false_merges": float((auto[label != 0] >= limits.auto).mean()),
            "contradiction_precision": conflict.precision,
            "contradiction_recall": conflict.recall,
            "recall_at_98": at_precision(auto, label == 0, weight, 0.98).recall,
            "recall_at_95": at_precision(auto, label == 0, weight, 0.95).recall,
            "contradiction_recall_at_90": at_precision(p[:, 1], label == 1, weight, 0.90).recall,
            "ece": calibration_error(p.max(axis=1), best == label, weight),
        }
    return figures
