"""Unsure pairs on a real mem0 store, as a person meets them: at a terminal, unattended, with a second opinion."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from e2e_world import NOW, EmbeddingServer, Row, World, copied, empty_world
from llm_server import LanguageModel, Reply, says
from mem0_dream.pipeline.writing.journal import Journal

pytestmark = [pytest.mark.e2e, pytest.mark.store]

ALICE = ("--user-id", "alice")
KEY = "sk-loopback-hush"
SEA, VOYAGE = "Reads long novels about sea voyages.", "Reads novels about sea stories."
ROWS = (
    Row("sea", SEA, 30, "hobby"),
    Row("voyage", VOYAGE, 20, "hobby"),
    Row("anna", "Anna reviews the backend code every Friday.", 90, "team"),
    Row("ben", "Ben reviews the backend code every Friday.", 3, "team"),
    Row("pet", "Has a whippet named Pickle.", 20, "pets"),
    Row("pet_copy", "has a whippet named Pickle", 10, "pets"),
    Row("choir", "Sings alto in the cathedral choir every Thursday evening.", 33, "hobby"),
)
OPEN = "2 more pairs may be duplicates"
ONE_MERGE = "[mem0-dream --auto] merged=1 pruned=0 conflicts_skipped=0\n"


@pytest.fixture
def model() -> Iterator[LanguageModel]:
    running = LanguageModel()
    yield running
    running.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, embeddings: EmbeddingServer) -> World:
    """A store with one certain and two unsure pairs, as mem0 wrote it."""
    built = empty_world("qdrant", tmp_path_factory.mktemp("original"), embeddings)
    with built.mem0() as memory:
        built.ids.update({row.name: row.store(memory) for row in ROWS})
    return built


@pytest.fixture
def world(
    tmp_path: Path,
    original: World,
    embeddings: EmbeddingServer,
    model: LanguageModel,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    monkeypatch.setenv("MEM0_DREAM_API_KEY", KEY)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    built = copied(original, empty_world("qdrant", tmp_path, embeddings))
    configure(built, model)
    return built


def configure(world: World, model: LanguageModel, **settings: Any) -> None:
    config = json.loads(world.config.read_text())
    own = {"model": "m", "api_key": KEY, "openai_base_url": model.url}
    config["llm"] = {"provider": "openai", "config": own}
    config["mem0_dream"] = settings
    world.config.write_text(json.dumps(config))


def test_nothing_is_sent_unless_somebody_says_so(world: World, model: LanguageModel) -> None:
    dry = world.pass_over(*ALICE, "--dry-run")
    assert dry.lines[-2:] == ["Proposed: 1 merge, 0 prunes, 0 conflicts.", "Dry run: no changes made."]
    done = world.pass_over(*ALICE, "--auto")
    assert (done.out, done.err) == (ONE_MERGE, "")
    assert world.dream("runs").out.endswith("removed 1, added 0, unsure=2\n")
    assert json.loads(world.pass_over(*ALICE, "--auto", "--json").out)["unsure"] == 2
    again = world.pass_over(*ALICE)
    assert again.lines[2] == "Likely the same (2):"
    assert again.lines[-1] == "Dream complete. Nothing is certain enough to propose."
    assert model.asked == []


@pytest.mark.parametrize("who", ["mem0", "endpoint"])
def test_a_second_opinion_becomes_a_proposal(world: World, model: LanguageModel, who: str) -> None:
    before = world.raw()
    asking = ("--second-opinion",) if who == "mem0" else ("--second-opinion", f"openai:m@{model.url}")
    dry = world.pass_over(*ALICE, "--dry-run", *asking)
    assert "Merges (2):" in dry.lines
    name = "m (openai)" if who == "mem0" else f"m at {model.url}"
    assert dry.err.splitlines() == [
        f"mem0-dream: second opinion: asking {name} about 2 unsure pairs, one call each.",
        "mem0-dream: second opinion: 2 of 2 pairs answered (2 duplicate).",
    ]
    assert set(model.keys) == {f"Bearer {KEY}"}
    assert tuple(sorted((SEA, VOYAGE))) in model.pairs

    done = world.pass_over(*ALICE, *asking, answers="y\n")
    assert len(model.asked) == 2
    assert "Dream complete — merged: 2, pruned: 0, conflicts resolved: 0, skipped: 0" in done.out
    assert done.lines[-1] == "1 more pair may be duplicates."
    assert world.alive("anna", "ben")
    assert not world.alive("sea", "voyage")
    world.dream("undo")
    assert world.raw() == before


def test_unattended_a_model_merges_nothing_unless_the_settings_say_so(world, model):
    """The default keeps its answers for a person; a contradiction is counted and left open."""
    model.decide = lambda a, _b: says("contradiction" if "Anna" in a else "duplicate")
    configure(world, model, second_opinion=True)
    before = world.raw()
    assert world.pass_over(*ALICE, "--auto").out == ONE_MERGE.replace("skipped=0", "skipped=1")
    assert world.alive("sea", "voyage", "anna", "ben")
    configure(world, model, second_opinion=True, second_opinion_auto=True)
    assert world.pass_over(*ALICE, "--auto").out == ONE_MERGE.replace("skipped=0", "skipped=1")
    assert not world.alive("sea", "voyage")
    assert world.alive("anna", "ben")
    assert len(model.asked) == 2
    world.dream("undo")
    world.dream("undo")
    assert world.raw() == before


@pytest.mark.parametrize(("fault", "who"), [("401", "mem0"), ("late", "endpoint")])
def test_a_model_that_does_not_do_its_part_changes_nothing(world, model, fault, who):
    refusal = json.dumps({"error": {"message": f"wrong key {KEY}", "type": "x"}}).encode()
    model.decide = lambda _a, _b: Reply(after=120) if fault == "late" else Reply(status=401, body=refusal)
    wanted = True if who == "mem0" else f"openai:m@{model.url}"
    configure(world, model, second_opinion=wanted, second_opinion_timeout=2 if fault == "late" else 60)
    done = world.pass_over(*ALICE, "--auto", "-vv")
    assert done.out == ONE_MERGE
    told = [line for line in done.err.splitlines() if line.startswith("mem0-dream: second opinion: 0 of 2")]
    assert len(told) == 1, done.err
    reason = "2 late" if fault == "late" else "1 answered 401, 1 not asked any more"
    assert told[0].endswith(f"2 stay unsure: {reason}.")
    assert KEY not in done.out + done.err
    assert not any(KEY.encode() in file.read_bytes() for file in world.state.rglob("*") if file.is_file())


def at_terminal(world: World, *arguments: str, **environment: str) -> pexpect.spawn:
    program, *words = world.command(*ALICE, "--scorer", "keywords", "--now", NOW.isoformat(), *arguments)
    own = {key: value for key, value in world.environment().items() if key != "NO_COLOR"}
    return pexpect.spawn(
        program, words, env={**own, "TERM": "xterm-256color", **environment}, encoding="utf-8", timeout=200,
        dimensions=(40, 100),
    )  # fmt: skip


def test_at_a_terminal_a_person_is_asked_and_the_answers_count(world: World) -> None:
    before = world.raw()
    child = at_terminal(world)
    child.expect_exact("\x1b[?25l")  # a progress bar hides the cursor
    child.expect_exact("\x1b[1;36m## dream — consolidation report\x1b[0m")
    child.expect_exact(f"{OPEN}. Look at them? [y/N] ")
    child.sendline("y")
    child.expect_exact("The same fact? [y/n/a/b/s/q] ")
    assert "1 of 2: may be duplicates" in child.before
    child.sendline("")
    child.expect_exact("The same fact? [y/n/a/b/s/q] ")
    shown = child.before
    assert re.search(r"\x1b\[1;4;31mlong\x1b\[0m", shown), shown
    assert "user_id=alice, hobby" in shown
    child.sendline("y")
    child.expect_exact("Added by your answers (1):")
    child.expect_exact("Proposed: 2 merges, 0 prunes, 0 conflicts. Apply? [y/N] ")
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    assert "merged: 2" in child.before
    assert "may be duplicates." not in child.before  # every pair was answered
    assert not world.alive("sea", "voyage")
    with contextlib.closing(Journal(world.state)) as journal:
        (line,) = journal.pairs()
    assert json.loads(line)["label"] == "duplicate"
    world.dream("undo")
    assert world.raw() == before


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_plain_terminal_gets_plain_text(world: World, environment: dict[str, str]) -> None:
    child = at_terminal(world, "--review", **environment)
    child.expect_exact("The same fact? [y/n/a/b/s/q] ")
    child.sendline("")
    told = child.before
    child.expect_exact("The same fact? [y/n/a/b/s/q] ")
    told += child.before
    child.sendline("q")
    child.expect_exact("Apply? [y/N] ")
    told += child.before
    child.sendline("n")
    child.expect(pexpect.EOF)
    told += child.before
    child.close()
    if "NO_COLOR" in environment:  # bars may still move; colours may not
        assert not re.search(r"\x1b\[[0-9;]*[3-4][0-9]m", told), repr(told)
        told = told.partition("## dream")[2]
    assert "\x1b" not in told, repr(told)
    assert "Reads [long] novels" in told
