"""Tests of the words: tokens, stems, overlap, exact keys and topics."""

from pathlib import Path

import pytest
from builders import rows_of
from hypothesis import given, strategies as st
from mem0_dream.models.text.statements import MOST_STATEMENTS, split_statements
from mem0_dream.models.text.tables import marked
from mem0_dream.models.text.vocabulary import common, opposite, synonyms
from mem0_dream.models.text.words import (
    counted,
    exact_key,
    normalised,
    out_of_order,
    overlap,
    significant_words,
    stem,
    tokens,
    topic,
)

TABLE = Path(__file__).with_name("words.tsv")
TEXTS = st.text(max_size=60)
PIECES = [
    "Likes", "tea", "tea.", "`a  B`", "src/Foo", "-V", "PATH", "don’t", "–", "北京市", "İx", "ﬁn", "  ", "\n",
]  # fmt: skip
PROSE = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    "forms",
    ["use uses used using", "run runs running", "reply replies replied replying", "call calls called calling",
     "box boxes", "pass passes passed passing", "merge merges merged merging", "mum mum's"],
)  # fmt: skip
def test_forms_of_one_word_meet(forms):
    assert len({stem(form) for form in forms.split()}) == 1


def test_short_and_foreign_endings_stay_and_words_with_digits_are_whole():
    for word in ("bus bu", "need ne", "sing s", "redis redi", "tea te"):
        assert len(set(map(stem, word.split()))) == 2
    assert [stem("k8s"), stem("mp3s"), stem("2.5")] == ["k8s", "mp3s", "2.5"]


def test_single_words_are_known_counted_and_put_in_order():
    assert [common(word) for word in ("prefers", "stopped", "łukasz")] == [True, True, False]
    assert [synonyms("needs", "requires"), synonyms("medicine", "law")] == [True, False]
    assert [opposite("likes", "dislikes"), opposite("before", "after")] == [True, False]
    assert [counted(1, "merge"), counted(2, "entry", "entries")] == ["1 merge", "2 entries"]
    assert marked(["no longer, stop*", "plan(?= to)"]) == r"plan(?= to)|no\s{1,8}longer|stop\w{0,40}"
    assert out_of_order([2, 0, 1, 3]) == {0}
    assert normalised("“10²” – ｏｋ") == '"10²" - ok'


class TestTokens:
    @pytest.mark.parametrize(("text", "found"), rows_of(TABLE, "tokens", cells=2))
    def test_a_text_is_cut_into_words(self, text, found):
        assert " ".join(token.text for token in tokens(text)) == found

    def test_offsets_point_into_the_normalised_text(self):
        text = "Mum’s “tea” – ｏｋ 東京都"
        assert all(normalised(text)[token.start : token.end] == token.text for token in tokens(text))


def test_grammar_and_negation_carry_no_meaning():
    assert significant_words("The user doesn't use tabs, never in Go") == {"us", "tab", "go"}
    assert significant_words("It is what it is.") == frozenset()
    assert significant_words("Takes vitamin C") != significant_words("Takes vitamin D")


class TestOverlap:
    @pytest.mark.parametrize(
        ("a", "b", "share"),
        [
            ("Likes green tea", "likes tea", 2 / 3),  # of the larger set
            ("我住在北京市", "我住在北京", 4 / 5),
            ("It is.", "it is", 1.0),  # without words only equal texts overlap
            ("It is.", "They are.", 0.0),
        ],
    )
    def test_it_is_the_share_of_common_words(self, a, b, share):
        assert overlap(a, b) == pytest.approx(share)

    @given(TEXTS, TEXTS)
    def test_it_is_symmetric_and_bounded(self, a, b):
        assert 0 <= overlap(a, b) == overlap(b, a) <= 1


class TestExactKey:
    def test_space_and_what_is_not_seen_do_not_count_beside_code(self):
        assert exact_key("Use  `x`  here.") == "use `x` here"
        assert exact_key("Takes\n the bus\t") == exact_key("takes the bus")
        assert exact_key("soft\u00adware") == exact_key("software")
        assert exact_key("Cafe\u0301 au lait") == exact_key("café au lait")

    @given(TEXTS | PROSE)
    def test_a_key_is_its_own_key(self, text):
        assert exact_key(exact_key(text)) == exact_key(text)

    @given(st.text(st.characters(), max_size=30))
    def test_no_text_raises(self, text):
        assert isinstance(exact_key(text), str)
        assert isinstance(significant_words(text), frozenset)


@pytest.mark.parametrize(("older", "newer", "found"), rows_of(TABLE, "topic", cells=3))
def test_a_topic_is_the_shared_words_in_the_newer_spelling_and_order(older, newer, found):
    assert topic(older, newer) == found


@pytest.mark.parametrize(("text", "statements"), rows_of(TABLE, "statements", cells=2))
def test_a_text_is_cut_into_statements_that_stand_alone(text: str, statements: str) -> None:
    assert split_statements(text) == tuple(statements.split("|"))


@given(st.text(max_size=400))
def test_any_text_gives_one_to_eight_statements(text: str) -> None:
    assert 1 <= len(split_statements(text)) <= MOST_STATEMENTS
