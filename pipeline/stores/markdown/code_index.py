"""One look over the project's files: which paths exist, and which of the wanted symbols occur.

What git would not track is left out; the memory directories themselves too, since a memory cannot
be the proof of what it says. Everything is opened read-only.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
_BINARY = frozenset(
    [
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".webp",
        ".ico",
        ".pdf",
        ".zip",
        ".gz",
        ".xz",
        ".bz2",
        ".zst",
        ".tar",
        ".whl",
        ".jar",
        ".so",
        ".dylib",
        ".dll",
        ".exe",
        ".bin",
        ".pyc",
        ".woff",
        ".woff2",
        ".ttf",
        ".otf",
        ".mp3",
        ".mp4",
        ".mov",
        ".webm",
        ".sqlite",
        ".db",
        ".parquet",
        ".npy",
        ".npz",
        ".pt",
        ".onnx",
        ".safetensors",
    ]
)
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True, slots=True)
class CodeIndex:
    """What exists in a project.

    Attributes:
        root: The project.
        files: Paths relative to it, with slashes.
        symbols: Those of the wanted symbols that occur anywhere.
        names: Paths by file name.
        ignored: Decides whether git would leave a path out.
    """

    root: Path
    files: frozenset[str]
    symbols: frozenset[str]
    names: dict[str, tuple[str, ...]] = field(hash=False)
    ignored: Ignored = field(hash=False)

    def has_file(self, path: str, *, beside: Path | None = None) -> bool:
        """Whether a file of this name exists: as given, below some folder, or ignored but on the disk."""
        relative = path.lstrip("/")
        if relative in self.files or any(
            f"/{full}".endswith(f"/{relative}") for full in self._named(relative)
        ):
            return True
        places = [self.root, *([beside] if beside else [])]
        return any((place / relative).exists() for place in places) or Path(path).exists()

    def has_folder(self, name: str) -> bool:
        """Whether the project has a folder of this name at its top."""
        return any(file.startswith(f"{name}/") for file in self.files)

    def checkable(self, path: str) -> bool:
        """Whether the absence of a file would mean anything: it lies in the project and is not generated."""
        if path.startswith("/") and not Path(path).is_relative_to(self.root):
            return False
        relative = path.removeprefix(self.root.as_posix()).lstrip("/")
        parts = PurePosixPath(relative).parts
        return not _SKIPPED.intersection(parts) and not self.ignored.by_root(relative)

    def moved(self, path: str) -> str | None:
        """Where a missing file went, if exactly one file in the project has its name."""
        elsewhere = self._named(path)
        return elsewhere[0] if len(elsewhere) == 1 else None

    def _named(self, path: str) -> tuple[str, ...]:
        return self.names.get(PurePosixPath(path).name, ())


class Ignored:
    """The .gitignore files met on the way down."""

    def __init__(self) -> None:
        """Start without any."""
        self._specs: dict[str, GitIgnoreSpec] = {}

    def learn(self, folder: str, path: Path) -> None:
        """Read the .gitignore of a folder."""
        import pathspec

        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        self._specs[folder] = pathspec.GitIgnoreSpec.from_lines(lines)

    def chain(self, folder: str) -> list[tuple[int, GitIgnoreSpec]]:
        """The specifications that rule over a folder, nearest first, with the length of their prefix."""
        chain = []
        for parent in _upwards(folder):
            spec = self._specs.get(parent)
            if spec is not None:
                chain.append((len(parent) + 1 if parent else 0, spec))
        return chain

    def matches(self, path: str, chain: Sequence[tuple[int, GitIgnoreSpec]]) -> bool:
        """Whether a path is left out; the nearest file that says anything decides."""
        for prefix, spec in chain:
            said = spec.check_file(path[prefix:]).include
            if said is not None:
                return said
        return False

    def by_root(self, path: str) -> bool:
        """Whether the .gitignore at the root leaves a path out, whether it exists or not."""
        return "" in self._specs and bool(path) and self._specs[""].match_file(path)


def build_index(root: Path, wanted: Iterable[str], *, without: Iterable[Path] = ()) -> CodeIndex:
    """Walk the project once.

    Args:
        root: The project.
        wanted: The symbols to look for.
        without: Folders left out.
    """
    ignored = Ignored()
    left = {name.encode() for name in wanted}
    all_wanted = frozenset(left)
    files: list[str] = []
    names: dict[str, list[str]] = defaultdict(list)
    for relative, path in _walk(root, {str(place) for place in without}, ignored):
        files.append(relative)
        names[relative.rpartition("/")[2]].append(relative)
        if left:
            left -= _occurring(path, left)
    symbols = frozenset(name.decode() for name in all_wanted - left)
    sorted_names = {name: tuple(sorted(paths)) for name, paths in names.items()}
    return CodeIndex(root, frozenset(files), symbols, sorted_names, ignored)


def _walk(root: Path, without: set[str], ignored: Ignored) -> Iterator[tuple[str, str]]:
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        here = "" if relative == "." else relative
        prefix = f"{here}/" if here else ""
        if ".gitignore" in files:
            ignored.learn(here, Path(folder, ".gitignore"))
        chain = ignored.chain(here)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and os.path.join(folder, name) not in without  # noqa: PTH118  (a path object for each is slow)
            and not (chain and ignored.matches(f"{prefix}{name}/", chain))
        )
        for name in sorted(files):
            if not (chain and ignored.matches(prefix + name, chain)):
                yield prefix + name, os.path.join(folder, name)  # noqa: PTH118


def _occurring(path: str, wanted: set[bytes]) -> set[bytes]:
    """Which of the symbols occur in a file as whole words."""
    if os.path.splitext(path)[1].lower() in _BINARY or not os.path.isfile(path):  # noqa: PTH113, PTH122
        return set()
    try:
        if os.path.getsize(path) > _LARGEST:  # noqa: PTH202  (50,000 files)
            return set()
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read()
    except OSError:
        return set()
    if b"\0" in data[:_SNIFFED]:
        return set()
    if len(wanted) > _FEW:
        return wanted.intersection(_IDENTIFIER.findall(data))
    near = {name for name in wanted if name in data}
    return near.intersection(_IDENTIFIER.findall(data)) if near else near


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
