"""mem0's hosted platform as a store."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from ....errors import ConfigError
from ..remote.calling import Caller, Patience
from ..remote.store import RemoteStore
from .api import PlatformApi, platform_fingerprint

KEY_VARIABLE = "MEM0_API_KEY"
_SERVICE = "The mem0 platform"

__all__ = ["KEY_VARIABLE", "open_beside", "open_platform", "platform_fingerprint", "platform_of"]


def open_platform(
    *,
    host: str | None = None,
    org: str | None = None,
    project: str | None = None,
    patience: Patience | None = None,
    section: Mapping[str, Any] | None = None,
) -> RemoteStore:
    """Open the project that the key in `MEM0_API_KEY` belongs to.

    Args:
        host: Another address than mem0's own.
        org: The organisation that must be meant; a key belongs to one.
        project: The project that must be meant; a key belongs to one.
        patience: How long and how often it is asked.
        section: The `mem0_dream:` section of a configuration.

    Raises:
        ConfigError: If there is no key, it is refused, or it opens another project.
        StoreError: If the platform does not answer.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise ConfigError(f"{KEY_VARIABLE} is not set; put the key of your mem0 project there.")
    caller = Caller(_SERVICE, patience)
    client = caller.ask("opening the project", lambda: _client(key, host, caller.patience.timeout))
    for name, wanted, told in (("org", org, client.org_id), ("project", project, client.project_id)):
        if wanted and wanted != told:
            client.client.close()
            raise ConfigError(
                f"The key in {KEY_VARIABLE} opens the {name} {told or '(not told)'}, not {wanted}; "
                f"a key belongs to one project, so use the key of that one."
            )
    return RemoteStore(PlatformApi(client, caller, owned=True), section=section)


def open_beside(client: Any, *, patience: Patience | None = None) -> RemoteStore:  # noqa: ANN401
    """A store with connections of its own, opened with the key and the address of another client."""
    caller = Caller(_SERVICE, patience)
    opened = caller.ask(
        "opening the project", lambda: _client(client.api_key, client.host, caller.patience.timeout)
    )
    return RemoteStore(PlatformApi(opened, caller, owned=True))


def platform_of(client: Any, *, patience: Patience | None = None) -> RemoteStore:  # noqa: ANN401
    """A store over a `MemoryClient` that the caller opened and closes."""
    _quieten_client()
    return RemoteStore(PlatformApi(getattr(client, "_tracked", client), Caller(_SERVICE, patience)))


def _client(key: str, host: str | None, timeout: float) -> Any:  # noqa: ANN401
    """mem0's client; its constructor asks the platform which project the key belongs to."""
    _quieten_client()
    try:
        import httpx
        from mem0 import MemoryClient
    except OSError as error:
        raise ConfigError(
            f"mem0 cannot use its own directory ({type(error).__name__}); set MEM0_DIR to a writable one."
        ) from error
    connection = httpx.Client(timeout=timeout)
    try:
        return MemoryClient(api_key=key, host=host.rstrip("/") if host else None, client=connection)
    except BaseException:
        connection.close()
        raise


def _quieten_client() -> None:
    """No telemetry unless the user decided; the client would log each expected 404 as an error."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    logging.getLogger("mem0.client").setLevel(logging.CRITICAL)
