"""Progress bars on the error stream, and only where a person watches it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress


class Bars:
    """Draws a bar for each stage of a pass; silent when the error stream is no terminal.

    A bar names its stage, and says how much is done and how much is left; the time beside it runs on while
    one piece takes long.
    """

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._display: Progress | None = None
        self._open = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show one stage while it runs."""
        # A dumb terminal cannot move its cursor back to redraw a bar.
        if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield lambda _done: None
            return
        display = self._enter()
        task = display.add_task(name, total=total, left="")

        def advance(done: int) -> None:
            """Move the bar, and say what is left."""
            display.update(task, completed=done, left="" if total is None else f"{total - done} left")

        try:
            yield advance
        finally:
            display.remove_task(task)
            self._leave()

    def _enter(self) -> Progress:
        if self._display is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            words = TextColumn("{task.description:<9}")
            left = TextColumn("{task.fields[left]}")
            columns = (SpinnerColumn(), words, BarColumn(), MofNCompleteColumn(), left, TimeElapsedColumn())
            context = click.get_current_context(silent=True)
            plain = True if context is not None and context.color is False else None
            console = Console(stderr=True, no_color=plain)
            self._display = Progress(*columns, console=console, transient=True)
            self._display.start()
        self._open += 1
        return self._display

    def _leave(self) -> None:
        self._open -= 1
        if self._open == 0 and self._display is not None:
            self._display.stop()
            self._display = None
