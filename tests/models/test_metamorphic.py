"""Edits by program: what keeps the meaning stays one statement, what changes it never does."""

import random

import pytest
from mem0_dream.models.same_statement import same_statement
from mem0_dream.scripts.evaluate import metamorphic

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
