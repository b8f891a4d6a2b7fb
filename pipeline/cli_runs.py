"""The commands around a pass: status, forget, runs, undo, resume, plan, apply, reject."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DreamError, UsageError
from .cli_options import Options, open_session, plan_options, scope_options, store_options

if TYPE_CHECKING:
    from .engine import Session
    from .plan import Plan
    from .records import Memory
    from .report import Report
    from .results import RunResult, UndoResult


@click.command()
@store_options
@scope_options
@plan_options
@click.pass_context
def status(ctx: click.Context, /, **given: Any) -> None:
    """Show what the store holds and what was done to it; changes nothing.

    \b
    Example:
      mem0-dream status --config mem0.yaml --all
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from .status import status_lines

    with open_session(options) as session:
        inventory = session.read(options.scopes())
        history = session.journal.runs(session.store.fingerprint)
        lines = status_lines(
            inventory,
            history,
            settings=session.settings,
            now=options.moment,
            accessed=session.access.last(session.store.fingerprint),
        )
        click.echo("\n".join(lines))


@click.command()
@click.argument("query")
@store_options
@scope_options
@plan_options
@click.option("--retire", is_flag=True, help="Expire instead of deleting.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Show at most so many memories.",
)
@click.pass_context
def forget(ctx: click.Context, /, query: str, *, retire: bool, limit: int, **given: Any) -> None:
    """Find memories about QUERY, and forget the ones you pick; undo brings them back.

    \b
    Example:
      mem0-dream forget "old phone number" --config mem0.yaml --user-id alice
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from . import report
    from .cli_graph import undo_command
    from .forgetting import forget_plan, rank

    with open_session(options) as session, session.locked():
        inventory = session.read(options.scopes())
        found = rank(query, inventory, encoder=session.encoder, now=options.moment)[:limit]
        if not found:
            click.echo("No memory matches.")
            return
        for number, memory in enumerate(found, 1):
            pinned = " (pinned, never touched)" if memory.pinned else ""
            click.echo(f"{number:>3}. {report.one_line(memory.text)}{pinned}")
        chosen = _pick(len(found))
        plan = forget_plan(
            [found[i] for i in chosen if not found[i].pinned], inventory, session, now=options.moment
        )
        if not plan.actions:
            click.echo(report.CANCELLED)
            return
        result = session.apply(plan, now=options.clock, retire=retire, within_budget=False)
        click.echo(f"Forgotten: {result.pruned}. Undo with: {undo_command(result.run, options)}")


def _pick(count: int) -> list[int]:
    click.echo("Forget which? Numbers such as 1 3, all, or empty for none: ", nl=False)
    words = sys.stdin.readline().replace(",", " ").lower().split()
    if words == ["all"]:
        return list(range(count))
    if not all(word.isdigit() and 1 <= int(word) <= count for word in words):
        raise UsageError(f"Give numbers from 1 to {count}, or all; nothing was changed.")
    return sorted({int(word) - 1 for word in words})


@click.command()
@store_options
@click.pass_context
def runs(ctx: click.Context, /, **given: Any) -> None:
    """List the runs of this store, newest first.

    \b
    Example:
      mem0-dream runs --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from .status import run_line

    with open_session(options) as session:
        history = session.journal.runs(session.store.fingerprint)
        for run in history:
            click.echo(run_line(run, session.journal.changes(run.id)) + session.remark(run))
        if not history:
            click.echo("No runs yet.")


@click.command()
@click.argument("run", required=False)
@store_options
@click.pass_context
def undo(ctx: click.Context, /, run: str | None, **given: Any) -> None:
    """Take RUN back, or the newest run: restore what it removed, withdraw what it added.

    \b
    Example:
      mem0-dream undo --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    with open_session(options) as session, session.locked():
        _echo_result(session.undo(run, now=options.clock))


@click.command()
@click.argument("run", required=False)
@store_options
@click.pass_context
def resume(ctx: click.Context, /, run: str | None, **given: Any) -> None:
    """Finish RUN, or the newest run that was interrupted.

    \b
    Example:
      mem0-dream resume --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    with open_session(options) as session, session.locked():
        _echo_result(session.resume(run, now=options.clock))


@click.command("plan")
@store_options
@scope_options
@plan_options
@click.option("-o", "--output", default="-", show_default=True, help="Write the plan here.")
@click.pass_context
def plan_command(ctx: click.Context, /, output: str, **given: Any) -> None:
    """Write the plan as JSON Lines, to be read, edited and applied later.

    \b
    Example:
      mem0-dream plan --config mem0.yaml --user-id alice -o plan.jsonl
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from .cli import only
    from .plan_file import dump_plan

    with open_session(options) as session:
        plan = only(session.propose(options.scopes(), now=options.moment), options)
    if output == "-":
        click.echo(dump_plan(plan), nl=False)
        return
    try:
        Path(output).write_text(dump_plan(plan), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The plan cannot be written to {output}: {error.strerror}.") from error
    click.echo(f"{len(plan.actions)} actions written to {output}.", err=True)


@click.command("apply")
@click.argument("file")
@store_options
@click.option(
    "--max-delete", type=click.FloatRange(0, 1), help="Largest share of a scope one run may remove."
)
@click.option("--retire", is_flag=True, help="Expire instead of deleting.")
@click.option("--yes", is_flag=True, help="Apply without asking.")
@click.pass_context
def apply_command(ctx: click.Context, /, file: str, *, retire: bool, yes: bool, **given: Any) -> None:
    """Apply the plan in FILE (- reads it from the input); conflicts need a "choice" in the file.

    \b
    Example:
      mem0-dream apply plan.jsonl --config mem0.yaml --yes
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from . import report
    from .cli_graph import undo_command

    plan = _load_plan(file)
    with open_session(options) as session, session.locked():
        shown = session.reporter(plan)
        if not yes:
            _require_consent(shown, file)
        result = session.apply(plan, now=options.clock, choices={}, retire=retire)
        for line in report.moved_lines(result, plan, shown):
            click.echo(line)
        click.echo(report.summary(result))
        if result.run:
            click.echo(f"Undo with: {undo_command(result.run, options)}", err=True)


def _load_plan(file: str) -> Plan:
    from .plan_file import parse_plan

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan file {file} cannot be read: {error}.") from error
    return parse_plan(text)


def _require_consent(shown: Report, file: str) -> None:
    from .cli import confirmed

    if file == "-":
        raise UsageError("A plan from the input cannot be asked about; add --yes.")
    click.echo("\n".join(shown.lines()))
    if not confirmed(shown.proposal()):
        raise _CancelledError


class _CancelledError(DreamError):
    exit_code = 0

    def __init__(self) -> None:
        super().__init__("Cancelled. No changes made.")


@click.command()
@click.argument("first")
@click.argument("second")
@store_options
@click.pass_context
def reject(ctx: click.Context, /, first: str, second: str, **given: Any) -> None:
    """Never propose anything about this pair of memories again, until one of them changes.

    FIRST and SECOND are ids, or beginnings of ids, as the report prints them.

    \b
    Example:
      mem0-dream reject 1f2e3d4c 5a6b7c8d --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from .stores.base import ScopeFilter

    with open_session(options) as session, session.locked():
        inventory = session.read(ScopeFilter())
        pair = [_by_prefix(session, inventory.memories, text) for text in (first, second)]
        session.reject(pair[0], pair[1], now=options.clock)
        click.echo("Noted: this pair will not be proposed again.")


def _by_prefix(session: Session, memories: Iterable[Memory], text: str) -> Memory:
    wanted = text.removeprefix(f"{session.store.kind}:")
    found = [memory for memory in memories if memory.id.startswith(wanted)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} memories have an id that begins with {wanted!r}; give one that is unique."
        )
    return found[0]


def _echo_result(result: RunResult | UndoResult) -> None:
    from . import report
    from .results import RunResult

    if isinstance(result, RunResult):
        click.echo(report.summary(result))
        return
    click.echo(report.undo_summary(result))
    for memory_id, reason in result.kept:
        click.echo(report.visible(f"Left alone: memory {memory_id}: {reason}"))


COMMANDS = (status, forget, runs, undo, resume, plan_command, apply_command, reject)
"""What the main group offers besides the pass itself."""
