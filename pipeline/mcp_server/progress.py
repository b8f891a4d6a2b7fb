"""The progress of a call for the client that waits, and the place where a cancelled call stops.

A pass has several stages, each counted from nought; a client wants one number that only grows.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..planning.stages import Advance

EVERY_SECONDS = 0.1
"""Reports are not closer together than this, but for the end of a stage."""


class CallObserver:
    """An observer that reports each step, and stops the work where it was cancelled."""

    def __init__(self, tell: Callable[[float, float | None, str], None], check: Callable[[], None]) -> None:
        """Begin at nought.

        Args:
            tell: Given what is done, what there is to do as far as known, and the stage in words.
            check: Raises if the client no longer waits.
        """
        self._tell = tell
        self._check = check
        self._before = 0.0
        self._told = 0.0
        self._at = 0.0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """One stage; a cancelled call does not begin it."""
        self._check()
        held = [0]

        def advance(done: int) -> None:
            """Report, unless it was just done."""
            self._check()
            held[0] = max(held[0], done)
            last = total is not None and done >= total
            if last or time.monotonic() - self._at >= EVERY_SECONDS:
                self._report(held[0], total, name)

        try:
            yield advance
        finally:
            self._before += max(held[0], 1)

    def _report(self, done: int, total: int | None, name: str) -> None:
        progress = self._before + done
        if progress <= self._told:
            return
        self._told, self._at = progress, time.monotonic()
        words = f"{name}: {done}" if total is None else f"{name}: {done} of {total}"
        self._tell(progress, None if total is None else self._before + total, words)
