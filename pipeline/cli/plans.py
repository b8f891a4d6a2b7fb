"""Plans as files on the command line: plan writes one, apply takes one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import DreamError, IncompleteListingError, UsageError
from .kinds import GRAPH, again
from .options import Options, open_session, plan_options, scope_options, store_options
from .platform import tell_fidelity

if TYPE_CHECKING:
    from ..engine import Session
    from ..plan import Plan
    from ..reporting.report import Report


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
    from ..planning.plan_file import dump_plan
    from .asking import proposed

    with open_session(options) as session:
        plan = proposed(session, options)
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
    from ..reporting import report
    from .passes import mended

    plan = _load_plan(file)
    with open_session(options) as session, session.locked():
        plan = session.completed(plan)
        # Entities are named in full, and what they gain is no line of its own.
        shown = session.reporter(plan, explain=plan.kind == GRAPH, texts=sys.stdout.isatty())
        tell_fidelity(session, plan.fidelity, begun=bool(plan.actions))
        if not yes:
            _require_consent(session, plan, shown, file)
        result = session.apply(plan, now=options.clock, choices={}, retire=retire, within_budget=yes)
        for line in report.moved_lines(result, plan, shown):
            click.echo(line)
        click.echo(report.summary(result))
        mended(session, options, result)
        if result.run:
            click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def _load_plan(file: str) -> Plan:
    from ..planning.plan_file import parse_plan

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan file {file} cannot be read: {error}.") from error
    return parse_plan(text)


def _require_consent(session: Session, plan: Plan, shown: Report, file: str) -> None:
    from .asking import confirmed, warned

    if file == "-":
        raise UsageError("A plan from the input cannot be asked about; add --yes.")
    click.echo("\n".join(shown.lines()))
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing can be applied.")
    if not confirmed(shown.proposal(), default=not warned(session, plan)):
        raise _CancelledError


class _CancelledError(DreamError):
    exit_code = 0

    def __init__(self) -> None:
        super().__init__("Cancelled. No changes made.")


COMMANDS = (plan_command, apply_command)
"""What the main group offers for plans as files."""
