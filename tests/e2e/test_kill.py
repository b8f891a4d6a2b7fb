"""Kill -9 in the middle of a run on real stores; resume gives what an unkilled run gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from e2e_world import NOW, Builder, Raw, World, embeddings, messy_stores, postgres
from forks import Answer, Call, run_all
from killing import KILLED

__all__ = ["embeddings", "messy_stores", "postgres"]
pytestmark = [pytest.mark.e2e, pytest.mark.store]

WRITES = 13
"""Two copies, one contained, two survivors that take over metadata, one added and its two sources, one loser, four
prunes."""
SUMMARY = "Dream complete — merged: 3, pruned: 4, conflicts resolved: 1, skipped: 0\n"


def kill(world: World, step: int, *, after: bool, **options: Any) -> Call:
    where = {"config": str(world.config), "now": NOW.isoformat(), "step": step, "after": after}
    return replace(world.call(), function="e2e_kill:apply_and_die", options=where | options)


def codes_of(answers: Sequence[Answer]) -> list[int]:
    return [answer.code for answer in answers]


def end_state(world: World, before: Raw) -> Raw:
    """All rows, but for what follows from the name and the moment of the run: the added id, and when it was."""
    rows = {}
    for row_id, (payload, vector) in world.raw().items():
        kept = {key: value for key, value in payload.items() if key != "superseded_at"}
        if kept.get("superseded_by") not in {None, *before}:
            kept["superseded_by"] = "added"
        rows[row_id if row_id in before else "added"] = (kept, vector)
    return rows


MATRIX = {
    "qdrant": (tuple(range(1, WRITES + 1)), False),
    "qdrant, retiring": ((2, 5, 9), True),
    "faiss": ((1, 4, 6, 10), False),
    "faiss, retiring": ((3, 7), True),
}


@pytest.mark.parametrize("case", MATRIX)
def test_a_run_killed_at_any_write_is_finished_and_undone(
    case: str, tmp_path_factory: pytest.TempPathFactory, messy_stores: Builder
) -> None:
    (steps, retire), provider = MATRIX[case], case.split(",", maxsplit=1)[0]
    worlds = {step: messy_stores(provider, tmp_path_factory.mktemp("killed")) for step in (0, *steps)}
    before = worlds[0].raw()
    cases = [kill(worlds[step], step, after=bool(step % 2), retire=retire) for step in worlds]
    assert codes_of(run_all(cases)) == [0] + [KILLED] * len(steps)

    resumed = run_all([worlds[step].call("resume") for step in steps])
    assert [answer.out for answer in resumed] == [SUMMARY] * len(steps)
    wanted = end_state(worlds[0], before)
    for step in steps:
        assert end_state(worlds[step], before) == wanted, f"killed at write {step}"

    undone = run_all([world.call("undo") for world in worlds.values()])
    assert codes_of(undone) == [0] * len(worlds), undone
    for step, world in worlds.items():
        assert world.raw() == before, f"killed at write {step}"


INSIDE = [("qdrant", "history"), ("faiss", "history"), ("faiss", "swap")]


@pytest.mark.parametrize(("provider", "inside"), INSIDE)
def test_a_run_killed_inside_a_write_is_finished_and_undone(
    provider: str, inside: str, tmp_path: Path, messy_stores: Builder
) -> None:
    world = messy_stores(provider, tmp_path)
    before = world.raw()
    killed, resumed = run_all([kill(world, 0, after=False, inside=inside), world.call("resume")])
    assert (killed.code, resumed.out) == (KILLED, SUMMARY)
    assert not world.alive("milk")
    (undone,) = run_all([world.call("undo")])
    assert undone.code == 0, undone
    assert world.raw() == before


def test_an_undo_killed_on_its_way_is_finished(
    tmp_path_factory: pytest.TempPathFactory, messy_stores: Builder
) -> None:
    worlds = [messy_stores("qdrant", tmp_path_factory.mktemp("undo")) for _ in range(3)]
    before = worlds[0].raw()
    steps = ((2, False), (4, True), (10, True))
    cases = [
        kill(world, step, after=after, undo=True) for world, (step, after) in zip(worlds, steps, strict=True)
    ]
    assert codes_of(run_all(cases)) == [KILLED] * 3
    assert codes_of(run_all([world.call("resume") for world in worlds])) == [0] * 3
    assert [world.raw() == before for world in worlds] == [True] * 3


def test_after_a_kill_the_commands_say_what_to_do(tmp_path: Path, messy_stores: Builder) -> None:
    world = messy_stores("qdrant", tmp_path)
    before = world.raw()
    (killed,) = run_all([kill(world, 6, after=True)])
    assert killed.code == KILLED
    status = world.pass_over("status", "--all")
    (told,) = [line for line in status.lines if line.startswith("Interrupted: run ")]
    run = told.split()[2].rstrip(";")
    refused = world.pass_over("--user-id", "alice", answers="\ny\n", code=6)
    assert f"Run {run} was interrupted" in refused.err
    nightly = world.pass_over("--user-id", "alice", "--auto")
    assert nightly.err == f"mem0-dream: finished run {run}, which had been interrupted.\n"
    assert nightly.out == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=0\n"
    world.dream("undo", run)
    assert world.raw() == before
