"""All files of a project that agents take instructions or memories from, and when each of them is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ....models.text.tables import table_lines
from .directories import MAX_LINES, agent_folder, unreadable
from .document import Document, parse

_PATHS = ("paths", "globs", "fileMatchPattern")
"""Frontmatter that says for which files a rule is loaded."""
_IMPORT = re.compile(r"(?<![\w`@])@((?:~/|\.{0,2}/)?[\w./-]+\.\w+)")
IMPORTS, _DEPTH = "Claude Code", 5
"""Who follows imports, and how far imports of imports."""


class Layout(NamedTuple):
    """Where an agent looks, and when it loads what it finds there."""

    agent: str
    at: str  # "project", "home", or "own": the agent's folder of this project below the home directory
    files: tuple[str, ...]
    when: str


LAYOUTS = tuple(
    Layout(agent, at, tuple(files.split()), when)
    for agent, at, files, when in (line.split(" | ") for line in table_lines("markdown", "layouts"))
)
"""The first row that finds a file names it. It is loaded "always"; of an "index" its first lines; if
"matching", always unless its frontmatter names paths; if "described", its frontmatter; or when "asked" for.
"""
EVERYBODY = frozenset({"memory bank", "Serena", "notes", "named"})
"""Rows of no one agent: whoever is told to may open these files."""
ORDER = ("always", "index", "described", "matching", "asked")
"""What is loaded most stands first."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file of instructions or memories."""

    name: str  # relative to the project where it lies in it, else with "~" for the home directory
    path: Path
    agents: tuple[str, ...]  # that load it
    when: str  # one of `ORDER`
    text: str
    lines: int  # how many of its lines are loaded unasked; the last ones are cut off

    @property
    def cut_off(self) -> int:
        """How many of its last lines an index loses."""
        return len(self.text.splitlines()) - self.lines if self.when == "index" else 0

    @property
    def tokens(self) -> int:
        """About how many tokens of it are loaded unasked: a quarter of the characters."""
        if self.when in ("matching", "asked"):
            return 0
        return len("\n".join(self.text.splitlines()[: self.lines])) // 4


def instruction_files(root: Path, *, given: Sequence[Path] = (), home: Path | None = None) -> list[Loaded]:
    """Find the files, each once, under the layout that comes first; what is always loaded first.

    Args:
        root: The project.
        given: Folders of memories besides.
        home: The user's home directory, if it is another.
    """
    project, house = root.resolve(), (home or Path.home()).resolve()
    places = {"project": project, "home": house, "own": agent_folder(project, house)}
    places |= {str(path): path.expanduser() for path in given}
    found: dict[Path, Loaded] = {}
    for layout in (*LAYOUTS, *(Layout("named", str(path), ("**/*.md",), "asked") for path in given)):
        for pattern in layout.files:
            for path in sorted(places[layout.at].glob(pattern)):
                if path.is_file() and unreadable(path) is None and path.resolve() not in found:
                    found[path.resolve()] = _loaded(path.resolve(), layout, project, house)
    for one in [each for each in found.values() if each.when == "always" and IMPORTS in each.agents]:
        for path in _imported(one.path, house):
            whole, held = _loaded(path, Layout(IMPORTS, "", (), "always"), project, house), found.get(path)
            agents = dict.fromkeys((*(held.agents if held else ()), IMPORTS))
            found[path] = replace(whole, agents=tuple(agents))
    return sorted(found.values(), key=lambda one: (ORDER.index(one.when), one.name))


def _loaded(path: Path, layout: Layout, project: Path, house: Path) -> Loaded:
    document = parse(path.read_bytes())
    every = len(document.source.splitlines())
    when = _matching(document) if layout.when == "matching" else layout.when
    shown = {"index": MAX_LINES, "described": document.source[: document.start].count("\n")}.get(when, every)
    if path.is_relative_to(project):
        name = path.relative_to(project).as_posix()
    else:
        name = f"~/{path.relative_to(house).as_posix()}" if path.is_relative_to(house) else str(path)
    return Loaded(name, path, (layout.agent,), when, document.source, min(shown, every))


def _matching(document: Document) -> str:
    if document.value("inclusion") == "manual":
        return "asked"
    limited = document.value(*_PATHS) or document.value("alwaysApply") is False
    return "matching" if limited and document.value("alwaysApply") is not True else "always"


def _imported(path: Path, house: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Files that `@path` in a file loads with it."""
    for name in _IMPORT.findall(path.read_text(encoding="utf-8", errors="replace")):
        target = (house / name[2:] if name.startswith("~/") else path.parent / name).resolve()
        if target.is_file() and unreadable(target) is None:
            yield target
            yield from _imported(target, house, depth - 1) if depth > 1 else ()
