"""Figures that can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from mem0_dream.scripts.evaluate.metrics import calibration_error
from mem0_dream.scripts.train.figures import at_precision, macro_f1, point

SCORE = np.array([0.9, 0.8, 0.7, 0.6])
RIGHT = np.array([True, True, False, True])
ONE = np.ones(4)


def test_macro_f1_is_the_plain_mean_over_labels() -> None:
    """F1 of 1, 2/3 and 2/3... by hand: labels 0 1 2 2, answers 0 1 1 2."""
    found = macro_f1(np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2]), ONE)
    assert found == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)


def test_recall_at_a_precision_takes_the_widest_threshold_that_keeps_it() -> None:
    """At 1.0 two of three positives; at 0.75 all of them."""
    assert at_precision(SCORE, RIGHT, ONE, 1.0).recall == pytest.approx(2 / 3)
    assert at_precision(SCORE, RIGHT, ONE, 0.75).recall == 1.0


def test_weights_count_as_pairs() -> None:
    """A wrong pair of weight 3 costs three pairs."""
    found = point(SCORE, RIGHT, np.array([1.0, 1.0, 3.0, 1.0]), 0.65)
    assert found.precision == pytest.approx(2 / 5)


def test_nothing_chosen_is_precise_and_useless() -> None:
    """The empty choice is the safe start."""
    assert point(SCORE, RIGHT, ONE, 2.0).precision == 1.0
    assert point(SCORE, RIGHT, ONE, 2.0).recall == 0.0


def test_perfectly_calibrated_answers_have_no_error() -> None:
    """Half of the answers given with 0.5 are right."""
    found = calibration_error(np.array([0.5, 0.5]), np.array([True, False]), np.ones(2))
    assert found == pytest.approx(0.0)
