"""Whether a night's pass is worth its while: enough time since the last one, and enough that is new."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...settings import Settings


@dataclass(frozen=True, slots=True)
class LastPass:
    """The last pass over the same memories.

    Attributes:
        at: When.
        known: Names of the memories there were, or became; see `writing.nights`.
    """

    at: datetime
    known: Collection[int]


def due_reason(
    present: Collection[int], last: LastPass | None, *, settings: Settings, now: datetime
) -> tuple[bool, str]:
    """Whether a pass is due, and why or why not.

    Args:
        present: Names of the memories there are now.
        last: The last pass, if there was one.
        settings: The two limits.
        now: The present moment.
    """
    if last is None:
        return True, "never consolidated"
    since, new = now - last.at, len(set(present) - set(last.known))
    counted = f"{new} new memories since the last run, {_ago(since)}"
    if since < settings.due_after:
        return False, f"{counted}; due {_spoken(settings.due_after)} after it"
    if new < settings.due_new:
        return False, f"{counted}; due from {settings.due_new}"
    return True, f"{counted}; limits {settings.due_new} and {_spoken(settings.due_after)}"


def _ago(since: timedelta) -> str:
    if since < timedelta(hours=1):
        return "less than an hour ago"
    return f"{_spoken(since)} ago"


def _spoken(span: timedelta) -> str:
    hours = int(span / timedelta(hours=1))
    if hours >= 72:
        return f"{hours // 24} days"
    return f"{hours} hours" if hours != 1 else "1 hour"
