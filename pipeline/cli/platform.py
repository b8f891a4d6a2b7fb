"""The command line for stores behind an interface: mem0's hosted platform, and a server of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from ...errors import ConfigError
from .logs import tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..planning.stages import Observer
    from ..stores.remote.calling import Patience
    from ..stores.remote.store import RemoteStore
    from .options import Options

PLATFORM, SERVER = "platform", "server"
REMOTE_OPTIONS = {PLATFORM: ("host", "org", "project"), SERVER: ("url",)}

PLACE_OPTIONS = (
    click.option("--host", help="With --store platform: its address, if it is not mem0's own. [MEM0_HOST]"),
    click.option("--org", help="With --store platform: refuse a key of another organisation. [MEM0_ORG_ID]"),
    click.option(
        "--project", help="With --store platform: refuse a key of another project. [MEM0_PROJECT_ID]"
    ),
    click.option("--url", help="With --store server: the address of your mem0 server. [MEM0_SERVER_URL]"),
)
"""Where the memories are; every command on a store takes them. Keys come from the environment alone."""
_VARIABLES = {
    "host": "MEM0_HOST",
    "org": "MEM0_ORG_ID",
    "project": "MEM0_PROJECT_ID",
    "url": "MEM0_SERVER_URL",
}
"""Read only where such a store is opened: for any other kind they mean nothing."""


def open_remote(options: Options, _given: Mapping[str, Any], observer: Observer | None = None) -> Session:
    """A session on the platform or the server that the options name.

    Raises:
        ConfigError: If there is no key or address, or it is refused.
        StoreError: If the service does not answer.
    """
    from .options import plain_session, section_of, settings_of, wanted

    section = section_of(options)
    patience = _patience(section.pop("remote", {}))
    settings, kinds = settings_of(section, options), wanted(options)
    return plain_session(_opened(options, patience, section), settings, kinds, options, observer)


def _opened(options: Options, patience: Patience, section: Mapping[str, Any]) -> RemoteStore:
    for name, variable in _VARIABLES.items():  # noted, so that a printed command reaches the same place
        if name in REMOTE_OPTIONS[str(options.store_kind)]:
            setattr(options, name, getattr(options, name) or os.environ.get(variable) or None)
    if options.store_kind == PLATFORM:
        from ..stores.platform import open_platform

        return open_platform(
            host=options.host, org=options.org, project=options.project, patience=patience, section=section
        )
    from ..stores.server import open_server

    if not options.url:
        raise ConfigError("Name the server: mem0-dream server http://localhost:8888, or --url.")
    return open_server(options.url, patience=patience, section=section)


def _patience(section: Any) -> Patience:
    """The section `mem0_dream.remote`: how long and how often a service is asked."""
    from pydantic import TypeAdapter, ValidationError

    from ..stores.remote.calling import Patience

    unknown = set(section) - {item.name for item in fields(Patience)} if isinstance(section, dict) else ()
    if unknown:
        raise ConfigError(f"The setting mem0_dream.remote.{min(unknown)} is unknown.")
    try:
        return TypeAdapter(Patience).validate_python(section)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(("mem0_dream.remote", *(str(part) for part in first["loc"])))
        raise ConfigError(f"The setting {place} is wrong: {first['msg']}.") from None


def tell_fidelity(session: Session, notes: Iterable[str], *, begun: bool = True) -> None:
    """Say what an undo could not bring back, where ids do not come back; nothing if nothing is to be done."""
    if begun and session.store.kind in (PLATFORM, SERVER):
        for note in notes:
            tell(f"note: {note}")
