"""First steps, shown to a person who typed only the program's name."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..stores.markdown.directories import INDEX, discover
from .kinds import quoted

CONFIGURATIONS = ("mem0.yaml", "mem0.yml", "mem0.json")
GRAPHS = ("memory.jsonl", "memory.json")
FOLDERS = 100
"""Folders below this one that are looked into, one level deep."""
_FOUND = "   <- found here"


def first_steps(folder: Path) -> list[str]:
    """Five lines: what the program is for, a command for each kind of store, and what comes next.

    Args:
        folder: Where to look for a store; what is found is what the commands name.
    """
    config, graph = _nearby(folder, CONFIGURATIONS), _nearby(folder, GRAPHS)
    memories = _memories(folder)
    hosted = config is None and bool(os.environ.get("MEM0_API_KEY"))
    mem0 = ["platform"] if hosted else ["--config", str(config or CONFIGURATIONS[0])]
    rows = (
        ("mem0 store", [*mem0, "--all"], config or hosted),
        ("Markdown files", ["md", *(memories or ["."])], memories),
        ("knowledge graph", ["graph", str(graph or GRAPHS[0])], graph),
    )
    return [
        "mem0-dream merges duplicates, shows contradictions and retires what is stale in an agent's memory.",
        *(_line(*row) for row in rows),
        "Nothing is changed before you have seen it and said yes. `mem0-dream --help` says more.",
    ]


def _line(name: str, words: Iterable[str], is_there: object) -> str:
    command = " ".join(map(quoted, ["mem0-dream", *words, "--dry-run"]))
    return f"  {name:<16} {command}{_FOUND if is_there else ''}"


def _nearby(folder: Path, names: Iterable[str]) -> Path | None:
    """The first such file here, or one folder down."""
    places = [folder, *_below(folder)]
    return next((place / name for place in places for name in names if (place / name).is_file()), None)


def _below(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        folders = itertools.islice((path for path in folder.iterdir() if path.is_dir()), FOLDERS)
        yield from sorted(folders)


def _memories(folder: Path) -> list[str]:
    """The words that name the memory directories; empty if there are none."""
    directories = discover(folder)
    if any(directory.topics() or (directory.path / INDEX).is_file() for directory in directories):
        return [str(folder)]
    index = _nearby(folder, [INDEX])
    return ["--memory-dir", str(index.parent)] if index is not None else []
