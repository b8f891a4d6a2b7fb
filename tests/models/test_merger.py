"""Tests of the merge writer."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.models.guards import missing
from mem0_dream.models.merger import (
    CERTAIN,
    ENTAILED,
    JOIN_LENGTH,
    Draft,
    MergeRefused,
    drafted,
    joined,
    puts_together,
    whole_of,
)
from mem0_dream.models.text.statements import clauses, sentences
from mem0_dream.records import Memory, Scope

SCOPE = Scope.of(user_id="alice")
START = datetime(2026, 1, 1, tzinfo=UTC)


def memory(memory_id: str, text: str, day: int = 0, *, pinned: bool = False) -> Memory:
    return Memory(memory_id, text, SCOPE, created_at=START + timedelta(days=day), pinned=pinned)


def draft(*texts: str, entails=None) -> Draft:
    return drafted([memory(f"m{at}", text, at) for at, text in enumerate(texts)], entails=entails)


@pytest.mark.parametrize(
    ("text", "members", "together"),
    [
        ("Likes tea. Fond of tea.", ("Likes tea", "Fond of tea"), True),
        ("IELTS booked for May. exam day 14/05.", ("IELTS booked for May", "exam day 14/05"), True),
        ("Likes tea. Rests. Likes tea. Runs.", ("Likes tea. Rests.", "Likes tea. Runs."), True),
        ("Likes tea. Rests. Runs.", ("Likes tea. Rests.", "Likes tea. Runs."), False),
        ("Likes tea. Rests. Runs.", ("Likes tea. Rests.", "Fond of tea. Runs."), False),
    ],
)
def test_a_text_that_says_one_after_the_other_only_puts_them_together(text, members, together):
    assert puts_together(text, members) is together


class TestWhole:
    def test_the_member_that_says_it_all_stays_untouched(self):
        assert draft("Owns a whippet.", "Owns a  whippet named Pickle ") == Draft(
            "Owns a  whippet named Pickle ", "m1"
        )

    def test_a_light_synonym_counts_as_the_word(self):
        assert draft("Mum lives in Porto", "Her mother Teresa lives in Porto").whole == "m1"

    def test_a_model_may_vouch_for_other_words(self):
        texts = ("Line-manages half a dozen nurses", "Has 6 nurses reporting to her")
        assert draft(*texts, entails=lambda a, b: ENTAILED).whole is not None
        assert draft(*texts, entails=lambda a, b: ENTAILED - 0.01).whole is None

    @pytest.mark.parametrize(
        ("text", "other", "said"),
        [
            ("Owes nothing to anybody", "He has no debts", True),
            ("Pocket money is 60,000 won a month", "Monthly allowance: 60,000 won", True),
            ("Every Monday, 08:00: physio", "Physiotherapy is on Mondays at 08:00", True),
            ("Takes 20 mg at noon", "Takes 20 mg at noon, not at night", False),
            ("Shares a flat with Anna", "Has shared a flat with Anna since 2019", False),
            ("Shares a flat with her sister", "Shares a flat with her sister Anna", False),
        ],
    )
    def test_what_is_certainly_said_may_be_said_in_another_form(self, text, other, said):
        kept, goes = memory("a", text), memory("b", other)
        found = {
            sure: whole_of([kept, goes], among=[kept], entails=lambda _a, _b, sure=sure: sure)
            for sure in (CERTAIN, CERTAIN - 0.01)
        }
        assert found == {CERTAIN: kept if said else None, CERTAIN - 0.01: None}

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

    def test_the_best_spelt_exact_copy_stays(self):
        assert draft("goes by tilly", "Goes by Tilly.", "goes  by Tilly").whole == "m1"
        assert draft("Goes by Tilly.", "Goes by Tilly.").whole == "m1"

    def test_the_same_words_stay_in_their_best_spelling(self):
        assert draft("Blood type is O-negative.", "blood type is o negative").whole == "m0"

    def test_dates_may_be_unknown_or_naive(self):
        undated = Memory("a", "Likes tea", SCOPE)
        naive = Memory("b", "Likes tea", SCOPE, updated_at=datetime(2026, 1, 1))  # noqa: DTZ001
        assert drafted([undated, naive]).whole == "b"


WHIPPET, LEADS, WORKS = (
    "Pickle is a brindle whippet adopted in 2022",
    "Anna leads the QA team of the bank in Porto since 2021",
    "Works at Acme as an architect. Lives in Bristol with a whippet",
)
FUSED = {
    "each adds what the other lacks": (
        ["Dad was a sailor out of Gdansk", "Dad worked on cargo ships for thirty years"],
        "Dad worked on cargo ships for thirty years. Dad was a sailor out of Gdansk.",
    ),
    "sentences that add nothing are left out": (
        ["Pickle is a brindle whippet, 4 years old. Sleeps in the hall.", "Pickle is a whippet. Pickle fears fireworks."],
        "Pickle is a brindle whippet, 4 years old. Sleeps in the hall. Pickle fears fireworks.",
    ),
    "a sentence takes the place of one it says completely": (
        ["Pickle is a whippet. Pickle fears loud fireworks. Pickle sleeps in the hall", WHIPPET],
        f"{WHIPPET}. Pickle fears loud fireworks. Pickle sleeps in the hall.",
    ),
    "one sentence can replace several": (
        ["Pickle is a whippet. Fears loud fireworks at night. Pickle is brindle", WHIPPET],
        f"{WHIPPET}. Fears loud fireworks at night.",
    ),
    "a dependent sentence brings what it leans on": (
        ["Priya from Leeds joined the platform team in May as a senior engineer", "Priya joined in May. She leads QA."],
        "Priya from Leeds joined the platform team in May as a senior engineer. Priya joined in May. She leads QA.",
    ),
    "a clause with its own subject stands alone": (
        [LEADS, "Anna leads the QA team; Bruno leads the API team."], f"{LEADS}. Bruno leads the API team.",
    ),
    "a clause without a subject keeps its sentence": (
        [LEADS, "Anna leads the QA team; plays chess too."], f"{LEADS}. Anna leads the QA team; plays chess too.",
    ),
    "three members end in one text": (
        ["Works at Acme as a landscape architect", "Works in Bristol on Mondays", "Works at Acme on Mondays", "Works at Acme"],
        "Works at Acme as a landscape architect. Works at Acme on Mondays. Works in Bristol on Mondays.",
    ),
    "words spread over two sentences state nothing": (
        [WORKS, "Works at Acme in Bristol"], f"{WORKS}. Works at Acme in Bristol.",
    ),
    "another script is joined by its own marks": (
        ["住在北京市朝阳区里", "在北京的银行上班"], "住在北京市朝阳区里。在北京的银行上班。",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FUSED)
def test_a_draft_holds_what_each_adds(case):
    texts, expected = FUSED[case]
    assert draft(*texts) == Draft(expected, None)


def test_a_member_that_an_appended_one_entails_is_left_out():
    texts = (
        "Steers clear of penicillin since it gave her hives",
        "Known drug allergy: penicillin",
        "Reacts to penicillin",
    )
    found = draft(*texts, entails=lambda a, b: 0.95 * a.startswith("Known"))
    assert found.text == f"{texts[0]}. {texts[1]}."


class TestRefusal:
    def test_a_pinned_member_refuses_the_merge(self):
        with pytest.raises(MergeRefused, match="pinned"):
            drafted([memory("a", "Be kind"), memory("b", "Be kind", pinned=True)])

    def test_a_draft_that_loses_a_detail_is_refused(self, monkeypatch):
        monkeypatch.setattr("mem0_dream.models.merger._fuse", lambda ranked, entails: "Takes pills")
        with pytest.raises(MergeRefused, match="lose"):
            draft("Takes 20 mg of atorvastatin", "Takes pills at night")

    def test_a_draft_longer_than_its_sources_is_refused(self, monkeypatch):
        monkeypatch.setattr("mem0_dream.models.merger._fuse", lambda ranked, entails: "likes tea " * 9)
        with pytest.raises(MergeRefused, match="longer"):
            draft("likes green tea", "likes black tea")


class TestCutting:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("One. Two! Three?", ["One.", "Two!", "Three?"]),
            ("Saw Dr. Rees, e.g. Monday. Then left", ["Saw Dr. Rees, e.g. Monday.", "Then left"]),
            ("Uses v1.2 and 3.5 mg. Fine", ["Uses v1.2 and 3.5 mg.", "Fine"]),
            ("Run `a. B` now. Done", ["Run `a. B` now.", "Done"]),
            ('Said "Go. Now" twice. Left', ['Said "Go. Now" twice.', "Left"]),
            ("Met J. Smith (born 1970. In Rome) once", ["Met J. Smith (born 1970. In Rome) once"]),
            ("Is 5'11\" tall. Runs", ["Is 5'11\" tall. Runs"]),
            ("first line\nsecond line", ["first line", "second line"]),
            ("我住在北京。我喝茶。", ["我住在北京。", "我喝茶。"]),
            ("likes tea. hates coffee.", ["likes tea. hates coffee."]),
        ],
    )
    def test_sentences_end_only_where_they_are_sure_to(self, text, expected):
        assert sentences(text) == expected

    def test_clauses_are_cut_only_before_a_subject(self):
        assert clauses("I cook, and I bake; we share") == ["I cook", "I bake", "we share"]
        assert clauses("Has two cats, a dog, and a parrot") == ["Has two cats, a dog, and a parrot"]

    def test_joining_closes_and_capitalises_only_plain_words(self):
        assert (
            joined(["Uses pnpm", "npm is banned.", "the lock file is kept;"])
            == "Uses pnpm. npm is banned. The lock file is kept."
        )


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
        assert len(found.text) <= sum(len(text) + JOIN_LENGTH for text in texts)
        assert found.whole is None or found.text == texts[int(found.whole[1:])]

    @settings(max_examples=80, deadline=None)
    @given(st.lists(TEXTS, min_size=2, max_size=3))
    def test_the_order_of_the_members_does_not_matter(self, texts):
        members = [memory(f"m{at}", text, at) for at, text in enumerate(texts)]

        def outcome(order) -> object:
            try:
                return drafted(order)
            except MergeRefused as refusal:
                return str(refusal)

        assert len({outcome(order) for order in itertools.permutations(members)}) == 1

    @given(TEXTS)
    def test_cutting_loses_nothing(self, text):
        assert "".join("".join(sentences(text)).split()) == "".join(text.split())
