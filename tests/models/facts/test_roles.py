"""The same words in another order: who does what to whom, and what is merely turned round."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders import memory
from mem0_dream.models.guards import compare
from mem0_dream.models.scorer import PairInput, PairScores, Thresholds
from mem0_dream.pipeline.judging.judge import decide, judge
from mem0_dream.records import Candidate, Evidence, Label
from mem0_dream.testing import FakeScorer
from rows import rows_of

DOUBTFUL = rows_of(Path(__file__).with_name("pairs.tsv"), "doubtful", cells=2)


@pytest.mark.parametrize(("a", "b"), DOUBTFUL)
def test_an_order_that_may_change_the_roles_is_evidence_without_veto(a: str, b: str) -> None:
    assert ("order", False) in [(each.kind, each.veto) for each in compare(a, b)]


@pytest.mark.parametrize(
    ("entailment", "auto"), [((0.95, 0.95), True), ((0.95, 0.5), False), ((0.5, 0.95), False)]
)
def test_a_doubtful_order_is_merged_only_if_each_text_entails_the_other(entailment, auto):
    limits = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)
    doubt = Evidence("order", "a / b")
    assert decide((0.99, 0.0, 0.01), [doubt], limits, entailment=entailment) == (Label.DUPLICATE, auto)
    assert decide((0.99, 0.0, 0.01), [], limits, entailment=entailment) == (Label.DUPLICATE, True)


class Told(FakeScorer):
    back = 1.0

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        found = super().score(pairs)
        return PairScores(
            found.probabilities, found.entailment * np.array([1.0, self.back], dtype=np.float32)
        )


@pytest.mark.parametrize(("a", "b"), DOUBTFUL)
def test_however_sure_a_scorer_is_from_one_side_or_both_a_person_decides(a: str, b: str) -> None:
    pair, scorer = {"a": memory("a", a), "b": memory("b", b)}, Told(default=lambda _a, _b: (0.97, 0.0, 0.03))
    for back in (0.5, 1.0):
        scorer.back = back
        (found,) = judge([Candidate("a", "b", 0.9)], pair, scorer)
        assert not found.auto
