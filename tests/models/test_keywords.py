"""Tests of the keyword scorer: the rule of the original skill."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.keywords import KeywordScorer, coverage
from mem0_dream.models.scorer import PairInput, PairScorer

WORDS = [
    "use",
    "tabs",
    "never",
    "do not",
    "prefers",
    "tea",
    "coffee",
    "in Go",
    "avoid",
    "stop using",
    "always",
    "no",
    "北京",
]
MEMORIES = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join) | st.text(max_size=40)


def scores(a: str, b: str) -> tuple[float, float, float]:
    duplicate, contradiction, distinct = KeywordScorer().score([PairInput(a, b, 0.0)]).probabilities[0]
    return float(duplicate), float(contradiction), float(distinct)


def verdict(a: str, b: str) -> str:
    duplicate, contradiction, _ = scores(a, b)
    limits = KeywordScorer().thresholds
    if duplicate >= limits.duplicate:
        return "duplicate"
    return "contradiction" if contradiction >= limits.contradiction else "distinct"


def test_it_is_a_pair_scorer():
    scorer: PairScorer = KeywordScorer()
    assert scorer.name == "keywords-1"


class TestDuplicates:
    def test_more_than_sixty_percent_is_a_duplicate(self):
        assert verdict("Owns a brindle whippet", "Owns a whippet") == "duplicate"

    def test_exactly_sixty_percent_is_none_yet(self):
        a, b = "red green blue white black", "red green blue"
        assert scores(a, b) == (0.5, 0.0, 0.5)
        assert verdict(a, b) == "distinct"

    def test_probability_is_proportional_to_the_overlap_on_either_side(self):
        assert scores("a1 a2 a3 b4 b5 b6 b7 b8 b9 b0", "a1 a2 a3")[0] == pytest.approx(0.25)
        assert scores("a1 a2 a3 a4 a5", "a1 a2 a3 a4")[0] == pytest.approx(0.75)

    def test_exact_copies_are_certain(self):
        assert scores("It is.", "it is") == (1.0, 0.0, 0.0)


class TestContradictions:
    @pytest.mark.parametrize("skill", ["Avoid tabs", "Never use tabs", "Stop using tabs", "Don't use tabs"])
    def test_what_turns_against_the_other_text_contradicts_it(self, skill):
        assert verdict("Use tabs", skill) == "contradiction"

    def test_forty_percent_is_the_limit(self):
        assert scores("never alpha beta gamma delta epsilon", "alpha beta")[1] == 0.5
        assert verdict("never alpha beta gamma delta epsilon zeta", "alpha beta") == "distinct"

    def test_opposites_of_high_overlap_are_no_duplicates(self):
        assert scores("Always squash before merging", "Never squash before merging")[0] == 0.0
        assert (
            verdict("Squash commits before merging", "Never squash commits before merging") == "contradiction"
        )


class TestEntailment:
    def test_it_is_the_share_of_the_others_words(self):
        found = (
            KeywordScorer()
            .score([PairInput("Owns a brindle whippet, Pickle", "Owns a whippet", 0.0)])
            .entailment
        )
        assert found.tolist() == [[1.0, 0.5]]

    def test_an_incomplete_share_stays_below_certainty(self):
        words = "w1 w2 w3 w4 w5 w6 w7 w8 w9"
        found = KeywordScorer().score([PairInput(words, f"{words} aisle", 0.0)]).entailment
        assert found.tolist() == [[pytest.approx(0.8), 1.0]]

    def test_a_text_without_words_is_not_entailed(self):
        assert coverage("Likes tea", "It is") == 0.0


class TestProperties:
    def test_no_pairs_give_empty_arrays(self):
        found = KeywordScorer().score([])
        assert (found.probabilities.shape, found.entailment.shape) == ((0, 3), (0, 2))

    @given(MEMORIES, MEMORIES)
    def test_it_is_symmetric_and_a_distribution(self, a, b):
        found = KeywordScorer().score([PairInput(a, b, 0.0), PairInput(b, a, 0.0)])
        assert np.array_equal(found.probabilities[0], found.probabilities[1])
        assert np.array_equal(found.entailment[0], found.entailment[1][::-1])
        assert np.allclose(found.probabilities.sum(axis=1), 1)
        assert (found.probabilities >= 0).all()

    @given(st.integers(0, 8), st.integers(0, 8))
    def test_probability_rises_with_the_overlap(self, less, more):
        less, more = sorted((less, more))
        text = "w1 w2 w3 w4 w5 w6 w7 w8"
        found = [scores(text, " ".join(text.split()[:count]))[0] for count in (less, more)]
        assert found[0] <= found[1]
