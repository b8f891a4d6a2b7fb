"""`guarded`: what an application stores through it, on real mem0 stores and with the real scorer."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mem0_dream import guarded
from mem0_dream.errors import UsageError
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_stores import build_place

pytestmark = [pytest.mark.store, pytest.mark.model]
HELD = [
    "Sessions of the shop expire after 15 minutes",
    "User has a whippet named Pickle.",
    "Lives in Porto. Has a cat.",
]
CORRECTED = "Sessions of the shop expire after 60 minutes"


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {"encoder": load_encoder(None, scorer="bundled"), "scorer": load_scorer("bundled")}


@pytest.fixture(params=["qdrant", "faiss"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, shared_encoder: None) -> Iterator[Any]:
    place = build_place(request.param, tmp_path)
    place.fill(HELD)
    opened = place.memory()
    yield opened
    Mem0Store(opened, owned=True).close()


def texts(memory: Any, *, expired: bool = False) -> set[str]:
    found = memory.get_all(filters={"user_id": "alice"}, top_k=100, show_expired=expired)
    return {row["memory"] for row in found["results"]}


def test_what_is_known_is_not_stored_and_what_is_new_is(memory: Any, models: dict[str, Any]) -> None:
    guard = guarded(memory, **models)
    for said in ("Has a whippet named Pickle", "Lives in Porto", [{"role": "user", "content": HELD[0]}]):
        answer = guard.add(said, user_id="alice")
        assert [row["event"] for row in answer["results"]] == ["NONE"]
        assert answer["check"][0]["finding"] == "same as"
    assert texts(memory) == set(HELD)
    added = guard.add("Plays the cello on Sundays", user_id="alice", metadata={"source": "chat"})
    assert [row["event"] for row in added["results"]] == ["ADD"]
    assert guard.get(added["results"][0]["id"])["metadata"] == {"source": "chat"}
    for user, run, event in (("alice", None, "NONE"), ("bob", None, "ADD"), ("alice", "r", "ADD")):
        again = guard.add("Plays the cello on Sundays.", user_id=user, run_id=run)
        assert again["results"][0]["event"] == event
    answer = guarded(memory, known="add", **models).add(
        HELD[0] + ".", user_id="alice"
    )  # by policy it is, too
    assert (answer["results"][0]["event"], answer["check"][0]["finding"]) == ("ADD", "same as")


def test_a_contradiction_is_stored_and_asked_about_by_the_next_pass(memory, models, tmp_path):
    """Both stay; also where only one sentence of a memory is against it, which a pass alone might not see."""
    guard, before = guarded(memory, state_dir=tmp_path, **models), texts(memory, expired=True)
    found = guard.check(CORRECTED, user_id="alice")  # which writes nothing
    assert (found.finding, found.matches[0].memory.text) == ("contradicts", HELD[0])
    assert texts(memory, expired=True) == before
    for said, held in ((CORRECTED, HELD[0]), ("Has never lived in Porto", HELD[2])):
        answer = guard.add(said, user_id="alice")
        assert [row["event"] for row in answer["results"]] == ["ADD"]
        assert answer["check"][0]["finding"] == "contradicts"
        assert {said, *HELD} <= texts(memory)
        with Session(open_store(memory), state_dir=tmp_path, **models) as session:
            plan = session.propose(ScopeFilter({"user_id": "alice"}), now=datetime.now(UTC))
        asked = [{member.text for member in item.members} for item in (*plan.conflicts, *plan.unsure)]
        assert {said, held} in asked


def test_by_policy_what_is_contradicted_is_retired_and_an_undo_brings_it_back(memory, models, tmp_path):
    """A memory of which only one sentence is wrong stays, since the rest of it would go, too."""
    guard = guarded(memory, contradicted="retire", state_dir=tmp_path, **models)
    guard.add(CORRECTED, user_id="alice")
    assert texts(memory) == {CORRECTED, *HELD[1:]}
    assert texts(memory, expired=True) == {CORRECTED, *HELD}
    guard.add("Has never lived in Porto", user_id="alice")
    assert HELD[2] in texts(memory)
    with Session(open_store(memory), state_dir=tmp_path, **models) as session:
        session.undo(now=datetime.now(UTC))
    assert {CORRECTED, *HELD} <= texts(memory)


def test_with_inference_mem0_is_asked_only_about_what_is_new(models: dict[str, Any], memory: Any) -> None:
    """Its language model costs seconds and a thousand tokens for each write."""
    asked: list[Any] = []

    class Recorded:
        def __getattr__(self, name: str) -> Any:
            return getattr(memory, name)

        def add(self, messages: Any, **options: Any) -> dict[str, Any]:
            asked.append((messages, options["infer"]))
            return {"results": []}

    guard = guarded(memory, **models)
    guard._client = Recorded()
    guard.add(HELD[0], user_id="alice", infer=True)
    assert asked == []
    talk = [{"role": "user", "content": HELD[0]}, {"role": "assistant", "content": "And how old is it?"}]
    guard.add(talk, user_id="alice", infer=True)
    assert asked == [(talk, True)]


@pytest.mark.parametrize(
    ("told", "work"),
    [
        ("not 'drop'", lambda memory: guarded(memory, known="drop")),  # type: ignore[arg-type]
        ("not 'delete'", lambda memory: guarded(memory, contradicted="delete")),  # type: ignore[arg-type]
        ("a text, a message", lambda memory: guarded(memory).add(None, user_id="alice")),
        ("a text, a message", lambda memory: guarded(memory).add([3], user_id="alice")),
        ("no text to check: ' '", lambda memory: guarded(memory).check(" ", user_id="alice")),
        ("whose memories", lambda memory: guarded(memory).check("Has a cat")),
        ("whose memories", lambda memory: guarded(memory).check("Has a cat", user="alice")),
    ],
)
def test_bad_input_is_one_sentence(qdrant: Any, told: str, work: Callable[[Any], Any]) -> None:
    memory = qdrant.memory()
    with pytest.raises(UsageError, match=told):
        work(memory)
    Mem0Store(memory, owned=True).close()
