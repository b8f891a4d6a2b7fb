"""Tests of the keyword scorer: the rule of the original skill."""

from pathlib import Path

import numpy as np
import pytest
from builders import rows_of
from hypothesis import given, strategies as st
from mem0_dream.models.keywords import CosineScorer, KeywordScorer, ramp
from mem0_dream.models.scorer import PairInput, PairScorer

TABLE = Path(__file__).with_name("rows.tsv")
WORDS = [
    "use", "tabs", "never", "do not", "prefers", "tea", "coffee", "in Go", "avoid", "stop using", "always",
    "no", "北京",
]  # fmt: skip
MEMORIES = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join) | st.text(max_size=40)


def scores(a: str, b: str) -> list[float]:
    return KeywordScorer().score([PairInput(a, b, 0.0)]).probabilities[0].tolist()


def verdict(a: str, b: str) -> str:
    duplicate, contradiction, _ = scores(a, b)
    limits = KeywordScorer().thresholds
    if duplicate >= limits.duplicate:
        return "duplicate"
    return "contradiction" if contradiction >= limits.contradiction else "distinct"


@pytest.mark.parametrize("scorer", [KeywordScorer(), CosineScorer()], ids=["keywords", "cosine"])
def test_a_baseline_is_a_pair_scorer(scorer):
    fits: PairScorer = scorer
    assert fits.name in {"keywords-1", "cosine-1"}
    none = fits.score([])
    assert (none.probabilities.shape, none.entailment.shape) == ((0, 3), (0, 2))
    assert none.probabilities.dtype == none.entailment.dtype == np.float32


@pytest.mark.parametrize(("a", "b", "found"), rows_of(TABLE, "skill"))
def test_a_verdict_is_that_of_the_skill(a, b, found):
    assert verdict(a, b) == found


@pytest.mark.parametrize(("a", "b", "column", "probability"), rows_of(TABLE, "probability"))
def test_probability_is_proportional_to_the_overlap_on_either_side_of_a_limit(a, b, column, probability):
    assert scores(a, b)[int(column)] == pytest.approx(float(probability))


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("Owns a brindle whippet, Pickle", "Owns a whippet", [1.0, 0.5]),
        ("Likes tea", "It is", [0.0, 0.0]),
        ("w1 w2 w3 w4 w5 w6 w7 w8 w9", "w1 w2 w3 w4 w5 w6 w7 w8 w9 aisle", [pytest.approx(0.8), 1.0]),
    ],
)
def test_entailment_is_the_share_of_the_others_words_and_certain_only_if_whole(a, b, found):
    assert KeywordScorer().score([PairInput(a, b, 0.0)]).entailment.tolist() == [found]


@given(MEMORIES, MEMORIES)
def test_it_is_symmetric_and_a_distribution(a, b):
    found = KeywordScorer().score([PairInput(a, b, 0.0), PairInput(b, a, 0.0)])
    assert np.array_equal(found.probabilities[0], found.probabilities[1])
    assert np.array_equal(found.entailment[0], found.entailment[1][::-1])
    assert np.allclose(found.probabilities.sum(axis=1), 1)
    assert (found.probabilities >= 0).all()


@pytest.mark.parametrize(
    ("cosine", "duplicate"),
    [(0.9, 0.5), (0.95, pytest.approx(0.75)), (-0.4, 0.0), (1.0001, 1.0), (float("nan"), 0.0)],
)
def test_a_cosine_is_a_probability_within_bounds_and_never_a_contradiction(cosine, duplicate):
    limits = CosineScorer().thresholds
    said = CosineScorer().score([PairInput("Uses tabs", "Never uses tabs", cosine)]).probabilities[0].tolist()
    assert said == [duplicate, 0.0, pytest.approx(1 - said[0])]
    assert limits.contradiction > 0
    assert limits.duplicate == limits.auto == 0.5


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_ramp_rises(a, b):
    low, high = sorted((a, b))
    assert 0 <= ramp(low, 0.9) <= ramp(high, 0.9) <= 1
