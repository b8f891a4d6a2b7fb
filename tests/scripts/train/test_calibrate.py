"""Thresholds keep what they promise, on pairs counted by hand."""

import numpy as np
import pytest
from mem0_dream.models.bundled.columns import read_once
from mem0_dream.models.scorer import PairContext, PairInput
from mem0_dream.scripts.evaluate.labelled import LabelledPair
from mem0_dream.scripts.train import calibrate
from mem0_dream.scripts.train.calibrate import Table, mergeable, report, thresholds

INSIDE = PairContext(1, 0, -0.2, 0.1, 0.4, 0.5, 0.3, 5)
SAME = "Anna keeps three hens behind the house in Bergen", "Anna keeps three hens behind the Bergen house"
OTHER = "Anna keeps three hens behind the house", "Anna keeps five hens behind the house"
ORIGIN = np.array(["hard"] * 4 + ["real"] * 4 + ["store"] * 4)
GROUP = np.array(["1"] * 4 + ["ana"] * 4 + ["home"] * 2 + ["clean"] * 2)
LABEL = np.array([0, 1, 2, 2, 0, 0, 2, 1, 0, 2, 2, 2])
WORLD = [0, 2, 0, 1, 2, 2]
DUPLICATE = np.array([0.96, 0.1, 0.9, 0.2, 0.98, 0.85, 0.82, 0.1, 0.95, 0.5, 0.3, 0.2])
OPPOSED = np.array([0.0, 0.8, 0.1, 0.2, 0.0, 0.1, 0.1, 0.7, 0.0, 0.2, 0.3, 0.1])


def table(vetoes: tuple[int, ...] = (), placed: int = 0) -> Table:
    """Twelve pairs alone, those at the given places with other numbers, and some inside a store."""
    alone = [PairInput(*(OTHER if at in vetoes else SAME), 0.8) for at in range(12)]
    inside = [PairInput(*SAME, 0.8, context=INSIDE) for _ in range(placed)]
    pairs, count = np.empty(12 + placed, dtype=object), 12 + placed
    pairs[:] = [*alone, *inside]
    label, origin, group = (
        np.r_[LABEL, WORLD[:placed]].astype(int),
        np.r_[ORIGIN, ["world"] * placed],
        [*GROUP, *"w" * placed],
    )
    return Table(
        np.zeros((count, 1)), label, np.ones(count), origin, np.array(group), pairs, np.ones((count, 2))
    )


def fitted(probability, data):
    return thresholds(probability, mergeable(probability, data), data)


def probability() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([DUPLICATE, OPPOSED, 1 - DUPLICATE - OPPOSED], axis=1)


def test_no_wrong_pair_reaches_the_automatic_threshold_and_reported_conflicts_keep_their_precision() -> None:
    """The highest wrong pair is 0.9; a vetoed one needs no threshold, the next is 0.82; of conflicts 0.8 is the last."""
    limits = fitted(probability(), table()).alone
    assert limits.auto > 0.9 > limits.contradiction == 0.8
    assert limits.duplicate <= limits.auto
    assert 0.82 < fitted(probability(), table(vetoes=(2,))).alone.auto < 0.9
    assert mergeable(probability(), table(vetoes=(2,)))[2] == 0.0


def test_each_origin_has_its_share_of_the_weight() -> None:
    weight = calibrate.sample_weight(table())
    sums = {origin: weight[origin == ORIGIN].sum() for origin in ("hard", "real", "store")}
    for origin, total in sums.items():
        assert total / sums["hard"] == pytest.approx(
            calibrate.ORIGIN_MASS[origin] / calibrate.ORIGIN_MASS["hard"]
        )


def test_the_report_counts_false_merges() -> None:
    data = table()
    found = report(probability(), mergeable(probability(), data), data, fitted(probability(), data))
    assert (found["hard"]["false_merges"], found["real"]["auto_precision"]) == (0.0, 1.0)


def test_pairs_inside_worlds_have_thresholds_of_their_own() -> None:
    """Of the five most probable pairs of a world the second is wrong: nothing below the first is automatic."""
    duplicate = np.r_[DUPLICATE, [0.99, 0.98, 0.6, 0.0, 0.0, 0.1]]
    opposed = np.r_[OPPOSED, [0.0, 0.0, 0.0, 0.9, 0.3, 0.1]]
    limits = fitted(np.stack([duplicate, opposed, 1 - duplicate - opposed], axis=1), table(placed=len(WORLD)))
    assert limits.inside.auto == 0.99
    assert limits.inside.contradiction == 0.9
    assert limits.alone.auto < limits.inside.auto


def test_the_rules_are_told_which_text_the_network_saw_in_the_other():
    short, long = "Makes charts in Matplotlib", "The charts that she shows on Mondays come out of Matplotlib"
    read = read_once(short, long, np.array([0.97, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    for a, b, ways in ((short, long, [0.0, 0.97]), (long, short, [0.97, 0.0])):
        data = calibrate.table([LabelledPair(a, b, 0, "real")], [PairInput(a, b, 0.8)], [read])
        assert data.ways.tolist() == [ways]
