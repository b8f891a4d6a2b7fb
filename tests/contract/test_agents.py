"""What holds for an agent on every kind of store."""

import functools
from pathlib import Path
from typing import Any

import pytest
from kinds import World
from mem0_dream.errors import BudgetExceededError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.mcp.tools import Tools
from reviewing import QUIET, tools_of

pytestmark = pytest.mark.store


@pytest.fixture
def desk(world: World, tmp_path: Path) -> Tools:
    return tools_of(world, tmp_path / "state")


def merge_of(plan: Any) -> str:
    return next(item["id"] for item in plan["proposals"] if item["kind"] == "merge")


def test_what_was_shown_is_applied_and_an_undo_brings_it_back(world: World, desk: Tools) -> None:
    content = world.content()
    plan = desk.call("plan", QUIET)
    assert plan["store"] == world.kind
    assert plan["proposed"]["merges"] >= 1
    found = desk.call("status", QUIET)
    assert (found["kind"], found["last_plan"], found["interrupted"]) == (world.kind, plan["plan_id"], None)
    assert found["memories"]["living"] == len(world.texts())
    done = desk.call("apply", QUIET, plan_id=plan["plan_id"])
    told = plan["proposed"]
    assert (done["merged"], done["pruned"], done["moved"]) == (told["merges"], told["prunes"], [])
    assert world.content() != content
    assert desk.call("undo", QUIET, run=done["run"])["kept"] == []
    assert world.content() == content


def test_a_memory_that_changed_since_is_named_and_left_alone(world: World, desk: Tools) -> None:
    plan = desk.call("plan", QUIET)
    world.add_words(world.pair[0], "And more.")
    done = desk.call("apply", QUIET, plan_id=plan["plan_id"])
    assert merge_of(plan) in {item["id"] for item in done["moved"]}
    assert set(world.pair) <= set(world.texts())


def test_what_is_picked_is_forgotten_and_comes_back(world: World, desk: Tools) -> None:
    content, texts = world.content(), world.texts()
    found = desk.call("forget", QUIET, query=texts[world.pair[0]], limit=50)
    assert world.content() == content
    pinned = [item for item in found["found"] if item["id"] is None]
    assert all(item["text"] for item in pinned)
    pick = next(item["id"] for item in found["found"] if item["id"] is not None)
    done = desk.call("forget", QUIET, plan_id=found["plan_id"], pick=[pick])["applied"]
    assert done is not None
    assert done["pruned"] == 1
    assert len(world.texts()) == len(texts) - 1
    desk.call("undo", QUIET, run=done["run"])
    assert world.content() == content


def test_a_plan_over_budget_is_refused_whole(world, tmp_path, monkeypatch):
    content = world.content()
    session = functools.partial(World.session, world)

    def strict(_world: World, state: Path) -> Session:
        opened = session(state)
        opened.settings = opened.settings.model_copy(update={"max_delete": 0.0})
        return opened

    monkeypatch.setattr(World, "session", strict)
    desk = tools_of(world, tmp_path / "state")
    plan = desk.call("plan", QUIET)
    assert plan["over_budget"] or world.kind == "md"  # of files only copies go without an answer
    answers = {conflict["id"]: "b" for conflict in plan["conflicts"]}
    assert desk.call("answer", QUIET, plan_id=plan["plan_id"], answers=answers)["over_budget"]
    with pytest.raises(BudgetExceededError):
        desk.call("apply", QUIET, plan_id=plan["plan_id"])
    assert world.content() == content
