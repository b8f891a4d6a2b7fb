"""The command line: parse, make one call, show what came of it.

Every error of ours becomes one sentence on the error stream and the exit code of its class; a
traceback shown to a user is a bug.
"""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from typing import Any

import click

from ...errors import DreamError
from .colour import plain_terminal
from .doctor import doctor
from .graph.commands import COMMANDS as GRAPH_COMMANDS
from .graph.opening import pass_options as graph_pass_options
from .grouped import write_groups
from .health import show_health
from .kind_commands import kind_commands
from .kinds import completed
from .label import calibrate, label
from .logs import tell
from .markdown import COMMANDS as MARKDOWN_COMMANDS
from .markdown import pass_options
from .mcp import mcp_command
from .night import night, night_options
from .options import Options, plan_options, running, scope_options, store_options
from .passes import consolidate_command
from .plans import COMMANDS as PLAN_COMMANDS
from .report import report_command
from .runs import COMMANDS
from .schedule import schedule
from .web import review_command

_INTERRUPTED = 130


class DreamGroup(click.Group):
    """Turns our errors into one sentence and an exit code."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups, then the commands."""
        write_groups(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the only place where errors are caught."""
        # A terminal that cannot spell a character must not stop a run.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if ctx.color is None and plain_terminal():
            ctx.color = False
        try:
            return super().invoke(ctx)
        except DreamError as error:
            from ..reporting.report import visible

            told = completed(str(error), running(ctx))
            tell("\n".join(visible(line) for line in told.split("\n")), level=logging.ERROR)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            told = "interrupted; `mem0-dream resume` finishes a run that had begun."
            tell(completed(told, running(ctx)))
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
    help="Age counts where no read is on record, too; see track_access.",
)
@click.option("--retire", is_flag=True, help="Expire memories instead of deleting them.")
@click.option("--explain", is_flag=True, help="Show texts, scores and evidence under each line.")
@click.option("--review", is_flag=True, help="Ask about unsure pairs too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text; asks nothing.")
@night_options
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
    if ctx.invoked_subcommand is not None:
        return
    if not options.named and sys.stdout.isatty():
        from .begin import first_steps

        click.echo("\n".join(first_steps(Path())))
        return
    start(ctx, options, given)


def start(ctx: click.Context, options: Options, given: dict[str, Any]) -> None:
    """One pass, or a look at how the memory is doing."""
    if given["health"]:
        show_health(ctx, options, given)
        return
    with night(ctx, options, given):
        consolidate_command(options, given)


_MORE = (schedule, doctor, label, calibrate, mcp_command, report_command, review_command)
for _command in (*COMMANDS, *PLAN_COMMANDS, *MARKDOWN_COMMANDS, *GRAPH_COMMANDS, *_MORE):
    main.add_command(_command)
for _command in kind_commands(main, start):
    main.add_command(_command)
