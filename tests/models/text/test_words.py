"""Tests of the words: tokens, stems, overlap, exact keys and topics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.text.words import (
    exact_key,
    normalised,
    overlap,
    significant_words,
    stem,
    tokens,
    topic,
)

TEXTS = st.text(max_size=60)
PROSE = st.lists(
    st.sampled_from(
        [
            "Likes",
            "tea",
            "tea.",
            "`a  B`",
            "src/Foo",
            "-V",
            "PATH",
            "don’t",
            "–",
            "北京市",
            "İx",
            "ﬁn",
            "  ",
            "\n",
        ]
    ),
    max_size=8,
).map(" ".join)


class TestStem:
    @pytest.mark.parametrize(
        "forms",
        [
            ("use", "uses", "used", "using"),
            ("run", "runs", "running"),
            ("reply", "replies", "replied", "replying"),
            ("call", "calls", "called", "calling"),
            ("box", "boxes"),
            ("pass", "passes", "passed", "passing"),
            ("merge", "merges", "merged", "merging"),
            ("mum", "mum's"),
        ],
    )
    def test_forms_of_one_word_meet(self, forms):
        assert len({stem(form) for form in forms}) == 1

    @pytest.mark.parametrize(
        ("a", "b"), [("bus", "bu"), ("need", "ne"), ("sing", "s"), ("redis", "redi"), ("tea", "te")]
    )
    def test_short_and_foreign_endings_stay(self, a, b):
        assert stem(a) != stem(b)

    def test_words_with_digits_are_not_stemmed(self):
        assert [stem("k8s"), stem("mp3s"), stem("2.5")] == ["k8s", "mp3s", "2.5"]


class TestTokens:
    def test_numbers_stay_whole(self):
        assert [token.text for token in tokens("2.5 mg at 14:15, v3.11.2")] == [
            "2.5",
            "mg",
            "at",
            "14:15",
            "v3",
            "11.2",
        ]

    def test_paths_and_hyphens_fall_into_words(self):
        assert [token.stem for token in tokens("line-length src/my_app")] == [
            "lin",
            "length",
            "src",
            "my",
            "app",
        ]

    def test_scripts_without_spaces_give_character_pairs(self):
        assert [token.text for token in tokens("我住在北京。茶")] == ["我住", "住在", "在北", "北京", "茶"]

    def test_vowel_signs_belong_to_their_word(self):
        assert [token.text for token in tokens("हिन्दी बोलता है")] == ["हिन्दी", "बोलता", "है"]

    def test_offsets_point_into_the_normalised_text(self):
        text = "Mum’s “tea” – ｏｋ 東京都"
        assert all(normalised(text)[token.start : token.end] == token.text for token in tokens(text))


class TestSignificantWords:
    def test_grammar_and_negation_are_left_out(self):
        assert significant_words("The user doesn't use tabs, never in Go") == {"us", "tab", "go"}

    def test_nothing_but_grammar_is_nothing(self):
        assert significant_words("It is what it is.") == frozenset()

    def test_single_letters_that_name_something_stay(self):
        assert significant_words("Takes vitamin C") != significant_words("Takes vitamin D")


class TestOverlap:
    def test_it_is_the_share_of_the_larger_set(self):
        assert overlap("Likes green tea", "likes tea") == pytest.approx(2 / 3)

    def test_another_script_overlaps_by_character_pairs(self):
        assert overlap("我住在北京市", "我住在北京") == pytest.approx(4 / 5)

    def test_texts_without_words_overlap_only_if_equal(self):
        assert (overlap("It is.", "it is"), overlap("It is.", "They are.")) == (1.0, 0.0)

    @given(TEXTS, TEXTS)
    def test_it_is_symmetric_and_bounded(self, a, b):
        assert 0 <= overlap(a, b) == overlap(b, a) <= 1


class TestExactKey:
    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("Likes tea.", "likes  tea"),
            ("Likes tea!", "Likes tea"),
            ("Goes by “Tilly”", 'goes by "Tilly"'),
            ("Mum won’t eat", "mum won't eat"),
            ("9–5 job", "9-5 job"),
            ("ｆｕｌｌ width", "full width"),
            ("Straße", "strasse"),
            ("Takes\n the bus\t", "takes the bus"),
            ("Run `make  X`.", "run `make  X`"),
            ("soft\u00adware", "software"),
            ("Cafe\u0301 au lait", "café au lait"),
        ],
    )
    def test_form_is_folded(self, a, b):
        assert exact_key(a) == exact_key(b)

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("see src/Foo", "see src/foo"),
            ("https://x.org/A", "https://x.org/a"),
            ("run `Make`", "run `make`"),
            ("run `a  b`", "run `a b`"),
            ("call getUser", "call getuser"),
            ("set max_Len", "set max_len"),
            ("pass -v", "pass -V"),
            ("export PATH", "export path"),
            ("bucket a1B", "bucket A1B"),
            ("edit README.md", "edit readme.md"),
            ("Likes tea?", "Likes tea"),
            ("10² m", "102 m"),
            ("x₂", "x2"),
            ("git add .", "git add"),
            ("cd ../..", "cd ../"),
            ("[PINNED] Be kind.", "Be kind."),
            ("Costs 5", "Costs -5"),
            ("Uses C", "Uses C++"),
        ],
    )
    def test_meaning_is_kept(self, a, b):
        assert exact_key(a) != exact_key(b)

    def test_space_around_code_is_kept_once(self):
        assert exact_key("Use  `x`  here.") == "use `x` here"

    @given(TEXTS | PROSE)
    def test_a_key_is_its_own_key(self, text):
        assert exact_key(exact_key(text)) == exact_key(text)

    @given(st.text(st.characters(), max_size=30))
    def test_no_text_raises(self, text):
        assert isinstance(exact_key(text), str)
        assert isinstance(significant_words(text), frozenset)


class TestTopic:
    def test_it_is_the_shared_words_in_the_newer_spelling_and_order(self):
        older, newer = (
            "API keys may make 60 requests per minute.",
            "The per-key limit is 120 Requests a minute.",
        )
        assert topic(older, newer) == "key Requests minute"

    def test_it_has_at_most_four_words(self):
        text = "Grandma's blue Ford Fiesta needs winter tyres"
        assert topic(text, text) == "Grandma's blue Ford Fiesta"

    def test_words_of_opposition_are_no_topic(self):
        assert topic("Prefers tabs in Go", "Prefers spaces in Go") == "Go"

    def test_nothing_shared_falls_back_to_the_category(self):
        assert topic("Vegan", "Loves steak", category="diet") == "diet"
        assert topic("Vegan", "Loves steak") == ""

    def test_neighbouring_character_pairs_become_one_word(self):
        assert topic("我住在北京市", "他在北京市工作") == "在北京市"

    def test_compounds_stay_together(self):
        assert (
            topic("Edits in api/gen are trunk-based", "No trunk-based edits in api/gen")
            == "trunk-based edits api/gen"
        )
