"""The command line: parse, make one call, show what came of it.

Every error of ours becomes one sentence on the error stream and the exit code of its class; a
traceback shown to a user is a bug.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import click

from ...errors import DreamError, IncompleteListingError, UsageError
from .asking import ask_choice, confirmed, only, say_nothing, tell_open, warned
from .graph.commands import COMMANDS as GRAPH_COMMANDS
from .graph.opening import KIND as GRAPH
from .graph.opening import pass_options as graph_pass_options
from .graph.passes import consolidate_graph
from .health import show_health
from .kinds import again, completed
from .label import calibrate, label
from .markdown import COMMANDS as MARKDOWN_COMMANDS
from .markdown import KIND as MARKDOWN
from .markdown import dream, pass_options
from .options import Options, open_session, plan_options, running, scope_options, store_options
from .plans import COMMANDS as PLAN_COMMANDS
from .review import may_ask, plain_terminal, reviewed
from .runs import COMMANDS

if TYPE_CHECKING:
    from ..engine import Session
    from ..plan import Merge, Plan, Resolve, Side
    from ..reporting.report import Report
    from ..results import RunResult

_INTERRUPTED = 130


class DreamGroup(click.Group):
    """Turns our errors into one sentence and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the only place where errors are caught."""
        # A terminal that cannot spell a character must not stop a run.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if plain_terminal():
            ctx.color = False
        try:
            return super().invoke(ctx)
        except DreamError as error:
            from ..reporting.report import visible

            told = f"mem0-dream: {completed(str(error), running(ctx))}"
            click.echo("\n".join(visible(line) for line in told.split("\n")), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            told = "interrupted; `mem0-dream resume` finishes a run that had begun."
            click.echo(f"mem0-dream: {completed(told, running(ctx))}", err=True)
            ctx.exit(_INTERRUPTED)


@click.group(cls=DreamGroup, invoke_without_command=True, context_settings={"max_content_width": 100})
@store_options
@scope_options
@plan_options
@click.option("--auto", is_flag=True, help="Ask nobody: apply merges and prunes, leave conflicts open.")
@click.option("--dry-run", is_flag=True, help="Show the report and change nothing.")
@click.option(
    "--assume-unread",
    is_flag=True,
    help="With --auto: age counts where no read is on record, too; see track_access.",
)
@click.option("--retire", is_flag=True, help="Expire memories instead of deleting them.")
@click.option("--explain", is_flag=True, help="Show texts, scores and evidence under each line.")
@click.option("--review", is_flag=True, help="Ask about unsure pairs too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text; asks nothing.")
@pass_options
@graph_pass_options
@click.version_option(package_name="mem0-dream")
@click.pass_context
def main(ctx: click.Context, /, **given: Any) -> None:
    """Consolidate the long-term memory of an agent: merge duplicates, surface contradictions,
    retire stale and vague entries. Shows every change first, and can take it back.

    \b
    Example:
      mem0-dream --config mem0.yaml --user-id alice
      mem0-dream --config mem0.yaml --all --auto --retire
    """  # noqa: D205, D301  (click's own escape keeps the example's lines)
    ctx.obj = options = Options.gather(ctx, given)
    if ctx.invoked_subcommand is None and given["health"]:
        show_health(ctx, options, given)
    elif ctx.invoked_subcommand is None:
        consolidate_command(options, given)


for _command in (*COMMANDS, *PLAN_COMMANDS, *MARKDOWN_COMMANDS, *GRAPH_COMMANDS, label, calibrate):
    main.add_command(_command)


def consolidate_command(options: Options, given: dict[str, Any]) -> None:
    """Read, propose, ask, apply."""
    if options.store_kind == GRAPH and options.second_opinion is not None:
        raise UsageError("--second-opinion does not work on knowledge graphs; leave it out.")
    if options.store_kind == MARKDOWN:
        dream(options, given)
        return
    if options.store_kind == GRAPH:
        consolidate_graph(options, given)
        return
    auto, dry_run, as_json = given["auto"], given["dry_run"], given["as_json"]
    if auto and dry_run:
        raise UsageError("--auto applies and --dry-run does not; choose one.")
    options.scopes()  # whose memories are meant is asked before anything is opened
    with open_session(options) as session:
        if dry_run or (as_json and not auto):
            plan = proposed(session, options)
            _show(plan, given, ending="Dry run: no changes made.")
            return
        with session.locked():
            if auto:
                _resume_interrupted(session, options)
            plan = proposed(session, options, unattended=auto)
            if auto:
                _apply_unattended(session, plan, options, given)
            else:
                _apply_attended(session, plan, options, given)


def proposed(session: Session, options: Options, *, unattended: bool = False) -> Plan:
    """What a pass would do, with a second opinion if one is wanted."""
    plan = only(session.propose(options.scopes(), now=options.moment, unattended=unattended), options)

    return only(session.second_opinion(plan, unattended=unattended, say=say_aside), options)


def say_aside(line: str) -> None:
    """Tell something on the error stream that is no part of the report."""
    click.echo(f"mem0-dream: {line}", err=True)


def _resume_interrupted(session: Session, options: Options) -> None:
    """An unattended run finishes what a killed one had begun, so that one crash cannot stop all nights."""
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        session.resume(earlier.id, now=options.clock)
        click.echo(f"mem0-dream: finished run {earlier.id}, which had been interrupted.", err=True)


def _apply_unattended(session: Session, plan: Plan, options: Options, given: dict[str, Any]) -> None:
    from ..reporting import report

    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing was changed.")
    if not plan.totals and not given["as_json"]:
        click.echo(report.NOTHING_STORED)
        return
    result = session.apply(plan, now=options.clock, retire=given["retire"])
    for note in plan.notes:
        click.echo(f"mem0-dream: {note}", err=True)
    for name, reason in result.moved:
        click.echo(f"mem0-dream: skipped {name}: {reason}", err=True)
    if given["as_json"]:
        _print_json(plan, result)
    else:
        click.echo(report.auto_summary(result, conflicts=len(plan.conflicts) + plan.left_open))


def _apply_attended(session: Session, plan: Plan, options: Options, given: dict[str, Any]) -> None:
    from ..reporting import report

    shown = _show(plan, given, ending=None)
    if shown is None:
        return
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing can be applied.")
    for note in plan.fidelity:
        click.echo(f"Note: {note}")
    choices = {conflict.id: _ask(conflict, shown) for conflict in plan.conflicts}
    skipped: list[Merge | Resolve] = [item for item in plan.conflicts if choices[item.id] is None]
    plan = reviewed(session, plan, shown, review=given["review"], now=options.clock)
    if not plan.actions:
        say_nothing(plan)
        return
    shown = report.Report(plan, explain=given["explain"])
    over = warned(session, plan.with_choices(choices))
    if not confirmed(shown.proposal(), default=not over):
        click.echo(report.CANCELLED)
        return
    result = session.apply(
        plan, now=options.clock, choices=choices, retire=given["retire"], within_budget=False
    )
    session.remember_skips(skipped, now=options.clock, run=result.run)
    for line in report.moved_lines(result, plan, shown):
        click.echo(line)
    click.echo(report.summary(result))
    tell_open(plan)
    if result.run:
        click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def _show(plan: Plan, given: dict[str, Any], *, ending: str | None) -> Report | None:
    """Print the report; None if there is nothing to decide."""
    from ..reporting import report

    if given["as_json"]:
        _print_json(plan, None)
        return None
    if plan.gaps and not plan.actions:
        raise IncompleteListingError(
            f"Read-only: {'; '.join(plan.gaps)}. Nothing was found in what could be listed."
        )
    if not plan.totals:
        click.echo(report.NOTHING_STORED)
        return None
    shown = report.Report(plan, explain=given["explain"], texts=sys.stdout.isatty())
    asks = ending is None and may_ask(plan, review=given["review"])
    if plan.actions:
        click.echo("\n".join(_coloured(line) for line in shown.lines()))
    if given["explain"] and plan.unsure:
        click.echo("\n".join(shown.unsure_lines()))
    if not plan.actions:
        if not asks:
            say_nothing(plan)
        return shown if asks else None
    if not asks:
        tell_open(plan)
    if ending is not None:
        click.echo(shown.proposal())
        click.echo("".join(f"Read-only: {gap}\n" for gap in plan.gaps) + ending)
    return shown


_COLOURS = {"Merges": "green", "Conflicts": "yellow", "Prune": "red", "##": "cyan"}


def _coloured(line: str) -> str:
    """Headings in colour; click strips it where the output is no terminal."""
    colour = _COLOURS.get(line.split(" ", 1)[0])
    return click.style(line, fg=colour, bold=True) if colour and not line.startswith("[") else line


def _ask(conflict: Resolve, shown: Report) -> Side | None:
    from ..reporting.alignment import excerpts

    texts = {member.id: member.text for member in conflict.members}
    sides = excerpts(texts[conflict.a[0]], texts[conflict.b[0]])
    for side, text in zip("AB", sides, strict=True):
        likely = " (newer, likely to hold)" if conflict.newer == side.lower() else ""
        click.echo(f"  {side}: {text}{likely}")
    return ask_choice(shown.line(conflict).removesuffix("[A/B/skip]"))


def _print_json(plan: Plan, result: RunResult | None) -> None:
    from ..planning.plan_file import json_text, to_json

    click.echo(json_text(to_json(plan, result)))
