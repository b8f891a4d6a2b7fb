"""What a store holds and what was done to it, in lines for a person and as JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError
from ...models.same_statement import statement_key
from ...records import Inventory, Label, Memory, Scope, Verdict
from ...settings import Settings
from ..answers import Answer, Say
from ..plan import Plan
from ..results import RunResult
from ..rules.hygiene import shown_text
from ..rules.stale import age_of, is_stale
from ..writing.journal import ChangeState, Operation, Recorded, Run
from ..writing.passes import Pass
from .text import clip, visible

NO_CATEGORY = "(no category)"
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Status:
    """What a store holds."""

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
    unconfirmed: tuple[tuple[int, str, str], ...] = ()

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
            "unconfirmed": [{"days": days, "id": name} for days, name, _ in self.unconfirmed],
            "answered": dict(Counter(str(answer.say) for answer in self.answers)),
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
    """Count memories per scope and category, and find what needs attention."""
    memories = inventory.memories
    living = [memory for memory in memories if not memory.is_retired(now.date())]
    keys = Counter((memory.scope, memory.category, statement_key(memory.text)) for memory in living)
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
        answers=tuple(answer for answer in answers if not answer.applied),
        unconfirmed=_unconfirmed(living, settings, now) if condemned is None else (),
    )


def _unconfirmed(
    living: Sequence[Memory], settings: Settings, now: datetime
) -> tuple[tuple[int, str, str], ...]:
    """Days, id and text of what nobody stated or confirmed for longest, past half of `stale_after`."""
    ages = [(age, m) for m in living if not m.pinned and (age := age_of(m, now=now)) is not None]
    old = sorted((a.days, m.id, m.text) for a, m in ages if 2 * a > settings.stale_after)
    return tuple((days, name, shown_text(text, settings)) for days, name, text in old[: -_LISTED - 1 : -1])


def in_one_scope(inventory: Inventory) -> Inventory:
    """The inventory as if one user had said it all, for a judge that compares nothing across scopes."""
    memories = (replace(memory, scope=Scope.of(), category=None) for memory in inventory.memories)
    return replace(inventory, memories=tuple(memories))


def said_across(
    inventory: Inventory, now: datetime, show: Callable[[str], str], verdicts: Iterable[Verdict] = ()
) -> list[dict[str, Any]]:
    """The same fact under several users, agents or runs: by text, the memories that say it.

    Nothing crosses a scope: what this lists is never merged, and a person may store it where it belongs.

    Args:
        inventory: What the store holds.
        now: What is retired by then says nothing.
        show: A text as it may be shown.
        verdicts: On all of it, whatever the scope: what a pass would merge unasked is one fact, too.
    """
    living = {each.id: each for each in inventory.memories if not each.is_retired(now.date())}
    named = {name: statement_key(memory.text) for name, memory in living.items()}
    for verdict in verdicts:
        a, b = verdict.pair.a, verdict.pair.b
        if verdict.auto and verdict.label is Label.DUPLICATE and {a, b} <= living.keys():
            named = {name: named[a] if key == named[b] else key for name, key in named.items()}
    groups: dict[str, list[Memory]] = defaultdict(list)
    for name, memory in living.items():
        groups[named[name]].append(memory)
    return [
        {
            "text": show(same[0].text),
            "memories": [{"id": m.id, "scope": dict(m.scope.ids)} for m in same],
        }
        for same in groups.values()
        if len({memory.scope for memory in same}) > 1
    ]


def across_lines(found: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """The same for a person, what is said in most scopes first."""
    lines = [f"Said in several scopes ({len(found)}):" if found else "Nothing is said in several scopes."]
    for group in sorted(found, key=lambda each: -len(each["memories"])):
        lines.append(f"  {clip(group['text'])}")
        lines += [f"    [{kind}:{each['id']}] {Scope.of(**each['scope'])}" for each in group["memories"]]
    return [visible(line) for line in lines]


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
    counted = Counter(answer.say for answer in status.answers)
    told = ", ".join(f"{counted[say]} {say.spoken}" for say in Say if counted[say])
    lines += [f"Answered: {told}; see `mem0-dream reject --list`"] if told else []
    if status.interrupted is not None:
        name = status.interrupted.id
        lines.append(f"Interrupted: run {name}; finish it with `mem0-dream resume {name}`")
    lines.append(f"Last run: {status.last.id} ({status.last.state})" if status.last else "Last run: never")
    lines += ["Not confirmed for longest:"] if status.unconfirmed else []
    lines += [f"  {days:>6} d  [{status.kind}:{n}] {clip(text)}" for days, n, text in status.unconfirmed]
    return [visible(line) for line in lines]


def run_line(run: Run, changes: Sequence[Recorded]) -> str:
    """One run in one line: name, state, what it removed and added, what it left to a person."""
    told = run_json(run, changes)
    done = [f"{how} {told[how]}" for how in ("removed", "retired") if told[how]] or ["removed 0"]
    left = [f"unsure={told['unsure']}"] if told["unsure"] else []
    what = ", ".join([*done, f"added {told['added']}", *left])
    return f"{run.id}  {run.state:<8}  {run.started_at:%Y-%m-%d %H:%M} UTC  {what}"


def run_json(run: Run, changes: Sequence[Recorded]) -> dict[str, Any]:
    """One run as JSON: what it was about, and what it did; what was only intended does not count."""
    records: list[dict[str, Any]] = [json.loads(line) for line in run.plan.split("\n") if line.strip()]
    header = records[0] if records else {}
    made = [change for change in changes if change.state is not ChangeState.INTENDED]
    gone = [change.action for change in made if change.operation is Operation.REMOVE]
    expire = {
        record.get("id") for record in records if {record.get("kind"), record.get("reason")} & run.retires
    }
    retired = sum(name in expire for name in gone) if run.retire_on else 0
    scopes = {tuple(map(tuple, total["scope"]["ids"])) for total in header.get("totals", ())}
    return {
        "run": run.id,
        "state": str(run.state),
        "kind": header.get("kind"),
        "scopes": [dict(ids) for ids in sorted(scopes)],
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "removed": len(gone) - retired,
        "retired": retired,
        "added": sum(change.operation is Operation.ADD for change in made),
        "unsure": sum(record.get("record") == "unsure" for record in records),
    }


def answer_line(answer: Answer, kind: str) -> str:
    """One answer in one line: its number, what was said, about which memories."""
    about = "; ".join(f"[{kind}:{item.id}] {clip(item.spoken, _ABOUT_WIDTH)}" for item in answer.about)
    run = f" (run {answer.run})" if answer.run else ""
    what = f"{answer.what} " if answer.what else ""
    said = answer.say.spoken
    if answer.say is Say.TAKEN_BACK and not answer.closes:
        said += ", open again"
    if answer.say.changes and not answer.run:
        said += ", not applied yet"
    return visible(f"{answer.number:>4}  {answer.at:%Y-%m-%d}  {said}: {what}{about}{run}")


_ABOUT_WIDTH = 60
"""Characters of each text in the list of answers."""


class NightOutcome(StrEnum):
    """How a night ended."""

    RUNNING = "running"
    OK = "ok"
    NOT_DUE = "not due"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Night:
    """One unattended pass."""

    started_at: datetime
    finished_at: datetime | None = None
    outcome: NightOutcome = NightOutcome.RUNNING
    exit_code: int = 0
    said: str = ""
    kind: str = ""
    store: str = ""
    scopes: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def having_done(self, plan: Plan, result: RunResult) -> Night:
        """The same night with what it found and did."""
        counts = {
            "memories": sum(total.memories for total in plan.totals),
            "scopes": len(plan.totals),
            "merged": result.merged,
            "pruned": result.pruned,
            "removed": result.removed,
            "added": result.added,
            "moved": len(result.moved),
            "conflicts": len(plan.conflicts) + plan.left_open,
            "unsure": len(plan.unsure),
        }
        return replace(self, kind=plan.kind, store=plan.store, run=result.run, counts=counts)

    @property
    def seconds(self) -> float:
        """How long it took; 0 while it is under way."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else 0.0

    @property
    def line(self) -> str:
        """One line, as a log shows it."""
        counted = " ".join(f"{name}={self.counts[name]}" for name in _TOLD if name in self.counts)
        return visible(f"mem0-dream: {self.outcome}" + "".join(f", {x}" for x in (self.said, counted) if x))

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return (
            {"text": self.line, "seconds": round(self.seconds, 3)}
            | asdict(self)
            | {
                "outcome": str(self.outcome),
                "started_at": self.started_at.isoformat(),
                "finished_at": self.finished_at.isoformat() if self.finished_at else None,
            }
        )


_TOLD = ("merged", "pruned", "conflicts", "unsure")


def require_metrics() -> None:
    """Refuse to begin a night whose metrics cannot be written."""
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "--metrics needs the extra 'metrics': pip install 'mem0-dream[metrics]'."
        ) from None


def write_metrics(night: Night, path: Path, *, last_ok: datetime | None) -> str:
    """Write a night in the text format of Prometheus, whole or not at all; why that failed, or nothing."""
    from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

    registry = CollectorRegistry()
    values = {
        "last_run_timestamp_seconds": ("When the last night ended.", _epoch(night.finished_at)),
        "last_run_success": ("Whether the last night ended well.", float(night.exit_code == 0)),
        "last_run_exit_code": ("Its exit code.", float(night.exit_code)),
        "last_run_duration_seconds": ("How long it took.", night.seconds),
        "last_success_timestamp_seconds": ("When a night last ended well.", _epoch(last_ok)),
    }
    for name, (told, value) in values.items():
        Gauge(f"mem0_dream_{name}", told, registry=registry).set(value)
    for name, count in night.counts.items():
        Gauge(f"mem0_dream_{name}", f"{name.capitalize()} of the last night.", registry=registry).set(count)
    try:
        write_to_textfile(str(path), registry)
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _epoch(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


def job_json(last: Pass, *, now: datetime, within: timedelta) -> dict[str, Any]:
    """How a job of a scheduler last ended, and what is wrong with it."""
    trouble = last.trouble(now=now, within=within)
    return {
        "job": last.job,
        "alive": not trouble,
        "trouble": trouble,
        "last_ok": last.ok_at.isoformat() if last.ok_at else None,
        **last.night,
    }


def job_line(row: Mapping[str, Any]) -> str:
    """A job in one line: when it began, what is wrong with it or what came of it, and its command."""
    began = datetime.fromisoformat(row["started_at"]).astimezone(UTC)
    told = row["trouble"] or str(row.get("text", row["outcome"])).removeprefix("mem0-dream: ")
    return visible(f"{began:%Y-%m-%d %H:%M} UTC  {told}  {row['job']}")
