"""Edits by program: what keeps the meaning stays one statement, what changes it never does."""

import random

import pytest
from mem0_dream.models.same_statement import same_statement
from mem0_dream.scripts.evaluate.metamorphic import (
    ASKED,
    CHANGING,
    DATA,
    KEEPING,
    TABLE,
    main,
    measured,
    texts_of,
)

TEXTS = 300


@pytest.fixture(scope="module")
def texts():
    known = texts_of([*sorted(DATA.glob("worlds_sample/*.txt")), *sorted(DATA.glob("*.jsonl"))])
    return random.Random(7).sample(known, TEXTS)  # noqa: S311


@pytest.mark.parametrize("edit", KEEPING)
def test_edits_that_keep_the_meaning_keep_the_statement(edit, texts):
    fits, same, odd = measured(texts, KEEPING, names=[edit])[edit]
    assert same >= ASKED * fits - (fits < 50), odd


@pytest.mark.parametrize("edit", CHANGING)
def test_edits_that_change_the_meaning_change_the_statement(edit, texts):
    fits, same, odd = measured(texts, CHANGING, names=[edit])[edit]
    assert (fits > 0, same, odd) == (True, 0, ())


@pytest.mark.parametrize(("one", "other"), TABLE["framed"].values())
def test_where_one_letter_or_place_is_the_fact_it_stays_one(one, other, texts):
    assert not any(same_statement(f"{text} {one}", f"{text} {other}") for text in texts[:60])
    assert not same_statement(one, other)


def test_the_command_prints_both_tables(capsys, tmp_path):
    (tmp_path / "w.txt").write_text("- [a] 2024-01-02 User likes the sea and has 2 cats.\n", encoding="utf-8")
    assert main([str(tmp_path / "w.txt"), "--odd", "1"]) == 0
    shown = capsys.readouterr().out
    assert "| article left out | 1 | 100.0% |" in shown
    assert "| number | 1 | 0.0% |" in shown
