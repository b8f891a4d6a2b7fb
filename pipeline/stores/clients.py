"""Which client of mem0 was passed in, and the synchronous client for the same memories."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ...errors import UsageError

if TYPE_CHECKING:
    from .base import Store


def is_platform_client(client: object) -> bool:
    """Whether a client, tracked or not, is a synchronous one of the hosted platform.

    Raises:
        UsageError: If it is an asynchronous one.
    """
    client = getattr(client, "_tracked", client)
    if not _of_platform(client):
        return False
    if _is_asynchronous(client):
        raise UsageError(f"A {type(client).__name__} is consolidated with `await aconsolidate(...)`.")
    return True


def store_over(client: Any) -> Store:  # noqa: ANN401  (mem0 is untyped)
    """A store over any client of mem0; an asynchronous one is reached by what it is made of.

    An `AsyncMemory` holds the same parts as a `Memory`, and an embedded vector store may be open only once,
    so they are shared. An `AsyncMemoryClient` is a key and an address, so a client of its own is opened.
    """
    from . import open_store

    client = getattr(client, "_tracked", client)
    if not _is_asynchronous(client):
        return open_store(client)
    if _of_platform(client):
        from .platform import open_beside

        return open_beside(client)
    from mem0 import Memory

    from .mem0.store import Mem0Store

    shared = Memory.__new__(Memory)
    vars(shared).update(vars(client))
    return Mem0Store(shared)


def client_fingerprint(client: Any) -> str:  # noqa: ANN401
    """The fingerprint of the place that a client of any kind reads."""
    if _of_platform(client):
        from .platform import platform_fingerprint

        return platform_fingerprint(client)
    from .mem0.place import store_fingerprint

    return store_fingerprint(client)


def _of_platform(client: object) -> bool:
    return all(hasattr(client, name) for name in ("api_key", "host", "org_id"))


def _is_asynchronous(client: object) -> bool:
    return inspect.iscoroutinefunction(getattr(client, "search", None))
