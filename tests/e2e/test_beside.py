"""Whatever else of ours runs and ends beside a pass, the pass keeps its journal: real processes, every kind."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from forks import OF_FILES, OF_MEM0, Call, Started, run, start
from killing import KILLED
from kinds import KINDS, World, mem0_world
from typed import CLOCKLESS, NOW, on_store

pytestmark = [pytest.mark.e2e, pytest.mark.store]

LOCAL: dict[str, Callable[[Path, pytest.MonkeyPatch], World]] = {
    "mem0": KINDS["mem0"],
    "faiss": lambda folder, patch: mem0_world(
        folder, patch, provider="faiss", path=str(folder / "faiss"), distance_strategy="cosine"
    ),
    **{name: KINDS[name] for name in ("jsonl", "md", "graph")},
}
GREETING = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}
    },
}  # fmt: skip
STATUS = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "dream_status", "arguments": {}},
}
AGENT = "".join(
    json.dumps(each) + "\n"
    for each in (GREETING, {"jsonrpc": "2.0", "method": "notifications/initialized"}, STATUS)
)


def line(world: World, *words: str) -> Call:
    own = world.kind in ("md", "graph")
    looks = () if {*words} & CLOCKLESS else ("--now", NOW.isoformat())
    judged = ("--encoder", "words") if not own and looks else ()
    scope: tuple[str, ...] = ("--config", str(world.folder / "settings.yaml")) if own else ("--all",)
    scope = scope if looks else ()
    imports = OF_FILES if own or world.kind == "jsonl" else OF_MEM0
    called = on_store((*words, *world.words, *scope, *looks, *judged))
    return Call(tuple(called), os.environ | {"PYTHONWARNINGS": "ignore"}, imports=imports)


def neighbours(world: World) -> Sequence[Call]:
    """All that may be started while a pass runs; the store itself may be locked, which is one sentence."""
    return [
        line(world, "runs"),
        line(world, "status"),
        line(world, "--auto"),
        replace(line(world, "review", "--open"), function="killing:looked_at"),
        replace(line(world, "mcp"), answers=AGENT),
    ]


@contextmanager
def begun(world: World, folder: Path, step: int) -> Iterator[Started]:
    """A pass that has announced its n-th change, and waits; it ends with the block, whatever happens."""
    said, go = folder / "said", folder / "go"
    options = {"said": str(said), "go": str(go), "step": step}
    running = start(replace(line(world, "--auto"), function="killing:held", options=options))
    try:
        until = time.monotonic() + 120
        while not said.exists():
            assert time.monotonic() < until, "the pass made no such change"
            time.sleep(0.01)
        yield running
    finally:
        go.touch()


def runs() -> list[str]:
    """The names that `mem0-dream runs` knows, of all stores."""
    answer = run(Call(("runs",), dict(os.environ), imports=OF_FILES))
    assert answer.code == 0, answer
    return [row.split()[0] for row in answer.lines[1:]]


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("kind", LOCAL)
def test_a_pass_keeps_its_journal_whatever_runs_beside_it(
    kind: str, tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    world = LOCAL[kind](tmp_path, monkeypatch)
    (world.folder / "settings.yaml").write_text(
        "mem0_dream: {scorer: keywords, max_delete: 1.0, min_delete: 0}"
    )
    before = world.content()
    with begun(world, tmp_path, 2) as running:
        # Where the pass is killed, two of them do: one that only looks, one that opens all that a pass does.
        for neighbour in neighbours(world)[: 3 if killed else None : 2 if killed else 1]:
            answer = run(neighbour)
            assert "Traceback" not in answer.err, answer
        assert len(runs()) == 1
        if killed:
            os.kill(running.pid, signal.SIGKILL)
    ended = running.ended()
    assert ended.code == (KILLED if killed else 0), ended
    (name,) = runs()
    if killed:
        resumed = run(line(world, "resume", name))
        assert resumed.code == 0, resumed
    assert world.content() != before
    copies = [each for each in (own_state / "backups").rglob("*") if each.is_file()]
    assert bool(copies) == (kind in ("faiss", "graph"))
    assert not [each for each in copies if each.stat().st_mode & 0o077]
    undone = run(line(world, "undo", name))
    assert undone.code == 0, undone
    assert world.content() == before


IN_FILES = [kind for kind in LOCAL if kind in ("jsonl", "md", "graph")]


def left_behind(world: World) -> list[str]:
    return [each.name for each in world.folder.rglob(".*.mem0-dream.tmp")]


@pytest.mark.parametrize("then", ["resume", "undo", "--auto"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", IN_FILES)
def test_no_hidden_copy_of_a_killed_pass_stays(
    kind: str, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """It holds memories, and nobody would look for it."""
    world = LOCAL[kind](tmp_path, monkeypatch)
    (world.folder / "settings.yaml").write_text(
        "mem0_dream: {scorer: keywords, max_delete: 1.0, min_delete: 0}"
    )
    before = world.content()
    dies = {"at": "exchange", "step": 1, "after": after}
    killed = run(replace(line(world, "--auto"), function="killing:on_graph", options=dies))
    assert killed.code == KILLED, killed
    assert len(left_behind(world)) == 1
    assert run(line(world, "status")).code == 0
    assert len(left_behind(world)) == 1  # who only looks removes nothing
    done = run(line(world, then))
    assert done.code == 0, done
    assert left_behind(world) == []
    if then != "undo":
        assert run(line(world, "undo")).code == 0
    assert world.content() == before
