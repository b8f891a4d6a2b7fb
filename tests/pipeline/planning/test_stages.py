"""Stages: one open at a time, named for a person, moving forward, and drafting speaks for all it asks."""

import contextlib
import io
import sys
from collections.abc import Iterator

import pytest
from mem0_dream.pipeline.cli.terminal import Bars
from mem0_dream.pipeline.planning.stages import DRAFT, Advance, in_stages


class Noting:
    def __init__(self) -> None:
        self.heard: list[tuple[str, int | None]] = []
        self.open = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        self.open += 1
        assert self.open == 1
        self.heard.append((name, total))
        yield lambda done: self.heard.append(("moved", done))
        self.open -= 1


def test_each_stage_is_named_and_closed_before_the_next() -> None:
    noting = Noting()
    with in_stages(noting) as stages:
        stages("embed", 0, 2)
        stages("embed", 2, 2)
        stages(DRAFT, 0, 0)
        stages("judge", 0, 5)
    assert noting.heard == [
        ("embedding", 2), ("moved", 0), ("moved", 2), ("judging", 5), ("moved", 0),
    ]  # fmt: skip
    assert noting.open == 0


def test_what_drafting_asks_is_not_shown_by_itself() -> None:
    """A bar for each handful of drafted texts would only flicker; afterwards all is shown again."""
    noting = Noting()
    with in_stages(noting) as stages:
        stages(DRAFT, 0, 2)
        stages("judge", 0, 3)
        stages(DRAFT, 1, 2)
        stages(DRAFT, 2, 2)
        stages("judge", 0, 3)
    assert [name for name, _ in noting.heard if name != "moved"] == ["drafting", "judging"]
    assert noting.heard[1:4] == [("moved", 0), ("moved", 1), ("moved", 2)]


def test_the_same_stage_begins_anew() -> None:
    noting = Noting()
    with in_stages(noting) as stages:
        stages("judge", 4, 4)
        stages("judge", 0, 4)
    assert [name for name, _ in noting.heard if name != "moved"] == ["judging", "judging"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_names_its_stage_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with in_stages(Bars()) as stages:
        stages("judge", 0, 12)
        stages("judge", 5, 12)
    assert "judging" in screen.getvalue()
    quiet = io.StringIO()
    monkeypatch.setattr(sys, "stderr", quiet)
    with in_stages(Bars()) as stages:
        stages("judge", 5, 12)
    assert quiet.getvalue() == ""
