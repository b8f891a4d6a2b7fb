"""From which day the words "yesterday" and "tomorrow" in a memory are reckoned.

A date in the line or its heading comes first (see `dates_absolute`); then the day in the file's name or its
frontmatter, and the day on which the line's author committed it. Where two of these differ, none is certain.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

from ....records import Memory
from ...stores.markdown.history import line_days
from .dates_absolute import DayOf

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_NEAR = timedelta(days=1)
"""A day that was written in one zone may be the next one in another."""


def day_of(memory: Memory, path: Path | None, known: dict[Path, dict[str, date | None]]) -> DayOf:
    """How to find the day on which a line of a memory was written.

    Args:
        memory: Whose line it is.
        path: Its file.
        known: The days of files that were looked at already.
    """
    stated = _stated(memory)

    def find(line: str) -> date | None:
        """The one day that nothing speaks against."""
        committed = _committed(line, path, known)
        if committed is None or stated is None:
            return stated or committed
        return stated if abs(committed - stated) <= _NEAR else None

    return find


def _stated(memory: Memory) -> date | None:
    said = memory.metadata.get("day")
    return date.fromisoformat(said) if isinstance(said, str) and said else None


def _committed(line: str, path: Path | None, known: dict[Path, dict[str, date | None]]) -> date | None:
    if path is None:
        return None
    if path not in known:
        known[path] = {_bare(said): day for said, day in line_days(path).items()}
    return known[path].get(_bare(line))


def _bare(line: str) -> str:
    return _BULLET.sub("", line).strip()
