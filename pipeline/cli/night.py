"""An unattended pass as its scheduler sees it: whether it is due, its row in the journal, metrics and a log.

None of this can fail a pass: what cannot be told is a warning. What cannot work at all, a missing extra, is
refused before anything is opened.
"""

from __future__ import annotations

import contextlib
import html
import importlib.util
import json
import logging
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ...errors import DreamError, JournalError, MissingExtraError, UsageError
from .opening import again, arguments, require_place
from .options import MEM0, PLATFORM, SERVER, TROUBLE, Options, command
from .terminal import answer, tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..reporting.status import Night

logger = logging.getLogger(__name__)

_KEPT = "mem0_dream.night"
_INTERRUPTED = 130


@contextlib.contextmanager
def night(ctx: click.Context, options: Options) -> Iterator[None]:
    """Watch over a pass; nothing is done for one that a person looks at."""
    if not options.auto or options.dry_run:
        if options.metrics:
            raise UsageError("--metrics tells what came of an unattended run; add --auto, or leave it out.")
        yield
        return
    if options.metrics and importlib.util.find_spec("prometheus_client") is None:
        told = "--metrics needs the extra 'metrics': pip install 'mem0-dream[metrics]'."
        raise MissingExtraError(told)
    ctx.meta[_KEPT] = {
        "started_at": datetime.now(UTC).isoformat(), "finished_at": None,
        "outcome": "running", "exit_code": 0,  # then ok, not due or failed
        "said": "", "kind": "", "store": "", "scopes": dict(options.named_scopes().ids),
        "run": "", "counts": {},
    }  # fmt: skip
    number = _noted(options, ctx.meta[_KEPT], None)[0]
    try:
        yield
    finally:
        _end(ctx, options, sys.exc_info()[1], number)


def note_night(told: Night) -> None:
    """Note what a pass found and did; nothing outside of a night."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and _KEPT in ctx.meta:
        ctx.meta[_KEPT] |= told


def is_due(session: Session, options: Options) -> bool:
    """Whether a pass is due; it is said with the reason, also to what watches over the night."""
    due, why = session.kind.due(options.moment) or _due_reason(session, options)
    tell(f"{'due' if due else 'not due'}: {why}.")
    if not due:
        note_night({"outcome": "not due", "said": why})
        if options.as_json:
            answer({"due": False, "reason": why}, as_json=True)
    return due


def _due_reason(session: Session, options: Options) -> tuple[bool, str]:
    from ..writing.passes import Passes, due_reason, names_of

    store, scopes = session.store.fingerprint, options.scopes()
    interrupted = session.journal.interrupted(store)
    if interrupted is not None:
        return True, f"run {interrupted.id} was interrupted"
    with contextlib.closing(Passes(session.directory)) as passes:
        last = passes.last_seen(store, scopes)
    present = session.read(scopes).memories if last is not None else ()
    names = names_of(memory.id for memory in present if not memory.is_retired(options.moment.date()))
    limits = session.settings
    return due_reason(names, last, after=limits.due_after, new=limits.due_new, now=options.moment)


def show_last(options: Options, *, within: float, as_json: bool) -> None:
    """Tell how each job last ended; exit code 9 if one is in trouble, or none ever ran."""
    from ..reporting.status import job_json, job_line
    from ..writing.passes import Passes

    with contextlib.closing(Passes(options.state)) as passes:
        found = passes.last(again(options))
    rows = [job_json(each, now=options.clock, within=timedelta(hours=within)) for each in found]
    healthy = bool(rows) and all(row["alive"] for row in rows)
    whole = {"alive": healthy, "last": rows[0] if rows else None, "jobs": rows}
    lines = map(job_line, rows) if rows else ["No unattended run of this store yet."]
    answer(whole, lines, as_json=as_json)
    if not healthy:
        raise click.exceptions.Exit(TROUBLE)


def _end(ctx: click.Context, options: Options, error: BaseException | None, number: int | None) -> None:
    from ..reporting.status import summed_up, write_metrics

    night: Night = ctx.meta.pop(_KEPT) | {"finished_at": datetime.now(UTC).isoformat()}
    code, said = _told(error)
    if code:
        night |= {"outcome": "failed", "exit_code": code, "said": said}
    elif night["outcome"] == "running":
        night["outcome"] = "ok"
    night = summed_up(night)
    last_ok = _noted(options, night, number)[1] if number is not None else None
    logger.info("%s", night["text"], extra={"night": night})
    if options.metrics:
        _warn("the metrics could not be written", write_metrics(night, options.metrics, last_ok=last_ok))


def _told(error: BaseException | None) -> tuple[int, str]:
    """The exit code of what ended a pass, and what may be said of it: no memory text."""
    if isinstance(error, DreamError):
        return error.exit_code, str(error)
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code, ""
    if isinstance(error, click.ClickException):
        return error.exit_code, error.format_message()
    if isinstance(error, KeyboardInterrupt):
        return _INTERRUPTED, "interrupted"
    return (1, type(error).__name__) if error is not None else (0, "")


def _noted(options: Options, night: Night, number: int | None) -> tuple[int | None, datetime | None]:
    """Note a pass that begins, or how the one of this number ended; its number, and the last good end."""
    from ..reporting.status import summed_up
    from ..writing.passes import Passes

    place = again(options)
    job = " ".join([place, *(f"{name}={value}" for name, value in sorted(night["scopes"].items()))])
    try:
        with contextlib.closing(Passes(options.state)) as passes:
            if number is None:
                return passes.begin(place, job, summed_up(night)), None
            return number, passes.end(number, night, ok=night["outcome"] in ("ok", "not due"))
    except (OSError, DreamError) as error:
        # A journal that cannot be read at the begin ends the pass itself at once.
        if number is not None or not isinstance(error, JournalError):
            _warn("the pass could not be noted", type(error).__name__)
        return None, None


def _warn(what: str, why: str) -> None:
    if why:
        tell(f"warning: {what}: {why}.", level=logging.WARNING)


KINDS = ("cron", "systemd", "launchd", "k8s")
HOUR = 3  # the hour of the night at which a consolidation is looked at
_SECRETS = {PLATFORM: "MEM0_API_KEY", SERVER: "MEM0_SERVER_API_KEY"}
"""Where a key comes from, which is no option: the command line is visible to all users of a machine."""


def schedule_text(kind: str, command: Sequence[str], *, zone: str, secret: str = "") -> str:
    """An entry that runs a command once a night; `secret` names the variable that must hold a key."""
    from importlib.resources import files
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from jinja2 import Environment

    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        told = f"There is no time zone {zone!r}; give an IANA name such as Europe/Berlin."
        raise UsageError(told) from None
    text = (files(__package__) / "schedules" / f"{kind}.jinja").read_text(encoding="utf-8")
    # Each template quotes with a filter of its own; none of them is a page.
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)  # noqa: S701
    environment.filters |= {"shell": shlex.quote, "json": json.dumps, "unit": _systemd_word}
    environment.filters["xml"] = partial(html.escape, quote=False)
    return environment.from_string(text).render(command=command, zone=zone, secret=secret, hour=HOUR)


def _systemd_word(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{doubled}"' if doubled != word or not word or any(char.isspace() for char in word) else word


@command("store", "scope", "plan")
@click.option("--print", "printed", type=click.Choice(KINDS), required=True)
@click.option("--time-zone", default="UTC", show_default=True)
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
def schedule(options: Options, printed: str, time_zone: str, further: tuple[str, ...]) -> None:
    """Print an entry that looks every night whether a consolidation is due; installs nothing."""
    require_place(options)
    options.scopes()
    # A scheduler has no search path of ours.
    program = shutil.which(sys.argv[0]) or shutil.which("mem0-dream") or "mem0-dream"
    words = [*arguments(options, judged=True), *further, "--if-due", "--auto"]
    # An option that does not exist would fail every night, and nobody looks on.
    group: Any = click.get_current_context().find_root().command
    command = group if options.kind == MEM0 else group.commands[options.kind]
    command.make_context("mem0-dream", words[command is not group :])  # click takes its list apart
    secret = _SECRETS.get(options.kind, "")
    click.echo(schedule_text(printed, [program, *words], zone=time_zone, secret=secret), nl=False)
