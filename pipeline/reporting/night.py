"""The result of an unattended pass, for a heartbeat, a webhook, a gauge and a log, without any text.

Only `actions` holds texts, and it is given out on request only; a secret is masked there as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, UsageError
from ..actions import Merge, Prune
from ..plan import Plan
from ..results import RunResult
from .report import visible


class NightOutcome(StrEnum):
    """How a night ended."""

    RUNNING = "running"
    OK = "ok"
    NOT_DUE = "not due"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Night:
    """One unattended pass.

    Attributes:
        started_at: When it began.
        finished_at: When it ended; None while it is under way, or if it was killed.
        outcome: How it ended.
        exit_code: What the scheduler was told.
        said: Why it failed, or was not due.
        kind: The kind of store; empty if none could be opened.
        store: Its fingerprint; empty if none could be opened.
        scopes: Whose memories were meant.
        run: Its name in the journal; empty if nothing had to be done.
        counts: What was found and done, by name.
        actions: What was done, with texts.
    """

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
    actions: tuple[Mapping[str, Any], ...] = ()

    def having_done(self, plan: Plan, result: RunResult) -> Night:
        """The same night with what it found and did."""
        return replace(
            self,
            kind=plan.kind,
            store=plan.store,
            run=result.run,
            counts=_counts(plan, result),
            actions=_actions(plan),
        )

    @property
    def seconds(self) -> float:
        """How long it took; 0 while it is under way."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else 0.0

    @property
    def line(self) -> str:
        """One line, as chat services show it."""
        counted = " ".join(f"{name}={self.counts[name]}" for name in _TOLD if name in self.counts)
        return visible(f"mem0-dream: {self.outcome}" + "".join(f", {x}" for x in (self.said, counted) if x))

    def to_json(self, *, texts: bool = False) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "text": self.line,
            "outcome": str(self.outcome),
            "exit_code": self.exit_code,
            "said": self.said,
            "kind": self.kind,
            "store": self.store,
            "scopes": dict(self.scopes),
            "run": self.run,
            "started_at": self.started_at.isoformat(),
            "finished_at": self.finished_at.isoformat() if self.finished_at else None,
            "seconds": round(self.seconds, 3),
            "counts": dict(self.counts),
        } | ({"actions": [dict(action) for action in self.actions]} if texts else {})


_TOLD = ("merged", "pruned", "conflicts", "unsure")


def _counts(plan: Plan, result: RunResult) -> dict[str, int]:
    return {
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


def _actions(plan: Plan) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "id": action.id,
            "kind": str(action.kind),
            "reason": action.reason if isinstance(action, Prune) else "",
            "memories": [{"id": member.id, "text": member.text} for member in action.members],
            "text": action.text if isinstance(action, Merge) else None,
        }
        for action in plan.actions
    )


def check_webhook(url: str) -> None:
    """Refuse an address that nothing can be posted to.

    Raises:
        UsageError: The address is not repeated, since it may hold a token.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise UsageError("The webhook is no address of http:// or https://; nothing could be posted to it.")


def post(night: Night, url: str, *, texts: bool, timeout_s: float = 10.0) -> str:
    """Post a night's summary; why that failed, or nothing.

    Args:
        night: What to tell.
        url: Where to.
        texts: With the texts of what was done.
        timeout_s: Seconds for each step of the request.
    """
    import httpx

    try:
        answer = httpx.post(url, json=night.to_json(texts=texts), timeout=timeout_s)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return type(error).__name__
    return f"it answered {answer.status_code}" if answer.is_error else ""


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
    """Write a night in the text format of Prometheus, whole or not at all; why that failed, or nothing.

    Args:
        night: What to tell.
        path: The file, for the textfile collector of a node exporter.
        last_ok: When a night last ended well.
    """
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
