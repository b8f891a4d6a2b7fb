"""Two texts side by side: columns that align, marks on what differs, nothing that reaches the terminal raw."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.reporting.alignment import (
    CUT_FROM,
    MAX_COLUMNS,
    MAX_WORD,
    Column,
    bracketed,
    coloured,
    columns,
    excerpts,
    rows,
)
from mem0_dream.pipeline.reporting.report import one_line
from rich.cells import cell_len

nasty = st.text(
    alphabet=st.sampled_from("ab. \n\t\x1b\x07\x9b\u2028\u202e\u2066\ue000\ud800漢é[]"), max_size=10
)


def plain(a: str, b: str, width: int = 80) -> list[tuple[str, str]]:
    """The texts as a terminal without colours shows them."""
    return [bracketed(row) for row in rows(columns(a, b), width=width)]


def test_what_both_say_stands_in_one_column() -> None:
    """The word that only one has is marked, and the other side is left blank there."""
    assert plain("Has a whippet named Pickle.", "has a brindle whippet named Pickle") == [
        ("Has a           whippet named Pickle.", "has a [brindle] whippet named Pickle"),
    ]


def test_words_that_replace_each_other_are_marked_together() -> None:
    """One bracket for neighbouring words, as wide as the longer side."""
    assert plain("Lives in Oslo now.", "Lives in New York City now.") == [
        ("Lives in [Oslo]          now.", "Lives in [New York City] now."),
    ]


def test_equal_texts_have_no_mark() -> None:
    """Case, white space and punctuation around a word are no difference."""
    assert not any(column.differs for column in columns("Likes\n tea.", "likes tea"))


def test_a_long_row_is_broken_into_rows() -> None:
    """Both sides break at the same column."""
    shown = plain("one two three four five six", "one two three FOUR five seven", width=20)
    assert [len(a.split()) == len(b.split()) for a, b in shown] == [True, True]
    assert all(cell_len(line) <= 20 for pair in shown for line in pair)


def test_a_long_text_is_cut_around_its_differences() -> None:
    """The beginning and the end that both share are left out, with a sign where they were."""
    head, tail = "alpha beta " * 60, " gamma delta" * 60
    a, b = f"{head}uses tabs{tail}", f"{head}uses spaces{tail}"
    shown = " ".join(line for line, _ in plain(a, b))
    assert "[tabs]" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < CUT_FROM
    assert "spaces" in excerpts(a, b)[1]


def test_a_hundred_kilobytes_stay_a_few_lines() -> None:
    """One long word, many words, or nothing in common: the output is bounded."""
    for a, b in (
        ("x" * 100_000 + "1", "x" * 100_000 + "2"),
        ("word " * 20_000, "other " * 20_000),
        (" ".join(map(str, range(20_000))), " ".join(map(str, range(20_000, 0, -1)))),
    ):
        found = columns(a, b)
        assert len(found) <= MAX_COLUMNS + 1
        assert any(column.differs for column in found)
        assert all(len(column.a) <= MAX_WORD + 2 for column in found)
    assert columns("x" * 100_000 + "1", "x" * 100_000 + "2")[0].a.endswith("1")


def test_control_and_bidi_characters_are_one_line() -> None:
    """They can be seen, and do nothing."""
    assert one_line("a\x1b[31mred\u202eb\u2066c\x00") == "a\\x1b[31mred\\u202eb\\u2066c\\x00"


def test_colours_mark_the_same_words() -> None:
    """On a terminal with colours the words stand without brackets, in the same columns."""
    (row,) = rows(columns("Has a whippet.", "Has a brindle whippet."), width=80)
    first, second = coloured(row)
    assert (first.plain, second.plain) == ("Has a         whippet.", "Has a brindle whippet.")
    assert [second.plain[span.start : span.end] for span in second.spans] == ["brindle"]


@given(nasty, nasty)
def test_nothing_reaches_the_terminal_raw_and_no_word_is_lost(a: str, b: str) -> None:
    """Every line is printable, rows are narrow, and each side reads as its text."""
    found = columns(a, b)
    for row in rows(found, width=30):
        for line in (*bracketed(row), *(text.plain for text in coloured(row))):
            assert line.isprintable()
            assert cell_len(line) <= 30 or len(row) == 1
    assert " ".join(c.a for c in found if c.a) == one_line(a)
    assert " ".join(c.b for c in found if c.b) == one_line(b)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
@settings(max_examples=50)
def test_aligning_is_symmetric_in_what_it_keeps(a: list[str], b: list[str]) -> None:
    """Swapping the texts swaps the sides; equal columns hold equal words."""
    found = columns(" ".join(a), " ".join(b))
    assert all(column.a == column.b for column in found if not column.differs)
    assert [c.b for c in columns(" ".join(b), " ".join(a)) if c.b] == [c.a for c in found if c.a]


def test_a_wide_character_takes_two_cells() -> None:
    """Columns stay aligned where a character is as wide as two."""
    lines = bracketed((Column("漢字", "ab", differs=True), Column("x", "x")))
    assert [cell_len(line) for line in lines] == [8, 8]
