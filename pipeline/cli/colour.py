"""Colour on the command line: who wants it, and what it is put on.

Colour is added to whole lines of ours and to marks that stand beside a line; it never depends on what a
memory says. Where it is not wanted, the lines are printed as they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
_HEADINGS = {"Merges": "green", "Conflicts": "yellow", "Prune": "red", "##": "cyan"}
_TONES = {"goes": "red", "stays": "green"}


def _chosen(context: click.Context, _parameter: click.Parameter, value: bool | None) -> None:  # noqa: FBT001
    """Colour as asked for, here and in what is called from here; said after a command, it counts, too."""
    if value is not None:
        context.color = value


option = click.option(
    "--color/--no-color",
    default=None,
    expose_value=False,
    callback=_chosen,
    help="Colour, or none. [default: on a terminal, unless NO_COLOR is set or TERM is dumb]",
)
"""What every command takes."""


def plain_terminal() -> bool:
    """Whether the user, or the terminal, asks for text alone: https://no-color.org."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def colours() -> bool:
    """Whether the output is coloured."""
    context = click.get_current_context(silent=True)
    chosen = context.color if context is not None else None
    return chosen if chosen is not None else sys.stdout.isatty() and not plain_terminal()


def echo(lines: Iterable[str]) -> None:
    """Print lines of a report, headings and differing words in colour where that is wanted."""
    click.echo("\n".join(map(styled, lines)))


def styled(line: str) -> str:
    """A line with its colours; click takes them out again where the output is no terminal."""
    from ..reporting.marks import Marked

    if isinstance(line, Marked):
        return _with_marks(line)
    colour = _HEADINGS.get(line.split(" ", 1)[0])
    return click.style(line, fg=colour, bold=True) if colour else line


def _with_marks(line: Any) -> str:
    parts, done = [], 0
    for start, end, tone in line.spans:
        parts += [line[done:start], click.style(line[start:end], fg=_TONES[tone], bold=True, underline=True)]
        done = end
    return "".join([*parts, line[done:]])
