"""The same answers through the terminal, the browser, an agent and a plan file give the same plan."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from kinds import NOW, World
from mem0_dream.pipeline.answers import content_key
from mem0_dream.pipeline.plan import Plan, Resolve, RunResult, acts
from mem0_dream.pipeline.planning.plan_file import dump_plan, parse_plan
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.stores.base import ScopeFilter
from reviewing import QUIET, desk_of, tools_of

pytestmark = pytest.mark.store
Answers = Mapping[str, str]


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    plans: list[str] = []

    def apply(_review: Review, _session: object, plan: Plan, **_options: object) -> RunResult:
        plans.append(dump_plan(plan))
        return RunResult("")

    monkeypatch.setattr(Review, "apply", apply)
    return plans


def call(world: World, state: Path, *words: str, answers: str = "") -> str:
    return world.call(*words, "--state-dir", str(state), answers=answers).stdout


def by_terminal(world: World, state: Path, plan: Plan, answers: Answers) -> None:
    said = {"yes": "y", "no": "n"}
    sides = [answers[c.id] for c in plan.conflicts]
    changes = [said.get(answers[a.id], "s") for a in plan.actions if not isinstance(a, Resolve)]
    # What follows from the answers may be asked about, too, or no longer be there.
    call(world, state, answers="\n".join([*sides, "each", *changes, *["y"] * 5]) + "\n")


def by_browser(world: World, state: Path, plan: Plan, answers: Answers) -> None:
    desk = desk_of(world, state)
    for action in plan.actions:
        desk.review.answer(content_key(action), answers[action.id], now=NOW)
    desk.apply(desk.preview()["digest"])


def by_agent(world: World, state: Path, _plan: Plan, answers: Answers) -> None:
    tools = tools_of(world, state)
    made = tools.call("plan", QUIET)["plan_id"]
    tools.call("answer", QUIET, plan_id=made, answers=answers)
    tools.call("apply", QUIET, plan_id=made)


def by_plan_file(world: World, state: Path, _plan: Plan, answers: Answers) -> None:
    lines = [json.loads(line) for line in call(world, state, "plan").splitlines()]
    lines[1:] = [line | {"answer": answers.get(line["id"])} for line in lines[1:]]
    file = state.parent / "plan.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call(world, state, "apply", str(file), "--yes")


FRONTS: dict[str, Callable[[World, Path, Plan, Answers], None]] = {
    "terminal": by_terminal,
    "browser": by_browser,
    "agent": by_agent,
    "file": by_plan_file,
}


def everything(plan: Plan) -> dict[str, str]:
    return {action.id: "b" if isinstance(action, Resolve) else "yes" for action in plan.actions}


def one_refused(plan: Plan) -> dict[str, str]:
    """The first change refused, the conflicts left open, the rest wanted."""
    given = {action.id: "skip" if isinstance(action, Resolve) else "yes" for action in plan.actions}
    return given | {next(name for name, said in given.items() if said == "yes"): "no"}


def one_side_each(plan: Plan) -> dict[str, str]:
    """Both hold, or one is enough; prunes are put off."""
    said: dict[str, str] = {c.id: ("both", "same")[n % 2] for n, c in enumerate(plan.conflicts)}
    return everything(plan) | said | {prune.id: "skip" for prune in plan.prunes}


@pytest.mark.parametrize("answered", [everything, one_refused, one_side_each])
def test_the_same_answers_give_the_same_plan(world, tmp_path, applied, answered):
    with world.session(tmp_path / "state") as session:
        plan = session.propose(ScopeFilter(), now=NOW)
    answers, shown = answered(plan), dict[str, str]()
    for front, give in FRONTS.items():
        state = tmp_path / front
        state.mkdir()
        applied.clear()
        give(world, state, plan, answers)
        shown[front] = "".join(applied)
    if not shown["terminal"]:  # it asks nobody to agree to nothing
        assert not any(map(acts, parse_plan(shown["browser"]).actions))
        del shown["terminal"]
    assert shown == dict.fromkeys(shown, shown["file"])
    done: dict[str, Any] = {line["id"]: line for line in map(json.loads, shown["file"].splitlines()[1:])}
    for name, said in answers.items():
        if said in ("no", "both") or (said == "skip" and name not in {c.id for c in plan.conflicts}):
            assert done.get(name, {}).get("record") != "action"
    for conflict in plan.conflicts:
        if conflict.id in done and not conflict.said:
            said = answers[conflict.id]
            assert done[conflict.id]["choice"] == (said if said == "b" else None)
