"""The tools for agents, with the SDK's client in this process: what they answer, and what they refuse."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders import memory
from e2e_cli import ALICE, FUSED, NO_TABS, OWN, PROPOSAL, REPORT, TABS, Invoke, messy_store, went_away, whole
from hypothesis import given, strategies as st
from mcp_world import Agent, call, inside
from mem0_dream.errors import PlanFileError
from mem0_dream.pipeline.mcp.server import CallObserver
from mem0_dream.pipeline.mcp.tools import KEPT, KeptPlan, KeptPlans
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.reporting.report import NOTHING_FOUND, NOTHING_STORED
from mem0_dream.testing import FakeScorer, InMemoryStore

Serve = Callable[..., Agent]
CHANGING = {"dream_apply", "dream_undo", "dream_forget"}


@pytest.fixture
def serve(store: InMemoryStore, dream: Invoke, tmp_path: Path) -> Serve:

    def start(*, settings: str = "", **options: Any) -> Agent:
        section = settings.replace("{", f"{OWN[:-1]}, ", 1) if settings else OWN
        config = tmp_path / "mem0.yaml"
        config.write_text(f"vector_store: {{provider: qdrant}}\nmem0_dream: {section}\n")
        return inside(config, **options)

    return start


def planned(serve: Serve, **options: Any) -> tuple[Agent, Any]:
    agent = serve(**options)
    return agent, agent.ask("dream_plan")


def id_of(plan: Any, *words: str) -> str:
    lines = {item["id"]: item["line"] for item in (*plan["proposals"], *plan["conflicts"])}
    return next(name for name, line in lines.items() if all(word in line for word in words))


class TestPlan:
    def test_the_report_is_that_of_the_command_line(self, serve: Serve, store: InMemoryStore) -> None:
        before = whole(store)
        for user, report in (
            ("alice", f"{REPORT}{PROPOSAL}"),
            ("nobody", NOTHING_STORED),
            ("bob", NOTHING_FOUND),
        ):
            assert serve(user_id=user).ask("dream_plan")["report"] == report
        assert whole(store) == before

    def test_the_numbers_are_those_of_json(self, serve: Serve, dream: Invoke) -> None:
        told = json.loads(dream(*ALICE, "--json").stdout)
        plan = serve().ask("dream_plan")
        assert {name: plan["proposed"][name] for name in told["proposed"]} == told["proposed"]
        assert plan["unsure"] == told["unsure"]
        actions = told["plan"]["actions"]
        listed = [item["id"] for item in (*plan["proposals"], *plan["conflicts"])]
        assert sorted(listed) == sorted(action["id"] for action in actions)
        conflict = plan["conflicts"][0]
        assert (conflict["a"], conflict["b"], conflict["newer"]) == (TABS, NO_TABS, "b")

    def test_explain_gives_texts_scores_and_evidence(self, serve: Serve) -> None:
        agent, plan = planned(serve)
        merge = id_of(plan, "run1", "run2")
        found = agent.ask("dream_explain", plan_id=plan["plan_id"], ids=[merge])["explanations"][0]
        assert found["becomes"] == FUSED
        assert {said["id"] for said in found["memories"]} == {"run1", "run2"}
        assert found["scores"][0]["duplicate"] > 0.5
        assert found["answers"] == ["yes", "no", "skip", "edit"]
        page = agent.ask("dream_explain", plan_id=plan["plan_id"], offset=1, limit=2)
        assert page["total"] == 5
        assert len(page["explanations"]) == 2
        assert "no proposal" in agent.ask("dream_explain", plan_id=plan["plan_id"], ids=["x"]).error


class TestApply:
    def test_an_answered_plan_is_applied_as_an_attended_pass_applies_it(self, serve, store, dream):
        rows = json.loads(json.dumps(store.rows))
        typed = dream(*ALICE, answers="b\ny\n").stdout.splitlines()[-1]
        expected = sorted(row["text"] for row in store.rows.values())
        store.rows = rows
        agent, plan = planned(serve)
        answered = agent.answer(plan, {plan["conflicts"][0]["id"]: "b"})
        assert answered["open_conflicts"] == 0
        assert "[B stays]" in answered["report"]
        done = agent.apply(plan)
        assert typed.endswith(f"? [y/N] {done['summary']}")
        assert sorted(row["text"] for row in store.rows.values()) == expected
        assert done["undo"].startswith(f"mem0-dream undo {done['run']} --config ")

    def test_a_conflict_is_resolved_by_an_answer_alone_and_a_skip_is_one(self, serve, store, dream):
        agent, plan = planned(serve)
        done = agent.apply(plan)
        assert (done["merged"], done["pruned"], done["resolved"], done["skipped"]) == (2, 2, 0, 1)
        assert {"tabs1", "tabs2"} <= store.rows.keys()
        plan = agent.ask("dream_plan")
        assert (len(plan["conflicts"]), plan["left_open"]) == (1, 0)
        agent.answer(plan, {plan["conflicts"][0]["id"]: "skip"})
        agent.apply(plan)
        again = agent.ask("dream_plan")
        assert (again["conflicts"], again["left_open"]) == ([], 1)
        assert "skipped: resolve" in dream("reject", "--list").stdout

    def test_conflicts_that_share_memories_are_asked_with_each_other(self, serve, store, monkeypatch):
        homes = {
            name: f"Lives in {town}." for name, town in (("h1", "Porto"), ("h2", "Faro"), ("h3", "Braga"))
        }
        rows = [memory(name, text, days=9 - int(name[1])) for name, text in homes.items()]
        store.rows = InMemoryStore(rows).rows
        fake = FakeScorer(default=lambda _a, _b: (0.0, 0.95, 0.05))
        monkeypatch.setattr("mem0_dream.models.registry.load_scorer", lambda _spec: fake)
        _, plan = planned(serve)
        asked = [item["id"] for item in plan["conflicts"]]
        assert len(asked) == 3
        assert [item["asked_with"] for item in plan["conflicts"]] == [asked] * 3
        assert "Conflicts (3, in 1 question):" in plan["report"]

    def test_refusals_alone_survive_another_plan(self, serve: Serve, store: InMemoryStore) -> None:
        agent, before = serve(), whole(store)
        plan = agent.ask("dream_plan")
        refused = {item["id"]: "no" for item in plan["proposals"]}
        assert agent.answer(plan, refused)["answered"] == dict.fromkeys(refused, "left out for good")
        again = agent.ask("dream_plan")
        assert again["proposals"] == []
        agent.answer(plan, {plan["conflicts"][0]["id"]: "skip"})
        for made in (again, plan):
            done = agent.apply(made)
            assert (done["run"], done["undo"]) == ("", None)
            assert whole(store) == before
        assert agent.ask("dream_plan")["report"].startswith("Dream complete. Nothing new to propose.")

    def test_an_answer_holds_for_the_same_proposal_of_another_plan(self, serve, store):
        agent, plan = planned(serve)
        answers = {plan["conflicts"][0]["id"]: "b", id_of(plan, "tap"): "skip"}
        agent.answer(plan, answers)
        store.rows |= InMemoryStore([memory("aaa", "Fixed the bug", days=300)]).rows
        again = agent.ask("dream_plan")
        told = {id_of(again, "tabs1"): "B stays", id_of(again, "tap"): "left out this time"}
        assert again["answered"] == told
        assert "[B stays]" in again["report"]
        left = agent.ask("dream_answer", plan_id=again["plan_id"], withdraw=[id_of(again, "tabs1")])
        assert left["answered"] == {id_of(again, "tap"): "left out this time"}
        done = agent.apply(again)
        assert done["answered"] == left["answered"]
        assert {"tabs1", "tabs2", "tap"} <= store.rows.keys()

    def test_a_merge_takes_the_text_of_a_person(self, serve: Serve, store: InMemoryStore) -> None:
        agent, plan = planned(serve)
        merge, conflict = id_of(plan, "run1"), plan["conflicts"][0]["id"]
        mine = f"In carbon shoes, and training on hills: {FUSED.partition('. ')[0]}."
        given = {"plan_id": plan["plan_id"], "answers": {merge: "edit"}}
        assert "would lose" in agent.ask("dream_answer", **given, texts={merge: "Runs."}).error
        assert "written by hand" in agent.ask("dream_answer", **given).error
        assert agent.ask("dream_answer", **given, texts={merge: mine})["answered"] == {merge: "in own words"}
        agent.answer(plan, {conflict: "same"})
        done = agent.apply(plan)
        assert (done["merged"], done["resolved"], done["moved"]) == (3, 0, [])
        texts = [row["text"] for row in store.rows.values()]
        assert mine in texts
        assert (TABS in texts, NO_TABS in texts) == (False, True)

    def test_a_doubt_is_decided_by_an_answer(self, serve, store, monkeypatch):
        pairs = {
            ("Has a whippet.", "Has a brindle whippet named Pickle."): (0.7, 0.0, 0.3),
            ("Reads long novels about the sea.", "Reads novels about sea voyages."): (0.8, 0.0, 0.2),
            ("Enjoys working from the office.", "Enjoys long days at home."): (0.2, 0.5, 0.3),
        }
        monkeypatch.setattr("mem0_dream.models.registry.load_scorer", lambda _spec: FakeScorer(pairs))
        rows = [
            memory(f"{side}{number}", text, days=days)
            for number, pair in enumerate(pairs)
            for side, text, days in zip("xy", pair, (30, 9), strict=True)
        ]
        store.rows = InMemoryStore(rows).rows
        agent, plan = planned(serve)
        assert (plan["unsure"], plan["proposals"]) == (3, [])
        assert plan["report"].count("[long days at home.]") == 1
        assert "more" not in plan["report"]  # of what is shown already
        doubts = agent.ask("dream_explain", plan_id=plan["plan_id"], unsure=True)["explanations"]
        ids = {doubt["memories"][0]["id"][1:]: doubt["id"] for doubt in doubts}
        answers = {ids["0"]: "yes", ids["1"]: "no", ids["2"]: "b"}
        agent.answer(plan, answers)
        done = agent.apply(plan)
        assert (done["merged"], done["resolved"]) == (1, 1)
        assert {"x1", "y1", "y2"} <= store.rows.keys()
        assert store.rows["x2"]["metadata"]["superseded_reason"] == "contradicted"
        assert agent.ask("dream_plan")["unsure"] == 0

    def test_what_a_settled_conflict_made_untrue_is_asked_about(self, serve, store, monkeypatch):
        porto, faro = "Lives in Porto near the river.", "Lives in Faro near the river."
        against = FakeScorer({(porto, faro): (0.0, 0.99, 0.01)})
        monkeypatch.setattr("mem0_dream.models.registry.load_scorer", lambda _spec: against)
        old = memory("old", "Takes the tram to the office in Porto.", days=50)
        store.rows = InMemoryStore([memory("a", porto, days=99), memory("b", faro, days=3), old]).rows
        agent, plan = planned(serve)
        agent.answer(plan, {plan["conflicts"][0]["id"]: "b"})
        agent.apply(plan)
        plan = agent.ask("dream_plan")
        (asked,) = plan["outdated"]
        assert (asked["line"].split()[0], asked["answers"]) == ("[memory:old]", ["yes", "still", "skip"])
        agent.answer(plan, {asked["id"]: "yes"})
        assert agent.apply(plan)["pruned"] == 1
        assert store.rows["old"]["expires_on"]

    @pytest.mark.parametrize(
        ("name", "answer", "told"),
        [("c1", "yes", "a, b, both, same, still, skip"), ("m1", "a", "yes, no, skip, edit"), ("zz", "no", "no proposal")],
    )  # fmt: skip
    def test_an_answer_that_means_nothing_is_refused(self, serve, name, answer, told):
        agent, plan = planned(serve)
        ids = {"c1": plan["conflicts"][0]["id"], "m1": id_of(plan, "dog1")}
        wrong = agent.answer(plan, {ids.get(name, name): answer})
        assert told in wrong.error

    def test_a_plan_is_applied_once_and_to_its_own_store(self, serve: Serve, store: InMemoryStore) -> None:
        agent, plan = planned(serve)
        run = agent.apply(plan)["run"]
        assert f"was applied as run {run}" in agent.apply(plan).error
        plan = agent.ask("dream_plan")["plan_id"]
        store.fingerprint = "another"
        assert "made for another store" in serve().ask("dream_apply", plan_id=plan).error

    @pytest.mark.parametrize("name", ["", "000000000000", "../journal", "a" * 5000, "..\x1b[31m"])
    def test_an_unknown_plan_is_refused(self, serve: Serve, name: str) -> None:
        told = serve().ask("dream_apply", plan_id=name).error
        assert "make one with dream_plan" in told
        assert (told.isprintable(), len(told) < 200) == (True, True)

    def test_an_interrupted_run_of_somebody_else_is_named(self, serve, store, dream):
        agent = serve()
        plan = agent.ask("dream_plan")["plan_id"]
        store.before_write = went_away
        dream(*ALICE, "--auto", code=4)
        told = agent.ask("dream_apply", plan_id=plan).error
        assert re.search(r"finish it with `mem0-dream resume \S+ --config /\S+mem0.yaml`", told)

    def test_a_server_that_retires_deletes_nothing(self, serve: Serve, store: InMemoryStore) -> None:
        agent, names = serve(retire=True), set(store.rows)
        done = agent.apply(agent.ask("dream_plan"))
        assert (done["pruned"], names - set(store.rows)) == (2, set())
        assert store.rows["bug"]["expires_on"]


class TestForget:
    def test_nothing_is_forgotten_by_mistake(self, serve: Serve, store: InMemoryStore) -> None:
        agent, before = serve(), whole(store)
        assert "give a query" in agent.ask("dream_forget").error
        assert agent.ask("dream_forget", query="submarine")["plan_id"] is None
        shown = agent.ask("dream_forget", query="bug")
        assert {item["text"]: item["id"] for item in shown["found"]}["[PINNED] Fixed bug"] is None
        found = shown["plan_id"]
        assert "Pick ids" in agent.ask("dream_forget", plan_id=found).error
        assert "Pick ids" in agent.ask("dream_forget", plan_id=found, pick=["p1", "p99"]).error
        assert "made by dream_forget" in agent.ask("dream_apply", plan_id=found).error
        plan = agent.ask("dream_plan")["plan_id"]
        assert "Pick ids" in agent.ask("dream_forget", plan_id=plan, pick=["p1"]).error
        assert whole(store) == before


class TestWriting:
    def test_destructive_tools_carry_the_hint_and_are_off(self, serve: Serve, store: InMemoryStore) -> None:
        shown = serve(allow_write=True).tools()
        assert {name for name, tool in shown.items() if tool.annotations.destructive_hint} == CHANGING
        assert {name for name, tool in shown.items() if tool.annotations.read_only_hint} == {
            "dream_plan", "dream_explain", "dream_status", "dream_check",
        }  # fmt: skip
        agent, before = serve(allow_write=False), whole(store)
        assert shown.keys() - agent.tools().keys() == CHANGING
        plan = agent.ask("dream_plan")["plan_id"]
        for tool, arguments in (("dream_apply", {"plan_id": plan}), ("dream_undo", {}), ("dream_forget", {})):
            assert "--allow-write" in agent.ask(tool, **arguments).error
        assert agent.ask("dream_status")["may_write"] is False
        assert whole(store) == before

    def test_every_tool_is_typed_and_described(self, serve: Serve) -> None:
        for tool in serve().tools().values():
            assert tool.description
            assert "\n " not in tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema is None  # with one, each result would be sent twice
            assert tool.annotations.open_world_hint is False

    @pytest.mark.parametrize(
        ("tool", "arguments", "told"),
        [
            ("dream_plan", {"all": True}, "dream_plan has no argument all; it takes: none."),
            ("dream_undo", {"id": "x"}, "dream_undo has no argument id; it takes: run."),
            ("dream_apply", {}, "plan_id: Field required"),
            ("dream_explain", {"plan_id": "x", "limit": 0}, "limit: Input should be greater than or equal"),
            ("dream_apply", {"plan_id": "x"}, "The plan 'x' is not known; make one with dream_plan."),
        ],
    )
    def test_a_wrong_call_is_one_plain_sentence(self, serve, tool, arguments, told):
        assert serve().ask(tool, **arguments).error.startswith(told)


def test_status_is_that_of_the_command_line(serve: Serve, dream: Invoke) -> None:
    told = json.loads(dream("status", *ALICE, "--json").stdout)
    found = serve().ask("dream_status").data
    del told["health"]
    assert {name: found[name] for name in told} == told


def test_a_text_is_checked_before_it_is_stored(serve: Serve) -> None:
    agent, whippet, deploys = serve(), "Has a whippet named Pickle.", "Deploys stop at the freeze flag."
    found = agent.ask("dream_check", texts=[whippet, deploys])
    assert [each["finding"] for each in found["texts"]] == ["same as", "new"]
    assert found["texts"][0]["matches"][0]["text"] == whippet
    pet = {"name": "pet", "observations": [whippet]}
    known = agent.ask("dream_check", learning=pet)["learning"]
    assert (known["save"], known["similarity"]) == (False, 1.0)
    new = {
        "name": "deploys", "observations": [deploys], "severity": "critical", "source": "mistake",
        "contexts": ["a", "b", "c"],
    }  # fmt: skip
    told = agent.ask("dream_check", learning=new)["learning"]
    assert (told["save"], told["entity"]["name"]) == (True, "deploys")
    assert agent.ask("dream_check").error == "There is nothing to check; give texts, or a learning."


def test_resources_hold_the_last_report_and_what_is_open(serve: Serve) -> None:
    agent = serve()
    assert "No plan was made yet" in agent.read("dream://report/last")
    assert json.loads(agent.read("dream://conflicts/open"))["conflicts"] == []
    plan = agent.ask("dream_plan")
    assert plan["report"] in agent.read("dream://report/last")
    assert len(json.loads(agent.read("dream://conflicts/open"))["conflicts"]) == 1
    agent.answer(plan, {plan["conflicts"][0]["id"]: "a"})
    assert json.loads(agent.read("dream://conflicts/open"))["conflicts"] == []
    run = agent.apply(plan)["run"]
    assert f"applied as run {run}" in agent.read("dream://report/last")


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value if isinstance(value, list) else [*value, *value.values()]:
            yield from texts(inner)


def test_nothing_of_a_memory_acts_on_a_terminal(serve: Serve, store: InMemoryStore) -> None:
    evil = "\x1b[31m\u202e\x9b\u2066\x07\ue000"
    rows = [
        memory("a1", f"Uses {evil} tabs for indentation in Go code.", days=9),
        memory("a2", f"Never uses {evil} tabs for indentation in Go code.", days=3),
        memory("b1", f"Has a {evil} whippet named Pickle.", days=9),
        memory("b2", f"Has a {evil} brindle whippet named Pickle.", days=3),
        memory("c1", f"Looked {evil} for a plumber.", days=900, category=f"todo{evil}"),
    ]
    store.rows = InMemoryStore(rows).rows
    agent, plan = planned(serve)
    assert r"\x1b[31m\u202e" in plan["report"]
    calls = [plan, agent.ask("dream_explain", plan_id=plan["plan_id"]), agent.ask("dream_status")]
    calls += [agent.ask("dream_forget", query="whippet plumber tabs")]
    store.rows["b1"]["text"] += evil
    answers = {plan["conflicts"][0]["id"]: "a"} if plan["conflicts"] else {}
    calls += [agent.ask("dream_answer", plan_id=plan["plan_id"], answers=answers)]
    calls += [agent.apply(plan)]
    found = [text for answer in calls for text in texts(answer.data) if not answer.error]
    found += [agent.read("dream://report/last"), agent.read("dream://conflicts/open")]
    assert [text for text in found if not text.replace("\n", "").isprintable()] == []
    assert all(not answer.error for answer in calls)


def test_progress_is_reported_and_a_cancelled_apply_can_be_finished(serve, store, monkeypatch):
    uncut, agent = messy_store(), serve()
    monkeypatch.setattr("mem0_dream.pipeline.mcp.server.EVERY_SECONDS", 0.0)

    async def cut(client: Any) -> str:
        plan = await call(client, "dream_plan")
        assert plan.progress
        with anyio.CancelScope() as scope:

            async def stop(_done: float, _total: float | None, words: str | None) -> None:
                if (words or "").startswith("apply: 1"):
                    scope.cancel()

            arguments = {"plan_id": plan["plan_id"]}
            await client.call_tool("dream_apply", arguments, progress_callback=stop)
        assert scope.cancelled_caught
        return str(plan["plan_id"])

    plan = agent.session(cut)
    assert len(store.rows) < len(uncut.rows)
    interrupted = agent.ask("dream_status")["interrupted"]
    assert interrupted
    done = agent.ask("dream_apply", plan_id=plan)
    assert (done["run"], done["merged"], done["pruned"]) == (interrupted, 2, 2)
    assert agent.ask("dream_status")["interrupted"] is None
    assert agent.ask("dream_undo")["restored"] > 0
    before, after = ({name: row["text"] for name, row in each.rows.items()} for each in (uncut, store))
    assert after == before


class TestProgress:
    @given(st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 30), max_size=5)), max_size=6))
    def test_the_number_only_grows(self, stages: list[tuple[int, list[int]]]) -> None:
        told: list[tuple[float, float | None]] = []
        watched = CallObserver(lambda done, total, _words: told.append((done, total)), lambda: None)
        for total, steps in stages:
            with watched.stage("judging", total) as advance:
                for step in sorted(steps):
                    advance(min(step, total))
        numbers = [done for done, _ in told]
        assert numbers == sorted(set(numbers))
        assert all(total is None or done <= total for done, total in told)

    def test_a_cancelled_call_stops_at_its_next_step(self) -> None:
        gone = [False]

        def check() -> None:
            if gone[0]:
                raise TimeoutError

        watched = CallObserver(lambda *_: None, check)
        with watched.stage("embedding", 3) as advance:
            advance(1)
            gone[0] = True
            with pytest.raises(TimeoutError):
                advance(2)
        with pytest.raises(TimeoutError), watched.stage("judging", 3):
            pytest.fail("it was begun")


class TestKept:
    def kept(self, number: int = 0, **more: Any) -> KeptPlan:
        plan = Plan("s", "memory", datetime(2026, 1, 1, number // 60, number % 60, tzinfo=UTC), "k", (), ())
        return replace(KeptPlan.of(plan), **{"report": "Report"} | more)

    def test_what_is_kept_comes_back_as_long_as_it_is_among_the_newest(self, tmp_path: Path) -> None:
        plans = KeptPlans(tmp_path)
        kept = plans.put(self.kept(run="r", done=True))
        assert plans.get(kept.id, store="s") == kept
        assert kept.plan == self.kept().plan
        other = plans.put(self.kept(1))
        assert plans.last(store="s") == other
        assert plans.put(replace(kept, report="Again")) == plans.last(store="s")
        assert {file.stat().st_mode & 0o077 for file in tmp_path.iterdir()} == {0}
        made = [plans.put(self.kept(number)) for number in range(KEPT + 3)]
        with pytest.raises(PlanFileError, match="not known"):
            plans.get(made[2].id, store="s")
        assert plans.get(made[3].id, store="s") == made[3]
        assert plans.last(store="t") is None
