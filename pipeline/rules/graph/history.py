"""The state of every memory after a run, with which the next run is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .nodes import Node
from .settings import GraphSettings


@dataclass(frozen=True, slots=True)
class Remembered:
    """A graph after a run.

    Attributes:
        at: When that was.
        memories: Uses and effectiveness by name; an effectiveness may be unknown.
        run: Its name; empty if there was nothing to do.
    """

    at: datetime
    memories: Mapping[str, tuple[int, float | None]]
    run: str = ""

    @classmethod
    def of(cls, nodes: Iterable[Node], *, now: datetime, run: str = "") -> Remembered:
        """Record the state of every memory."""
        return cls(now, {node.id: (node.usage.uses, node.usage.effectiveness) for node in nodes}, run)

    def to_json(self) -> dict[str, Any]:
        """For the notes."""
        return {
            "at": self.at.isoformat(),
            "memories": {name: list(row) for name, row in self.memories.items()},
            "run": self.run,
        }


def remembered(value: object) -> Remembered | None:
    """Read a note back; what cannot be read counts as no note."""
    if not isinstance(value, dict):
        return None
    rows = value.get("memories", {})
    return Remembered(
        datetime.fromisoformat(value["at"]),
        {name: (int(row[0]), row[1]) for name, row in rows.items()},
        str(value.get("run", "")),
    )


def due_reason(
    names: Iterable[str], last: Remembered | None, *, settings: GraphSettings, now: datetime
) -> tuple[bool, str]:
    """Whether a consolidation is due, and why or why not."""
    present = set(names)
    if last is None:
        return True, "never consolidated"
    if len(present) > settings.max_memories:
        return True, f"{len(present)} memories, more than {settings.max_memories}"
    since = now - last.at
    if since >= settings.due_after:
        return True, f"{since.days} days since the last run, limit {settings.due_after.days}"
    new = len(present - set(last.memories))
    if new >= settings.due_new:
        return True, f"{new} new memories since the last run, limit {settings.due_new}"
    left = settings.due_after - since
    latest = f"due in {max(1, left.days)} days at the latest"
    return False, f"{len(present)} memories, {new} new, last run {_ago(since)}; {latest}"


def _ago(since: timedelta) -> str:
    return f"{since.days} days ago" if since.days else "today"
