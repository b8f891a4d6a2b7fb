"""`runs --last`: whether the jobs of a scheduler still run, told without opening the store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from .night import place_of

if TYPE_CHECKING:
    from .options import Options

TROUBLE = 9
"""Exit code if a job is in trouble: the same as of a health that warns."""


def show_last(ctx: click.Context, options: Options, *, within: float, as_json: bool) -> None:
    """Tell how each job last ended; exit code 9 if one is in trouble, or none ever ran."""
    from ..planning.plan_file import json_text
    from ..reporting.report import visible
    from ..writing.heartbeat import beats
    from ..writing.state import state_directory

    span = timedelta(hours=within)
    last = [
        (beat, beat.trouble(now=options.clock, within=span))
        for beat in beats(state_directory(options.state_dir), place_of(options))
    ]
    rows = [
        {
            "job": beat.job,
            "alive": not trouble,
            "trouble": trouble,
            "last_ok": beat.ok_at.isoformat() if beat.ok_at else None,
        }
        | dict(beat.night)
        for beat, trouble in last
    ]
    healthy = bool(rows) and all(row["alive"] for row in rows)
    if as_json:
        click.echo(json_text({"alive": healthy, "last": rows[0] if rows else None, "jobs": rows}))
    else:
        for row in rows:
            click.echo(visible(_line(row)))
        if not rows:
            click.echo("No unattended run of this store yet.")
    if not healthy:
        ctx.exit(TROUBLE)


def _line(row: Mapping[str, Any]) -> str:
    """A job in one line: when it began, what is wrong with it or what came of it, and its command."""
    began = datetime.fromisoformat(row["started_at"]).astimezone(UTC)
    told = row["trouble"] or str(row.get("text", row["outcome"])).removeprefix("mem0-dream: ")
    return f"{began:%Y-%m-%d %H:%M} UTC  {told}  {row['job']}"
