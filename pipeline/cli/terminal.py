"""The terminal: colour and who wants it, lines as wide as it is, progress on the error stream.

Colour is added to whole lines of ours and to marks that stand beside a line; it never depends on what a
memory says. Where it is not wanted, differing words stand in brackets.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from ..reporting.text import bracketed, visible_lines

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text

_HEADINGS = dict.fromkeys(("Likely", "##", "#"), "cyan") | dict.fromkeys(("Possible", "Conflicts"), "yellow")
_HEADINGS |= {"Merges": "green", "Prunes": "red"}
_TONES = {"goes": "red", "stays": "green"}
_NARROWEST = 40
WORDS: dict[str, Any] = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
"""What the command line says at length, and the answers that its questions understand."""
QUIET_S = 60.0  # where nobody watches the error stream: seconds between two lines of progress


def color_option() -> click.Option:
    """What every command takes."""
    told = "Colour or none; else as the terminal and NO_COLOR say."
    return click.Option(["--color/--no-color"], default=None, expose_value=False, callback=_chosen, help=told)


def _chosen(context: click.Context, _parameter: click.Parameter, value: bool | None) -> None:  # noqa: FBT001
    """Colour as asked for, here and in what is called from here; said after a command, it counts, too."""
    if value is not None:
        context.color = value


def plain_terminal() -> bool:
    """Whether the user, or the terminal, asks for text alone: https://no-color.org."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def colours() -> bool:
    """Whether the output is coloured."""
    context = click.get_current_context(silent=True)
    chosen = context.color if context is not None else None
    return chosen if chosen is not None else sys.stdout.isatty() and not plain_terminal()


def echo(lines: Iterable[str]) -> None:
    """Print lines of a report: headings and differing words in colour, words wrapped on a terminal."""
    coloured, watched = colours(), sys.stdout.isatty()
    if not coloured and not watched:
        for line in lines:
            click.echo(bracketed(line))
        return
    from rich.console import Console

    console = Console(
        force_terminal=coloured, color_system="standard" if coloured else None, no_color=not coloured,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    for line in lines:
        for row in _wrapped(_styled(line, coloured=coloured), console.width if watched else 0):
            console.print(row, soft_wrap=True)


def answer(data: object, lines: Iterable[str] = (), *, as_json: bool, sort_keys: bool = False) -> None:
    """Print what a command found: for a program, or for a person."""
    if as_json:
        from ..planning.plan_file import json_text

        click.echo(json_text(data, sort_keys=sort_keys))
    else:
        echo(lines)


def _styled(line: str, *, coloured: bool) -> Text:
    from rich.text import Text

    if not coloured:
        return Text(bracketed(line))
    colour = _HEADINGS.get(line.split(" ", 1)[0])
    text = Text(line, style=f"bold {colour}" if colour else "")
    for start, end, tone in getattr(line, "spans", ()):
        text.stylize(f"bold underline {_TONES[tone]}", start, end)
    return text


def _wrapped(text: Text, width: int) -> Iterable[Text]:
    """A line as rows, each behind the white space that the line begins with; not wrapped for width 0."""
    from rich.console import Console

    if not width or text.cell_len <= width:
        return [text]
    indent = len(text.plain) - len(text.plain.lstrip())
    rows = text[indent:].wrap(Console(), max(_NARROWEST, width - indent))
    for row in rows:
        row.rstrip()
        row.pad_left(indent)
    return rows


class Bars:
    """Tells how far each stage of a pass has come: a bar for a person, now and then a line for a file."""

    def __init__(self) -> None:
        self._display: Progress | None = None
        self._told = time.monotonic()

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show one stage while it runs."""
        # A dumb terminal cannot move its cursor back to redraw a bar.
        if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield lambda done: self._tell(name, done, total)
            return
        outermost = self._display is None
        if outermost:  # at once; what draws the bar takes a moment to import
            click.echo(f"{name} ...\r", nl=False, err=True)
        display = self._display = self._display or _started_display()
        task = display.add_task(name, total=total, left="")

        def advance(done: int) -> None:
            display.update(task, completed=done, left="" if total is None else f"{total - done} left")

        try:
            yield advance
        finally:
            display.remove_task(task)
            if outermost:
                display.stop()
                self._display = None

    def _tell(self, name: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._told >= QUIET_S:
            self._told = now
            tell(f"{name}: {done}" + (f" of {total}" if total is not None else ""))


def _started_display() -> Progress:
    from rich import progress
    from rich.console import Console

    words, left = (progress.TextColumn(told) for told in ("{task.description:<9}", "{task.fields[left]}"))
    bar = (progress.BarColumn(), progress.MofNCompleteColumn())
    columns = (progress.SpinnerColumn(), words, *bar, left, progress.TimeElapsedColumn())
    context = click.get_current_context(silent=True)
    plain = True if context is not None and context.color is False else None
    display = progress.Progress(*columns, console=Console(stderr=True, no_color=plain), transient=True)
    display.start()
    return display


_LEVELS = {0: logging.ERROR, 1: logging.INFO}
_FORMAT = "%(levelname)s %(name)s: %(message)s"


class Escaping(logging.Formatter):
    """Log lines without foreign controls: names, paths and answers of servers are not ours."""

    def format(self, record: logging.LogRecord) -> str:
        """One line for each line of the message."""
        return visible_lines(super().format(record))


class JsonLines(logging.Formatter):
    """Each record as one object: time, level, logger, message, and what it carries besides."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        whole = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "night": getattr(record, "night", None),
            "error": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in whole.items() if value is not None})


_JSON = logging.StreamHandler()
_JSON.setFormatter(JsonLines())


def set_up_logs(verbose: int, *, as_json: bool) -> None:
    """Log at the level that was asked for; as JSON at least what happened."""
    if not verbose:
        # What a library's next release will change is for its developers, not for the mail of a nightly job.
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"mem0\b")
    level = _LEVELS.get(verbose, logging.DEBUG)
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(Escaping(_FORMAT))
    logging.basicConfig(level=logging.ERROR, handlers=[stream])
    ours = logging.getLogger("mem0_dream")
    ours.setLevel(min(level, logging.INFO) if as_json else level)
    ours.propagate = not as_json
    _JSON.stream = sys.stderr  # as it is now
    (ours.addHandler if as_json else ours.removeHandler)(_JSON)


def tell(line: str, *, level: int = logging.INFO, begin: str = "mem0-dream: ") -> None:
    """A remark without memory text on the error stream: a line for a person, a record where logs are JSON."""
    if _JSON in logging.getLogger("mem0_dream").handlers:
        logging.getLogger("mem0_dream.cli").log(level, "%s", line)
    else:
        click.echo(f"{begin}{line}", err=True)
