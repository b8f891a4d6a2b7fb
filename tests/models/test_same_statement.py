"""What is one statement by its words alone, and what never is."""

from datetime import UTC, datetime

from hypothesis import given, strategies as st
from mem0_dream.models.same_statement import same_statement, sameness, slip_in, statement_key
from mem0_dream.models.text.vocabulary import is_word


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
