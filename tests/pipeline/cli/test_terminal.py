"""Lines as wide as the terminal, progress that neither floods a log nor is silent for ever, and what is logged."""

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator

import pytest
from mem0_dream.__main__ import main as begin
from mem0_dream.errors import UsageError
from mem0_dream.pipeline.cli.opening import open_session
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.pipeline.cli.terminal import Bars, echo, set_up_logs
from mem0_dream.pipeline.planning.stages import Advance
from mem0_dream.pipeline.reporting.text import Marked, bracketed


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
    said = " ".join(screen.getvalue().split())
    assert said == "A:" + " likes tea and long walks by the sea" * 4


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


def test_a_sign_of_life_comes_before_anything_is_imported_or_opened(tmp_path):
    begun: list[str] = []

    class Seen:
        @contextlib.contextmanager
        def stage(self, name: str, total: int | None) -> Iterator[Advance]:
            begun.append(name)
            yield lambda _done: None

    with pytest.raises(UsageError), open_session(Options(config=tmp_path / "no.yaml"), observer=Seen()):
        pass
    assert begun == ["opening"]


@pytest.mark.parametrize(
    ("verbose", "module", "shown"), [(0, "mem0.embeddings", 0), (1, "mem0.embeddings", 1), (0, "ours", 1)]
)
def test_what_mem0_will_have_to_change_is_no_news_for_its_user(verbose: int, module: str, shown: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        set_up_logs(verbose, as_json=False)
        warnings.warn_explicit("renamed", FutureWarning, "huggingface.py", 29, module=module)
    assert len(caught) == shown


@pytest.mark.parametrize(("terminal", "said"), [("xterm", "starting ...\r            \r"), ("dumb", "")])
def test_a_person_sees_at_once_that_something_begins(monkeypatch, terminal, said):
    screen = Watched()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "argv", ["mem0-dream", "--version"])
    monkeypatch.setenv("TERM", terminal)
    with pytest.raises(SystemExit):
        begin()
    assert screen.getvalue() == said
