"""How old a memory is: its frontmatter says it, else the history of the repository, else the file.

The modification time comes last, because a checkout sets it anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from .history import git

CREATED = ("created", "created_at", "date")
UPDATED = ("updated", "updated_at", "last_updated", "modified", "last_modified")


def frontmatter_date(values: Mapping[str, Any], names: tuple[str, ...]) -> datetime | None:
    """The first of these keys that holds a date, as midnight UTC unless it names a time."""
    for name in names:
        moment = as_moment(values.get(name))
        if moment is not None:
            return moment
    return None


def as_moment(value: object) -> datetime | None:
    """Read what YAML or a person wrote as a date."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str):
        return None
    try:
        return as_moment(datetime.fromisoformat(value.strip()))
    except ValueError:
        return None


def file_moment(nanoseconds: int) -> datetime:
    """A modification time."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)


def git_dates(directory: Path) -> dict[Path, datetime]:
    """Latest commit of each file under a directory; empty outside a repository."""
    said = git(
        directory, "log", "--no-renames", "--format=%x01%cI", "--name-only", "-z", "--relative", "--", "."
    )
    return _newest_commits(said or "", directory)


def _newest_commits(log: str, directory: Path) -> dict[Path, datetime]:
    moments: dict[Path, datetime] = {}
    for commit in log.split("\x01")[1:]:
        moment_text, _, names = commit.partition("\n" if "\n" in commit.split("\0", 1)[0] else "\0")
        moment = as_moment(moment_text.strip("\0\n"))
        if moment is None:
            continue
        for name in names.split("\0"):
            if name.strip("\n"):
                moments.setdefault(directory / name.strip("\n"), moment)
    return moments
