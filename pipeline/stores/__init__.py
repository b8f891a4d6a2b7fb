"""The stores, one folder for each kind, and how to open the right one."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...models.text.reading import from_json

if TYPE_CHECKING:
    from .base import Store


def open_store(
    source: str | os.PathLike[str] | Mapping[str, Any] | object,
    *,
    state_dir: Path | str | None = None,
    wait_s: float = 0.0,
) -> Store:
    """Open a store from what a user has at hand.

    Args:
        source: Path of a mem0 configuration file, of a project with Markdown memories (a folder) or of a
            memory server's graph or an export (`.jsonl`); or the configuration itself, a mem0 `Memory`, or a
            `MemoryClient` of the hosted platform.
        state_dir: Where notes about files are kept; give the session the same.
        wait_s: Seconds to wait for another process that holds an embedded store.

    Raises:
        ConfigError: If the configuration is missing, unreadable or wrong.
        StoreLockedError: If the running agent holds the store.
    """
    from .mem0.config import Mem0Config, load_config, open_mem0
    from .mem0.store import Mem0Store

    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        if path.is_dir() or path.suffix == ".jsonl":
            return _open_files(path, state_dir)
        source = load_config(path)
    if isinstance(source, (Mem0Config, Mapping)):
        return open_mem0(source, wait_s=wait_s)
    client = getattr(source, "_tracked", source)
    if not _of_platform(client):
        return Mem0Store(client)
    if _is_asynchronous(client):
        raise UsageError(f"A {type(client).__name__} is consolidated with `await aconsolidate(...)`.")
    from .remote.services import platform_of

    return platform_of(client)


def store_over(client: Any) -> Store:  # noqa: ANN401  (mem0 is untyped)
    """A store over any client of mem0; an asynchronous one is reached by what it is made of.

    An `AsyncMemory` holds the same parts as a `Memory`, and an embedded vector store may be open only once,
    so they are shared. An `AsyncMemoryClient` is a key and an address, so a client of its own is opened.
    """
    client = getattr(client, "_tracked", client)
    if not _is_asynchronous(client):
        return open_store(client)
    if _of_platform(client):
        from .remote.services import open_platform

        return open_platform(client.api_key, host=client.host)
    from mem0 import Memory

    from .mem0.store import Mem0Store

    shared = Memory.__new__(Memory)
    vars(shared).update(vars(client))
    return Mem0Store(shared)


def client_fingerprint(client: Any) -> str:  # noqa: ANN401
    """The fingerprint of the place that a client of any kind reads."""
    if _of_platform(client):
        from .remote.services import platform_fingerprint

        return platform_fingerprint(client)
    from .mem0.backends import store_fingerprint

    return store_fingerprint(client)


def _open_files(path: Path, state_dir: Path | str | None) -> Store:
    from .files import state_directory

    state = state_directory(state_dir)
    if path.is_dir():
        from .markdown.directories import discover
        from .markdown.store import MarkdownStore

        return MarkdownStore(discover(path), root=path, state=state)
    from .graph.media import FileMedium
    from .graph.store import GraphStore
    from .jsonl import JsonlStore

    with contextlib.suppress(OSError, ValueError), path.open(encoding="utf-8") as lines:
        first = from_json(next((line for line in lines if line.strip()), "{}"))
        if isinstance(first, dict) and first and first.get("type") not in ("entity", "relation"):
            return JsonlStore(path)
    return GraphStore(FileMedium(path), state=state)


def _of_platform(client: object) -> bool:
    return all(hasattr(client, name) for name in ("api_key", "host", "org_id"))


def _is_asynchronous(client: object) -> bool:
    return inspect.iscoroutinefunction(getattr(client, "search", None))
