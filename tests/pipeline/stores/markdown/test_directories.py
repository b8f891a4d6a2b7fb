"""Which files agents load, and when."""

from pathlib import Path

import pytest
from markdown_trees import write_tree
from mem0_dream.pipeline.stores.markdown.directories import instruction_files

RULE = "---\n{0}\n---\n\nUse tabs.\n"
LONG = "".join(f"- [{number}](a{number}.md)\n" for number in range(250))


def _found(root: Path, home: Path, files: dict[str, str], own: dict[str, str] | None = None):
    write_tree(root, files)
    write_tree(home, own or {})
    return {one.name: one for one in instruction_files(root, home=home)}


@pytest.mark.parametrize(
    ("name", "text", "when", "lines"),
    [
        ("CLAUDE.md", "Use tabs.\n", "always", 1),
        ("CLAUDE.local.md", "Use tabs.\n", "always", 1),
        ("AGENTS.md", "Use tabs.\n", "always", 1),
        (".claude/rules/go/tabs.md", "Use tabs.\n", "always", 1),
        (".claude/rules/go/tabs.md", RULE.format("paths: ['*.go']"), "matching", 5),
        (".cursor/rules/go.mdc", RULE.format("globs: '*.go'\nalwaysApply: false"), "matching", 6),
        (".cursor/rules/go.mdc", RULE.format("alwaysApply: true"), "always", 5),
        (".kiro/steering/go.md", RULE.format("inclusion: manual"), "asked", 5),
        (".kiro/steering/go.md", "Use tabs.\n", "always", 1),
        (".claude/skills/go/SKILL.md", RULE.format("name: go\ndescription: Formats Go."), "described", 5),
        (".claude/memory/MEMORY.md", LONG, "index", 200),
        (".claude/memory/a1.md", "Use tabs.\n", "asked", 1),
        ("memory-bank/a.md", "Use tabs.\n", "asked", 1),
        (".serena/memories/a.md", "Use tabs.\n", "asked", 1),
        ("memory/a.md", "Use tabs.\n", "asked", 1),
        ("logs/2026-05-04.md", "Use tabs.\n", "asked", 1),
        (".claude/CLAUDE.md", "Use tabs.\n", "always", 1),
        (".claude/agent-memory/bot/MEMORY.md", LONG, "index", 200),
        (".claude/agent-memory/bot/a1.md", "Use tabs.\n", "asked", 1),
        ("AGENTS.override.md", "Use tabs.\n", "always", 1),
        (".cursorrules", "Use tabs.\n", "always", 1),
        (".cursor/rules/go.md", "Use tabs.\n", "always", 1),
        ("memory_bank/a.md", "Use tabs.\n", "asked", 1),
        ("memories/a.md", "Use tabs.\n", "asked", 1),
        ("~/.claude/rules/go.md", RULE.format("paths: ['*.go']"), "matching", 5),
        ("~/.claude/memory/a.md", "Use tabs.\n", "asked", 1),
        ("~/.codex/AGENTS.md", "Use tabs.\n", "always", 1),
    ],
)
def test_when_a_file_is_loaded(tmp_path: Path, name: str, text: str, when: str, lines: int) -> None:
    files, own = ({}, {name[2:]: text}) if name.startswith("~/") else ({name: text}, {})
    (one,) = _found(tmp_path / "project", tmp_path / "home", files, own).values()
    assert (one.name, one.when, one.lines) == (name, when, lines)
    assert one.cut_off == (50 if when == "index" else 0)
    assert (one.tokens > 0) == (when not in ("matching", "asked"))


def test_files_of_the_home_directory_and_imports(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    own = "".join(char if char.isalnum() else "-" for char in str(project.resolve()))
    found = _found(
        project,
        home,
        {"CLAUDE.md": "See @docs/style.md and mail me@example.org.", "docs/style.md": "Use tabs.", "README.md": "No."},
        {
            ".claude/CLAUDE.md": "Be brief.",
            ".codex/memories/a.md": "Be brief.",
            f".claude/projects/{own}/memory/MEMORY.md": "- a",
            f".claude/projects/{own}/memory/a.md": "Be brief.",
        },
    )  # fmt: skip
    assert {name: one.when for name, one in found.items()} == {
        "CLAUDE.md": "always",
        "docs/style.md": "always",
        "~/.claude/CLAUDE.md": "always",
        "~/.codex/memories/a.md": "asked",
        f"~/.claude/projects/{own}/memory/MEMORY.md": "index",
        f"~/.claude/projects/{own}/memory/a.md": "asked",
    }


def test_a_file_is_named_once_and_a_link_is_its_target(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_tree(project, {"AGENTS.md": "Use tabs."})
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (one,) = instruction_files(project, home=tmp_path)
    assert one.name == "AGENTS.md"
