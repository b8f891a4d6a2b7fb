"""Kill -9 in the middle of a pass over a graph's file; resume gives what an unkilled pass gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import killing
import pytest
from graph_world import entities, entity, relation, relations, twins, write
from killing import KILLED, Case

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
    """A graph with its core memory and our state, alone in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.path, self.core, self.state = folder / "m.jsonl", folder / "core.json", folder / "state"
        self.before = write(self.path, graph(), end="\n")

    def case(self, *arguments: str, **where: Any) -> Case:
        """The command line on this graph, and where it dies."""
        place = ["--store", "graph", "--file", str(self.path), "--core", str(self.core)]
        return {"arguments": [*arguments, *place], "state": str(self.state), **where}

    def now(self) -> tuple[bytes, Any]:
        """The graph's bytes and the core memory."""
        return self.path.read_bytes(), json.loads(self.core.read_bytes()) if self.core.exists() else None


def drive(cases: Sequence[Case]) -> list[tuple[int, str]]:
    """Exit code of each case and what it printed."""
    return [(row["code"], row["out"]) for row in killing.drive("graph_kill.py", cases)]


def every_point() -> list[Case]:
    """Before and after each write of the store, and before and after the exchange of files inside it."""
    return [
        {"at": at, "step": step, "after": after}
        for at in ("write", "exchange")
        for step in range(1, WRITES + 1)
        for after in (False, True)
    ]


def test_a_pass_killed_at_any_write_is_finished_and_undone(tmp_path: Path) -> None:
    """SIGKILL at 20 points, then `resume`: the bytes of an unkilled pass; `undo`: the bytes before it."""
    points = every_point()
    whole, *places = (Place(tmp_path / str(number)) for number in range(len(points) + 1))
    (code, printed), *killed = drive(
        [whole.case(*PASS)] + [place.case(*PASS, **at) for place, at in zip(places, points, strict=True)]
    )
    assert (code, killed) == (0, [(KILLED, "")] * len(points)), printed
    wanted = whole.now()
    assert set(entities(whole.path)) == {"typescript-strict-mode", "shop", "blog", "tests-first"}
    assert all(end in entities(whole.path) for edge in relations(whole.path) for end in edge[:2])
    assert list(wanted[1]["stablePatterns"]) == ["testsFirst"]
    assert "lastConsolidation" in wanted[1]

    resumed = drive([place.case("resume") for place in places])
    for place, at, (code, printed) in zip(places, points, resumed, strict=True):
        assert (code, place.now()) == (0, wanted), f"killed at {at}: {printed}"
    undone = drive([place.case("undo") for place in places])
    for place, at, (code, printed) in zip(places, points, undone, strict=True):
        assert (code, place.now()) == (0, (place.before, None)), f"killed at {at}: {printed}"


def test_an_undo_killed_on_its_way_is_finished(tmp_path: Path) -> None:
    """`resume` ends an undo that was killed, before or after one of its writes, or inside it."""
    points = [at for at in every_point() if at["step"] in (1, 3, WRITES)]
    places = [Place(tmp_path / str(number)) for number in range(len(points))]
    passed = drive([place.case(*PASS) for place in places])
    killed = drive([place.case("undo", **at) for place, at in zip(places, points, strict=True)])
    resumed = drive([place.case("resume") for place in places])
    for place, at, *codes in zip(places, points, passed, killed, resumed, strict=True):
        assert [code for code, _ in codes] == [0, KILLED, 0], f"killed at {at}: {codes}"
        assert place.now() == (place.before, None), f"killed at {at}"


def test_the_next_unattended_pass_finishes_a_killed_one_first(tmp_path: Path) -> None:
    """And then has nothing left to do; the killed process's lock is no hindrance."""
    place = Place(tmp_path / "graph")
    (code, _), (again, printed) = drive([place.case(*PASS, at="write", step=2), place.case(*PASS)])
    assert (code, again) == (KILLED, 0), printed
    assert "which had been interrupted" in printed
    assert "merged=0 pruned=0" in printed
    assert not {"strict-mode", "old"} & set(entities(place.path))
