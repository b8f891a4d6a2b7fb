"""A memory server that saves at any reading or writing of a pass over its file: nothing of it is lost."""

import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kinds import KINDS, NOW
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.media import FileMedium

pytestmark = pytest.mark.store
WRITTEN = "Rides a red bicycle to work"


def adds(file: Path, name: str) -> bool:
    """One more observation of an entity, past us; whether it was still there."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    own = [row for row in rows if row.get("name") == name]
    for row in own:
        row["observations"].append(WRITTEN)
    file.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return bool(own)


def told(real: Callable[..., Any], before: Callable[[], None]) -> Callable[..., Any]:
    def called(*given: Any) -> Any:
        before()
        return real(*given)

    return called


@pytest.mark.parametrize("target", ["cache warm", "image cache warm", "make tip"])
def test_what_a_server_saves_at_any_moment_is_kept(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed: list[str] = []
    for position in itertools.count(1):
        (folder := tmp_path / str(position)).mkdir()
        world = KINDS["graph"](folder, monkeypatch)
        file, calls, before = folder / "memory.jsonl", list[str](), len(placed)

        def at(name: str, position: int = position, calls: list[str] = calls, file: Path = file) -> None:
            calls.append(name)
            if len(calls) == position and adds(file, target):
                placed.append(name)

        with monkeypatch.context() as patch, world.session(folder / "state") as session:
            plan = session.propose(ScopeFilter(), now=NOW)
            assert plan.merges
            for name in ("load", "save"):
                patch.setattr(FileMedium, name, told(getattr(FileMedium, name), partial(at, name)))
            session.apply(plan, now=NOW)
        reached = len(calls) >= position
        kept = file.read_text().count(WRITTEN)
        assert kept >= len(placed) - before, f"written at {position}, {placed[-1]}"
        with world.session(folder / "state") as session:
            if session.journal.runs():
                session.undo(now=NOW)
        assert file.read_text().count(WRITTEN) == kept
        if not reached:
            break
    assert {"load", "save"} <= {*placed}
