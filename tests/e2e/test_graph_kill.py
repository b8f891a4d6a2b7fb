"""Kill -9 in the middle of a pass over a graph's file; resume gives what an unkilled pass gives."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forks import OF_FILES, Answer, Call, run, run_all
from graph_world import entities, entity, relation, relations, twins, write
from killing import KILLED
from typed import on_store

pytestmark = pytest.mark.e2e

WRITES = 5
"""The survivor's new text, its other self, one forgotten, one promoted, one relation that leads nowhere."""
PASS = ("--auto", "--scorer", "keywords", "--now", "2026-11-21", "--max-delete", "1", "--repair-relations")


def graph() -> list[str]:
    """Two of a kind, one to forget, one to promote, and a dangling relation."""
    uses = [f"Applied in p{number} - HELPFUL (2026-11-01)" for number in range(18)]
    return [
        *twins(),
        entity("old", "Try the grunt runner", "Discovered: 2025-01-01"),
        entity("tests-first", "Write the failing test before the fix", *uses, "Discovered: 2026-08-01"),
        relation("old", "shop"),
        relation("tests-first", "gone"),
    ]


class Place:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.path, self.core, self.state = folder / "m.jsonl", folder / "core.json", folder / "state"
        self.before = write(self.path, graph(), end="\n")

    def call(self, *arguments: str) -> Call:
        place = ("--store", "graph", "--file", str(self.path), "--core", str(self.core))
        environment = os.environ | {"MEM0_DREAM_STATE_DIR": str(self.state)}
        return Call(tuple(on_store((*arguments, *place))), environment, imports=OF_FILES)

    def kill(self, *arguments: str, **where: Any) -> Call:
        return replace(self.call(*arguments), function="graph_kill:run_and_die", options=where)

    def now(self) -> tuple[bytes, Any]:
        return self.path.read_bytes(), json.loads(self.core.read_bytes()) if self.core.exists() else None


def every_point() -> list[dict[str, Any]]:
    """Before and after each write of the store, and before and after the exchange of files inside it."""
    return [
        {"at": at, "step": step, "after": after}
        for at in ("write", "exchange")
        for step in range(1, WRITES + 1)
        for after in (False, True)
    ]


def test_a_pass_killed_at_any_write_is_finished_and_undone(tmp_path: Path) -> None:
    points = every_point()
    whole, *places = (Place(tmp_path / str(number)) for number in range(len(points) + 1))
    passed = run(whole.call(*PASS))
    killed = run_all(place.kill(*PASS, **at) for place, at in zip(places, points, strict=True))
    assert (passed.code, killed) == (0, [Answer("", "", KILLED)] * len(points)), passed
    wanted = whole.now()
    assert set(entities(whole.path)) == {"typescript-strict-mode", "shop", "blog", "tests-first"}
    assert all(end in entities(whole.path) for edge in relations(whole.path) for end in edge[:2])
    assert list(wanted[1]["stablePatterns"]) == ["testsFirst"]
    assert "lastConsolidation" in wanted[1]

    resumed = run_all(place.call("resume") for place in places)
    for place, at, answer in zip(places, points, resumed, strict=True):
        assert (answer.code, place.now()) == (0, wanted), f"killed at {at}: {answer}"
    undone = run_all(place.call("undo") for place in places)
    for place, at, answer in zip(places, points, undone, strict=True):
        assert (answer.code, place.now()) == (0, (place.before, None)), f"killed at {at}: {answer}"


def test_an_undo_killed_on_its_way_is_finished(tmp_path: Path) -> None:
    points = [at for at in every_point() if at["step"] in (1, 3, WRITES)]
    places = [Place(tmp_path / str(number)) for number in range(len(points))]
    passed = run_all(place.call(*PASS) for place in places)
    killed = run_all(place.kill("undo", **at) for place, at in zip(places, points, strict=True))
    resumed = run_all(place.call("resume") for place in places)
    for place, at, *answers in zip(places, points, passed, killed, resumed, strict=True):
        assert [answer.code for answer in answers] == [0, KILLED, 0], f"killed at {at}: {answers}"
        assert place.now() == (place.before, None), f"killed at {at}"


def test_the_next_unattended_pass_finishes_a_killed_one_first(tmp_path: Path) -> None:
    place = Place(tmp_path / "graph")
    killed, again = run_all([place.kill(*PASS, at="write", step=2, after=False), place.call(*PASS)])
    assert (killed.code, again.code) == (KILLED, 0), again
    assert "which had been interrupted" in again.err
    assert "merged=0 pruned=0" in again.out
    assert not {"strict-mode", "old"} & set(entities(place.path))
