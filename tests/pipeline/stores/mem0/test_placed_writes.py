"""An application that writes at any call of a pass to its vector store: nothing of what it wrote is lost."""

import hashlib
import itertools
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kinds import small_config
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_dream.testing import FakeEncoder
from mem0_stores import remember
from placed import NOW, SETTINGS, TEXTS, WRITTEN

pytestmark = pytest.mark.store


@dataclass
class Called:
    """A client of which each call is told before it is made; it looks like that of a server."""

    client: Any
    told: Callable[[str], None] = lambda _: None
    names: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name == "_client":
            return None
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.client, name)
        if not callable(found):
            return found

        def call(*given: Any, **more: Any) -> Any:
            self.names.append(name)
            self.told(name)
            return found(*given, **more)

        return call


class Application:
    """mem0 over a Qdrant, which a pass shares with it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        from mem0 import Memory
        from qdrant_client import QdrantClient

        folder.mkdir()
        self.memory = Memory.from_config(small_config(folder, patch, client=QdrantClient(":memory:")))
        self.client = self.memory.vector_store.client
        self.ids = {
            name: remember(
                self.memory, text, user_id="alice",
                metadata={"created_at": (NOW - timedelta(days=days)).isoformat(), "k": days},
            )
            for name, (text, days) in TEXTS.items()
        }  # fmt: skip
        self.called = self.memory.vector_store.client = Called(self.client)

    def writes(self, memory_id: str) -> bool:
        """Another text for a memory; whether it was still there."""
        there = bool(self.client.retrieve("memories", ids=[memory_id]))
        if there:
            new = {"data": WRITTEN, "hash": hashlib.md5(WRITTEN.encode()).hexdigest()}  # noqa: S324  (as mem0)
            self.client.set_payload("memories", payload=new, points=[memory_id])
        return there

    def texts(self) -> list[str]:
        points, _ = self.client.scroll("memories", limit=100)
        return [str(point.payload["data"]) for point in points]


@pytest.mark.parametrize("retire", [False, True])
@pytest.mark.parametrize("target", ["one", "other", "bug"])
def test_what_an_application_writes_at_any_call_is_kept(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, retire: bool
) -> None:
    placed: list[str] = []
    for position in itertools.count(1):
        application = Application(tmp_path / str(position), monkeypatch)
        called = application.called

        def write(name: str, position: int = position, app: Application = application) -> None:
            if len(app.called.names) == position and app.writes(app.ids[target]):
                placed.append(name)

        state = tmp_path / f"state {position}"
        with closing(Mem0Store(application.memory)) as store:
            session = Session(store, settings=SETTINGS, state_dir=state, encoder=FakeEncoder())
            plan = session.propose(ScopeFilter(), now=NOW)
            assert [len(plan.merges), len(plan.prunes)] == [1, 1]
            called.names.clear()
            called.told, before = write, len(placed)
            session.apply(plan, now=NOW, retire=retire)
            called.told = lambda _: None
            reached = len(called.names) >= position
            left = application.texts()
            if len(placed) > before:
                assert WRITTEN in left, f"written at call {position}, {placed[-1]}"
            if session.journal.runs():
                session.undo(now=NOW)
            assert application.texts().count(WRITTEN) == left.count(WRITTEN)
            session.release()
        if not reached:
            break
    assert len(placed) > 10
    assert {"retrieve", "overwrite_payload" if retire else "delete"} <= {*placed}
