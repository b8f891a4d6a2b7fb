"""An unattended pass as its scheduler sees it: a heartbeat, a webhook, metrics, one line of a log.

None of this can fail a pass: what cannot be told is a warning. What cannot work at all, a wrong address or
a missing extra, is refused before anything is opened.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import DreamError, UsageError
from .kinds import again
from .logs import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..plan import Plan
    from ..reporting.night import Night
    from ..results import RunResult
    from .options import Options

    Command = TypeVar("Command", bound=Callable[..., Any])

logger = logging.getLogger(__name__)

_KEPT = "mem0_dream.night"
_INTERRUPTED = 130
_NIGHT_OPTIONS = (
    click.option("--if-due", is_flag=True, help="Do nothing unless it is due; say why."),
    click.option(
        "--wait", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait for another run to end."
    ),
    click.option(
        "--webhook",
        envvar="MEM0_DREAM_WEBHOOK",
        metavar="URL",
        help="With --auto: post what came of it, without texts.",
    ),
    click.option("--webhook-texts", is_flag=True, help="With --webhook: with the texts that were changed."),
    click.option(
        "--metrics",
        type=click.Path(path_type=Path, dir_okay=False),
        help="With --auto: write figures for Prometheus here.",
    ),
)


def night_options(command: Command) -> Command:
    """Add the options of a scheduler to a command."""
    for option in reversed(_NIGHT_OPTIONS):
        command = option(command)
    return command


def place_of(options: Options) -> str:
    """The store, by the options that name it."""
    return again(options)


@contextlib.contextmanager
def night(ctx: click.Context, options: Options, given: dict[str, Any]) -> Iterator[None]:
    """Watch over a pass; nothing is done for one that a person looks at.

    Raises:
        UsageError: If something is to be told that nothing can be told to.
        MissingExtraError: If metrics are wanted and cannot be written.
    """
    from ..reporting.night import Night, check_webhook, require_metrics

    if not given["auto"]:
        _refuse(given)
        yield
        return
    if given["webhook"]:
        check_webhook(given["webhook"])
    elif given["webhook_texts"]:
        raise UsageError("--webhook-texts goes with --webhook URL; add it.")
    if given["metrics"]:
        require_metrics()
    scopes = {name: getattr(options, name) for name in ("user_id", "agent_id", "run_id", "app_id")}
    begun = Night(datetime.now(UTC), scopes={key: value for key, value in scopes.items() if value})
    ctx.meta[_KEPT] = begun
    _beat(options, begun)
    try:
        yield
    except BaseException as error:
        _end(ctx, options, given, error)
        raise
    _end(ctx, options, given, None)


def tell_night(plan: Plan, result: RunResult) -> None:
    """Note what a pass found and did; nothing outside of a night."""
    _change(lambda night: night.having_done(plan, result))


def tell_not_due(why: str) -> None:
    """Note that there was no pass."""
    from ..reporting.night import NightOutcome

    _change(lambda night: replace(night, outcome=NightOutcome.NOT_DUE, said=why))


def _change(change: Callable[[Night], Night]) -> None:
    ctx = click.get_current_context(silent=True)
    if ctx is not None and _KEPT in ctx.meta:
        ctx.meta[_KEPT] = change(ctx.meta[_KEPT])


def _refuse(given: dict[str, Any]) -> None:
    for name in ("webhook", "metrics"):
        # An address from the environment is there for every run, also for one that a person looks at.
        source = click.get_current_context().get_parameter_source(name)
        if given[name] and source is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name} tells what came of an unattended run; add --auto, or leave it out.")


def _end(ctx: click.Context, options: Options, given: dict[str, Any], error: BaseException | None) -> None:
    from ..reporting.night import NightOutcome, post, write_metrics

    night: Night = replace(ctx.meta.pop(_KEPT), finished_at=datetime.now(UTC))
    code, said = _told(error)
    if code:
        night = replace(night, outcome=NightOutcome.FAILED, exit_code=code, said=said)
    elif night.outcome is NightOutcome.RUNNING:
        night = replace(night, outcome=NightOutcome.OK)
    last_ok = _beat(options, night)
    logger.info("%s", night.line, extra={"night": night.to_json()})
    if given["webhook"]:
        _warn("the webhook could not be told", post(night, given["webhook"], texts=given["webhook_texts"]))
    if given["metrics"]:
        _warn("the metrics could not be written", write_metrics(night, given["metrics"], last_ok=last_ok))


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


def _beat(options: Options, night: Night) -> datetime | None:
    """Write the heartbeat; when a night of this job last ended well."""
    from ..reporting.night import NightOutcome
    from ..writing.heartbeat import write_beat
    from ..writing.state import state_directory

    job = " ".join([place_of(options), *(f"{name}={value}" for name, value in sorted(night.scopes.items()))])
    ok = night.outcome in (NightOutcome.OK, NightOutcome.NOT_DUE)
    try:
        directory = state_directory(options.state_dir)
        return write_beat(directory, place_of(options), job, night.to_json(), ok=ok).ok_at
    except (OSError, DreamError) as error:
        _warn("the heartbeat could not be written", type(error).__name__)
        return None


def _warn(what: str, why: str) -> None:
    if why:
        tell(f"warning: {what}: {why}.", level=logging.WARNING)
