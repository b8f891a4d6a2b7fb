"""Discovery and report: which directories are found, and what is said about awkward cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_trees import MEMORY, NOW, memory_file, open_session, write_tree
from mem0_dream.errors import ConfigError
from mem0_dream.pipeline.markdown.directories import discover
from mem0_dream.pipeline.markdown.report import MarkdownReport


def _report(session):
    found = session.look(now=NOW)
    settled = session.settle(found, {}, now=NOW)
    files = sum(len(directory.topics()) for directory in session.markdown.directories)
    return MarkdownReport(found, settled, files=files, directories=len(session.markdown.directories)), settled


def test_all_known_places_are_found(tmp_path: Path) -> None:
    """Agent memories, project memories, the common one, and the user's own for this project."""
    root = tmp_path / "my app"
    places = [".claude/agent-memory/reviewer", ".claude/projects/x/memory", ".claude/memory"]
    write_tree(root, {f"{place}/MEMORY.md": "# M\n" for place in places})
    home = tmp_path / "home"
    own = (
        home
        / ".claude/projects"
        / str(root.resolve()).replace("/", "-").replace(" ", "-").replace("_", "-")
        / "memory"
    )
    own.mkdir(parents=True)
    found = discover(root, home=home)
    assert {directory.name for directory in found} == {*places, own.as_posix()}


def test_titles_name_what_the_directory_belongs_to(tmp_path: Path) -> None:
    """An agent's directory has its own name; one called memory is named after the project."""
    root = tmp_path / "web-shop"
    write_tree(root, {".claude/agent-memory/code-reviewer/a.md": "x", ".claude/memory/a.md": "x"})
    assert [d.title for d in discover(root, home=root / "h")] == ["Code Reviewer", "Web Shop"]


def test_a_project_that_is_not_there(tmp_path: Path) -> None:
    """A wrong root is a sentence, not an empty result."""
    with pytest.raises(ConfigError, match="no directory"):
        discover(tmp_path / "nowhere")


def test_a_file_that_cannot_be_deleted_is_reported_and_the_rest_goes_on(tmp_path: Path, monkeypatch) -> None:
    """One refusal by the system costs one change, and is named in the report."""
    files = {
        f"{MEMORY}/a.md": memory_file("`src/gone_a.py` holds it.", name="a"),
        f"{MEMORY}/b.md": memory_file("`src/gone_b.py` holds it.", name="b"),
    }
    root = write_tree(tmp_path / "project", files)
    unlink = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied", str(self))
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    with open_session(root, tmp_path / "state") as session:
        report, settled = _report(session)
        result = session.apply(settled.plan, now=NOW)
        lines = report.live(result, {})
    assert (root / MEMORY / "a.md").exists()
    assert not (root / MEMORY / "b.md").exists()
    assert f"Skipped {MEMORY}/a.md: the file a.md cannot be removed (Permission denied)" in lines
    assert "| Stale pruned | 1 |" in lines


def test_an_index_over_200_lines_is_warned_about(tmp_path: Path) -> None:
    """Nothing is cut; a person is told."""
    root = write_tree(
        tmp_path / "project", {f"{MEMORY}/f{n:03}.md": f"Fact number {n} stands." for n in range(205)}
    )
    with open_session(root, tmp_path / "state", floor=0.9) as session:
        report, _ = _report(session)
    assert report.warnings() == [
        f"Warning: {MEMORY}/MEMORY.md has 209 lines after the rebuild, more than the 200 that are loaded; no memory was cut."
    ]
    assert (
        report.dry_run({})[0]
        == f"[DRY RUN] Would rebuild: {MEMORY}/MEMORY.md (0 entries removed, 205 remaining)"
    )


def test_a_bar_in_a_text_does_not_break_the_table(tmp_path: Path) -> None:
    """Cells are escaped."""
    files = {f"{MEMORY}/l.md": "# L\n\n- Use a|b here for the pipe\n- use a|b here for the pipe.\n"}
    root = write_tree(tmp_path / "project", files)
    with open_session(root, tmp_path / "state") as session:
        report, settled = _report(session)
        lines = report.live(session.apply(settled.plan, now=NOW), {})
    assert any("a\\|b" in line for line in lines)
