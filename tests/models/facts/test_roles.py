"""The same words in another order: who does what to whom, and what is merely turned round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from builders import memory
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.facts import extract
from mem0_dream.models.facts.roles import exchange, rearranged
from mem0_dream.models.guards import compare
from mem0_dream.models.scorer import PairInput, PairScores, Thresholds
from mem0_dream.pipeline.judging.judge import decide, judge
from mem0_dream.records import Candidate, Evidence, Label
from mem0_dream.testing import FakeScorer

EXCHANGED = [
    ("Omar's sister is married to Leila's cousin", "Leila's sister is married to Omar's cousin"),
    ("Anna works for Ben", "Ben works for Anna"),
    ("Anna reports to Ben", "Ben reports to Anna"),
    ("Anna waters Ben's plants", "Ben waters Anna's plants"),
    ("Dairy yes, gluten no", "Dairy no, gluten yes"),
    ("First hot, then cold", "First cold, then hot"),
    ("Omar cooks the lunch, Lena the dinner", "Omar cooks the dinner, Lena the lunch"),
    ("Lunch is cooked by Omar, dinner by Lena", "Lunch is cooked by Lena, dinner by Omar"),
    ("Moved from Oslo to Bergen", "Moved from Bergen to Oslo"),
]
DOUBTFUL = [
    ("Anna Lind films Ben Roth's cats", "Anna Lind's cats are filmed by Ben Roth"),
    ("Lind Ltd bought Roth Ltd in 2024", "Lind Ltd was bought by Roth Ltd in 2024"),
    ("The museum sends us posters", "We send the museum posters"),
    (
        "Squash when merging releases, not when merging features",
        "Squash not when merging releases, when merging features",
    ),
]
SAME = [
    ("Anna Lind films Ben Roth's cats", "Ben Roth's cats are filmed by Anna Lind"),
    ("Dairy yes, gluten no", "Gluten no, dairy yes"),
    ("Omar cooks the lunch, Lena the dinner", "Lena cooks the dinner, Omar the lunch"),
    ("On Thursday evenings he plays chess", "Plays chess on Thursday evenings"),
    ("Speaks Dutch, Shona and English", "Speaks English, Shona and Dutch"),
    ("Wash first, then dry", "First wash, then dry"),
    ("Writes his thesis in LaTeX", "His thesis is written in LaTeX"),
]
MUTUAL = [
    ("Omar is married to Leila", "Leila is married to Omar"),
    ("Anna works with Ben", "Ben works with Anna"),
    ("Anna and Ben are best friends", "Ben and Anna are best friends"),
    ("The bakery is next door to the school", "The school is next door to the bakery"),
]


@pytest.mark.parametrize(("a", "b"), EXCHANGED)
def test_parts_that_changed_places_are_a_veto(a: str, b: str) -> None:
    assert ("order", True) in [(each.kind, each.veto) for each in compare(a, b)]


@pytest.mark.parametrize(("a", "b"), DOUBTFUL)
def test_an_order_that_may_change_the_roles_is_evidence_without_veto(a: str, b: str) -> None:
    assert ("order", False) in [(each.kind, each.veto) for each in compare(a, b)]


@pytest.mark.parametrize(("a", "b"), MUTUAL)
def test_what_holds_from_both_sides_is_no_veto(a: str, b: str) -> None:
    assert not any(each.veto for each in compare(a, b))


@pytest.mark.parametrize(("a", "b"), SAME)
def test_an_honest_inversion_is_no_evidence(a: str, b: str) -> None:
    assert [each for each in compare(a, b) if each.kind == "order"] == []


@pytest.mark.parametrize(
    ("entailment", "auto"), [((0.95, 0.95), True), ((0.95, 0.5), False), ((0.5, 0.95), False)]
)
def test_a_doubtful_order_is_merged_only_if_each_text_entails_the_other(
    entailment: tuple[float, float], auto: bool
) -> None:
    limits = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)
    doubt = Evidence("order", "a / b")
    assert decide((0.99, 0.0, 0.01), [doubt], limits, entailment=entailment) == (Label.DUPLICATE, auto)
    assert decide((0.99, 0.0, 0.01), [], limits, entailment=entailment) == (Label.DUPLICATE, True)


class OneWay(FakeScorer):
    """Entailment in one direction alone."""

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        found = super().score(pairs)
        return PairScores(found.probabilities, found.entailment * np.array([1.0, 0.5], dtype=np.float32))


@pytest.mark.parametrize(("a", "b"), DOUBTFUL)
def test_the_entailment_of_a_pair_reaches_the_decision(a: str, b: str) -> None:
    """However sure a scorer is, from one side or from both, a person decides."""
    pair = {name: memory(name, text) for name, text in zip("ab", (a, b), strict=True)}
    for scorer in (OneWay, FakeScorer):
        answers = scorer(default=lambda _a, _b: (0.97, 0.0, 0.03))
        (found,) = judge([Candidate("a", "b", 0.9)], pair, answers)
        assert not found.auto


WORDS = st.lists(
    st.sampled_from(["Anna", "Ben", "cats", "films", "by", ",", "and", "we", "us", "not", "the"]), max_size=9
)


@given(WORDS, WORDS)
def test_both_rules_are_symmetric_and_silent_on_equal_texts(mine: list[str], theirs: list[str]) -> None:
    a, b = extract(" ".join(mine)), extract(" ".join(theirs))
    for rule in (exchange, rearranged):
        assert (rule(a, b) is None) == (rule(b, a) is None)
        assert rule(a, a) is None
