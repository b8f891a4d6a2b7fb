"""Rival values of one attribute, found without a network: what certainly, and what possibly, contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import DUPLICATE, memory, plan_of
from hypothesis import given, strategies as st
from mem0_dream.models.facts import extract
from mem0_dream.models.facts.attributes import rival
from mem0_dream.models.guards import Contradicting, compare, contradicting
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.actions import Resolve
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.records import Candidate, Label
from mem0_dream.testing import FakeScorer, InMemoryStore
from rows import rows_of

TABLE = Path(__file__).with_name("pairs.tsv")
DISTINCT = (0.0, 0.0, 1.0)

SURE, POSSIBLE = (rows_of(TABLE, key, cells=3) for key in ("sure", "possible"))
NEITHER = rows_of(TABLE, "neither", cells=2)


@pytest.mark.parametrize(("a", "b", "attribute"), SURE)
def test_rival_values_at_an_equal_frame_are_a_contradiction(a: str, b: str, attribute: str) -> None:
    assert contradicting(a, b) is Contradicting.SURE
    assert [each.detail.split(":")[0] for each in compare(a, b) if each.kind == "rival"] == [attribute]
    assert all(each.veto for each in compare(a, b) if each.kind == "rival")


@pytest.mark.parametrize(("a", "b", "attribute"), POSSIBLE)
def test_what_may_hold_at_once_is_only_possible(a: str, b: str, attribute: str) -> None:
    assert contradicting(a, b) is Contradicting.POSSIBLE
    assert [each.detail.split(":")[0] for each in compare(a, b) if each.kind == "rival" and each.veto] == [
        attribute
    ]


@pytest.mark.parametrize(("a", "b"), NEITHER)
def test_another_time_entity_or_condition_is_another_frame(a: str, b: str) -> None:
    assert contradicting(a, b) is Contradicting.NO
    assert [each for each in compare(a, b) if each.kind == "rival"] == []


@pytest.mark.parametrize(
    ("texts", "scores", "label"),
    [
        (SURE[1][:2], DISTINCT, Label.CONTRADICTION),
        (SURE[1][:2], DUPLICATE, Label.CONTRADICTION),
        (POSSIBLE[0][:2], DISTINCT, Label.UNSURE),
        (POSSIBLE[0][:2], DUPLICATE, Label.UNSURE),
        (POSSIBLE[0][:2], (0.05, 0.9, 0.05), Label.CONTRADICTION),
        (NEITHER[0], DISTINCT, Label.DISTINCT),
    ],
)
def test_the_verdict_is_at_least_what_the_facts_say(texts, scores, label):
    a, b = (memory(name, text) for name, text in zip("ab", texts, strict=True))
    scorer = FakeScorer(default=lambda _a, _b: scores)
    limits = Thresholds(auto=0.9, duplicate=0.6, contradiction=0.6)
    (found,) = judge([Candidate("a", "b", 0.9)], {"a": a, "b": b}, scorer, thresholds=limits)
    assert (found.label, found.auto) == (label, False)


@pytest.mark.parametrize(("a", "b", "attribute"), [*SURE, *POSSIBLE])
def test_a_merge_of_rivals_is_never_offered(a: str, b: str, attribute: str) -> None:
    store = InMemoryStore([memory("a", a), memory("b", b)])
    plan = plan_of(store, FakeScorer(default=lambda _a, _b: DUPLICATE))
    assert plan.merges == ()
    assert all(isinstance(doubt, Resolve) for doubt in plan.unsure), attribute
    assert len(plan.conflicts) + len(plan.unsure) == 1


def test_a_count_a_day_may_be_a_frequency() -> None:
    two = "Takes 2 tablets daily"
    assert not [each for each in compare(two, "Takes two tablets once a day") if each.veto]
    assert not [each for each in compare(two, "Takes a tablet twice a day") if each.veto]
    assert {each.kind for each in compare(two, "Takes 3 tablets daily") if each.veto} >= {"number"}
    assert {each.kind for each in compare(two, "Takes 2 tablets weekly") if each.veto} >= {"frequency"}
    assert [each.seconds for each in extract("Trains 2 hours daily").frequencies] == [(86400.0,)]


PIECES = [
    "Lives", "in", "Oslo", "Bergen", "CI", "runs", "on", "Jenkins", "3", "5", "hours", "married", ".", "tabs",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=7).map(" ".join)


@given(TEXTS, TEXTS)
def test_rivalry_is_symmetric_and_a_text_is_no_rival_of_itself(a: str, b: str) -> None:
    there, back = rival(extract(a), extract(b)), rival(extract(b), extract(a))
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert there.attribute == back.attribute
        assert there.equal == back.equal
    assert rival(extract(a), extract(a)) is None
