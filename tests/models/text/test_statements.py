"""Splitting memories into statements."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.models.text.statements import MOST_STATEMENTS, split_statements


def test_a_clause_without_subject_gets_it_back() -> None:
    assert split_statements("Ana is a nurse in Leeds and has two cats.") == (
        "Ana is a nurse in Leeds",
        "Ana has two cats.",
    )


def test_titles_and_initials_do_not_end_a_sentence() -> None:
    assert split_statements("Her advisor is Prof. Lund. She is in Umeå.") == (
        "Her advisor is Prof. Lund.",
        "She is in Umeå.",
    )


def test_list_items_are_statements_without_their_bullets() -> None:
    assert split_statements("- uses zsh\n- hates tabs") == ("uses zsh", "hates tabs")


def test_nouns_joined_by_and_stay_together() -> None:
    assert split_statements("Plays cello and piano.") == ("Plays cello and piano.",)


def test_a_text_without_words_is_its_own_statement() -> None:
    assert split_statements("") == ("",)
    assert split_statements("🙂") == ("🙂",)


@given(st.text(max_size=400))
def test_any_text_gives_one_to_eight_statements(text: str) -> None:
    assert 1 <= len(split_statements(text)) <= MOST_STATEMENTS
