"""The demonstration runs, and its proof can fail."""

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import forks
import pytest
from mem0_dream.models.text.words import exact_key
from mem0_dream.scripts import demo

ROOT = Path(demo.__file__).resolve().parent.parent
ROWS = [
    demo.Row("1", json.dumps({"data": "Likes tea", "created_at": "2026-01-01"}), b"\x00\x01"),
    demo.Row("2", json.dumps({"data": "Likes jazz", "created_at": "2026-01-02"}), b"\x02\x03"),
]


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (ROWS[:1], "the ids differ"),
        ([ROWS[0], ROWS[1]._replace(vector=b"\x02\x04")], "the vectors differ"),
        ([ROWS[0], ROWS[1]._replace(payload=ROWS[0].payload)], "the payloads differ"),
    ],
)
def test_a_single_difference_is_named(after: list[demo.Row], reason: str) -> None:
    assert reason in demo.compare(ROWS, ROWS[:1], after)


def test_an_identical_store_passes_but_an_undo_of_nothing_proves_nothing() -> None:
    assert demo.compare(ROWS, ROWS[:1], list(reversed(ROWS))[::-1]) == []
    assert demo.compare(ROWS, ROWS, ROWS) == ["--auto changed nothing, so undo proves nothing"]


def test_a_folder_with_other_things_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("irreplaceable")
    with pytest.raises(SystemExit):
        demo.prepare(demo.Place(tmp_path))
    assert (tmp_path / "thesis.txt").read_text() == "irreplaceable"


def test_the_memory_set_shows_every_kind_of_mess() -> None:
    content = json.loads(demo.MEMORIES.read_text(encoding="utf-8"))
    memories = content["memories"]
    now = date.fromisoformat(content["now"])
    assert {memory["owner"] for memory in memories} == set(content["owners"])
    assert all(date.fromisoformat(memory["created"]) < now for memory in memories)
    copies = Counter((memory["owner"], exact_key(memory["text"])) for memory in memories)
    assert max(copies.values()) >= 3
    assert {"pinned", "accessed", "expires"} <= {key for memory in memories for key in memory}


@pytest.mark.e2e
@pytest.mark.store
@pytest.mark.model
@pytest.mark.timeout(900)
def test_the_demonstration_proves_its_undo(tmp_path: Path) -> None:
    imports = (*forks.OF_MEM0, "mem0.vector_stores.qdrant", "sentence_transformers")
    words = ("--folder", str(tmp_path / "demo"))
    options = {"module": demo.__name__}
    done = forks.run(
        forks.Call(words, os.environ, imports=imports, function="forks:demonstration", options=options)
    )
    assert done.code == 0, done
    assert "The store is back byte for byte" in done.out
    assert "[mem0-dream --auto] merged=0 pruned=0" in done.out
    assert "Traceback" not in done.out + done.err


@pytest.mark.e2e
def test_the_program_is_a_script_that_finds_the_command() -> None:
    words = [sys.executable, "scripts/demo.py", "--folder", str(ROOT)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, "no earlier demonstration" in done.stderr) == (1, True), done
    assert demo.executable().is_file()
