"""Which directories hold memories, which files in them, and that nothing leads out of them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ....errors import ConfigError, UsageError

INDEX = "MEMORY.md"
GATHERED = "from_daily_logs.md"
"""The file that takes in new facts for which no other file is the place."""
MAX_FILE = 1_000_000
"""Bytes of the largest file that is read; no memory is that long."""
PATTERNS = (".claude/agent-memory/*", ".claude/projects/*/memory", ".claude/memory")
"""Where coding agents keep memories inside a project."""
_APART = frozenset({"logs", "sessions", "archive"})
"""Folders that hold raw material, not memories."""
_HOME = Path(".claude") / "projects"
_ABOUT = re.compile(r"(?:(?i:readme)|INDEX|MEMORY(?:[_-][A-Z_-]+)?)\.md$")
"""Files about the memories, and indexes of old: they are no memories."""
_PLAIN = frozenset({"memory", "memories", "memory-bank", "memory_bank"})
"""Names of directories that say nothing about whose they are."""
NONE_FOUND = "No memory directories found"


@dataclass(frozen=True, slots=True)
class MemoryDirectory:
    """One directory of memories.

    Attributes:
        name: How it is named in ids and reports: relative to the project where it lies in it.
        path: Where it is, symbolic links resolved.
        title: What its index is called.
        project: The project it belongs to; a link may lead into it, and nowhere else.
    """

    name: str
    path: Path
    title: str
    project: Path | None = None

    def topics(self) -> list[Path]:
        """Every file of memories but the index, sorted by name; what may not be read is left out."""
        return sorted(path for path in _topics(self.path) if self.refusal(path) is None)

    def refused(self) -> list[tuple[Path, str]]:
        """Files that would be memories but may not be read, with the reason."""
        paths = [*_topics(self.path), *([self.path / INDEX] if _exists(self.path / INDEX) else [])]
        return [(path, reason) for path in sorted(paths) if (reason := self.refusal(path)) is not None]

    def refusal(self, path: Path) -> str | None:
        """Why a file may not be read: no regular file, too large, or a link that leads out."""
        if path.is_symlink():
            places = (self.path, *([self.project] if self.project else []))
            target = path.resolve()
            if not any(target.is_relative_to(place) for place in places):
                return "is a link that leads out of the project"
        return unreadable(path)

    @property
    def is_loaded(self) -> bool:
        """Whether an agent is known to load an index from here, so that one may be begun unasked."""
        return ".claude" in self.path.parts

    def is_index_alone(self) -> bool:
        """Whether MEMORY.md is all there is, so that its own entries are the memories."""
        others = [path for path in self.topics() if path != self.path / GATHERED]
        index = self.path / INDEX
        return not others and _exists(index) and self.refusal(index) is None

    def relative(self, path: Path) -> str:
        """Name of a file inside this directory, with slashes."""
        return path.relative_to(self.path).as_posix()


def discover(
    root: Path, given: Sequence[Path] = (), *, home: Path | None = None
) -> tuple[MemoryDirectory, ...]:
    """Find the memory directories of a project, or take the ones given.

    Args:
        root: The project.
        given: These instead of searching.
        home: Where the agent's own folder is looked for; the user's home directory if omitted.

    Raises:
        ConfigError: If the project or a given directory does not exist.
        UsageError: If a given path leads upwards.
    """
    if not root.is_dir():
        raise ConfigError(f"The project {root} is no directory; give its root with --root.")
    project = root.resolve()
    directories = [_checked(path) for path in given] or list(_searched(project, home))
    unique = sorted({path.resolve() for path in directories})
    return tuple(
        MemoryDirectory(_name(path, project), path, _title(path, project), project) for path in unique
    )


def sessions(root: Path, *, home: Path | None = None) -> Path | None:
    """Where the agent keeps the transcripts of its sessions about a project, if it does."""
    folder = (home or Path.home()) / _HOME / re.sub(r"[^A-Za-z0-9]", "-", str(root.resolve()))
    return folder if folder.is_dir() and any(folder.glob("*.jsonl")) else None


def inside(directory: MemoryDirectory, name: str) -> Path:
    """Path of a memory file by its name in the directory.

    Raises:
        UsageError: If it would lead out of the directory, by `..`, an absolute path or a link.
    """
    parts = PurePosixPath(name).parts
    path = directory.path.joinpath(*parts)
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or not _within(path, directory.path):
        raise UsageError(
            f"{name!r} leads out of the memory directory {directory.name}; nothing is done there."
        )
    return path


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


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _within(path: Path, directory: Path) -> bool:
    return path.parent.resolve().is_relative_to(directory)


def _checked(path: Path) -> Path:
    if ".." in path.parts:
        raise UsageError(f"The memory directory {path} leads upwards; give it without '..'.")
    if not path.expanduser().is_dir():
        raise ConfigError(f"The memory directory {path} does not exist.")
    return path.expanduser()


def _searched(project: Path, home: Path | None) -> Iterator[Path]:
    for pattern in PATTERNS:
        folders = (path for path in project.glob(pattern) if path.is_dir())
        yield from (path for path in folders if path.resolve().is_relative_to(project))
    user = (home or Path.home()) / _HOME / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"
    if user.is_dir():
        yield user


def _topics(directory: Path) -> Iterable[Path]:
    for folder, names, files in os.walk(directory):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _APART)
        here = Path(folder)
        yield from (
            here / name
            for name in files
            if name.endswith(".md") and not name.startswith(".") and not _ABOUT.match(name)
        )


def _name(path: Path, project: Path) -> str:
    if path.is_relative_to(project):
        return path.relative_to(project).as_posix()
    return path.as_posix()


def _title(path: Path, project: Path) -> str:
    """A directory that is just called "memory" is named after what it belongs to."""
    name = path.name
    if name in _PLAIN:
        name = project.name if path.is_relative_to(project) or ".claude" in path.parts else path.parent.name
    words = re.split(r"[-_\s]+", name.strip("-_. "))
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or "Project"
