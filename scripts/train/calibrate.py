"""Fits the calibrator over the signals, cross-validated by user, store and fold, and its thresholds.

Cross-validated figures are the honest ones; what ships is fitted on all development pairs afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.bundled.calibrator import Calibrator
from ...models.scorer import Thresholds
from ..evaluate.metrics import Decisions, pair_figures, share_right, threshold_at
from .labelled import Table

FOLDS = MEMBERS = 6
ROUNDS, RATE, LEAVES, SMALLEST_LEAF, PENALTY = 120, 0.06, 8, 12, 3.0
BALANCE = 0.3  # 0 keeps the labels' natural shares within an origin, 1 makes them equal
ORIGIN_MASS = {"hard": 1.0, "real": 0.7, "people": 0.7, "bound": 0.8, "store": 0.6, "world": 2.0}
AUTO_PRECISION = 0.98  # of real pairs alone
INSIDE_PRECISION = 0.97  # of candidates in worlds, where far more looks alike than in most stores
HARD_FALSE_MERGES = BOUND_FALSE_MERGES = 0.0  # bound: exchanges, the same words bound otherwise
PEOPLE_CONTRADICTION = 0.70  # of pairs among a person's memories; a report is right if one of its pairs is
CONTRADICTION_PRECISION = 0.85  # a person decides each one, but a report that is wrong costs trust
INSIDE_CONTRADICTION = 0.90  # of pairs; several pairs of one fact are one report, so 0.86 of the reports
SHOWN_PRECISION, INSIDE_SHOWN = 0.80, 0.75
ALONE = ("hard", "real", "bound")  # origins of pairs of which no store is known

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
    trees = [
        (label, number, tree.nodes)
        for number, booster in enumerate(boosters)
        for together in booster._predictors  # type: ignore[attr-defined]  # noqa: SLF001
        for label, tree in enumerate(together)
    ]
    column, member, nodes = zip(*trees, strict=True)
    baselines = [booster._baseline_prediction.reshape(1, -1) for booster in boosters]  # type: ignore[attr-defined]  # noqa: SLF001
    root = np.cumsum([0, *map(len, nodes[:-1])])
    every, start = np.concatenate(nodes), np.repeat(root, [len(one) for one in nodes])
    leaf = every["is_leaf"].astype(bool)
    return Calibrator(
        feature=np.where(leaf, -1, every["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, 0.0, every["num_threshold"]).astype(np.float64),
        left=np.where(leaf, 0, every["left"] + start).astype(np.int32),
        right=np.where(leaf, 0, every["right"] + start).astype(np.int32),
        missing_left=every["missing_go_to_left"].astype(bool),
        value=np.where(leaf, every["value"], 0.0).astype(np.float64), root=root.astype(np.int32),
        column=np.array(column, np.int32), member=np.array(member, np.int32),
        baseline=np.concatenate(baselines).astype(np.float64),
    )  # fmt: skip


def cross_validated(data: Table, fold: Sequence[int], *, seed: int) -> tuple[Floats, dict[int, Calibrator]]:
    """For each fold a calibrator that never saw its groups, and what it says of them [n, 3]."""
    of_pair = np.array(fold)
    calibrators = {int(one): fit(data, of_pair != one, seed=seed) for one in np.unique(of_pair)}
    probabilities = np.zeros((len(of_pair), 3))
    for number, calibrator in calibrators.items():
        held = of_pair == number
        probabilities[held] = calibrator.probabilities(data.rows[held])
    return probabilities, calibrators


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

    Alone, the precisions hold on real pairs at natural prevalence, those of contradictions on hard ones, and
    `auto` merges no hard pair and at most `BOUND_FALSE_MERGES` of the exchanges that are no duplicates.
    Inside, they hold over the candidates of worlds, and of people where that is more, and `auto` merges
    nothing wrong in a labelled store. Without worlds both are one.
    """
    score, same, opposed = mergeable(probability, data), data.label == 0, data.label == 1
    asked, conflict = probability[:, 0], probability[:, 1]

    def at(origin: str, columns: Floats, right: NDArray[np.bool_], precision: float) -> float:
        rows = data.origin == origin
        return threshold_at(columns[rows], right[rows], data.weight[rows], precision) if rows.any() else 0.0

    def above_wrong(origin: str, share: float) -> float:
        wrong = np.sort(score[(data.origin == origin) & ~same])[::-1]
        if not len(wrong):
            return 0.0
        return float(np.nextafter(np.float32(wrong[int(len(wrong) * share)]), np.float32(2)))

    harmless = max(above_wrong("hard", HARD_FALSE_MERGES), above_wrong("bound", BOUND_FALSE_MERGES))
    auto = max(at("real", score, same, AUTO_PRECISION), harmless)
    unharmed = above_wrong("store", 0.0)
    shown = min(at("real", asked, same, SHOWN_PRECISION), auto)
    alone = Thresholds(auto, shown, at("hard", conflict, opposed, CONTRADICTION_PRECISION))
    if not ((data.origin == "world") & same).any():
        alone = replace(alone, auto=max(auto, unharmed))
        return Limits(inside=alone, alone=alone)
    auto = max(unharmed, *(at(origin, score, same, INSIDE_PRECISION) for origin in ("world", "people")))
    kept = (("world", INSIDE_CONTRADICTION), ("people", PEOPLE_CONTRADICTION))
    reported = max(at(origin, conflict, opposed, share) for origin, share in kept)
    shown = min(at("world", asked, same, INSIDE_SHOWN), auto)
    return Limits(inside=Thresholds(auto, shown, reported), alone=alone)


def report(probability: Floats, data: Table, fitted: Limits) -> dict[str, dict[str, Any]]:
    """Figures per origin for the log and the model card; merges count as automatic ones without a veto.

    `world` is whole worlds, `small` the same pairs inside groups too small to tell anything: judged alone.
    """
    figures: dict[str, dict[str, Any]] = {}
    named = np.where((data.origin == "world") & ~data.placed, "small", data.origin)
    for origin in np.unique(named).tolist():
        inside = named == origin
        p, label, weight = probability[inside], data.label[inside], data.weight[inside]
        score, same, opposed = mergeable(probability, data)[inside], label == 0, label == 1
        limits = fitted.alone if origin in (*ALONE, "small") else fitted.inside
        merged = share_right(score, same, weight, limits.auto)
        conflict = share_right(p[:, 1], opposed, weight, limits.contradiction)
        opposed_first = (p[:, 1] >= limits.contradiction) & (p[:, 1] >= p[:, 0])
        decided = np.where(opposed_first, 1, np.where(score >= limits.auto, 0, 2))
        of_groups = np.unique(data.group[inside], return_inverse=True)[1]
        decisions = Decisions(label, decided, decided == 0, p, weight, of_groups)
        found = pair_figures(decisions, threshold=limits.auto)
        figures[origin] = {
            "macro_f1": found["macro_f1"],
            **dict(zip(("auto_precision", "auto_recall"), merged, strict=True)),
            "false_merges": float((score[~same] >= limits.auto).mean()),
            **dict(zip(("contradiction_precision", "contradiction_recall"), conflict, strict=True)),
            "ece": found["ece"]["label"],
            "intervals": {name: edges for name, edges in found["intervals"].items() if name != "macro_f1"},
        }
    return figures
