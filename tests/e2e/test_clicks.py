"""A person who presses Enter through everything, at a terminal, over each kind of store: nothing is lost."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pexpect
import pytest

pytestmark = pytest.mark.e2e

AT = ("--now", "2026-11-28", "--scorer", "keywords", "--encoder", "words")
RULE = "When an API changes, prefer a clean break - delete the old stub, no deprecated wrappers."
MEMORY_FILE = "---\nname: {name}\ndescription: {told}\ntype: project\ncreated: 2026-01-01\n---\n\n{text}\n"
SELF = ["Name is Sam Ortega.", "Works as a carpenter.", "Lives in Bristol.", "Speaks Basque."]
OLD = [*SELF, "Is looking for a plumber in Leeds."]
FRESH = [
    "Drinks Assam tea before noon.", "Sings alto in the choir.", "Owns a whippet named Pickle.",
    "Never uses tabs in Go code.", "Uses tabs in Go code.", "owns a whippet named Pickle",
]  # fmt: skip


def export(folder: Path, old: Sequence[str], fresh: Sequence[str] = ()) -> Path:
    dated = [*((text, "2025-10-01") for text in old), *((text, "2026-11-01") for text in fresh)]
    rows = [
        {"id": f"m{n}", "memory": text, "user_id": "sam", "created_at": f"{day}T10:00:00Z"}
        for n, (text, day) in enumerate(dated)
    ]
    file = folder / "memories.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def pressed_enter(folder: Path, *words: str) -> str:
    """What stood on the terminal; every question but whether to look at pairs was answered by Enter alone."""
    environment = {**os.environ, "TERM": "dumb", "MEM0_DREAM_STATE_DIR": str(folder / "state")}
    command = ["-m", "mem0_dream", *words, *AT]
    child = pexpect.spawn(
        sys.executable, command, env=environment, encoding="utf-8", timeout=200, dimensions=(60, 200)
    )  # type: ignore[arg-type]
    shown = ""
    while child.expect([r"\[[\w/ ]+\] $", pexpect.EOF]) == 0:
        shown += child.before + child.after
        child.sendline("y" if "Look at" in child.before.rpartition("\n")[2] else "")
    child.close()
    assert child.exitstatus == 0, shown + child.before
    return shown + child.before


@pytest.mark.parametrize("rows", [*(SELF[:count] for count in (1, 2, 3, 4)), OLD[-1:]])
def test_of_a_few_old_rows_none_is_offered(tmp_path: Path, rows: list[str]) -> None:
    shown = pressed_enter(tmp_path, "jsonl", str(export(tmp_path, rows)), "--all")
    assert "Past their age" in shown
    assert "[y/N" not in shown
    assert "Nothing is certain enough to propose." in shown


def test_behind_questions_one_more_enter_applies_nothing(tmp_path: Path) -> None:
    file = export(tmp_path, OLD, FRESH)
    shown = pressed_enter(tmp_path, "jsonl", str(file), "--all")
    assert "[A/B/still/skip]" in shown
    assert "1 memory may have gone out of date. Look at it? [y/N]" in shown
    assert "Is looking for a plumber in Leeds." in shown.partition("Look at it?")[2]
    assert "Apply? [y/N]" in shown
    assert "Cancelled. No changes made." in shown
    assert sorted(file.parent.glob("*.jsonl")) == [file]  # no new export was written


def test_a_living_rule_that_names_what_is_deprecated_is_no_question(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude" / "memory"
    folder.mkdir(parents=True)
    files = {
        "style": MEMORY_FILE.format(name="style", told=RULE, text=RULE),
        "queue": MEMORY_FILE.format(
            name="Queue (SUPERSEDED by ops.md)", told="queue", text="It runs on RabbitMQ."
        ),
        "ops": MEMORY_FILE.format(
            name="ops", told="operations", text="The runbook is in the wiki of the team."
        ),
    }
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    shown = pressed_enter(tmp_path, "md", str(tmp_path / "project"))
    assert "May have gone out of date (1):" in shown
    asked = shown.partition("Look at it?")[2]
    assert "Queue (SUPERSEDED by ops.md)" in asked
    assert "clean break" not in asked
    assert {path.stem: path.read_text() for path in folder.glob("*.md")} == files
