"""Lines as wide as the terminal, and progress that neither floods a log nor is silent for ever."""

from __future__ import annotations

import io
import sys

import pytest
from mem0_dream.pipeline.cli.terminal import Bars, echo
from mem0_dream.pipeline.reporting.differences import Marked
from mem0_dream.pipeline.reporting.text import bracketed


class Watched(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_line_is_wrapped_at_words_behind_its_own_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Watched()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    echo(["    A: " + "likes tea and long walks by the sea " * 4])
    rows = screen.getvalue().splitlines()
    assert len(rows) > 2
    assert all(len(row) <= 60 and row.startswith("    ") for row in rows)
    assert " ".join(screen.getvalue().split()) == "A: " + " ".join(
        ["likes tea and long walks by the sea"] * 4
    )


def test_into_a_file_nothing_is_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    echo(["word " * 100, Marked("a b", [(2, 3, "goes")])])
    assert capsys.readouterr().out == f"{'word ' * 100}\na [b]\n"
    assert bracketed("plain") == "plain"


def test_a_file_gets_at_most_one_line_of_progress_a_minute(capsys, monkeypatch):
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr("mem0_dream.pipeline.cli.terminal.time.monotonic", lambda: float(next(clock)))
    with Bars().stage("judging", 100) as advance:
        for done in range(10):
            advance(done)
    lines = capsys.readouterr().err.splitlines()  # ten looks at the clock, twenty seconds apart
    assert lines == [f"mem0-dream: judging: {done} of 100" for done in (2, 5, 8)]
