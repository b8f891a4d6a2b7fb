"""The five lines for somebody who typed the program's name and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner
from mem0_dream.pipeline.cli import main as cli_module
from mem0_dream.pipeline.cli.begin import first_steps
from typed import parse


def commands(lines: list[str]) -> dict[str, str]:
    """The commands, by kind of store; each must parse."""
    found = {line[2:18].strip(): line[19:] for line in lines[1:4]}
    for line in found.values():
        parse(line.partition("   <-")[0])
    return found


def test_five_lines_with_a_command_for_each_kind_of_store(tmp_path: Path, monkeypatch) -> None:
    """In an empty folder the names are examples."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MEM0_API_KEY", raising=False)
    lines = first_steps(Path())
    assert len(lines) == 5
    assert all(len(line) <= 100 for line in lines)
    assert commands(lines) == {
        "mem0 store": "mem0-dream --config mem0.yaml --all --dry-run",
        "Markdown files": "mem0-dream md . --dry-run",
        "knowledge graph": "mem0-dream graph memory.jsonl --dry-run",
    }


@pytest.mark.parametrize(
    ("file", "kind", "words"),
    [
        ("mem0.yml", "mem0 store", "--config mem0.yml --all"),
        ("deploy/mem0.json", "mem0 store", "--config deploy/mem0.json --all"),
        (".claude/memory/a.md", "Markdown files", "md ."),
        ("MEMORY.md", "Markdown files", "md --memory-dir ."),
        ("my notes/MEMORY.md", "Markdown files", "md --memory-dir 'my notes'"),
        ("data/memory.jsonl", "knowledge graph", "graph data/memory.jsonl"),
    ],
)
def test_what_lies_nearby_is_named(file: str, kind: str, words: str, tmp_path: Path, monkeypatch) -> None:
    """With a sign that it was found; the other lines are examples."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("- [a](a.md) -- a")
    found = commands(first_steps(Path()))
    assert found.pop(kind) == f"mem0-dream {words} --dry-run   <- found here"
    assert not any("found here" in line for line in found.values())


def test_a_key_for_the_hosted_platform_counts_as_found(tmp_path: Path, monkeypatch) -> None:
    """Unless there is a configuration of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEM0_API_KEY", "m0-x")
    told = commands(first_steps(Path()))["mem0 store"]
    assert told == "mem0-dream platform --all --dry-run   <- found here"
    (tmp_path / "mem0.yaml").touch()
    assert "--config mem0.yaml" in commands(first_steps(Path()))["mem0 store"]


def test_a_name_cannot_touch_the_terminal(tmp_path: Path, monkeypatch) -> None:
    """Escapes in the name of a folder are shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "evil\x1b[31m\u202e\n"
    folder.mkdir()
    (folder / "mem0.yaml").touch()
    lines = first_steps(Path())
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)


def test_only_a_person_without_arguments_is_told_how_to_begin(monkeypatch) -> None:
    """A script that forgot its options is still refused."""
    done = CliRunner().invoke(cli_module.main, [])
    assert done.exit_code == 2
    assert "Say whose memories" in done.stderr


@pytest.mark.e2e
def test_on_a_terminal(tmp_path: Path) -> None:
    """Five lines, exit code 0; with an argument the program does what it is told."""
    environment = {
        "HOME": str(tmp_path),
        "PATH": "/usr/bin",
        "TERM": "xterm",
        "PYTHONPATH": ":".join(sys.path),
    }
    told, code = pexpect.run(
        f"{sys.executable} -m mem0_dream", cwd=str(tmp_path), env=environment, withexitstatus=True, timeout=60
    )
    assert (code, told.decode().count("\r\n")) == (0, 5)
    told, code = pexpect.run(
        f"{sys.executable} -m mem0_dream --user-id alice",
        cwd=str(tmp_path),
        env=environment,
        withexitstatus=True,
        timeout=60,
    )
    assert (code, b"No configuration" in told) == (2, True)
