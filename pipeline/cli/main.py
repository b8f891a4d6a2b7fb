"""The command line: parse, make one call, show what came of it; an error is one sentence and an exit code."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any

import click

from ...errors import DreamError, StoreError
from ..reporting.text import visible_lines
from . import memories, night, pages, passes, upkeep
from .opening import full_commands
from .options import GROUPS, MEM0, PASS, ROWS, STORES, Options, parameters, running, spoken_help
from .terminal import WORDS, plain_terminal, tell

_INTERRUPTED = 130
_log = logging.getLogger(__name__)
_WIDE: dict[str, Any] = {"max_content_width": 100}
COMMAND_GROUPS = tuple(WORDS["commands"].items())  # a test holds that each stands in one line
FIRST = (
    "config", "user_id", "agent_id", "run_id", "app_id", "all_scopes", "dry_run", "auto", "review", "retire",
    "if_due", "explain", "more", "as_json",
)  # fmt: skip
"""The options that the first help shows, on one screen with the commands; `--help-all` shows every one."""
WHOLE = "mem0_dream.whole"  # noted in a context whose help shows every option


class GroupedCommand(click.Command):
    """A command that shows its options in the groups of the table."""

    first: tuple[str, ...] = ()  # those that are shown until all are asked for; empty for all of them

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; neighbours with the same words share a line."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, "Options")}
        few = self.first and WHOLE not in ctx.meta
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            always = {"--help", "--help-all", "--version"} & set(param.opts)
            if record is None or not record[1] or (few and param.name not in self.first and not always):
                continue
            title = ROWS[str(param.name)].group if param.name in ROWS and not few else "Options"
            if not few and (always or param.name == "color"):
                title = GROUPS[-1]
            before = rows[title][-1:]
            if before and before[0][1] == record[1]:
                rows[title][-1] = (f"{before[0][0].rpartition(' ')[0]}, {record[0]}", record[1])
            else:
                rows[title].append(record)
        for title in ("Options", *GROUPS):
            if rows[title]:
                with formatter.section(title):
                    formatter.write_dl(rows[title], col_max=20 if few else 30)


class DreamGroup(GroupedCommand, click.Group):
    """Turns our errors into one sentence and an exit code."""

    first = FIRST

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each group with a sentence, then the options."""
        with formatter.section("Commands"):
            formatter.write_dl(COMMAND_GROUPS)
        super().format_options(ctx, formatter)

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
            tell(visible_lines(full_commands(str(error), running(ctx))), level=logging.ERROR)
            ctx.exit(error.exit_code)
        except (OSError, UnicodeError, RecursionError, MemoryError) as error:
            _log.debug("What the machine refused", exc_info=error)
            tell(f"This did not work: {visible_lines(_refusal(error))}.", level=logging.ERROR)
            ctx.exit(StoreError.exit_code)
        except KeyboardInterrupt:
            tell(full_commands(passes.interrupted(ctx), running(ctx)))
            ctx.exit(_INTERRUPTED)


def _refusal(error: Exception) -> str:
    """What the machine, or a text that is none, stood in the way of; no text of a memory."""
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or type(error).__name__}{place}"
    if isinstance(error, UnicodeError):
        return "a text is not UTF-8"
    return "there is not enough memory" if isinstance(error, MemoryError) else "a file nests too deeply"


def _help_all(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value and not ctx.resilient_parsing:
        ctx.meta[WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


@click.group(
    cls=DreamGroup,
    invoke_without_command=True,
    params=parameters(*PASS, kind=MEM0),
    help=spoken_help(WORDS["passes"][MEM0]),
    context_settings=_WIDE,
    subcommand_metavar="[COMMAND]",
)
@click.version_option(package_name="mem0-dream")
@click.option(
    "--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_help_all,
    help="Show every option, in groups, and exit.",
)  # fmt: skip
@click.pass_context
def main(ctx: click.Context, /, **given: Any) -> None:
    """A pass over a mem0 store, unless a command is named."""
    ctx.obj = options = Options.gather(ctx, given)
    if ctx.invoked_subcommand is None:
        passes.start(ctx, options)


def _pass_over(kind: str) -> click.Command:
    params = parameters(*PASS, kind=kind)
    place = next((name for name, row in ROWS.items() if row.argument and kind in row.kinds), None)
    if place is not None:
        next(param for param in params if param.name == place).hidden = True  # type: ignore[attr-defined]
        row = ROWS[place]
        what: dict[str, Any] = {"metavar": f"[{row.argument}]", "type": row.how.get("type", str)}
        params.append(click.Argument(["place"], required=False, **what))

    @click.pass_context
    def run(ctx: click.Context, /, **given: Any) -> None:
        named = given.pop("place", None)
        if place is not None and named is not None:
            given[place] = named
        passes.start(ctx, Options.gather(ctx, given, kind=kind))

    told = spoken_help(WORDS["passes"][kind])
    return GroupedCommand(kind, params=params, callback=run, help=told, context_settings=_WIDE)


for _module in (passes, pages, memories, night, upkeep):
    for _command in (each for each in vars(_module).values() if isinstance(each, click.Command)):
        main.add_command(_command)
for _kind in STORES:
    if _kind != MEM0:
        main.add_command(_pass_over(_kind))
