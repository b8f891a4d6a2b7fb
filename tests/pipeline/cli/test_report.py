"""The report on the command line: where it goes, who may read it, and what is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e_cli import Invoke
from reviewing import data_of


def test_it_is_written_for_its_owner_alone_and_changes_nothing(dream, store, tmp_path):
    before, out = json.dumps(store.rows), tmp_path / "out.html"
    told = dream("report", "--all", "-o", str(out))
    assert told.stderr == f"5 proposals written to {out}.\n"
    assert out.stat().st_mode & 0o777 == 0o600
    assert json.dumps(store.rows) == before
    assert data_of(out.read_text(encoding="utf-8"))["summary"]["merges"] == 2


def test_a_dash_prints_the_page(dream: Invoke) -> None:
    assert dream("report", "--all", "-o", "-").stdout.startswith("<!doctype html>")


def test_only_what_the_options_ask_for_is_shown(dream: Invoke) -> None:
    page = data_of(dream("report", "--all", "--only", "merges", "-o", "-").stdout)
    assert {card["kind"] for card in page["cards"]} == {"merge"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("report", "-o", "-"), 2, "Say whose memories"),
        (("report", "no-such-run", "-o", "-"), 6, "There is no run 'no-such-run'"),
        (("report", "--all", "-o", "/no/such/x.html"), 2, "cannot be written to /no/such/x.html"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(dream, words, code, told):
    done = dream(*words, code=code)
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_pin_is_listed_and_withdrawn_like_any_answer(dream: Invoke, own_state: Path) -> None:
    from builders import NOW
    from mem0_dream.pipeline.answers import Answer
    from mem0_dream.pipeline.writing.journal import Journal

    def merges() -> int:
        return int(data_of(dream("report", "--all", "-o", "-").stdout)["summary"]["merges"])

    journal = Journal(own_state)
    journal.answer("in-memory", [Answer.pin("dog1", "Has a whippet named Pickle.", at=NOW)])
    journal.close()
    assert merges() == 1
    assert "pinned: [memory:dog1] Has a whippet named Pickle." in dream("reject", "--list").stdout
    dream("reject", "--forget", "1")
    assert merges() == 2
