"""mem0's own embedder, made only when a text must be embedded, and named when it fails.

Listing, verifying, pruning, undoing and most merges embed nothing: what is stored already has a
vector. Only a text that is new does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ....errors import DreamError, RefusedChangeError
from .rows import describe

# Stands in while mem0 is opened: it needs no key, no package beyond mem0's own, and is never asked.
NO_EMBEDDER = {"provider": "openai", "config": {"api_key": "mem0-dream-embeds-later"}}


class LazyEmbedder:
    """An embedder that is made when it is first asked."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (mem0 is untyped)
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)


@contextmanager
def embedding(memory: Any) -> Iterator[None]:  # noqa: ANN401
    """Name the embedder as the cause if the block fails; nothing has been changed by then.

    Raises:
        RefusedChangeError: So that this change is skipped with the reason, and the others go on.
    """
    try:
        yield
    except Exception as error:
        provider = getattr(getattr(memory.config, "embedder", None), "provider", "configured")
        reason = str(error) if isinstance(error, DreamError) else describe(error)
        raise RefusedChangeError(
            f"the {provider} embedder of mem0's configuration failed ({reason}), so no new text can be stored"
        ) from error
