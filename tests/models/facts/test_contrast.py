"""Rival values, the same words in another order, and the columns that set two texts side by side."""

import hashlib
import json
from pathlib import Path

import pytest
from builders import DUPLICATE, memory, plan_of, rows_of
from mem0_dream.models.bundled.columns import FEATURE_NAMES, guard_row, text_row
from mem0_dream.models.guards import FACTS_VERSION, compare, contradicting
from mem0_dream.models.scorer import PairInput, Thresholds
from mem0_dream.pipeline.judging.judge import decide, differences, judge
from mem0_dream.pipeline.plan import Resolve
from mem0_dream.records import Candidate, Evidence, Label
from mem0_dream.testing import FakeScorer, InMemoryStore

TABLE = Path(__file__).with_name("pairs.tsv")
DISTINCT = (0.0, 0.0, 1.0)

SURE, POSSIBLE, NEITHER = (rows_of(TABLE, key) for key in ("sure", "possible", "no"))


@pytest.mark.parametrize("row", rows_of(TABLE, "sure", "possible", "no"))
def test_rival_values_contradict_at_an_equal_frame_and_never_at_another(row):
    certainty, a, b, *attribute = row
    assert contradicting(a, b).name.lower() == certainty
    rivals = [each for each in compare(a, b) if each.kind == "rival"]
    assert [each.detail.split(":")[0] for each in rivals] == attribute
    assert all(each.veto for each in rivals)


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


def test_two_values_of_what_a_person_says_has_one_are_a_conflict_whatever_the_scorer_says() -> None:
    texts = "Deploy target: staging", "The deploy target is production"
    held = {name: memory(name, text) for name, text in zip("12", texts, strict=True)}
    pair, scorer = [Candidate("1", "2", 0.5)], FakeScorer(default=lambda *_: (0.95, 0.0, 0.05))
    (told,) = judge(pair, held, scorer, single=("deploy target",))
    assert (told.label, told.auto) == (Label.CONTRADICTION, False)
    assert judge(pair, held, scorer)[0].label is not Label.CONTRADICTION


LIMITS = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)


@pytest.mark.parametrize(("a", "b"), rows_of(TABLE, "doubtful", cells=2))
def test_an_order_that_may_change_the_roles_is_for_a_person_however_sure_a_scorer_is(a, b):
    assert ("order", False) in [(each.kind, each.veto) for each in compare(a, b)]
    for entailment in ((1.0, 0.5), (1.0, 1.0)):
        found = differences(PairInput(a, b, 0.9), entailment=entailment)
        assert not decide((0.97, 0.0, 0.03), found, LIMITS, entailment=entailment)[1]


@pytest.mark.parametrize(
    ("entailment", "auto"), [((0.95, 0.95), True), ((0.95, 0.5), False), ((0.5, 0.95), False)]
)
def test_a_doubtful_order_is_merged_only_if_each_text_entails_the_other(entailment, auto):
    doubt = Evidence("order", "a / b")
    assert decide((0.99, 0.0, 0.01), [doubt], LIMITS, entailment=entailment) == (Label.DUPLICATE, auto)
    assert decide((0.99, 0.0, 0.01), [], LIMITS, entailment=entailment) == (Label.DUPLICATE, True)


DIGESTS = {5: "3027a52a13bd4756"}
"""What the rows of these pairs are under each version of the guards; a new version gets a new line."""


def test_a_change_of_the_columns_is_a_change_of_the_version() -> None:
    rows = [[*text_row(a, b), *guard_row(a, b)] for a, b in rows_of(TABLE, "digest")]
    text = json.dumps([FEATURE_NAMES, rows])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[FACTS_VERSION]
