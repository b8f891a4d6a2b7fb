"""Tests of the cosine baseline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.keywords import CosineScorer, ramp
from mem0_dream.models.scorer import PairInput, PairScorer


def probabilities(cosine: float) -> list[float]:
    return [float(value) for value in CosineScorer().score([PairInput("a", "b", cosine)]).probabilities[0]]


def test_it_is_a_pair_scorer():
    scorer: PairScorer = CosineScorer()
    assert scorer.name == "cosine-1"


def test_the_limit_is_half_the_probability():
    scorer = CosineScorer()
    assert probabilities(0.9) == [0.5, 0.0, 0.5]
    assert probabilities(0.95)[0] == pytest.approx(0.75)
    assert probabilities(0.8999)[0] < scorer.thresholds.duplicate == scorer.thresholds.auto


@pytest.mark.parametrize(("cosine", "duplicate"), [(-0.4, 0.0), (1.0001, 1.0), (float("nan"), 0.0)])
def test_values_out_of_range_are_bounded(cosine, duplicate):
    assert probabilities(cosine) == [duplicate, 0.0, 1 - duplicate]


def test_a_contradiction_is_never_reported():
    scores = CosineScorer().score([PairInput("Uses tabs", "Never uses tabs", 0.97)])
    assert scores.probabilities[0, 1] == 0 < CosineScorer().thresholds.contradiction


def test_no_pairs_give_empty_arrays():
    scores = CosineScorer().score([])
    assert (scores.probabilities.shape, scores.entailment.shape) == ((0, 3), (0, 2))
    assert scores.probabilities.dtype == scores.entailment.dtype == np.float32


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_ramp_rises(a, b):
    low, high = sorted((a, b))
    assert 0 <= ramp(low, 0.9) <= ramp(high, 0.9) <= 1
