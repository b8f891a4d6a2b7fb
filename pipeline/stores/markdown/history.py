"""What the git history says: which paths once existed, where they went, when a file or a line was written.

The repository is only read: its hooks, monitors and optional locks stay off. Outside a repository, or
where the history cannot be read in time, nothing is known, and nothing is concluded from that.
"""

from __future__ import annotations

import functools
import logging
import os
import subprocess
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

logger = logging.getLogger(__name__)

GIT_SECONDS = 20
"""How long one question to the history may take."""
_MOVES = 5
"""So many renames one after another are followed."""
_EQUAL = 95
"""Per cent two files share if one is the other under a new name; less may be what was left after a split."""
_PATHS_AT_ONCE = 500


def git(folder: Path, *words: str, literal: bool = True) -> str | None:
    """What a reading git command prints in a folder; None if there is no repository or no answer.

    Paths are taken as they are if `literal`; the question what git leaves out knows no other way.
    """
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", str(folder), *words]
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    quiet |= {"GIT_LITERAL_PATHSPECS": "1"} if literal else {}
    try:
        ran = subprocess.run(  # noqa: S603  (a fixed command; folder and paths are single arguments)
            command, capture_output=True, check=True, timeout=GIT_SECONDS, env={**os.environ, **quiet}
        )
    except (OSError, subprocess.SubprocessError) as error:
        logger.info("The history of %s cannot be read: %s", folder, type(error).__name__)
        return None
    return ran.stdout.decode("utf-8", "surrogateescape")


def removed_paths(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths that a commit took away, with the latest such commit."""
    wanted = sorted({path for path in paths if path and not path.startswith("/")})
    asked = (
        "log",
        "--no-renames",
        "--diff-filter=D",
        "--format=%x01%H",
        "--name-only",
        "-z",
        "--relative",
        "--",
    )
    removed: dict[str, str] = {}
    for start in range(0, len(wanted), _PATHS_AT_ONCE):
        part = wanted[start : start + _PATHS_AT_ONCE]
        for commit in (git(root, *asked, *part) or "").split("\x01")[1:]:
            name, *names = commit.split("\0")
            for path in names:
                if path.strip("\n") in part:
                    removed.setdefault(path.strip("\n"), name.strip())
    return removed


def hidden_paths(root: Path, paths: Iterable[str]) -> set[str]:
    """Those of the paths that may still be on their author's disk.

    Git leaves them out, or the commit that took them away changed what it leaves out.
    """
    wanted = set(paths)
    hidden = {path for path, commit in removed_paths(root, wanted).items() if _hides(root, commit)}
    return hidden | ignored_paths(root, wanted)


@functools.lru_cache(maxsize=1024)
def _hides(root: Path, commit: str) -> bool:
    said = git(root, "show", "--name-only", "-z", "--format=", commit)
    return any(name.strip("\n").rpartition("/")[2] == ".gitignore" for name in (said or "").split("\0"))


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
    parts = (git(root, *asked) or "").split("\0")
    renames: dict[str, str] = {}
    for status, old, new in zip(parts, parts[1:], parts[2:], strict=False):
        score = status.strip().removeprefix("R")
        same = old.rpartition("/")[2] == new.rpartition("/")[2]
        if status.strip().startswith("R") and score.isdigit() and (same or int(score) >= _EQUAL):
            renames[old] = new
    return renames


def ignored_paths(folder: Path, paths: Iterable[str]) -> set[str]:
    """Those of the paths that git leaves out, so that their absence here says nothing."""
    wanted = sorted(path for path in paths if path)
    ignored: set[str] = set()
    for start in range(0, len(wanted), _PATHS_AT_ONCE):
        part = wanted[start : start + _PATHS_AT_ONCE]
        said = git(folder, "check-ignore", "--no-index", "--", *part, literal=False)
        ignored.update((said or "").splitlines())
    return ignored & set(wanted)


def changed_files(directory: Path) -> set[Path]:
    """Files under a directory that differ from the last commit."""
    said = git(directory, "diff", "--name-only", "-z", "--relative", "HEAD", "--", ".")
    return {directory / name for name in (said or "").split("\0") if name}


def latest_commits(directory: Path) -> dict[Path, datetime]:
    """Moment of the latest commit of each file under a directory; empty outside a repository."""
    asked = ("log", "--no-renames", "--format=%x01%cI", "--name-only", "-z", "--relative", "--", ".")
    moments: dict[Path, datetime] = {}
    for commit in (git(directory, *asked) or "").split("\x01")[1:]:
        moment, *names = commit.replace("\n", "\0", 1).split("\0")
        for name in names:
            if name.strip("\n"):
                path = directory / name.strip("\n")
                moments.setdefault(path, datetime.fromisoformat(moment.strip()).astimezone(UTC))
    return moments


def line_days(path: Path) -> dict[str, date | None]:
    """The author's day of each line of a file, by what the line says; None where that is not certain.

    A first commit may have brought in what was written long before, and a line that nobody committed
    has no day; a line that stands there twice with two days has none either.
    """
    said = git(path.parent, "blame", "--line-porcelain", "--", path.name)
    days: dict[str, date | None] = {}
    about: dict[str, str] = {}
    for row in (said or "").split("\n"):
        if not row.startswith("\t"):
            key, _, value = row.partition(" ")
            is_hash = len(key) >= 40 and all(char in "0123456789abcdef" for char in key)
            about = {"commit": key} if is_hash else {**about, key: value}
            continue
        day = None if "boundary" in about or not about["commit"].strip("0") else _author_day(about)
        line = row[1:].strip()
        days[line] = day if days.get(line, day) == day else None
    return days


def _author_day(about: dict[str, str]) -> date | None:
    try:
        zone = about["author-tz"]
        minutes = int(zone[1:3]) * 60 + int(zone[3:5])
        offset = timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
        return datetime.fromtimestamp(int(about["author-time"]), UTC).astimezone(offset).date()
    except (KeyError, ValueError, IndexError):
        return None
