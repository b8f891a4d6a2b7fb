"""The stages of a pass as they happen: which one is under way, how much of it is done, how much is left.

While merges are drafted, texts are embedded and judged again in small numbers; that is not shown by itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol

DRAFT = "draft"
SCOPES = "scopes"
NAMES = {
    "embed": "embedding",
    "screen": "screening",
    "judge": "judging",
    "judge alone": "judging",
    DRAFT: "drafting",
    SCOPES: "judging scopes",
}


Advance = Callable[[int], None]  # moves a stage forward to the number of units done so far


class Observer(Protocol):
    """Is told how far a pass has come; the command line draws bars, the library stays silent."""

    def stage(self, name: str, total: int | None) -> contextlib.AbstractContextManager[Advance]:
        """Begin a stage of `total` units (None if unknown)."""


class Silent:
    """An observer that shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:  # noqa: ARG002
        """Run the stage without showing anything."""
        yield lambda _done: None


@contextlib.contextmanager
def in_stages(observer: Observer) -> Iterator[Callable[[str, int, int], None]]:
    """Turns reports of (stage, done, total) into the stages of an observer, one open at a time."""
    stage, so_far = ("", 0), 0
    advance: Advance
    with contextlib.ExitStack() as opened:

        def report(name: str, done: int, total: int) -> None:
            nonlocal stage, so_far, advance
            if total == 0 or (stage[0] == DRAFT != name and so_far < stage[1]):
                return
            if (name, total) != stage or done < so_far:
                opened.close()
                advance = opened.enter_context(observer.stage(NAMES.get(name, name), total))
            stage, so_far = (name, total), done
            advance(done)

        yield report
