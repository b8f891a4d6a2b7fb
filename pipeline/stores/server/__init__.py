"""A mem0 REST server of one's own as a store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ....errors import ConfigError
from ..remote.calling import Caller, Patience
from ..remote.store import RemoteStore
from .api import ServerApi

KEY_VARIABLE = "MEM0_SERVER_API_KEY"
TOKEN_VARIABLE = "MEM0_SERVER_TOKEN"  # noqa: S105  (the name of a variable)

__all__ = ["KEY_VARIABLE", "TOKEN_VARIABLE", "open_server"]


def open_server(
    url: str, *, patience: Patience | None = None, section: Mapping[str, Any] | None = None
) -> RemoteStore:
    """Open the server at an address, with a key, a token, or neither where it asks for none.

    Args:
        url: Its address; never with a password in it.
        patience: How long and how often it is asked.
        section: The `mem0_dream:` section of a configuration.

    Raises:
        ConfigError: If the address is none, or the server refuses the key.
        StoreError: If it does not answer.
    """
    import httpx

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("The address of a mem0 server begins with http:// or https://.")
    if parts.username or parts.password:
        raise ConfigError(f"Leave user and password out of the address; keys go into {KEY_VARIABLE}.")
    # A server asks for every answer to be computed, embeddings included, so a pace is of less use here.
    caller = Caller(f"The mem0 server at {parts.hostname}", patience)
    client = httpx.Client(
        base_url=url.rstrip("/"), headers=_headers(), timeout=caller.patience.timeout, follow_redirects=True
    )
    return RemoteStore(ServerApi(client, caller), section=section)


def _headers() -> dict[str, str]:
    key, token = (os.environ.get(name, "").strip() for name in (KEY_VARIABLE, TOKEN_VARIABLE))
    if key:
        return {"X-API-Key": key}
    return {"Authorization": f"Bearer {token}"} if token else {}
