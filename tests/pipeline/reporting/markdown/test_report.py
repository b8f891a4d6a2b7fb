"""Discovery and report: which directories are found, what is said about awkward cases, and all files side by side."""

import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from markdown_trees import MEMORY, NOW, Project, fingerprint, look, memory_file, write_tree
from mem0_dream.errors import ConfigError
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.cache import Models
from mem0_dream.pipeline.plan import Plan
from mem0_dream.pipeline.reporting.markdown import across, left_out
from mem0_dream.pipeline.stores.markdown.directories import discover
from mem0_dream.settings import Settings

MOVED = "We moved the gateway to Bern yesterday."


def _report(session: Session) -> tuple[Any, Plan]:
    proposal = look(session)
    return session.reporter(proposal), proposal.plan


def _reported(project: Project, **settings: Any) -> Any:
    with project.open(**settings) as session:
        return _report(session)[0]


def _applied(project: Project) -> list[str]:
    with project.open() as session:
        report, plan = _report(session)
        return report.done(session.apply(plan, now=NOW), auto=False, took=timedelta())


def test_all_known_places_are_found(tmp_path: Path) -> None:
    root = tmp_path / "my app"
    places = [".claude/agent-memory/reviewer", ".claude/projects/x/memory", ".claude/memory"]
    write_tree(root, {f"{place}/MEMORY.md": "# M\n" for place in places})
    named = re.sub(r"[/ _]", "-", str(root.resolve()))
    own = tmp_path / f"home/.claude/projects/{named}/memory"
    own.mkdir(parents=True)
    found = discover(root, home=tmp_path / "home")
    assert {directory.name for directory in found} == {*places, own.as_posix()}


def test_titles_name_what_the_directory_belongs_to(tmp_path: Path) -> None:
    root = tmp_path / "web-shop"
    write_tree(root, {".claude/agent-memory/code-reviewer/a.md": "x", ".claude/memory/a.md": "x"})
    assert [d.title for d in discover(root, home=root / "h")] == ["Code Reviewer", "Web Shop"]


def test_a_project_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no directory"):
        discover(tmp_path / "nowhere")


def test_a_file_that_cannot_be_deleted_is_reported_and_the_rest_goes_on(project, monkeypatch):
    project.write(**{name: memory_file(f"`src/gone_{name}.py` holds it.", name=name) for name in "ab"})
    project.past("src/gone_a.py", "src/gone_b.py")
    unlink = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied", str(self))
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    lines = _applied(project)
    assert {"a", "b"} & set(project.names()) == {"a"}
    assert f"Skipped {MEMORY}/a.md: the file a.md cannot be removed (Permission denied)" in lines
    assert "| Stale entries pruned | 1 |" in lines


def test_an_index_that_would_be_over_200_lines_is_warned_about(project):
    facts = {f"f{n:03}": f"Fact number {n} stands." for n in range(205)}
    report = _reported(project.write(**facts), floor=0.9)
    index = f"{MEMORY}/MEMORY.md"
    told = f"Warning: {index} is full: 17 files have no pointer (f188.md, f189.md, f190.md …)"
    assert report.remarks() == [told]
    assert f"[DRY RUN] Would rebuild: {index} (0 entries removed, 188 remaining)" in report.dry_run()


def test_a_bar_in_a_text_does_not_break_the_table(project):
    project.write(l="# L\n\n- Use a|b here for the pipe\n- use a|b here for the pipe.\n")
    assert any("a\\|b" in line for line in _applied(project))


def test_every_change_is_shown_as_a_diff(project):
    project.write(
        a=memory_file(MOVED, name="a"),
        b=memory_file("Pages come out of `src/gone.py`.", name="b"),
        c=memory_file("The staging database runs on port 5432. Ines.", name="c"),
        d=memory_file("The staging database runs on port 5433. Bo.", name="d"),
        MEMORY="- [Dead](dead.md) — a hook\n- [A](a.md)\n- [C](c.md)\n- [D](d.md)\n",
    ).past("src/gone.py")
    report = _reported(project)
    assert report.lines() == [
        f"Would delete: {MEMORY}/b.md (FULLY_STALE: src/gone.py)",
        "    - Pages come out of `src/gone.py`.",
        f'Would ask: {MEMORY}/c.md:8 vs {MEMORY}/d.md:8 — "staging database runs port" [A/B/skip]',
        "  A: 2026-10-01  The staging database runs on port 5432.",
        "  B: 2026-10-01  The staging database runs on port 5433.",
        f"Would update: {MEMORY}/a.md (relative dates)",
        "    - We moved the gateway to Bern yesterday.",
        "    + We moved the gateway to Bern 2026-09-30.",
        f"Would rebuild: {MEMORY}/MEMORY.md (1 entry removed, 3 remaining)",
        "    - - [Dead](dead.md) — a hook",
    ]
    row = "| `.claude/memory/b.md` | DELETED | Fully stale: all referenced files removed (src/gone.py) |"
    assert row in "\n".join(report.dry_run())


def test_line_breaks_and_escapes_in_names_are_written_out(project):
    report = _reported(project.write({f"{MEMORY}/a\n\x1b[31mb.md": memory_file(MOVED, name="a")}))
    assert f"Would update: {MEMORY}/a\\n\\x1b[31mb.md (relative dates)" in report.lines()
    assert all("\n" not in line and "\x1b" not in line for line in report.dry_run())


def test_only_regular_files_of_a_decent_size_are_read(project, tmp_path):
    memories = project.write(a="We moved it there.").root / MEMORY
    (tmp_path / "outside.md").write_text("We moved it there.")
    os.mkfifo(memories / "pipe.md")
    (memories / "big.md").write_bytes(b"x" * 1_000_001)
    (memories / "out.md").symlink_to(tmp_path / "outside.md")
    with project.open() as session:
        found = look(session).findings
        assert left_out(session.store.directories) == [
            f"Skipped {MEMORY}/big.md: it has 1,000,001 bytes, more than the 1,000,000 that are read",
            f"Skipped {MEMORY}/out.md: it is a link that leads out of the project",
            f"Skipped {MEMORY}/pipe.md: it is no regular file",
        ]
    assert (list(found.stored), found.inventory.gaps) == ([f"{MEMORY}/a.md"], ())


@pytest.mark.parametrize("kind", ["pipe", "read-only"])
def test_an_index_that_is_a_pipe_or_read_only_is_left_alone(project, kind):
    index = project.write(a="We moved it there.").root / MEMORY / "MEMORY.md"
    if kind == "pipe":
        os.mkfifo(index)
    else:
        index.write_text("x")
        index.chmod(0o444)
    assert project.plan().actions == ()


def test_a_read_only_memory_is_left_alone(project):
    (project.write(a=memory_file(MOVED)).root / MEMORY / "a.md").chmod(0o444)
    assert project.look().findings.edits == {}


def test_equal_changes_are_told_once(project):
    project.write(**{f"m{n}": memory_file(f"Part {n} is in `src/p{n}.py` for good.") for n in range(4)})
    report = _reported(project.past(moved={f"src/p{n}.py": f"lib/p{n}.py" for n in range(4)}))
    lines, shown = report.lines(), report.dry_run()
    assert lines[0] == "Would update: 4 memories (moved paths: src/ -> lib/)"
    assert lines[1].count(".md") == 4
    assert len([line for line in lines if line.startswith("Would update")]) == 1
    assert [line for line in shown if line.startswith(("| 4", f"| `{MEMORY}/m"))] == [
        "| 4 memories | UPDATED | moved paths: src/ -> lib/ |",
        "| 4 memories | src/ -> lib/ |",
    ]


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
    data, lines = across(project, _models(tmp_path), home=tmp_path / "home")
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
    places = {line.split()[0] for line in lines[against + 1 : against + 3]}
    assert places == {"CLAUDE.md:4", ".claude/memory/upload.md:1"}
    unread = "Not looked at: docs/memory; if it holds memories, name it with --memory-dir docs/memory"
    assert lines[-1] == unread
    told = json.loads(json.dumps(data))
    assert [each["lines_cut_off"] for each in told["files"]] == [0, 0, 3, 0]
    assert told["said_twice"][0]["could_go"] is None
    assert told["contradicting"][0]["statements"][0] == {
        "file": "CLAUDE.md", "line": 4, "text": "The upload limit is 20 MB per file."
    }  # fmt: skip
    assert told["not_read"] == ["docs/memory"]


def test_what_one_agent_reads_twice_could_go(tmp_path: Path) -> None:
    """Here CLAUDE.md loads AGENTS.md by an import, and a folder is named."""
    write_tree(tmp_path, FILES | {"CLAUDE.md": f"@AGENTS.md\n{FILES['CLAUDE.md']}"})
    given = [tmp_path / "docs/memory"]
    data, lines = across(tmp_path, _models(tmp_path), given=given, home=tmp_path / "home")
    assert "  AGENTS.md (Codex, Claude Code): always loaded, about 19 tokens" in lines
    assert "  docs/memory/a.md (named): loaded when the agent opens it" in lines
    assert "    could go from CLAUDE.md" in lines
    assert data["not_read"] == []


def test_a_project_without_any(tmp_path: Path) -> None:
    _, lines = across(tmp_path, _models(tmp_path), home=tmp_path)
    assert lines == ["No files of instructions or memories found."]
