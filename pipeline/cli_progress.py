"""Progress bars on the error stream, and only where a person watches it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


class Bars:
    """Draws a bar for each stage of a pass; silent when the error stream is no terminal."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show one stage while it runs."""
        if not sys.stderr.isatty():
            yield lambda _done: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description:<6}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(name, total=total)
            yield lambda done: progress.update(task, completed=done)
