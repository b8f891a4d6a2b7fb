"""One small file for each job of a scheduler: that it ran, when, and how it ended.

It is written before a pass opens anything and again when it ends, and it can be read without opening the
store: a job that died, that fails each night, or that is no longer started is visible.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .owner import Owner

_FOLDER = "heartbeats"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Beat:
    """What is known of a job's last pass.

    Attributes:
        job: The command line that reaches the same memories.
        night: The summary of the pass, as `reporting.night` writes it.
        owner: The process that ran it.
        ok_at: When a pass of this job last ended well.
    """

    job: str
    night: Mapping[str, Any]
    owner: Owner
    ok_at: datetime | None = None

    @property
    def started_at(self) -> datetime:
        """When the pass began."""
        return datetime.fromisoformat(str(self.night["started_at"])).astimezone(UTC)

    def trouble(self, *, now: datetime, within: timedelta) -> str:
        """What is wrong with this job, in a few words; empty if nothing is.

        Args:
            now: The present moment.
            within: So long ago it may have run.
        """
        outcome = self.night.get("outcome")
        if outcome == "failed":
            return f"the last run failed: {self.night.get('said')}"
        if outcome == "running" and self.owner.is_gone(silent_s=(now - self.started_at).total_seconds()):
            return "the last run died before it ended"
        if now - self.started_at > within:
            hours = int((now - self.started_at) / timedelta(hours=1))
            return f"it has not run for {hours} hours"
        return ""


def write_beat(directory: Path, place: str, job: str, night: Mapping[str, Any], *, ok: bool) -> Beat:
    """Note how a job's pass stands, whole or not at all.

    Args:
        directory: The state directory.
        place: The store, by the options that name it.
        job: The store and the scopes, by the options that name them.
        night: The summary.
        ok: The pass ended well.

    Raises:
        OSError: If it cannot be written.
    """
    path = _path(directory, place, job)
    earlier = _read(path)
    moment = datetime.fromisoformat(str(night["finished_at"])) if ok else None
    beat = Beat(job, dict(night), Owner.present(), moment or (earlier.ok_at if earlier else None))
    path.parent.mkdir(exist_ok=True, mode=0o700)
    row = {
        "version": _VERSION,
        "job": beat.job,
        "night": beat.night,
        "owner": asdict(beat.owner),
        "ok_at": beat.ok_at.isoformat() if beat.ok_at else None,
    }
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".beat-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(row, file, indent=1)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return beat


def beats(directory: Path, place: str) -> tuple[Beat, ...]:
    """The last passes of all jobs of a store, newest first."""
    read = [_read(path) for path in (directory / _FOLDER).glob(f"{_short(place)}-*.json")]
    return tuple(
        sorted((beat for beat in read if beat is not None), key=lambda b: b.started_at, reverse=True)
    )


def _path(directory: Path, place: str, job: str) -> Path:
    return directory / _FOLDER / f"{_short(place)}-{_short(job)}.json"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(path: Path) -> Beat | None:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        ok_at = datetime.fromisoformat(row["ok_at"]) if row["ok_at"] else None
        beat = Beat(row["job"], row["night"], Owner(**row["owner"]), ok_at)
        _ = beat.started_at
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return beat
