"""Stages: one open at a time, named for a person, moving forward, and drafting speaks for all it asks."""

import contextlib
import io
import sys
from collections.abc import Iterator

import pytest
from mem0_dream.pipeline.cli.terminal import Bars
from mem0_dream.pipeline.planning.stages import Advance, in_stages


class Noting:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.open = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        self.open += 1
        assert self.open == 1
        self.heard.append(f"{name} {total}")
        yield lambda done: self.heard.append(str(done))
        self.open -= 1


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        ("embed 0/2, embed 2/2, draft 0/0, judge 0/5", "embedding 2, 0, 2, judging 5, 0"),
        # A bar for each handful of drafted texts would only flicker; afterwards all is shown again.
        ("draft 0/2, judge 0/3, draft 1/2, draft 2/2, judge 0/3", "drafting 2, 0, 1, 2, judging 3, 0"),
        ("judge 4/4, judge 0/4", "judging 4, 4, judging 4, 0"),
    ],
    ids=["named and closed before the next", "not what drafting asks", "the same begins anew"],
)
def test_each_stage_is_shown_by_itself(told: str, heard: str) -> None:
    noting = Noting()
    with in_stages(noting) as stages:
        for name, _, done in (each.partition(" ") for each in told.split(", ")):
            stages(name, *map(int, done.split("/")))
    assert ", ".join(noting.heard) == heard
    assert noting.open == 0


@pytest.mark.parametrize("watched", [True, False])
def test_a_bar_names_its_stage_to_a_person_alone(monkeypatch: pytest.MonkeyPatch, watched: bool) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: watched)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with in_stages(Bars()) as stages:
        stages("judge", 0, 12)
        stages("judge", 5, 12)
    assert ("judging" in screen.getvalue(), screen.getvalue() == "") == (watched, not watched)
