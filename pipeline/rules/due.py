"""Whether a night's pass is worth its while: enough time since the last one, and enough that is new."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class LastPass:
    """The last pass over the same memories, with the names of what there was, or became."""

    at: datetime
    known: Collection[Hashable]


def due_reason(
    present: Collection[Hashable],
    last: LastPass | None,
    *,
    after: timedelta,
    new: int,
    now: datetime,
    most: int | None = None,
) -> tuple[bool, str]:
    """Whether a pass is due, and why or why not; by time and news, or with `most` by any of the three."""
    if last is None:
        return True, "never consolidated"
    since, fresh = now - last.at, len(set(present) - set(last.known))
    if most is None:
        counted = f"{fresh} new memories since the last run, {_ago(since)}"
        if since < after:
            return False, f"{counted}; due {_spoken(after)} after it"
        if fresh < new:
            return False, f"{counted}; due from {new}"
        return True, f"{counted}; limits {new} and {_spoken(after)}"
    for holds, why in (
        (len(present) > most, f"{len(present)} memories, more than {most}"),
        (since >= after, f"{since.days} days since the last run, limit {after.days}"),
        (fresh >= new, f"{fresh} new memories since the last run, limit {new}"),
    ):
        if holds:
            return True, why
    counted = f"{len(present)} memories, {fresh} new, last run {_ago(since)}"
    return False, f"{counted}; due in {max(1, (after - since).days)} days at the latest"


def _ago(since: timedelta) -> str:
    if since < timedelta(hours=1):
        return "less than an hour ago"
    return f"{_spoken(since)} ago"


def _spoken(span: timedelta) -> str:
    hours = int(span / timedelta(hours=1))
    if hours >= 72:
        return f"{hours // 24} days"
    return f"{hours} hours" if hours != 1 else "1 hour"
