"""The stages of a pass as they happen: which one is under way, how much of it is done, how much is left.

Stages follow each other. While merges are drafted, texts are embedded and judged again in small numbers; that
belongs to drafting and is not shown by itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

DRAFT = "draft"
NAMES = {
    "embed": "embedding",
    "screen": "screening",
    "judge": "judging",
    "judge alone": "judging",
    DRAFT: "drafting",
}
"""What a person reads for each stage of a plan."""


class Observer(Protocol):
    """Is told how far a pass has come; the command line draws bars, the library stays silent."""

    def stage(self, name: str, total: int | None) -> contextlib.AbstractContextManager[Advance]:
        """Begin a stage of `total` units (None if unknown)."""
        ...


class Advance(Protocol):
    """Moves a stage forward."""

    def __call__(self, done: int, /) -> None:
        """Report the number of units done so far."""
        ...


class Silent:
    """An observer that shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:  # noqa: ARG002
        """Run the stage without showing anything."""
        yield lambda _done: None


class Stages:
    """Turns reports of (stage, done, total) into the stages of an observer, one open at a time."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._open = contextlib.ExitStack()
        self._stage: tuple[str, int] | None = None
        self._done = 0
        self._advance: Advance | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def __call__(self, name: str, done: int, total: int, /) -> None:
        """Report how far a stage is."""
        drafting = self._stage is not None and self._stage[0] == DRAFT and self._done < self._stage[1]
        if drafting and name != DRAFT:
            return
        if (name, total) != self._stage or done < self._done:
            self._open.close()
            self._advance = self._open.enter_context(self._observer.stage(NAMES.get(name, name), total))
        self._stage, self._done = (name, total), done
        if self._advance is not None:
            self._advance(done)
