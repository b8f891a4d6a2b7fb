"""The result of an unattended pass, for the journal, a gauge and a log, without any text of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError
from ..plan import Plan
from ..results import RunResult
from ..writing.passes import Pass
from .text import visible


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
    """Refuse to begin a night whose metrics cannot be written.

    Raises:
        MissingExtraError: If prometheus_client is not installed.
    """
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
