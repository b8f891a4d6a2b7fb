"""What the original's rules would report is asked about, whatever a scorer thinks."""

from __future__ import annotations

import pytest
from builders import memory, plan_of
from mem0_dream.models.keywords import KeywordScorer, LexicalEncoder
from mem0_dream.pipeline.actions import Resolve
from mem0_dream.pipeline.judging.judge import RULE, judge, suspected
from mem0_dream.records import Candidate, Label
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore

EXAMPLES = [
    ("Prefers morning meetings", "Likes scheduling meetings early"),
    ("likes cats", "likes dogs better"),
]
NEGATIONS = [
    ("Uses pnpm for local installs", "Stopped using pnpm for installs"),
    ("Prefers tea", "Prefers coffee"),
    ("Always deploys on Fridays", "Never deploys on Fridays"),
    ("Use tabs in Go", "Avoid tabs in Go"),
]


@pytest.mark.parametrize(("a", "b"), NEGATIONS)
def test_a_negation_pair_is_suspected_at_its_overlap(a: str, b: str) -> None:
    for pair in ((a, b), (b, a)):
        found = suspected(*pair, cosine=0.0)
        assert found is not None
        assert (found.kind, found.veto) == (RULE, False)
        assert "turned against each other" in found.detail


@pytest.mark.parametrize(("a", "b"), EXAMPLES)
def test_the_examples_of_the_original_are_suspected(a: str, b: str) -> None:
    assert suspected(a, b, cosine=0.69) is not None
    assert suspected(a, b, cosine=0.3) is None


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        ("Likes tea in the morning", "Prefers to run in the morning", 0.53),
        ("Prefers concise answers", "Prefers TypeScript over JavaScript", 0.27),
        ("Prefers meetings on Tuesdays", "Likes short meetings", 0.61),
        ("Likes jazz", "Likes blues", 0.8),
        ("Uses PostgreSQL", "Uses MySQL for the shop", 0.8),
    ],
)
def test_different_facts_are_left_alone(a: str, b: str, cosine: float) -> None:
    assert suspected(a, b, cosine=cosine) is None


@pytest.mark.parametrize(("a", "b"), [*EXAMPLES, *NEGATIONS])
def test_a_scorer_that_sees_nothing_does_not_end_it(a: str, b: str) -> None:
    """A verdict of distinct becomes a doubt, never a merge and never a sure conflict."""
    memories = {"1": memory("1", a), "2": memory("2", b)}
    pair = Candidate("1", "2", 0.7)
    (asked,) = judge([pair], memories, FakeScorer(), asks_from=0.65)
    assert (asked.label, asked.auto, asked.evidence[-1].kind) == (Label.UNSURE, False, RULE)
    (plain,) = judge([pair], memories, FakeScorer())
    assert plain.label is Label.DISTINCT


@pytest.mark.parametrize(("a", "b"), EXAMPLES)
def test_without_a_model_the_examples_are_asked_too(a: str, b: str) -> None:
    store = InMemoryStore([memory("1", a), memory("2", b), memory("3", "Shoe size 39")])
    plan = plan_of(store, KeywordScorer(), encoder=LexicalEncoder(), settings=Settings())
    assert plan.actions == ()
    (doubt,) = plan.unsure
    assert isinstance(doubt, Resolve)
    assert {member.text for member in doubt.members} == {a, b}
    assert doubt.verdicts[0].evidence[-1].kind == RULE


@pytest.mark.model
@pytest.mark.parametrize(("a", "b"), EXAMPLES)
def test_the_default_scorer_finds_or_asks(a: str, b: str) -> None:
    from mem0_dream.models.registry import load_encoder, load_scorer

    store = InMemoryStore([memory("1", a), memory("2", b)])
    encoder, scorer = load_encoder(None, scorer="bundled"), load_scorer("bundled")
    plan = plan_of(store, scorer, encoder=encoder, settings=Settings())
    assert len(plan.merges) + len(plan.conflicts) + len(plan.unsure) == 1


def test_what_was_skipped_is_not_asked_again() -> None:
    store = InMemoryStore([memory("1", "Prefers tea"), memory("2", "Prefers coffee")])
    (doubt,) = plan_of(store, FakeScorer()).unsure
    from mem0_dream.pipeline.answers import keys_of

    assert plan_of(store, FakeScorer(), rejected=keys_of(doubt)).unsure == ()
