"""Where forgotten memories and broken lines go: JSON lists a person can read, one file for each day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ....errors import UsageError
from ..files.archive import keep_entry, kept_entries
from .lines import GraphLine

FOLDER = "archive"
_FORGOTTEN, _BROKEN = "-forgotten.json", "-broken.json"


def archive_forgotten(
    folder: Path, lines: Sequence[GraphLine], relations: Sequence[GraphLine], *, at: datetime, reason: str
) -> None:
    """Keep a memory that is about to be forgotten, with its relations; the same one is kept once a day.

    Raises:
        RefusedChangeError: If it cannot be kept; then it may not go.
    """
    entry = {
        **{key: value for key, value in lines[0].item.items() if key != "type"},
        "forgottenAt": at.isoformat(),
        "reason": reason,
        "relations": [line.item for line in relations],
        "lines": [line.raw for line in lines],
        "relationLines": [line.raw for line in relations],
    }
    keep_entry(folder / f"{at.date().isoformat()}{_FORGOTTEN}", entry, same=("lines", "relationLines"))


def archive_broken(folder: Path, lines: Sequence[tuple[int, GraphLine]], *, at: datetime) -> None:
    """Keep unreadable lines, with their numbers.

    Raises:
        RefusedChangeError: If they cannot be kept.
    """
    rows = [{"number": number, "raw": line.raw} for number, line in lines]
    entry = {"movedAt": at.isoformat(), "lines": rows}
    keep_entry(folder / f"{at.date().isoformat()}{_BROKEN}", entry, same=("lines",))


def find_forgotten(folder: Path, name: str) -> tuple[list[GraphLine], list[GraphLine]]:
    """The lines of the newest archived entry of a memory, and those of its relations.

    Raises:
        UsageError: If there is none.
    """
    for path in sorted(folder.glob(f"*{_FORGOTTEN}"), reverse=True):
        for entry in reversed(kept_entries(path)):
            if entry.get("name") == name:
                own, relations = (
                    [GraphLine.of(raw) for raw in entry[key]] for key in ("lines", "relationLines")
                )
                return own, relations
    raise UsageError(f"The archive {folder} holds no memory {name!r}; names are exact.")
