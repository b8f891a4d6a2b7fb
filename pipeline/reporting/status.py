"""What a store holds and what was done to it, in lines for a person and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...models.words import exact_key
from ...records import Inventory, Scope
from ...settings import Settings
from ..answers import Answer, AnswerKind
from ..rules.stale import is_stale
from ..writing.journal import ChangeState, Operation, Recorded, Run
from .report import clip, visible

NO_CATEGORY = "(no category)"


@dataclass(frozen=True, slots=True)
class Status:
    """What a store holds.

    Attributes:
        kind: The kind of store.
        living: Memories that are not retired.
        retired: Memories that the store hides already.
        pinned: Living memories that are never touched.
        scopes: Living memories by scope; a scope of retired memories alone has none.
        categories: Living memories by category, most frequent first.
        exact_duplicates: Living memories that say literally what another one says.
        stale: Living memories that a pass would remove for their age, or for what they refer to.
        gaps: Why the listing is not provably complete.
        interrupted: The newest run that still has work to do.
        last: The newest run.
        answers: What a person answered for good.
    """

    kind: str
    living: int
    retired: int
    pinned: int
    scopes: Mapping[Scope, int]
    categories: Mapping[str, int]
    exact_duplicates: int
    stale: int
    gaps: tuple[str, ...]
    interrupted: Run | None
    last: Run | None
    answers: tuple[Answer, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "kind": self.kind,
            "memories": {"living": self.living, "retired": self.retired, "pinned": self.pinned},
            "scopes": [
                {"scope": dict(scope.ids), "memories": count} for scope, count in sorted(self.scopes.items())
            ],
            "categories": dict(self.categories),
            "exact_duplicates": self.exact_duplicates,
            "stale": self.stale,
            "answered": dict(Counter(str(answer.kind) for answer in self.answers)),
            "complete": not self.gaps,
            "gaps": list(self.gaps),
            "interrupted": self.interrupted.id if self.interrupted else None,
            "last_run": {"id": self.last.id, "state": str(self.last.state)} if self.last else None,
        }


def status_of(
    inventory: Inventory,
    history: Sequence[Run],
    *,
    settings: Settings,
    now: datetime,
    accessed: Mapping[str, datetime] | None = None,
    kind: str = "",
    answers: Sequence[Answer] = (),
    condemned: int | None = None,
) -> Status:
    """Count memories per scope and category, and find what needs attention.

    Args:
        inventory: What was listed.
        history: Earlier runs, newest first.
        settings: Limits.
        now: The present moment.
        accessed: Latest reads, by memory id.
        kind: The kind of store.
        answers: What a person answered for good.
        condemned: How many are stale, for a store in which that is no question of age.
    """
    memories = inventory.memories
    living = [memory for memory in memories if not memory.is_retired(now.date())]
    keys = Counter((memory.scope, memory.category, exact_key(memory.text)) for memory in living)
    read = accessed or {}
    in_scope = Counter(memory.scope for memory in living)
    aged = sum(
        not m.pinned and is_stale(m, settings=settings, now=now, accessed=read.get(m.id)) for m in living
    )
    return Status(
        kind=kind,
        living=len(living),
        retired=len(memories) - len(living),
        pinned=sum(memory.pinned for memory in living),
        scopes={memory.scope: in_scope[memory.scope] for memory in memories},
        categories=dict(Counter(memory.category or NO_CATEGORY for memory in living).most_common()),
        exact_duplicates=sum(count - 1 for count in keys.values()),
        stale=aged if condemned is None else condemned,
        gaps=inventory.gaps,
        interrupted=next((run for run in history if run.interrupted), None),
        last=history[0] if history else None,
        answers=tuple(answers),
    )


def spoken_status(status: Status) -> list[str]:
    """A status as lines for a person."""
    lines = [
        f"Memories: {status.living} living, {status.retired} retired, {status.pinned} pinned",
        f"Scopes: {len(status.scopes)}",
        f"Exact duplicates: {status.exact_duplicates}",
        f"Stale: {status.stale}",
        f"Listing: incomplete, read-only: {'; '.join(status.gaps)}" if status.gaps else "Listing: complete",
    ]
    lines += [f"  {count:>6}  {scope}" for scope, count in sorted(status.scopes.items()) if count]
    lines += ["Categories:", *(f"  {count:>6}  {name}" for name, count in status.categories.items())]
    lines += _answered(status.answers)
    if status.interrupted is not None:
        name = status.interrupted.id
        lines.append(f"Interrupted: run {name}; finish it with `mem0-dream resume {name}`")
    lines.append(f"Last run: {status.last.id} ({status.last.state})" if status.last else "Last run: never")
    return [visible(line) for line in lines]


def _answered(answers: Sequence[Answer]) -> list[str]:
    """How many questions a person has answered for good; nothing if none."""
    counted = Counter(answer.kind for answer in answers)
    told = ", ".join(f"{counted[kind]} {kind}" for kind in AnswerKind if counted[kind])
    return [f"Answered: {told}; see `mem0-dream reject --list`"] if told else []


def run_line(run: Run, changes: Sequence[Recorded]) -> str:
    """One run in one line: name, state, what it removed and added, what it left to a person."""
    removed, added = _changed(changes)
    how = "retired" if run.retire_on else "removed"
    unsure = run_json(run, changes)["unsure"]
    left = f", unsure={unsure}" if unsure else ""
    return (
        f"{run.id}  {run.state:<8}  {run.started_at:%Y-%m-%d %H:%M} UTC  {how} {removed}, added {added}{left}"
    )


def run_json(run: Run, changes: Sequence[Recorded]) -> dict[str, Any]:
    """One run as JSON: what it was about, and what it did."""
    records: list[dict[str, Any]] = [json.loads(line) for line in run.plan.split("\n") if line.strip()]
    header = records[0] if records else {}
    removed, added = _changed(changes)
    scopes = {tuple(map(tuple, total["scope"]["ids"])) for total in header.get("totals", ())}
    return {
        "run": run.id,
        "state": str(run.state),
        "kind": header.get("kind"),
        "scopes": [dict(ids) for ids in sorted(scopes)],
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "retired": run.retire_on is not None,
        "removed": removed,
        "added": added,
        "unsure": sum(record.get("record") == "unsure" for record in records),
    }


def _changed(changes: Sequence[Recorded]) -> tuple[int, int]:
    """How many memories a run removed and added; what was only intended does not count."""
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    removed = sum(change.operation is Operation.REMOVE for change in made)
    return removed, sum(change.operation is Operation.ADD for change in made)


def answer_line(answer: Answer, kind: str) -> str:
    """One answer in one line: its number, what was said, about which memories."""
    about = "; ".join(f"[{kind}:{item.id}] {clip(item.spoken, _ABOUT_WIDTH)}" for item in answer.about)
    run = f" (run {answer.run})" if answer.run else ""
    what = f"{answer.what} " if answer.what else ""
    known = about or "a pair of which an earlier version kept no text"
    said = str(answer.kind) if answer.closes else f"{answer.kind}, open again"
    return visible(f"{answer.number:>4}  {answer.at:%Y-%m-%d}  {said}: {what}{known}{run}")


_ABOUT_WIDTH = 60
"""Characters of each text in the list of answers."""
