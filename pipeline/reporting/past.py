"""What was held true before: each memory's earlier words, out of the journal and of the store's own marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...records import SUPERSEDED_KEYS, Memory, noted_moment
from ..plan import Merge, Prune, Resolve, TextChange
from ..planning.plan_file import parse_plan
from ..stores.base import ScopeFilter
from ..writing.journal import ChangeState, Journal, Operation, Run
from .text import day, spoken_ids, visible

_TOWARDS = {"contradicted": "by", "same fact": "as"}
"""How the line about an end goes on to what took its place; merged and else "into"."""


@dataclass(frozen=True, slots=True)
class Version:
    """Words that a memory had for a time."""

    id: str
    text: str
    since: datetime | None  # when they were stated; None if unknown
    until: datetime | None = None  # when others took their place; None while they hold
    into: str | None = None  # id of the memory that says so now; None while they hold, or if there is none
    how: str = ""  # contradicted, same fact, merged, reworded, or why it was pruned; empty while they hold

    def held_at(self, moment: datetime) -> bool:
        """Whether these were the words at a moment."""
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)


def versions(
    memories: Iterable[Memory], journal: Journal, store: str, *, scopes: ScopeFilter
) -> list[Version]:
    """All words that memories had, as far as the store and the journal know, the oldest first.

    `memories` are those that stand in the store, retired ones included.
    """
    present = {memory.id: memory for memory in memories}
    past = [one for run in journal.runs(store) for one in _of_run(run, journal, scopes)]
    known = {(one.id, one.text) for one in past}
    for memory in present.values():
        into, at, how = (memory.metadata.get(key) for key in SUPERSEDED_KEYS)
        if (memory.id, memory.text) in known:
            continue
        stays = present.get(str(into)) if how in _TOWARDS else None
        ended = _ended(memory.stated_at, stays.stated_at if stays else None, noted_moment(at))
        marked = (ended, str(into), str(how)) if into else (None, None, "")
        past.append(Version(memory.id, memory.text, memory.stated_at, *marked))
    return sorted(past, key=lambda x: (x.since.timestamp() if x.since else 0.0, x.until is None, x.id))


def _of_run(run: Run, journal: Journal, scopes: ScopeFilter) -> Iterable[Version]:
    done = [each for each in journal.changes(run.id) if each.state is ChangeState.DONE]
    removed = {(each.action, each.memory) for each in done if each.operation is Operation.REMOVE}
    added = {each.action: each.memory for each in done if each.operation is Operation.ADD}
    rewritten = {each.action for each in done if each.operation is Operation.REPLACE}
    for action in parse_plan(run.plan).actions if done else ():
        if not scopes.matches(action.scope):
            continue
        into = added.get(action.id, action.survivor)
        stays = next((member for member in action.members if member.id == into), None)
        said: datetime | None = None
        how: str = action.reason if isinstance(action, Prune) else "merged"
        if isinstance(action, Resolve) and stays is not None:
            said, how = stays.stated_at, action.ends
        for member in action.members:
            if (action.id, member.id) in removed:
                ended = _ended(member.stated_at, said, run.started_at)
                yield Version(member.id, member.text, member.stated_at, ended, into, how)
            elif action.id in rewritten and member.id == into and isinstance(action, Merge | TextChange):
                yield Version(member.id, member.text, member.stated_at, run.started_at, into, "reworded")


def _ended(stated: datetime | None, said: datetime | None, noted: datetime | None) -> datetime | None:
    """When words ceased to hold: when those that took their place were said, if that is known."""
    until = said or noted
    return max(until, stated) if until and stated else until


def chain(found: Iterable[Version], every: Sequence[Version]) -> list[Version]:
    """These versions with all that they took the place of, and all that took theirs, in the same order."""
    names = {one.id for one in found}
    while True:
        more = {one.into for one in every if one.id in names and one.into}
        more |= {one.id for one in every if one.into in names}
        if more <= names:
            return [one for one in every if one.id in names]
        names |= more


def matching(query: str, every: Sequence[Version], kind: str) -> list[Version]:
    """The versions of the memory with this id, or its beginning; else those whose words hold the text."""
    wanted = query.strip("[]").removeprefix(f"{kind}:")
    named = [one for one in every if one.id == wanted] or [one for one in every if one.id.startswith(wanted)]
    said = " ".join(query.casefold().split())
    return named or [one for one in every if said in " ".join(one.text.casefold().split())]


def spoken_versions(shown: Sequence[Version], every: Sequence[Version], kind: str) -> list[str]:
    """One line for each version: its words, its memory, its time, and what became of it."""
    short = spoken_ids((name for one in every for name in (one.id, one.into) if name), kind)
    lines = []
    for one in shown:
        moved = one.into if one.into != one.id else None
        goes = f" {_TOWARDS.get(one.how, 'into')} [{kind}:{short[moved]}]" if moved else ""
        ended = f" until {day(one.until)}: {one.how}{goes}" if one.until else ""
        began = f"since {day(one.since)}" if one.since else "since an unknown day"
        lines.append(visible(f"[{kind}:{short[one.id]}] {' '.join(one.text.split())}"))
        lines.append(visible(f"    {began}{ended}"))
    return lines
