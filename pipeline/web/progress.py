"""The progress of a pass, which requests can read while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..planning.stages import Observer


class ReviewObserver:
    """An observer that remembers its present stage."""

    def __init__(self, shown: Observer | None = None) -> None:
        """Nothing is under way.

        Args:
            shown: Is told the same; the bars of the terminal.
        """
        self._shown = shown
        self._stages: list[tuple[str, int | None]] = []
        self._done = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Note a stage while it runs."""
        self._stages.append((name, total))
        self._done = 0
        with contextlib.ExitStack() as stack:
            stack.callback(self._stages.pop)
            show = stack.enter_context(self._shown.stage(name, total)) if self._shown else None

            def advance(done: int) -> None:
                """Note how much is done."""
                self._done = done
                if show is not None:
                    show(done)

            yield advance

    @property
    def told(self) -> dict[str, object]:
        """The present stage in data."""
        name, total = self._stages[-1] if self._stages else ("", None)
        return {"stage": name, "total": total, "done": self._done}
