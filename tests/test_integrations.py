"""What the skill, the recipes and the workflow tell an agent to type exists and parses."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_cli import PROPOSAL, REPORT
from mem0_dream.pipeline.mcp.server import INSTRUCTIONS
from mem0_dream.pipeline.mcp.tools import Tools
from mem0_dream.pipeline.plan import RunResult
from mem0_dream.pipeline.reporting import report
from typed import PROGRAM, parse

FOLDER = Path(__file__).resolve().parent.parent / "integrations"
# The example of Docker Compose types no command line of ours: test_image.py parses and runs its command.
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.parent.name != "compose")
SKILL = (FOLDER / "skill" / "SKILL.md").read_text(encoding="utf-8")


def command_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        typed = re.sub(r"^\s*(?:- )?(?:\$ |run: |entry: )?(?:echo n \| )?", "", line)
        if typed.startswith(f"{PROGRAM} "):
            yield re.sub(r"\s*>>.*", "", typed)
        yield from re.findall(rf"`({PROGRAM} [^`]*)`", line)


def front(text: str) -> dict[str, Any]:
    return dict(yaml.safe_load(text.split("---\n")[1]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_command_line_parses(path: Path) -> None:
    found = list(command_lines(path.read_text(encoding="utf-8")))
    assert found
    for line in found:
        parse(line)


def test_the_skill_says_what_the_program_says() -> None:
    for sentence in (report.NOTHING_STORED, report.NOTHING_FOUND, report.CANCELLED, report.TITLE):
        assert sentence in SKILL
    result = RunResult("r", merged=1, pruned=1, resolved=1, skipped=1)
    assert report.summary(result).replace("1", "<N>") in SKILL
    assert report.auto_summary(result, conflicts=1).replace("1", "<N>") in SKILL
    assert PROPOSAL.replace("2 ", "<N> ").replace("1 ", "<N> ").removesuffix(".") in SKILL.replace("\n", " ")


def test_skill_and_command_are_found_by_their_fields() -> None:
    fields = front(SKILL)
    assert re.fullmatch(r"[a-z0-9-]{1,64}", fields["name"])
    assert 50 < len(fields["description"]) <= 1024
    assert fields["name"] in (FOLDER / "commands" / "dream.md").read_text(encoding="utf-8")
    assert front((FOLDER / "commands" / "dream.md").read_text(encoding="utf-8"))["description"]


def test_the_tools_that_the_skill_names_exist() -> None:
    for text in (SKILL, INSTRUCTIONS):
        for name in set(re.findall(r"\bdream_[a-z]+\b", text)):
            assert hasattr(Tools, name.removeprefix("dream_"))


def test_the_steps_of_the_skill_show_the_report_and_apply_the_answers(dream, store, tmp_path):
    file = tmp_path / "plan.jsonl"
    dream("plan", "--user-id", "alice", "-o", str(file))
    before = dict(store.rows)
    shown = dream("apply", str(file), answers="n\n")
    assert shown.stdout.startswith(f"{REPORT}{PROPOSAL} Apply? [Y/n] ")
    assert report.CANCELLED in shown.output
    assert store.rows == before
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.get("kind") == "resolve":
            line["choice"] = "b"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = dream("apply", str(file), "--yes").stdout
    assert done.splitlines()[-1].startswith(
        "Dream complete — merged: 2, pruned: 2, conflicts resolved: 1, skipped: 0"
    )


@pytest.mark.e2e
def test_the_gate_stops_a_commit_with_equal_memories(tmp_path: Path) -> None:
    hook = yaml.safe_load((FOLDER / "pre-commit" / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    words = hook["repos"][0]["hooks"][0]["entry"].split()[1:]
    memories = tmp_path / ".claude" / "memory"
    memories.mkdir(parents=True)
    for name in ("a", "b"):
        (memories / f"{name}.md").write_text(f"---\nname: {name}\n---\nAmounts are kept in cents.\n")

    def gate() -> int:
        command = [sys.executable, "-m", "mem0_dream", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120).returncode

    assert gate() == 9
    (memories / "b.md").unlink()
    assert gate() == 0
