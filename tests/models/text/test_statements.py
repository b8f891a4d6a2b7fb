"""Splitting memories into statements."""

import pytest
from hypothesis import given, strategies as st
from mem0_dream.models.text.statements import MOST_STATEMENTS, split_statements


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Ana is a nurse in Leeds and has two cats.", "Ana is a nurse in Leeds|Ana has two cats."),
        ("Her advisor is Prof. Lund. She is in Umeå.", "Her advisor is Prof. Lund.|She is in Umeå."),
        ("- uses zsh\n- hates tabs", "uses zsh|hates tabs"),
        ("Plays cello and piano.", "Plays cello and piano."),
        ("", ""),
        ("🙂", "🙂"),
    ],
)
def test_a_text_is_cut_into_statements_that_stand_alone(text: str, statements: str) -> None:
    assert split_statements(text) == tuple(statements.split("|"))


@given(st.text(max_size=400))
def test_any_text_gives_one_to_eight_statements(text: str) -> None:
    assert 1 <= len(split_statements(text)) <= MOST_STATEMENTS
