"""How far a pass has come, for whoever asks while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


class Watched:
    """An observer that remembers its present stage."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._stages: list[tuple[str, int | None]] = []
        self._done = 0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Note a stage while it runs."""
        self._stages.append((name, total))
        self._done = 0

        def advance(done: int) -> None:
            """Note how much is done."""
            self._done = done

        try:
            yield advance
        finally:
            self._stages.pop()

    @property
    def told(self) -> dict[str, object]:
        """The present stage in data."""
        name, total = self._stages[-1] if self._stages else ("", None)
        return {"stage": name, "total": total, "done": self._done}
