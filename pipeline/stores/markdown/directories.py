"""Where memories lie, that nothing leads out of there, and which files agents load when."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ....errors import ConfigError, UsageError
from ....models.text.tables import table_lines
from ..files import is_utf8
from .document import parse

INDEX = "MEMORY.md"
MAX_LINES = 200  # what an agent loads of its index
GATHERED = "from_daily_logs.md"  # the file that takes in new facts for which no other file is the place
MAX_FILE = 1_000_000  # bytes of the largest file that is read; no memory is that long
PATTERNS = (".claude/agent-memory/*", ".claude/projects/*/memory", ".claude/memory")  # of coding agents
OTHER_PLACES = ("memory", "memories", "memory-bank", "memory_bank", ".serena/memories", "docs/memory")
"""Where other agents may; too plain a name to be read unasked."""
NONE_FOUND = "No memory directories found"
_NOT_MEMORIES = frozenset({"logs", "sessions", "archive"})  # folders that hold raw material
_ABOUT = re.compile(r"(?:(?i:readme)|INDEX|MEMORY(?:[_-][A-Z_-]+)?)\.md$")  # indexes of old are none
_PATHS = ("paths", "globs", "fileMatchPattern")  # frontmatter that says for which files a rule is loaded
_IMPORT = re.compile(r"(?<![\w`@])@((?:~/|\.{0,2}/)?[\w./-]+\.\w+)")
IMPORTS, _DEPTH = "Claude Code", 5  # who follows imports, and how far imports of imports
LAYOUTS = tuple(tuple(line.split(" | ")) for line in table_lines("markdown", "layouts"))
"""Agent, root, files, and when they are loaded: the first row that finds a file names it. It is loaded
"always"; of an "index" its first lines; "matching" means always, unless its frontmatter names paths;
"described", its frontmatter alone; "asked", when the agent opens it.
"""


@dataclass(frozen=True, slots=True)
class MemoryDirectory:
    """One directory of memories."""

    name: str  # how it is named in ids and reports: relative to the project where it lies in it
    path: Path  # where it is, symbolic links resolved
    title: str  # what its index is called
    project: Path | None = None  # the project it belongs to; a link may lead into it, and nowhere else

    def topics(self) -> list[Path]:
        """Every file of memories but the index, sorted by name; what may not be read is left out."""
        return sorted(path for path in _topics(self.path) if self.refusal(path) is None)

    def refused(self) -> list[tuple[Path, str]]:
        """Files that would be memories but may not be read, with the reason."""
        paths = sorted([*_topics(self.path), self.path / INDEX])
        return [(path, reason) for path in paths if (reason := self.refusal(path)) is not None]

    def refusal(self, path: Path) -> str | None:
        """Why a file may not be read: no regular file, too large, or a link that leads out."""
        if not is_utf8(str(path)):
            return "has a name that is not UTF-8"
        if path.is_symlink():
            target = Path(os.path.realpath(path))
            if not any(target.is_relative_to(place) for place in (self.path, self.project) if place):
                return "is a link that leads out of the project"
        return unreadable(path)

    @property
    def is_loaded(self) -> bool:
        """Whether an agent is known to load an index from here, so that one may be begun unasked."""
        return ".claude" in self.path.parts

    def is_index_alone(self) -> bool:
        """Whether MEMORY.md is all there is, so that its own entries are the memories."""
        index = self.path / INDEX
        others = [path for path in self.topics() if path != self.path / GATHERED]
        return not others and os.path.lexists(index) and self.refusal(index) is None

    def relative(self, path: Path) -> str:
        """Name of a file inside this directory, with slashes."""
        return path.relative_to(self.path).as_posix()


def discover(
    root: Path, given: Sequence[Path] = (), *, home: Path | None = None
) -> tuple[MemoryDirectory, ...]:
    """Find the memory directories of a project, and below the home directory its own; or take the ones given.

    `ConfigError` if the project or a given directory does not exist, `UsageError` if a path leads upwards.
    """
    if not root.is_dir():
        raise ConfigError(f"The project {root} is no directory; give its root with --root.")
    project = root.resolve()
    for path in given:
        if ".." in path.parts:
            raise UsageError(f"The memory directory {path} leads upwards; give it without '..'.")
        if not path.expanduser().is_dir():
            raise ConfigError(f"The memory directory {path} does not exist.")
    folders = [path.expanduser() for path in given]
    if not given:
        own, inside = agent_folder(project, home) / "memory", (project.glob(pattern) for pattern in PATTERNS)
        folders = [path for paths in inside for path in paths if path.is_dir()]
        folders = [path for path in folders if path.resolve().is_relative_to(project)]
        folders = [path for path in (*folders, own) if path.is_dir()]
    found = sorted({path.resolve() for path in folders})
    names = [path.relative_to(project) if path.is_relative_to(project) else path for path in found]
    named = zip(names, found, strict=True)
    return tuple(MemoryDirectory(at.as_posix(), path, _title(path, project), project) for at, path in named)


def other_places(root: Path) -> list[str]:
    """Folders of a project that may hold memories of other agents, by their names in it."""
    return [place for place in OTHER_PLACES if any(_topics(root / place))]


def sessions(root: Path, *, home: Path | None = None) -> Path | None:
    """Where the agent keeps the transcripts of its sessions about a project, if it does."""
    folder = agent_folder(root.resolve(), home)
    return folder if folder.is_dir() and any(folder.glob("*.jsonl")) else None


def unreadable(path: Path) -> str | None:
    """Why the bytes of a file are not read; None if there is nothing against it, or no file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return "is a link that leads nowhere" if path.is_symlink() else None
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if not stat.S_ISREG(about.st_mode):
        return "is no regular file"
    if about.st_size > MAX_FILE:
        return f"has {about.st_size:,} bytes, more than the {MAX_FILE:,} that are read"
    return None


def agent_folder(project: Path, home: Path | None) -> Path:
    """Where the agent keeps what it knows of a project, below the user's home directory."""
    name = re.sub(r"[^A-Za-z0-9]", "-", str(project))
    return (home or Path.home()) / ".claude" / "projects" / name


def _topics(directory: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(directory):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _NOT_MEMORIES)
        for name in files:
            if name.endswith(".md") and not name.startswith(".") and not _ABOUT.match(name):
                yield Path(folder, name)


def _title(path: Path, project: Path) -> str:
    name = path.name
    if name in OTHER_PLACES:
        name = project.name if path.is_relative_to(project) or ".claude" in path.parts else path.parent.name
    words = re.split(r"[-_\s]+", name.strip("-_. "))
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or "Project"


EVERYBODY = frozenset({"memory bank", "Serena", "notes", "named"})  # of no one agent
ORDER = ("always", "index", "described", "matching", "asked")  # what is loaded most stands first


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
    """The files of a project and of `given` folders, each once, under its first layout, in order."""
    project, house = root.resolve(), (home or Path.home()).resolve()
    places = {"project": project, "home": house, "own": agent_folder(project, house)}
    places |= {str(path): path.expanduser() for path in given}
    found: dict[Path, Loaded] = {}
    for agent, at, patterns, when in (
        *LAYOUTS,
        *(("named", str(path), "**/*.md", "asked") for path in given),
    ):
        for path in (path for pattern in patterns.split() for path in sorted(places[at].glob(pattern))):
            if path.is_file() and unreadable(path) is None and path.resolve() not in found:
                found[path.resolve()] = _loaded(path.resolve(), agent, when, project, house)
    for one in [each for each in found.values() if each.when == "always" and IMPORTS in each.agents]:
        for path in _imported(one.path, house):
            agents = dict.fromkeys((*(found[path].agents if path in found else ()), IMPORTS))
            found[path] = replace(_loaded(path, IMPORTS, "always", project, house), agents=tuple(agents))
    return sorted(found.values(), key=lambda one: (ORDER.index(one.when), one.name))


def _loaded(path: Path, agent: str, when: str, project: Path, house: Path) -> Loaded:
    document = parse(path.read_bytes())
    every = len(document.source.splitlines())
    if when == "matching":
        limited = document.value(*_PATHS) or document.value("alwaysApply") is False
        named = limited and document.value("alwaysApply") is not True
        when = "asked" if document.value("inclusion") == "manual" else "matching" if named else "always"
    shown = {"index": MAX_LINES, "described": document.source[: document.start].count("\n")}.get(when, every)
    if path.is_relative_to(project):
        name = path.relative_to(project).as_posix()
    else:
        name = f"~/{path.relative_to(house).as_posix()}" if path.is_relative_to(house) else str(path)
    return Loaded(name, path, (agent,), when, document.source, min(shown, every))


def _imported(path: Path, house: Path, depth: int = _DEPTH) -> Iterator[Path]:
    for name in _IMPORT.findall(path.read_text(encoding="utf-8", errors="replace")):
        target = (house / name[2:] if name.startswith("~/") else path.parent / name).resolve()
        if target.is_file() and unreadable(target) is None:
            yield target
            yield from _imported(target, house, depth - 1) if depth > 1 else ()
