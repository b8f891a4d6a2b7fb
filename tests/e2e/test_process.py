"""What only a process can show: locks, terminals, encodings, imports, exit codes, and the library itself."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from e2e_world import NOW, ROWS, EmbeddingServer, World, empty_world
from mem0_dream import track_access

pytestmark = [pytest.mark.e2e, pytest.mark.store]

ALICE = ("--user-id", "alice")
KEYWORDS = ("--scorer", "keywords", "--now", NOW.isoformat())


def test_a_second_run_waits_its_turn_and_a_dead_one_leaves_no_lock(tmp_path, messy_stores):
    world = messy_stores("faiss", tmp_path)
    before = world.raw()
    words, pipe = world.command(*ALICE, *KEYWORDS), subprocess.PIPE
    first = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=world.environment())
    assert first.stdout is not None
    assert first.stdin is not None
    while "  A: " not in first.stdout.readline():
        assert first.poll() is None
    second = world.pass_over(*ALICE, "--auto", code=5)
    assert second.err == (
        f"mem0-dream: Another mem0-dream run (process {first.pid}) is working on this store; "
        "wait for it to end, then start again, or give --wait SECONDS.\n"
    )
    assert world.raw() == before
    first.kill()
    first.wait()
    first.stdin.close()
    first.stdout.close()
    assert world.pass_over(*ALICE, "--auto").out.startswith("[mem0-dream --auto] merged=3")


def test_a_store_held_by_the_agent_is_one_sentence(messy_qdrant: World) -> None:
    world = messy_qdrant
    with world.mem0() as memory:
        held = world.pass_over(*ALICE, "--auto", code=5)
        assert memory.get(world.ids["blood"])["memory"] == "Blood type O-"
    place = world.place.config["vector_store"]["config"]["path"]
    assert held.out == ""
    assert held.err.startswith(
        f"mem0-dream: Another process holds the qdrant store in {place}; stop the agent that runs on it, or give"
    )
    assert held.err.count("\n") == 1


def test_a_narrow_encoding_is_no_reason_to_fail(messy_qdrant: World) -> None:
    world = messy_qdrant
    words, where = world.command(*ALICE, *KEYWORDS), world.environment() | {"PYTHONIOENCODING": "latin-1"}
    typed = b"a\ny\n"
    shown = subprocess.run(words, capture_output=True, check=False, input=typed, env=where, timeout=200)
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr.startswith(b"Undo with: ")
    assert shown.stderr.count(b"\n") == 1  # and no noise of an interpreter that ends
    assert b"Dream complete \\u2014 merged: 3, pruned: 2, conflicts resolved: 1, skipped: 0\n" in shown.stdout


def test_what_the_agent_reads_is_not_stale(messy_qdrant: World) -> None:
    """A memory that mem0's search returned through track_access is kept, however old it is."""
    world = messy_qdrant
    plumber = next(row.text for row in ROWS if row.name == "plumber")
    with world.mem0() as memory:
        tracked = track_access(memory, state_dir=world.state)
        tracked.search(plumber, filters={"user_id": "alice"}, top_k=1)
        tracked.get(world.ids["blood"])
    shown = world.pass_over(*ALICE, "--dry-run")
    assert "Prunes (3):" in shown.lines
    assert world.label("plumber") not in shown.out
    assert world.label("call") in shown.out


def test_a_server_that_does_not_answer(tmp_path: Path, embeddings: EmbeddingServer) -> None:
    world = empty_world(
        "pgvector", tmp_path, embeddings, "postgresql://me:hush@127.0.0.1:9/none?connect_timeout=2"
    )
    told = world.dream("--all", "--dry-run", code=4)
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert re.match("mem0-dream: Looking for the collection .* failed", told.err)
    assert "hush" not in told.err


def test_an_embedder_that_does_not_answer(messy_qdrant: World) -> None:
    """If mem0 cannot embed, no new text is stored: that merge is skipped with the cause, the rest goes on and can be undone."""
    world = messy_qdrant
    before, good = world.raw(), world.config.read_text()
    broken = json.loads(good)
    broken["embedder"]["config"]["openai_base_url"] = "http://127.0.0.1:9/v1"
    world.config.write_text(json.dumps(broken))
    told = world.pass_over(*ALICE, "--auto", "--assume-unread")
    assert told.out == "[mem0-dream --auto] merged=2 pruned=4 conflicts_skipped=1\n"
    assert re.search(r"mem0-dream: skipped m\d: the openai embedder of mem0's configuration failed", told.err)
    assert world.alive("hills", "shoes", "pickle", "milk_more")
    world.config.write_text(good)
    world.dream("undo")
    assert world.raw() == before
