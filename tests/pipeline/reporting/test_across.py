"""All files of instructions and memories of a project, side by side."""

from __future__ import annotations

import json
from pathlib import Path

from markdown_trees import fingerprint, write_tree
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.pipeline.judging.cache import Models
from mem0_dream.pipeline.reporting.markdown import across
from mem0_dream.settings import Settings

FILES = {
    "CLAUDE.md": "# App\n\n- Run the unit tests before every push.\n- The upload limit is 20 MB per file.\n",
    "AGENTS.md": "# Agents\n\n- Run the unit tests before every push.\n- Deploys go out on Fridays.\n",
    ".claude/memory/MEMORY.md": "- [upload](upload.md)\n" * 203,
    ".claude/memory/upload.md": "The upload limit is 50 MB per file.\n",
    "docs/memory/a.md": "Hello there friend.\n",
}


def _models(folder: Path) -> Models:
    return Models(Settings(), folder / "state", encoder=load_encoder("words"), scorer=load_scorer("keywords"))


def test_what_is_loaded_said_twice_and_contradicting(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_tree(project, FILES)
    before = fingerprint(project)
    found = across(project, _models(tmp_path), home=tmp_path / "home")
    lines = found.lines()
    assert fingerprint(project) == before
    assert lines[0] == "4 files. Tokens loaded into every session: Claude Code about 1,120, Codex about 19."
    assert "    cut off after line 200: the last 3 lines are never loaded" in lines
    twice = lines.index("Said twice (1):")
    assert lines[twice + 1 : twice + 4] == [
        "  AGENTS.md:3  Run the unit tests before every push.",
        "  CLAUDE.md:3  Run the unit tests before every push.",
        "    for two agents: keep both, or let one file import the other",
    ]
    against = lines.index("Contradicting (1):")
    assert {line.split()[0] for line in lines[against + 1 : against + 3]} == {
        "CLAUDE.md:4",
        ".claude/memory/upload.md:1",
    }
    assert (
        lines[-1] == "Not looked at: docs/memory; if it holds memories, name it with --memory-dir docs/memory"
    )
    told = json.loads(json.dumps(found.to_json()))
    assert [each["lines_cut_off"] for each in told["files"]] == [0, 0, 3, 0]
    assert told["said_twice"][0]["could_go"] is None
    assert told["contradicting"][0]["statements"][0] == {
        "file": "CLAUDE.md", "line": 4, "text": "The upload limit is 20 MB per file."
    }  # fmt: skip
    assert told["not_read"] == ["docs/memory"]


def test_what_one_agent_reads_twice_could_go(tmp_path: Path) -> None:
    """Here CLAUDE.md loads AGENTS.md by an import, and a folder is named."""
    write_tree(tmp_path, FILES | {"CLAUDE.md": f"@AGENTS.md\n{FILES['CLAUDE.md']}"})
    found = across(tmp_path, _models(tmp_path), given=[tmp_path / "docs/memory"], home=tmp_path / "home")
    assert "  AGENTS.md (Codex, Claude Code): always loaded, about 19 tokens" in found.lines()
    assert "  docs/memory/a.md (named): loaded when the agent opens it" in found.lines()
    assert "    could go from CLAUDE.md" in found.lines()
    assert found.unread == []


def test_a_project_without_any(tmp_path: Path) -> None:
    lines = across(tmp_path, _models(tmp_path), home=tmp_path).lines()
    assert lines == ["No files of instructions or memories found."]
