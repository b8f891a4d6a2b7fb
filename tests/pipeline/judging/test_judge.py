"""From probabilities to verdicts: the table, the vetoes, and what is never asked."""

from __future__ import annotations

import pytest
from builders import CONTRADICTION, DUPLICATE, MAYBE, memory
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.scorer import Thresholds
from mem0_dream.pipeline.judging.judge import EXACT, decide, judge, pair_input
from mem0_dream.records import Candidate, Evidence, Label, Verdict
from mem0_dream.testing import FakeScorer

LIMITS = Thresholds(auto=0.9, duplicate=0.6, contradiction=0.6)
VETO = Evidence("number", "20 / 40", veto=True)
NOTE = Evidence("trait", "- / red")
END = Evidence("ending", "sold")
TEXTS = ("Likes tea.", "Likes green tea.")


@pytest.mark.parametrize(
    ("probabilities", "evidence", "label", "auto"),
    [
        ((0.95, 0.0, 0.05), (), Label.DUPLICATE, True),
        ((0.90, 0.0, 0.10), (), Label.DUPLICATE, True),
        ((0.89, 0.0, 0.11), (), Label.DUPLICATE, False),
        ((0.60, 0.0, 0.40), (), Label.DUPLICATE, False),
        ((0.59, 0.0, 0.41), (), Label.UNSURE, False),
        ((0.40, 0.0, 0.60), (), Label.DISTINCT, False),
        ((0.95, 0.0, 0.05), (NOTE,), Label.DUPLICATE, True),
        ((0.95, 0.0, 0.05), (NOTE, VETO), Label.UNSURE, False),
        ((0.95, 0.0, 0.05), (END,), Label.DUPLICATE, False),
        ((0.70, 0.0, 0.30), (VETO,), Label.UNSURE, False),
        ((0.00, 0.60, 0.40), (), Label.CONTRADICTION, False),
        ((0.00, 0.60, 0.40), (VETO,), Label.CONTRADICTION, False),
        ((0.65, 0.65, 0.00), (), Label.CONTRADICTION, False),
        ((0.66, 0.65, 0.00), (), Label.DUPLICATE, False),
        ((0.00, 0.55, 0.45), (), Label.UNSURE, False),
        ((0.00, 0.45, 0.55), (), Label.DISTINCT, False),
        ((0.00, 0.00, 1.00), (VETO,), Label.DISTINCT, False),
    ],
)
def test_the_table(
    probabilities: tuple[float, float, float], evidence: tuple[Evidence, ...], label: Label, auto: bool
) -> None:
    assert decide(probabilities, evidence, LIMITS) == (label, auto)


numbers = st.floats(0, 1)


@given(numbers, numbers, st.booleans(), st.builds(Thresholds, numbers, numbers, numbers))
def test_what_merges_alone_is_sure_and_not_vetoed(
    duplicate: float, contradiction: float, veto: bool, limits: Thresholds
) -> None:
    label, alone = decide((duplicate, contradiction, 0.5), (VETO,) if veto else (), limits)
    if alone:
        assert label is Label.DUPLICATE
        assert duplicate >= limits.auto
        assert not veto
    if label is Label.CONTRADICTION:
        assert contradiction >= max(limits.contradiction, duplicate)


def test_exact_pairs_are_never_scored() -> None:
    scorer = FakeScorer(default=lambda _a, _b: CONTRADICTION)
    (verdict,) = judge([Candidate("a", "b", 1.0, exact=True)], {}, scorer)
    assert (verdict.label, verdict.auto, verdict.evidence) == (Label.DUPLICATE, True, (EXACT,))
    assert scorer.asked == []


def test_verdicts_come_in_the_order_of_the_pairs() -> None:
    memories = {name: memory(name, text) for name, text in zip("abc", (*TEXTS, "Has a dog."), strict=True)}
    pairs = [Candidate("b", "c", 0.1), Candidate("a", "c", 1.0, exact=True), Candidate("a", "b", 0.9)]
    verdicts = judge(pairs, memories, FakeScorer({TEXTS: DUPLICATE}))
    assert [verdict.pair for verdict in verdicts] == pairs
    assert [verdict.label for verdict in verdicts] == [Label.DISTINCT, Label.DUPLICATE, Label.DUPLICATE]
    assert verdicts[2].entailment == pytest.approx((0.97, 0.97))
    assert judge([], {}, FakeScorer()) == ()


def test_given_thresholds_replace_those_of_the_scorer() -> None:
    memories = {"a": memory("a", TEXTS[0]), "b": memory("b", TEXTS[1])}
    pair, scorer = [Candidate("a", "b", 0.9)], FakeScorer({TEXTS: MAYBE})
    assert judge(pair, memories, scorer)[0].auto is False
    lax = Thresholds(auto=0.5, duplicate=0.5, contradiction=0.5)
    assert judge(pair, memories, scorer, thresholds=lax)[0].auto is True


def test_a_detail_that_differs_holds_a_merge_back() -> None:
    texts = ("Lisinopril: 40 mg, prescribed by Dr Wu.", "Takes 20 mg of lisinopril daily.")
    memories = {"a": memory("a", texts[0]), "b": memory("b", texts[1])}
    (verdict,) = judge([Candidate("a", "b", 0.99)], memories, FakeScorer({texts: DUPLICATE}))
    assert (verdict.label, verdict.auto) == (Label.UNSURE, False)
    assert any(item.veto for item in verdict.evidence)


def test_a_scorer_reads_texts_category_dates_and_cosine() -> None:
    a, b = memory("a", "A", days=3), memory("b", "B", days=None)
    read = pair_input(Candidate("a", "b", 0.25), {"a": a, "b": b})
    assert (read.a, read.b, read.cosine, read.category, read.a_date, read.b_date) == (
        "A", "B", 0.25, "note", a.created_at, None,
    )  # fmt: skip


def test_a_text_that_only_adds_is_left_to_a_person() -> None:
    """However sure the scorer is of a contradiction, more words without a differing detail are none."""
    short, long = (
        memory("a", "Invoices go out every Friday."),
        memory("b", "Invoices go out every Friday by post."),
    )
    scorer = FakeScorer({(short.text, long.text): (0.1, 0.85, 0.05)})
    (verdict,) = judge([Candidate("a", "b", 0.9)], {"a": short, "b": long}, scorer)
    assert verdict.label is Label.UNSURE
    assert verdict.evidence[-1].kind == "adds"


@pytest.mark.parametrize(
    ("other", "auto"),
    [("Owns a green car.", True), ("Sold the green car.", False), ("No longer has the green car.", False)],
)
def test_a_text_that_alone_tells_of_an_end_is_not_merged_unattended(other: str, auto: bool) -> None:
    """What is over for one text still holds for the other, or was meant by both: a person knows."""
    memories = {"a": memory("a", "Has a green car."), "b": memory("b", other)}
    scorer = FakeScorer({(memories["a"].text, other): DUPLICATE})
    (verdict,) = judge([Candidate("a", "b", 0.9)], memories, scorer)
    assert verdict.auto is auto


@pytest.mark.parametrize(
    ("a", "b", "label"),
    [
        ("Der Nutzer mag Katzen", "Der Nutzer hat zwei Katzen", Label.DISTINCT),
        ("Der Nutzer mag Katzen", "Der Nutzer mag keine Katzen", Label.CONTRADICTION),
        ("Der Nutzer mag Katzen.", "der Nutzer mag Katzen", Label.DUPLICATE),
    ],
)
def test_a_scorer_of_english_has_no_say_about_other_languages(a, b, label):
    """Its answer, a sure contradiction, is not heard; a scorer of all languages is."""
    memories = {"a": memory("a", a), "b": memory("b", b)}
    scorer = FakeScorer(default=lambda _a, _b: (0.0, 0.99, 0.01))
    assert judge([Candidate("a", "b", 0.9)], memories, scorer)[0].label is not Label.DISTINCT
    scorer.english_only = True
    assert judge([Candidate("a", "b", 0.9)], memories, scorer)[0].label is label


@pytest.mark.parametrize(
    ("a", "b", "label"),
    [
        ("User reports to Anna", "Anna reports to the user", Label.CONTRADICTION),
        (
            "Blue bin for paper, green bin for glass",
            "Green bin for paper, blue bin for glass",
            Label.CONTRADICTION,
        ),
        ("Selma visited Omar", "Omar visited Selma", Label.UNSURE),
        ("User reports to Anna", "Anna manages the user", Label.DUPLICATE),
        ("User is trying to quit smoking", "User quit smoking", Label.UNSURE),
        ("User has a bird", "User has a bird feeder", Label.DUPLICATE),
        ("API rate limit is at least 100", "API rate limit is at most 100", Label.CONTRADICTION),
        ("User likes tea more than coffee", "User likes coffee more than tea", Label.CONTRADICTION),
    ],
)
def test_a_sure_scorer_merges_nothing_whose_places_or_stages_differ(a: str, b: str, label: Label) -> None:
    memories = {"a": memory("a", a), "b": memory("b", b)}
    (verdict,) = judge(
        [Candidate("a", "b", 0.9)], memories, FakeScorer({(a, b): DUPLICATE}), thresholds=LIMITS
    )
    assert verdict.label is label
    assert verdict.auto is (a == "User reports to Anna" and label is Label.DUPLICATE)


@pytest.mark.parametrize("label", [label for label in Label if label is not Label.DUPLICATE])
def test_only_a_duplicate_merges_by_itself(label: Label) -> None:
    with pytest.raises(ValueError, match="never merges by itself"):
        Verdict(Candidate("a", "b", 0.9), label, auto=True)


def test_two_stages_are_a_conflict_where_the_scorer_leans_to_one() -> None:
    texts = "User wants to migrate to Postgres", "User has migrated to Postgres"
    memories = {"a": memory("a", texts[0]), "b": memory("b", texts[1])}
    (verdict,) = judge(
        [Candidate("a", "b", 0.9)], memories, FakeScorer({texts: (0.3, 0.5, 0.2)}), thresholds=LIMITS
    )
    assert verdict.label is Label.CONTRADICTION


@pytest.mark.parametrize(
    ("b", "label"),
    [("User is learning French", Label.DISTINCT), ("User stopped learning Spanish", Label.CONTRADICTION)],
)
def test_two_of_what_one_has_several_of_are_no_conflict_however_sure_a_scorer_is(b, label):
    a = "User is learning Spanish"
    memories = {"a": memory("a", a), "b": memory("b", b)}
    scorer = FakeScorer(default=lambda _a, _b: CONTRADICTION)
    assert judge([Candidate("a", "b", 0.9)], memories, scorer)[0].label is label
