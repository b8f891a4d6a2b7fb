"""Small memories, plans and sessions for tests."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mem0_dream.models.scorer import PairScorer
from mem0_dream.pipeline.answers import Answer, Say
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds import build_plan
from mem0_dream.pipeline.plan import Action, Plan
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.records import Memory, Scope
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ALICE = Scope.of(user_id="alice")
BOB = Scope.of(user_id="bob")
DUPLICATE = (0.97, 0.0, 0.03)
CONTRADICTION = (0.05, 0.9, 0.05)
MAYBE = (0.7, 0.0, 0.3)
MEANS: Any = SimpleNamespace(settings=Settings(), now=NOW, accessed={}, answers=())
"""What a status is reckoned by."""


def memory(
    memory_id: str, text: str, *, days: float | None = 10, scope: Scope = ALICE, **more: Any
) -> Memory:
    """A memory stated so many days before NOW; None means its age is unknown."""
    stated = None if days is None else NOW - timedelta(days=days)
    fields: dict[str, Any] = {"category": "note", "created_at": stated, "updated_at": stated} | more
    return Memory(memory_id, text, scope, **fields)


def plan_of(store: InMemoryStore, scorer: PairScorer, **more: Any) -> Plan:
    """Plan a whole store with fakes, unless others are given; every pair is judged, however dissimilar."""
    given: dict[str, Any] = {"encoder": FakeEncoder(), "settings": Settings(floor=-1.0), "now": NOW}
    return build_plan(store.read(ScopeFilter()), store=store, scorer=scorer, **given | more)


def session_on(
    store: InMemoryStore, scorer: FakeScorer | None = None, folder: Path | None = None, **more: Any
) -> Session:
    """A session with fakes; what is no keyword of `Session` is a setting, and every pair is judged."""
    limits = {
        name: more.pop(name) for name in list(more) if name in Settings.model_fields.keys() - {"encoder"}
    }
    given: dict[str, Any] = {"encoder": FakeEncoder(), "settings": Settings(**{"floor": -1.0} | limits)}
    return Session(store, scorer=scorer or FakeScorer(), state_dir=folder and state(folder), **given | more)


def duplicates(*groups: Sequence[str]) -> FakeScorer:
    return FakeScorer({(a, b): DUPLICATE for group in groups for a in group for b in group if a < b})


def state(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def skipped(session: Session, actions: Iterable[Action]) -> None:
    session.journal.answer(
        session.store.fingerprint, [Answer.to(action, Say.SKIP, at=NOW) for action in actions]
    )


def rows_of(table: Path, *keys: str, cells: int = 0) -> list[tuple[str, ...]]:
    """The rows under a key: what stands behind it, filled up with empty cells; under several, with their keys.

    What is written as a backslash and an n is a line break.
    """
    lines = (line.replace("\\n", "\n").split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    rows = (line[len(keys) == 1 :] for line in lines if line[0] in keys)
    return [(*row, *[""] * (cells - len(row))) for row in rows]
