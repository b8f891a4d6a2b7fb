"""The server for agents as a process, with the SDK's own client over the standard streams: every kind of store."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import forks
import pytest
from e2e_world import NOW, World
from graph_world import entity, write
from mcp_world import Agent, call, over_stdio

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

KEYWORDS = ("--scorer", "keywords", "--now", NOW.isoformat())
ALICE = ("--user-id", "alice")


def agent(world: World, *options: str) -> Agent:
    given = ("--config", str(world.config), *ALICE, *KEYWORDS, *options)
    return over_stdio(*given, environment=world.environment())


@pytest.mark.store
def test_a_pass_over_a_real_mem0_store(messy_qdrant: World) -> None:
    world, before = messy_qdrant, messy_qdrant.raw()
    told = json.loads(world.pass_over(*ALICE, "--json").out)

    async def work(client: Any) -> dict[str, Any]:
        plan = await call(client, "dream_plan")
        assert {name: plan["proposed"][name] for name in told["proposed"]} == told["proposed"]
        assert plan["unsure"] == told["unsure"]
        assert plan.progress[0][2].startswith("fetch")
        sides = {item["id"]: "b" for item in plan["conflicts"]}
        await call(client, "dream_answer", plan_id=plan["plan_id"], answers=sides)
        done = await call(client, "dream_apply", plan_id=plan["plan_id"])
        return {"plan": plan.data, "done": done.data}

    writing = agent(world, "--allow-write", "--max-delete", "1")
    done = writing.session(work)["done"]
    assert done["resolved"] == told["proposed"]["conflicts"] == 1
    assert world.raw().keys() != before.keys()
    assert world.ids["tabs"] not in world.seen()  # it lost, and is retired
    undone = writing.ask("dream_undo", run=done["run"])
    assert undone["kept"] == []
    back, were = ({key: row[0]["data"] for key, row in raw.items()} for raw in (world.raw(), before))
    assert back == were


@pytest.mark.store
def test_a_server_that_may_only_look_changes_nothing(messy_qdrant: World) -> None:
    """And the store is free between two calls, so that its application can go on."""
    world, before = messy_qdrant, messy_qdrant.raw()

    async def work(client: Any) -> None:
        plan = await call(client, "dream_plan")
        assert "--allow-write" in (await call(client, "dream_apply", plan_id=plan["plan_id"])).error
        assert world.seen()  # mem0 itself opens the store while the server runs
        assert (await call(client, "dream_status"))["memories"]["living"] > 0
        said = ["uses tabs for indentation in Go code", "Keeps bees on the roof of the chapel"]
        checked = (await call(client, "dream_check", texts=said))["texts"]
        assert [each["finding"] for each in checked] == ["same as", "new"]

    agent(world).session(work)
    assert world.raw() == before


def graph(folder: Path, *lines: str) -> tuple[str, ...]:
    write(folder / "memory.jsonl", lines)
    return ("--store", "graph", "--file", str(folder / "memory.jsonl"), *KEYWORDS)


def environment(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "MEM0_DREAM_STATE_DIR": str(folder / "state"), "PYTHONWARNINGS": "ignore"}


def test_a_cancelled_plan_stops_and_the_server_goes_on(tmp_path: Path) -> None:
    lines = [entity(f"fact {n}", f"Service {n} owns schema {n * 7} and nothing else.") for n in range(1500)]
    options = [option for option in graph(tmp_path, *lines) if option not in ("--scorer", "keywords")]
    looking = over_stdio(*options, environment=environment(tmp_path))

    async def work(client: Any) -> float:
        seen: list[str] = []
        with anyio.move_on_after(300) as scope:

            async def stop(_done: float, _total: float | None, words: str | None) -> None:
                seen.append(words or "")
                if not (words or "").startswith("fetch"):
                    scope.cancel()

            await client.call_tool("dream_plan", {}, progress_callback=stop)
        assert scope.cancelled_caught
        assert seen
        status = await call(client, "dream_status")
        assert status["last_plan"] is None
        return float(status["memories"]["living"])

    assert looking.session(work) == len(lines)


def test_only_the_protocol_is_written_to_the_output(tmp_path: Path) -> None:
    evil = entity("evil \x1b[31m\u202e", "Reads \x1b[31m novels.", "Discovered: 2026-01-02")
    options = graph(tmp_path, evil, "{broken \x1b[31m")
    ask = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": {}}}
            for number, name in enumerate(("dream_plan", "dream_status", "dream_undo", "dream_apply", "nothing"), 2)
        ),
    ]  # fmt: skip
    words = [sys.executable, "-m", "mem0_dream", "mcp", *options, "--allow-write", "-vv"]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(words, text=True, env=os.environ | environment(tmp_path), **pipes)
    assert process.stdin
    assert process.stdout
    process.stdin.write("".join(json.dumps(message) + "\n" for message in ask))
    process.stdin.flush()
    answers: dict[int, Any] = {}
    while len(answers) < 6:
        message = json.loads(process.stdout.readline())
        if "id" in message:
            answers[message["id"]] = message
    rest, errors = process.communicate(timeout=60)
    assert rest == ""
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert all(line.isprintable() for line in errors.splitlines())
    told = json.dumps(answers, ensure_ascii=False)
    assert told.isprintable()
    assert json.loads(answers[2]["result"]["content"][0]["text"])["gaps"]


def test_a_server_without_a_store_does_not_start(tmp_path: Path) -> None:
    for options, sentence in (
        ((), "Say whose memories"),
        (("--store", "graph", "--file", "m.jsonl", "--second-opinion"), "does not work on knowledge graphs"),
    ):
        done = forks.run(forks.Call(("mcp", *options), os.environ, folder=str(tmp_path)))
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert sentence in done.err


def test_without_the_sdk_the_command_to_install_it_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from mem0_dream.pipeline.cli.main import main; main(['mcp', *sys.argv[1:]])"
    words = [sys.executable, "-c", code, *graph(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 8
    assert "pip install 'mem0-dream[mcp]'" in done.stderr
