"""Tests of the merge writer."""

import itertools
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import given, settings, strategies as st
from mem0_dream.models import merger
from mem0_dream.models.guards import missing
from mem0_dream.models.merger import CERTAIN, Draft, MergeRefused, drafted, joined, puts_together, whole_of
from mem0_dream.models.text.statements import clauses, sentences
from mem0_dream.records import Memory, Scope

TABLE = Path(__file__).with_name("merges.tsv")
SCOPE = Scope.of(user_id="alice")
START = datetime(2026, 1, 1, tzinfo=UTC)


def memory(memory_id: str, text: str, day: int = 0, *, pinned: bool = False) -> Memory:
    return Memory(memory_id, text, SCOPE, created_at=START + timedelta(days=day), pinned=pinned)


def draft(*texts: str, entails=None) -> Draft:
    return drafted([memory(f"m{at}", text, at) for at, text in enumerate(texts)], entails=entails)


@pytest.mark.parametrize("row", rows_of(TABLE, "together", "not together"))
def test_a_text_that_says_one_after_the_other_only_puts_them_together(row):
    said, text, *members = row
    assert puts_together(text, members) is (said == "together")


class TestWhole:
    def test_the_member_that_says_it_all_stays_untouched(self):
        assert draft("Owns a whippet.", "Owns a  whippet named Pickle ") == Draft(
            "Owns a  whippet named Pickle ", "m1"
        )

    def test_a_model_may_vouch_for_other_words(self):
        texts = ("Line-manages half a dozen nurses", "Has 6 nurses reporting to her")
        assert draft(*texts, entails=lambda a, b: merger.ENTAILED).whole is not None
        assert draft(*texts, entails=lambda a, b: merger.ENTAILED - 0.01).whole is None

    @pytest.mark.parametrize(("said", "text", "other"), rows_of(TABLE, "said", "not said"))
    def test_what_is_certainly_said_may_be_said_in_another_form(self, said, text, other):
        kept, goes = memory("a", text), memory("b", other)
        found = {
            sure: whole_of([kept, goes], among=[kept], entails=lambda _a, _b, sure=sure: sure)
            for sure in (CERTAIN, CERTAIN - 0.01)
        }
        assert found == {CERTAIN: kept if said == "said" else None, CERTAIN - 0.01: None}

    def test_of_two_that_certainly_say_the_same_the_newest_wording_stays(self):
        old, new = memory("a", "Keeps bees in the garden"), memory("b", "There are hives behind her house", 9)
        assert whole_of([old, new], entails=lambda _a, _b: CERTAIN) is new
        more = memory("c", "Keeps bees in the garden and sells honey")
        assert whole_of([old, more], entails=lambda _a, _b: CERTAIN) is more

    def test_a_model_is_not_believed_about_details(self):
        found = draft("Rent is 1450 euros", "Pays rent monthly, not weekly", entails=lambda a, b: 1.0)
        assert found.whole is None
        assert not missing(["Rent is 1450 euros", "Pays rent monthly, not weekly"], found.text)

    def test_a_model_is_asked_only_about_the_members_texts(self):
        texts = [" Plays cello. ", "Plays the violin in a quartet; she is good.", "Cellist"]
        asked: set[str] = set()

        def entails(premise: str, hypothesis: str) -> float:
            asked.update((premise, hypothesis))
            return 0.0

        draft(*texts, entails=entails)
        assert asked <= set(texts)

    def test_among_equals_the_most_complete_then_the_latest_then_the_smallest_id(self):
        full, late = memory("c", "Owns a brindle whippet"), memory("b", "Owns a whippet", 9)
        assert whole_of([full, late], entails=lambda a, b: 1.0) is full
        old, new = memory("a", "Drinks tea in Leeds", 1), memory("b", "Likes tea in Leeds", 2)
        assert whole_of([old, new], entails=lambda a, b: 1.0) is new
        twins = [memory("b", "Drinks tea in Leeds"), memory("a", "Likes tea in Leeds")]
        assert whole_of(twins, entails=lambda a, b: 1.0) is twins[1]

    def test_only_members_asked_for_are_considered(self):
        short, long = memory("a", "Owns a whippet"), memory("b", "Owns a brindle whippet")
        assert whole_of([short, long], among=[long]) is long
        assert whole_of([short, long], among=[short]) is None

    @pytest.mark.parametrize("row", rows_of(TABLE, "spelt"))
    def test_the_same_words_stay_in_their_best_spelling(self, row):
        whole, *texts = row
        assert draft(*texts).whole == whole

    def test_dates_may_be_unknown_or_naive(self):
        undated = Memory("a", "Likes tea", SCOPE)
        naive = Memory("b", "Likes tea", SCOPE, updated_at=datetime(2026, 1, 1))  # noqa: DTZ001
        assert drafted([undated, naive]).whole == "b"


@pytest.mark.parametrize("case", rows_of(TABLE, "fused"), ids=itemgetter(0))
def test_a_draft_holds_what_each_adds(case):
    _, expected, *texts = case
    assert draft(*texts) == Draft(expected, None)


def test_a_member_that_an_appended_one_entails_is_left_out():
    first, known = "Steers clear of penicillin since it gave her hives", "Known drug allergy: penicillin"
    found = draft(first, known, "Reacts to penicillin", entails=lambda a, b: 0.95 * a.startswith("Known"))
    assert found.text == f"{first}. {known}."


def test_a_pinned_member_refuses_the_merge():
    with pytest.raises(MergeRefused, match="pinned"):
        drafted([memory("a", "Be kind"), memory("b", "Be kind", pinned=True)])


@pytest.mark.parametrize(
    ("text", "reason"), [("Takes pills", "lose"), ("Takes 20 mg of atorvastatin " * 9, "longer")]
)
def test_a_draft_that_loses_a_detail_or_is_longer_than_its_sources_is_refused(text, reason, monkeypatch):
    monkeypatch.setattr("mem0_dream.models.merger._fuse", lambda ranked, entails: text)
    with pytest.raises(MergeRefused, match=reason):
        draft("Takes 20 mg of atorvastatin", "Takes pills at night")


class TestCutting:
    @pytest.mark.parametrize("row", rows_of(TABLE, "sentences"))
    def test_sentences_end_only_where_they_are_sure_to(self, row):
        assert sentences(row[0]) == list(row[1:])

    def test_clauses_are_cut_only_before_a_subject_and_only_plain_words_are_capitalised(self):
        assert clauses("I cook, and I bake; we share") == ["I cook", "I bake", "we share"]
        assert clauses("Has two cats, a dog, and a parrot") == ["Has two cats, a dog, and a parrot"]
        parts = ["Uses pnpm", "npm is banned.", "the lock file is kept;"]
        assert joined(parts) == "Uses pnpm. npm is banned. The lock file is kept."


PIECES = st.sampled_from(
    """Pickle is a whippet|Owns a dog.|She runs 10 km|not on Mondays|`a. B`|Said "no. Never"|Dr. Rees|v1.2|src/app.py
    |https://x.org/a|; I bake|, and we cook|我住在北京。|\n- list|at 5 pm|20 mg|(since 2021. Really)""".strip().split(
        "|"
    )
)
TEXTS = st.lists(PIECES, min_size=1, max_size=5).map(" ".join) | st.text(min_size=1, max_size=30)


class TestProperties:
    @settings(max_examples=150, deadline=None)
    @given(st.lists(TEXTS, min_size=2, max_size=3))
    def test_it_keeps_everything_or_refuses(self, texts):
        try:
            found = draft(*texts)
        except MergeRefused:
            return
        assert missing(texts, found.text) == ()
        assert len(found.text) <= sum(len(text) + merger.JOIN_LENGTH for text in texts)
        assert found.whole is None or found.text == texts[int(found.whole[1:])]

    @settings(max_examples=80, deadline=None)
    @given(st.lists(TEXTS, min_size=2, max_size=3))
    def test_the_order_of_the_members_does_not_matter(self, texts):
        members = [memory(f"m{at}", text, at) for at, text in enumerate(texts)]

        outcomes = set()
        for order in itertools.permutations(members):
            try:
                outcomes.add(drafted(order))
            except MergeRefused as refusal:
                outcomes.add(str(refusal))
        assert len(outcomes) == 1

    @given(TEXTS)
    def test_cutting_loses_nothing(self, text):
        assert "".join("".join(sentences(text)).split()) == "".join(text.split())
