"""Thresholds keep what they promise, on pairs counted by hand."""

import numpy as np
import pytest
from mem0_dream.models.bundled.columns import read_once
from mem0_dream.models.scorer import PairInput
from mem0_dream.scripts.evaluate.labelled import LabelledPair
from mem0_dream.scripts.train import calibrate
from mem0_dream.scripts.train.calibrate import Table, mergeable, report, thresholds

ORIGIN = np.array(["hard"] * 4 + ["real"] * 4 + ["store"] * 4)
GROUP = np.array(["1"] * 4 + ["ana"] * 4 + ["home"] * 2 + ["clean"] * 2)
LABEL = np.array([0, 1, 2, 2, 0, 0, 2, 1, 0, 2, 2, 2])
DUPLICATE = np.array([0.9, 0.1, 0.8, 0.2, 0.95, 0.7, 0.6, 0.1, 0.9, 0.5, 0.3, 0.2])
OPPOSED = np.array([0.0, 0.8, 0.1, 0.2, 0.0, 0.1, 0.1, 0.7, 0.0, 0.2, 0.3, 0.1])


def table(vetoes: tuple[int, ...] = ()) -> Table:
    """Twelve pairs; those at the given places carry a veto."""
    refused = np.isin(np.arange(12), vetoes)
    return Table(np.zeros((12, 1)), LABEL, np.ones(12), ORIGIN, GROUP, np.zeros(12, dtype=bool), refused)


def probability() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([DUPLICATE, OPPOSED, 1 - DUPLICATE - OPPOSED], axis=1)


def test_no_wrong_pair_reaches_the_automatic_threshold_and_reported_conflicts_keep_their_precision() -> None:
    """The highest wrong pair is 0.8; a vetoed one needs no threshold, the next is 0.6; of conflicts 0.8 is the last."""
    limits = thresholds(probability(), table()).alone
    assert limits.auto > limits.contradiction == 0.8
    assert limits.duplicate <= limits.auto
    assert 0.6 < thresholds(probability(), table(vetoes=(2,))).alone.auto < 0.8
    assert mergeable(probability(), table(vetoes=(2,)))[2] == 0.0


def test_each_origin_has_its_share_of_the_weight() -> None:
    weight = calibrate.sample_weight(table())
    sums = {origin: weight[origin == ORIGIN].sum() for origin in ("hard", "real", "store")}
    for origin, total in sums.items():
        assert total / sums["hard"] == pytest.approx(
            calibrate.ORIGIN_MASS[origin] / calibrate.ORIGIN_MASS["hard"]
        )


def test_the_report_counts_false_merges() -> None:
    found = report(probability(), table(), thresholds(probability(), table()))
    assert (found["hard"]["false_merges"], found["real"]["auto_precision"]) == (0.0, 1.0)


def test_pairs_inside_worlds_have_thresholds_of_their_own() -> None:
    """Of the five most probable pairs of a world the second is wrong: nothing below the first is automatic."""
    count = 6
    inside = Table(
        np.zeros((12 + count, 1)), np.r_[LABEL, [0, 2, 0, 1, 2, 2]], np.ones(12 + count),
        np.r_[ORIGIN, ["world"] * count], np.r_[GROUP, ["w"] * count],
        np.r_[np.zeros(12, dtype=bool), np.ones(count, dtype=bool)], np.zeros(12 + count, dtype=bool),
    )  # fmt: skip
    duplicate = np.r_[DUPLICATE, [0.99, 0.98, 0.6, 0.0, 0.0, 0.1]]
    opposed = np.r_[OPPOSED, [0.0, 0.0, 0.0, 0.9, 0.3, 0.1]]
    limits = thresholds(np.stack([duplicate, opposed, 1 - duplicate - opposed], axis=1), inside)
    assert limits.inside.auto == 0.99
    assert limits.inside.contradiction == 0.9
    assert limits.alone.auto < limits.inside.auto


def test_the_rules_are_told_which_text_the_network_saw_in_the_other():
    short, long = "Makes charts in Matplotlib", "The charts that she shows on Mondays come out of Matplotlib"
    for a, b in ((short, long), (long, short)):
        for there, refused in ((0.97, False), (0.0, True)):  # of the short text by the long one
            read = read_once(short, long, np.array([there, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
            pair = LabelledPair(a, b, 0, "real")
            assert calibrate.table([pair], [PairInput(a, b, 0.8)], [read]).refused.tolist() == [refused]
