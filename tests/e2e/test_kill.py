"""Kill -9 in the middle of a run on real stores and on a graph's file; resume gives what an unkilled run gives."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from e2e_world import NOW, Builder, Raw, World
from forks import OF_FILES, Call, run_all
from graph_world import entities, entity, relation, relations, twins, write
from killing import KILLED
from typed import on_store

pytestmark = [pytest.mark.e2e, pytest.mark.store]

WRITES = 11
"""Two copies, one contained, two survivors that take over metadata, one added and its two sources, one loser, two
prunes."""
OF_GRAPH = 5
"""The survivor's new text, its other self, one forgotten, one promoted, one relation that leads nowhere."""
SUMMARY = "Dream complete — merged: 3, pruned: 2, conflicts resolved: 1, skipped: 0\n"
PASS = ("--auto", "--scorer", "keywords", "--now", "2026-11-21", "--max-delete", "1", "--repair-relations")
Where = Mapping[str, Any]
"""Where a process dies; nowhere, if nothing is said."""


@dataclass(frozen=True)
class InMem0:
    world: World
    retire: bool = False

    def call(self, *words: str) -> Call:
        return self.world.call(*words)

    def dies(self, where: Where) -> Call:
        options = {"config": str(self.world.config), "now": NOW.isoformat(), "retire": self.retire}
        options |= {"step": 0, "after": False, **where}
        return replace(self.call(), function="killing:on_mem0", options=options)

    def undo_dies(self, where: Where) -> Sequence[Call]:
        return [self.dies({**where, "undo": True})]

    def now(self) -> Raw:
        return self.world.raw()

    def ended(self, before: Raw) -> Raw:
        """All that is stored, without what follows from the name and the moment of a run."""
        rows = {}
        for row_id, (payload, vector) in self.world.raw().items():
            kept = {key: value for key, value in payload.items() if key != "superseded_at"}
            if kept.get("superseded_by") not in {None, *before}:
                kept["superseded_by"] = "added"
            rows[row_id if row_id in before else "added"] = (kept, vector)
        return rows


class OnGraph:
    """Two of a kind, one to forget, one to promote, and a dangling relation."""

    def __init__(self, folder: Path) -> None:
        self.path, self.core, self.state = folder / "m.jsonl", folder / "core.json", folder / "state"
        uses = [f"Applied in p{number} - HELPFUL (2026-11-01)" for number in range(18)]
        lines = [
            *twins(),
            entity("old", "Try the grunt runner", "Discovered: 2025-01-01"),
            entity("tests-first", "Write the failing test before the fix", *uses, "Discovered: 2026-08-01"),
            relation("old", "shop"),
            relation("tests-first", "gone"),
        ]
        write(self.path, lines, end="\n")

    def call(self, *words: str) -> Call:
        place = ("--store", "graph", "--file", str(self.path), "--core", str(self.core))
        environment = os.environ | {"MEM0_DREAM_STATE_DIR": str(self.state)}
        return Call(tuple(on_store((*words, *place))), environment, imports=OF_FILES)

    def dies(self, where: Where, *words: str) -> Call:
        call = self.call(*(words or PASS))
        return replace(call, function="killing:on_graph", options=where) if where else call

    def undo_dies(self, where: Where) -> Sequence[Call]:
        return [self.call(*PASS), self.dies(where, "undo")]

    def now(self) -> Any:
        return self.path.read_bytes(), json.loads(self.core.read_bytes()) if self.core.exists() else None

    def ended(self, _before: Any) -> Any:
        return self.now()


Victim = InMem0 | OnGraph


def each_write(*steps: int) -> list[Where]:
    return [{"step": step, "after": bool(step % 2)} for step in steps]


def each_point(*steps: int) -> list[Where]:
    """Before and after each write of the store, and before and after the exchange of files inside it."""
    return [
        {"at": at, "step": step, "after": after}
        for at in ("write", "exchange")
        for step in steps
        for after in (False, True)
    ]


INSIDE: list[Where] = [{"inside": "history"}, {"inside": "swap"}]
RUNS: dict[str, list[Where]] = {
    "qdrant": each_write(*range(1, WRITES + 1)) + INSIDE[:1],
    "qdrant, retiring": each_write(2, 5, 9),
    "faiss": each_write(1, 4, 6, 10) + INSIDE,
    "faiss, retiring": each_write(3, 7),
    "graph": each_point(*range(1, OF_GRAPH + 1)),
}
UNDOS: dict[str, list[Where]] = {
    "qdrant": [{"step": 2, "after": False}, *({"step": step, "after": True} for step in (4, 10))],
    "graph": each_point(1, 3, OF_GRAPH),
}


@pytest.fixture
def victims(
    tmp_path_factory: pytest.TempPathFactory, messy_stores: Builder
) -> Callable[[str], Iterator[Victim]]:
    def build(case: str) -> Iterator[Victim]:
        provider, _, retire = case.partition(",")
        while True:
            folder = tmp_path_factory.mktemp("killed")
            yield OnGraph(folder) if case == "graph" else InMem0(messy_stores(provider, folder), bool(retire))

    return build


Victims = Callable[[str], Iterator[Victim]]


@pytest.mark.parametrize("case", RUNS)
def test_a_run_killed_anywhere_is_finished_and_undone(case: str, victims: Victims) -> None:
    points, of_kind = RUNS[case], victims(case)
    whole, *stores = (next(of_kind) for _ in range(len(points) + 1))
    before = whole.now()
    ran = run_all([whole.dies({}), *(store.dies(at) for store, at in zip(stores, points, strict=True))])
    assert [answer.code for answer in ran] == [0] + [KILLED] * len(points), ran
    wanted = whole.ended(before)
    assert wanted != before
    resumed = run_all(store.call("resume") for store in stores)
    for store, at, answer in zip(stores, points, resumed, strict=True):
        assert (answer.code, store.ended(before)) == (0, wanted), f"killed at {at}: {answer}"
        assert case == "graph" or answer.out == SUMMARY
    undone = run_all(store.call("undo") for store in (whole, *stores))
    for store, at, answer in zip((whole, *stores), ({}, *points), undone, strict=True):
        assert (answer.code, store.now()) == (0, before), f"killed at {at}: {answer}"


@pytest.mark.parametrize("case", UNDOS)
def test_an_undo_killed_on_its_way_is_finished(case: str, victims: Victims) -> None:
    points, of_kind = UNDOS[case], victims(case)
    stores = [next(of_kind) for _ in points]
    before = stores[0].now()
    for store, at in zip(stores, points, strict=True):
        answers = run_all([*store.undo_dies(at), store.call("resume")])
        assert [answer.code for answer in answers][-2:] == [KILLED, 0], f"killed at {at}: {answers}"
        assert store.now() == before, f"killed at {at}"


def test_a_whole_pass_over_the_graph_does_all_that_it_may_die_in(tmp_path: Path) -> None:
    graph = OnGraph(tmp_path)
    (passed,) = run_all([graph.call(*PASS)])
    assert passed.code == 0, passed
    assert set(entities(graph.path)) == {"typescript-strict-mode", "shop", "blog", "tests-first"}
    assert all(end in entities(graph.path) for edge in relations(graph.path) for end in edge[:2])
    core = graph.now()[1]
    assert list(core["stablePatterns"]) == ["testsFirst"]
    assert "lastConsolidation" in core


def test_the_next_unattended_pass_finishes_a_killed_one_first(tmp_path: Path) -> None:
    graph = OnGraph(tmp_path)
    killed, again = run_all([graph.dies({"at": "write", "step": 2, "after": False}), graph.call(*PASS)])
    assert (killed.code, again.code) == (KILLED, 0), again
    assert "which had been interrupted" in again.err
    assert "merged=0 pruned=0" in again.out
    assert not {"strict-mode", "old"} & set(entities(graph.path))


def test_after_a_kill_the_commands_say_what_to_do(tmp_path: Path, messy_stores: Builder) -> None:
    world = messy_stores("qdrant", tmp_path)
    before = world.raw()
    (killed,) = run_all([InMem0(world).dies({"step": 6, "after": True})])
    assert killed.code == KILLED
    status = world.pass_over("status", "--all")
    (told,) = [line for line in status.lines if line.startswith("Interrupted: run ")]
    run = told.split()[2].rstrip(";")
    refused = world.pass_over("--user-id", "alice", answers="\ny\n", code=6)
    assert f"Run {run} was interrupted" in refused.err
    nightly = world.pass_over("--user-id", "alice", "--auto")
    assert nightly.err.splitlines()[0] == f"mem0-dream: finished run {run}, which had been interrupted."
    assert nightly.out == "[mem0-dream --auto] merged=0 pruned=0 conflicts_skipped=0\n"
    world.dream("undo", run)
    assert world.raw() == before
