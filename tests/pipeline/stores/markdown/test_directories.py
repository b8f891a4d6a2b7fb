"""Which files agents load, and when."""

from pathlib import Path

import pytest
from builders import rows_of
from markdown_trees import write_tree
from mem0_dream.pipeline.stores.markdown.directories import instruction_files

TABLE = Path(__file__).with_name("loaded.tsv")
LONG = "".join(f"- [{number}](a{number}.md)\n" for number in range(250))


def _found(root: Path, home: Path, files: dict[str, str], own: dict[str, str] | None = None):
    write_tree(root, files)
    write_tree(home, own or {})
    return {one.name: one for one in instruction_files(root, home=home)}


@pytest.mark.parametrize(("name", "when", "lines", "header"), rows_of(TABLE, "loaded", cells=4))
def test_when_a_file_is_loaded(tmp_path: Path, name: str, when: str, lines: str, header: str) -> None:
    text = LONG if when == "index" else f"---\n{header}\n---\n\nUse tabs.\n" if header else "Use tabs.\n"
    files, own = ({}, {name[2:]: text}) if name.startswith("~/") else ({name: text}, {})
    (one,) = _found(tmp_path / "project", tmp_path / "home", files, own).values()
    assert (one.name, one.when, one.lines) == (name, when, int(lines))
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
