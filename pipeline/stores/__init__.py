"""The stores, one folder for each kind, and how to open the right one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Store


def open_store(
    source: str | os.PathLike[str] | Mapping[str, Any] | object, *, state_dir: Path | str | None = None
) -> Store:
    """Open a store from what a user has at hand.

    Args:
        source: Path of a mem0 configuration file, of a project with Markdown memories (a folder) or of a
            memory server's graph (`.jsonl`); or the configuration itself, a mem0 `Memory`, or a
            `MemoryClient` of the hosted platform.
        state_dir: Where notes about files are kept; give the session the same.

    Raises:
        ConfigError: If the configuration is missing, unreadable or wrong.
        StoreLockedError: If the running agent holds the store.
    """
    from .mem0.config import Mem0Config, load_config, open_mem0
    from .mem0.store import Mem0Store

    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        if path.is_dir():
            return _open_markdown(path, state_dir)
        return _open_graph(path, state_dir) if path.suffix == ".jsonl" else open_mem0(load_config(path))
    if isinstance(source, (Mem0Config, Mapping)):
        return open_mem0(source)
    from .clients import is_platform_client

    if is_platform_client(source):
        from .platform import platform_of

        return platform_of(source)
    return Mem0Store(source)


def _open_markdown(root: Path, state_dir: Path | str | None) -> Store:
    from .files.state import state_directory
    from .markdown.directories import discover
    from .markdown.store import MarkdownStore

    return MarkdownStore(discover(root), root=root, state=state_directory(state_dir))


def _open_graph(path: Path, state_dir: Path | str | None) -> Store:
    from .files.state import state_directory
    from .graph.file import FileMedium
    from .graph.store import GraphStore

    return GraphStore(FileMedium(path), state=state_directory(state_dir))
