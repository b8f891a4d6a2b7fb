"""One look over the project's files: which paths exist, and which of the wanted symbols occur.

What git would not track is left out; the memory directories themselves too, since a memory cannot
be the proof of what it says. Everything is opened read-only.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_FEW = 16
"""Up to so many wanted symbols, searching each is faster than listing every word of a file."""
_LARGEST = 4_000_000
"""Larger files are data or bundles, in which a name proves nothing."""
_SNIFFED = 1024
"""Bytes in which a zero marks a binary file."""
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})
_Chain = list[tuple[int, "GitIgnoreSpec"]]
"""The specifications that rule over a folder, nearest first, with the length of the path they leave out."""


@dataclass(frozen=True, slots=True)
class CodeIndex:
    """What exists in a project."""

    root: Path  # the project
    files: frozenset[str]  # paths relative to it, with slashes
    symbols: frozenset[str]  # those of the wanted symbols that occur anywhere
    names: Mapping[str, tuple[str, ...]] = field(hash=False)  # paths by file name
    ignored: GitIgnoreSpec | None = field(hash=False)  # the .gitignore at its root, if there is one

    def has_file(self, path: str, *, beside: Path | None = None) -> bool:
        """Whether a file of this name exists: as given, below some folder, or ignored but on the disk."""
        relative = path.lstrip("/")
        if any(f"/{full}".endswith(f"/{relative}") for full in self._named(relative)):
            return True
        places = [self.root, *([beside] if beside else [])]
        return any((place / relative).exists() for place in places) or Path(path).exists()

    def has_folder(self, name: str) -> bool:
        """Whether the project has files in a folder."""
        return any(file.startswith(f"{name}/") for file in self.files)

    def checkable(self, path: str) -> bool:
        """Whether the absence of a file would mean anything: it lies in the project and is not generated."""
        if path.startswith("/") and not Path(path).is_relative_to(self.root):
            return False
        relative = path.removeprefix(self.root.as_posix()).lstrip("/")
        left_out = bool(relative) and self.ignored is not None and self.ignored.match_file(relative)
        return not left_out and not _SKIPPED.intersection(PurePosixPath(relative).parts)

    def moved(self, path: str) -> str | None:
        """Where a missing file went, if exactly one file in the project has its name."""
        elsewhere = self._named(path)
        return elsewhere[0] if len(elsewhere) == 1 else None

    def _named(self, path: str) -> tuple[str, ...]:
        return self.names.get(PurePosixPath(path).name, ())


def build_index(root: Path, wanted: Iterable[str], *, without: Iterable[Path] = ()) -> CodeIndex:
    """Walk the project once, but for the folders `without`, and look for the wanted symbols."""
    specs: dict[str, GitIgnoreSpec] = {}
    left = {name.encode() for name in wanted}
    all_wanted = frozenset(left)
    names: dict[str, list[str]] = defaultdict(list)
    for relative, path in _walk(root, {str(place) for place in without}, specs):
        names[relative.rpartition("/")[2]].append(relative)
        if left:
            left -= _occurring(path, left)
    return CodeIndex(
        root,
        frozenset(path for paths in names.values() for path in paths),
        frozenset(name.decode() for name in all_wanted - left),
        {name: tuple(sorted(paths)) for name, paths in names.items()},
        specs.get(""),
    )


def _walk(root: Path, without: set[str], specs: dict[str, GitIgnoreSpec]) -> Iterator[tuple[str, str]]:
    """Files that git would track, relative and as they are opened; a path object for each would be slow."""
    import pathspec

    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        here = "" if relative == "." else relative
        prefix = f"{here}/" if here else ""
        if ".gitignore" in files:
            with contextlib.suppress(OSError):
                rules = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace")
                specs[here] = pathspec.GitIgnoreSpec.from_lines(rules.splitlines())
        parents = [here[: match.start()] for match in re.finditer("/", here)] + [here] * bool(here)
        chain = [(len(up) + bool(up), specs[up]) for up in (*reversed(parents), "") if up in specs]
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and os.path.join(folder, name) not in without  # noqa: PTH118
            and not _left_out(f"{prefix}{name}/", chain)
        )
        for name in sorted(files):
            if not _left_out(prefix + name, chain):
                yield prefix + name, os.path.join(folder, name)  # noqa: PTH118


def _left_out(path: str, chain: _Chain) -> bool:
    """Whether git leaves a path out; the nearest file that says anything decides."""
    said = (spec.check_file(path[prefix:]).include for prefix, spec in chain)
    return next((include for include in said if include is not None), False)


def _occurring(path: str, wanted: set[bytes]) -> set[bytes]:
    """Which of the symbols occur in a text file as whole words."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:  # noqa: PTH113, PTH202
            return set()
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read(_SNIFFED)
            if b"\0" in data:
                return set()
            data += file.read()
    except OSError:
        return set()
    near = wanted if len(wanted) > _FEW else {name for name in wanted if name in data}
    return near.intersection(_IDENTIFIER.findall(data)) if near else set()
