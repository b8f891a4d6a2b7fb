"""What a project, its history and its sessions say: which paths exist or did, when lines were written.

Memory directories are left out, since a memory cannot be the proof of what it says. Where the history cannot
be read in time, nothing is concluded.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ..files import texts_in
from .repository import git

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

logger = logging.getLogger(__name__)

_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_FEW = 16  # up to so many wanted symbols, searching each is faster than listing every word of a file
_LARGEST = 4_000_000  # larger files are data or bundles, in which a name proves nothing
_SNIFFED = 1024  # bytes in which a zero marks a binary file
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})
_MOVES = 5  # so many renames one after another are followed
_EQUAL = 95  # per cent that a renamed file keeps; less may be what was left after a split
_PATHS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class CodeIndex:
    """What exists in a project."""

    root: Path
    files: frozenset[str]  # paths relative to it, with slashes
    symbols: frozenset[str]  # those of the wanted symbols that occur anywhere
    names: Mapping[str, list[str]] = field(hash=False)  # paths by file name
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

    def moved(self, path: str) -> bool:
        """Whether exactly one file in the project has the name of a missing one."""
        return len(self._named(path)) == 1

    def _named(self, path: str) -> list[str]:
        return self.names.get(PurePosixPath(path).name, [])


def build_index(root: Path, wanted: Iterable[str], *, without: Iterable[Path] = ()) -> CodeIndex:
    """Walk the project once, but for the folders `without`, and look for the wanted symbols."""
    specs: dict[str, GitIgnoreSpec] = {}
    all_wanted = {name.encode() for name in wanted}
    left = set(all_wanted)
    names: dict[str, list[str]] = defaultdict(list)
    for relative, path in _walk(root, {str(place) for place in without}, specs):
        names[relative.rpartition("/")[2]].append(relative)
        if left:
            left -= _occurring(path, left)
    files = frozenset(path for paths in names.values() for path in paths)
    found = frozenset(name.decode() for name in all_wanted - left)
    return CodeIndex(root, files, found, dict(names), specs.get(""))


def _walk(root: Path, without: set[str], specs: dict[str, GitIgnoreSpec]) -> Iterator[tuple[str, str]]:
    """Files that git would track, relative and as they are opened; a path object for each would be slow."""
    import pathspec

    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        here = "" if relative == "." else f"{relative}/"
        if ".gitignore" in files:
            with contextlib.suppress(OSError):
                rules = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace")
                specs[here] = pathspec.GitIgnoreSpec.from_lines(rules.splitlines())
        # What rules over this folder, nearest first, with the length of the path that it leaves out.
        above = ["", *(here[: match.end()] for match in re.finditer("/", here))]
        chain = [(len(up), specs[up]) for up in reversed(above) if up in specs]

        def tracked(path: str, chain: list[tuple[int, GitIgnoreSpec]] = chain) -> bool:
            said = (spec.check_file(path[length:]).include for length, spec in chain)
            return not next((include for include in said if include is not None), False)

        left = [name for name in folders if name not in _SKIPPED and f"{folder}{os.sep}{name}" not in without]
        folders[:] = sorted(name for name in left if tracked(f"{here}{name}/"))
        yield from (
            (here + name, f"{folder}{os.sep}{name}") for name in sorted(files) if tracked(here + name)
        )


def _occurring(path: str, wanted: set[bytes]) -> set[bytes]:
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


def _names(printed: str) -> list[str]:
    return [name.strip("\n") for name in printed.split("\0") if name.strip("\n")]


def _commits(folder: Path, what: str, *words: str) -> Iterator[tuple[str, list[str]]]:
    """What a log says of each commit in the form `what`, the latest first, and the files it touched."""
    asked = ("log", "--no-renames", f"--format=%x01{what}", "--name-only", "-z", "--relative")
    for commit in git(folder, *asked, *words).split("\x01")[1:]:
        about, _, names = commit.replace("\n", "\0", 1).partition("\0")
        yield about.strip(), _names(names)


def removed_paths(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths that a commit took away, with the latest such commit."""
    removed: dict[str, str] = {}
    for part in _parts(path for path in paths if not path.startswith("/")):
        for commit, names in _commits(root, "%H", "--diff-filter=D", "--", *part):
            removed |= {name: commit for name in names if name in part and name not in removed}
    return removed


def hidden_paths(root: Path, paths: Iterable[str]) -> set[str]:
    """Those of the paths that git leaves out, or whose removal changed that: they may be on a disk."""
    wanted = set(paths)
    hidden = {path for path, commit in removed_paths(root, wanted).items() if _hides(root, commit)}
    return hidden | ignored_paths(root, wanted)


@functools.lru_cache(maxsize=1024)
def _hides(root: Path, commit: str) -> bool:
    touched = _names(git(root, "show", "--name-only", "-z", "--format=", commit))
    return any(name.rpartition("/")[2] == ".gitignore" for name in touched)


def new_place(root: Path, path: str, commit: str) -> str | None:
    """Where a removed path lives now, if commits renamed it there and nothing is unclear about it."""
    for _ in range(_MOVES):
        place = _renames(root, commit).get(path)
        if place is None or (root / place).is_file():
            return place
        path, commit = place, removed_paths(root, [place]).get(place, "")
        if not commit:
            return None
    return None


@functools.lru_cache(maxsize=64)
def _renames(root: Path, commit: str) -> dict[str, str]:
    asked = ("show", "-M", "--diff-filter=R", "--name-status", "-z", "--format=", "--relative", commit)
    parts = git(root, *asked).split("\0")
    renames: dict[str, str] = {}
    for status, old, new in zip(parts, parts[1:], parts[2:], strict=False):
        score = status.strip().removeprefix("R")
        same = old.rpartition("/")[2] == new.rpartition("/")[2]
        if status.strip().startswith("R") and score.isdigit() and (same or int(score) >= _EQUAL):
            renames[old] = new
    return renames


def ignored_paths(folder: Path, paths: Iterable[str]) -> set[str]:
    """Those of the paths that git leaves out, so that their absence here says nothing."""
    ignored: set[str] = set()
    for part in _parts(paths):
        said = git(folder, "check-ignore", "--no-index", "--", *part, own_rules=True)
        ignored |= {*said.splitlines()} & {*part}
    return ignored


def _parts(paths: Iterable[str]) -> Iterator[list[str]]:
    wanted = sorted({path for path in paths if path})
    yield from (wanted[at : at + _PATHS_AT_ONCE] for at in range(0, len(wanted), _PATHS_AT_ONCE))


def latest_commits(directory: Path) -> dict[Path, datetime]:
    """Moment of the latest commit of each file under a directory; empty outside a repository."""
    moments: dict[Path, datetime] = {}
    for moment, names in _commits(directory, "%cI", "--", "."):
        for name in names:
            with contextlib.suppress(ValueError, OverflowError):  # a commit may claim a date of no calendar
                moments.setdefault(directory / name, datetime.fromisoformat(moment).astimezone(UTC))
    return moments


def line_days(path: Path) -> dict[str, date | None]:
    """The author's day of each line of a file, by what the line says; None where that is not certain.

    A first commit may have brought in what was written long before, and a line that nobody committed
    has no day; a line that stands there twice with two days has none either.
    """
    days: dict[str, date | None] = {}
    about: dict[str, str] = {}
    written = Counter(line.strip() for line in _lines_of(path))
    for row in git(path.parent, "blame", "--line-porcelain", "HEAD", "--", path.name).split("\n"):
        if not row.startswith("\t"):
            key, _, value = row.partition(" ")
            about = {"commit": key} if re.fullmatch("[0-9a-f]{40,}", key) else {**about, key: value}
            continue
        day, line = None, row[1:].strip()
        if "boundary" not in about:
            with contextlib.suppress(
                KeyError, ValueError, OverflowError, OSError
            ):  # dates of no calendar, too
                zone = datetime.strptime(about["author-tz"], "%z").tzinfo
                day = datetime.fromtimestamp(int(about["author-time"]), zone).date()
        written[line] -= 1
        days[line] = day if days.get(line, day) == day else None
    return {line: day if written[line] <= 0 else None for line, day in days.items()}


def _lines_of(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    return []


SHOWN = 3  # lines of a memory's terms that are shown, the newest
_BLOCK = 1 << 18
_MIN_TERM = 4  # shorter terms are not narrow
_WIDTH = 160


class Quotation(NamedTuple):
    """A line of a transcript that holds a term: the file's name, and what was said around the term."""

    file: str
    text: str


def evidence(folder: Path, terms: Mapping[str, Sequence[str]]) -> dict[str, tuple[Quotation, ...]]:
    """The newest lines in a folder of transcripts about each suspected memory that has any."""
    narrow = {name: [term for term in chosen if len(term) >= _MIN_TERM] for name, chosen in terms.items()}
    found: dict[str, tuple[Quotation, ...]] = {}
    for name, file, line, term in _hits(folder, narrow, most=SHOWN):
        found[name] = (*found.get(name, ()), Quotation(file, _said(line, term)))
    return found


def used_lately(folder: Path, terms: Mapping[str, Sequence[str]], *, since: float) -> frozenset[str]:
    """Memories of which a term stands in a transcript that was written to since this second of the epoch."""
    return frozenset(name for name, *_ in _hits(folder, terms, most=1, since=since))


def _hits(
    folder: Path, terms: Mapping[str, Sequence[str]], *, most: int, since: float = 0.0
) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Memory, file, line and term of each line that holds one; no more is read than is asked for."""
    left = {name: [term.encode() for term in chosen] for name, chosen in terms.items() if chosen}
    counts = dict.fromkeys(left, 0)
    for file, line in _lines(folder, since=since) if left else ():
        for name in [name for name, count in counts.items() if count < most]:
            term = next((term for term in left[name] if term in line), None)
            if term is not None:
                counts[name] += 1
                yield name, file, line, term
        if min(counts.values()) >= most:
            return


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Lines of a file from its end, a block at a time."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        position, rest = file.seek(0, 2), b""
        while position > 0:
            start = max(0, position - _BLOCK)
            file.seek(start)
            first, *lines = (file.read(position - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line.strip())
            position, rest = start, first
        if rest.strip():
            yield rest


def _lines(folder: Path, *, since: float = 0.0) -> Iterator[tuple[str, bytes]]:
    dated = []
    for path in folder.rglob("*.jsonl"):
        with contextlib.suppress(OSError):
            dated += [(-path.stat().st_mtime_ns, path.name, path)] if path.is_file() else []
    for age, name, path in sorted(dated):
        if -age >= since * 1e9:
            yield from ((name, line) for line in lines_backwards(path))


def _said(line: bytes, term: bytes) -> str:
    text, wanted = line.decode("utf-8", "replace"), term.decode("utf-8", "replace")
    try:
        texts = list(texts_in(json.loads(text)))
    except (json.JSONDecodeError, RecursionError):
        texts = []
    flat = " ".join(next((item for item in texts if wanted in item), text).split())
    start = max(0, flat.find(wanted) - _WIDTH // 2)
    return ("…" if start else "") + flat[start : start + _WIDTH] + ("…" if len(flat) > start + _WIDTH else "")
