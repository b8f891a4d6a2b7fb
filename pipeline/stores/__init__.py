"""One module per kind of store, and how to open the right one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Store


def open_store(source: str | os.PathLike[str] | Mapping[str, Any] | object) -> Store:
    """Open a store from what a user has at hand.

    Args:
        source: Path of a mem0 configuration file, the configuration itself, a mem0 `Memory`, or a
            `MemoryClient` of the hosted platform.

    Raises:
        ConfigError: If the configuration is missing, unreadable or wrong.
        StoreLockedError: If the running agent holds the store.
    """
    from .mem0.config import Mem0Config, load_config, open_mem0
    from .mem0.store import Mem0Store

    if isinstance(source, (str, os.PathLike)):
        return open_mem0(load_config(Path(source)))
    if isinstance(source, (Mem0Config, Mapping)):
        return open_mem0(source)
    from .clients import is_platform_client

    if is_platform_client(source):
        from .platform import platform_of

        return platform_of(source)
    return Mem0Store(source)
