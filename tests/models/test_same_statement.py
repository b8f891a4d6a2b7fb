"""What is one statement by its words alone, and what never is; edits by program keep the meaning or change it."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st
from mem0_dream.models.same_statement import same_statement, sameness, slip_in, statement_key
from mem0_dream.models.text.vocabulary import is_word
from mem0_dream.scripts.evaluate import metamorphic


def test_the_reason_names_what_differs():
    assert sameness("Tag releases", "Tag the releases.") == "- / the"
    assert sameness("Is alergic to nuts", "Is allergic to nuts") == "alergic / allergic"
    assert sameness("Likes tea", "likes tea.") == "the same words; only marks, case or order differ"


def test_guards_have_the_last_word():
    days = [datetime(2025, 1, day, tzinfo=UTC) for day in (3, 9)]
    assert sameness("Met Ben yesterday", "- Met Ben yesterday", a_date=days[0], b_date=days[0])
    assert not sameness("Met the Ben yesterday", "Met Ben yesterday", a_date=days[0], b_date=days[1])


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=40))
def test_it_is_symmetric_and_every_text_is_itself(a, b):
    assert same_statement(a, b) == same_statement(b, a)
    assert same_statement(a, a)
    assert isinstance(statement_key(a), str)


def test_a_slip_is_one_edit_of_a_word_that_is_none():
    assert slip_in("Sails wiht Ana", "Sails with Ana") == ("wiht", "with")
    assert slip_in("Two sllips in htis", "Two slips in this") is None
    assert slip_in("Call `alergic`", "Call allergic") is None
    told = [is_word(word) for word in ("allergies", "stopped", "reallergic", "Ärger".casefold(), "alergic")]
    assert told == [True, True, True, False, False]


TEXTS = 300


@pytest.fixture(scope="module")
def texts():
    files = [
        file for kind in ("worlds_sample/*.txt", "*.jsonl") for file in sorted(metamorphic.DATA.glob(kind))
    ]
    known = metamorphic.texts_of(files)
    return random.Random(7).sample(known, TEXTS)  # noqa: S311


@pytest.mark.parametrize("edit", [*metamorphic.KEEPING, *metamorphic.CHANGING])
def test_edits_keep_the_statement_exactly_where_they_keep_the_meaning(edit, texts):
    keeps = edit in metamorphic.KEEPING
    edits = metamorphic.KEEPING if keeps else metamorphic.CHANGING
    fits, same, odd = metamorphic.measured(texts, edits, names=[edit])[edit]
    assert same >= metamorphic.ASKED * fits - (fits < 50) if keeps else (fits > 0, same) == (True, 0), odd


@pytest.mark.parametrize(("one", "other"), metamorphic.TABLE["framed"].values())
def test_where_one_letter_or_place_is_the_fact_it_stays_one(one, other, texts):
    assert not any(same_statement(f"{text} {one}", f"{text} {other}") for text in texts[:60])
    assert not same_statement(one, other)


def test_the_command_prints_both_tables(capsys, tmp_path):
    (tmp_path / "w.txt").write_text("- [a] 2024-01-02 User likes the sea and has 2 cats.\n", encoding="utf-8")
    assert metamorphic.main([str(tmp_path / "w.txt"), "--odd", "1"]) == 0
    shown = capsys.readouterr().out
    assert "| article left out | 1 | 100.0% |" in shown
    assert "| number | 1 | 0.0% |" in shown
