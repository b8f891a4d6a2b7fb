"""Opening the store that the options name, with its settings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import ConfigError, UsageError
from .graph import open_graph, require_place
from .logs import tell
from .markdown import open_markdown
from .options import GRAPH, JSONL, MARKDOWN, MEM0, PLATFORM, SERVER, Options
from .places import note_place
from .terminal import Bars

if TYPE_CHECKING:
    from ..engine import Session
    from ..planning.stages import Observer
    from ..stores.base import Store

_OPENED = "mem0_dream.opened"
_VARIABLES = {
    PLATFORM: {"host": "MEM0_HOST", "org": "MEM0_ORG_ID", "project": "MEM0_PROJECT_ID"},
    SERVER: {"url": "MEM0_SERVER_URL"},
}
"""Read only where such a store is opened: for any other kind they mean nothing. Keys are no options."""


@contextlib.contextmanager
def open_session(options: Options, *, observer: Observer | None = None) -> Iterator[Session]:
    """Open the configured store with its settings, and close it again; without an observer bars are drawn.

    Raises:
        ConfigError: If there is no configuration, or it is wrong.
        StoreLockedError: If the running agent holds the store.
    """
    openers = {MEM0: _open_mem0, PLATFORM: _open_remote, SERVER: _open_remote, MARKDOWN: open_markdown}
    openers |= {GRAPH: open_graph, JSONL: _open_export}
    watching = observer or Bars()
    with watching.stage("opening", None):  # a sign of life: mem0 alone takes seconds to import
        opened = openers[options.kind](options, watching)
    with opened as session:
        store = session.store.fingerprint
        ctx = click.get_current_context(silent=True)
        if ctx is not None:
            ctx.meta[_OPENED] = store
        note_place(session.journal, store, options)
        yield session


def store_of(ctx: click.Context) -> str | None:
    """The fingerprint of the store that was opened last."""
    store = ctx.meta.get(_OPENED)
    return store if isinstance(store, str) else None


def require_store(options: Options) -> None:
    """Refuse options that name no store, before anything is opened.

    Raises:
        UsageError: If they do not say whose memories, or ask what this kind of store cannot do.
        ConfigError: If there is no such place.
    """
    options.scopes()
    refuse_second_opinion(options)
    if options.kind == GRAPH:
        require_place(options)
    elif options.kind == MARKDOWN:
        from ..stores.markdown.directories import discover

        discover(options.root or Path(), options.memory_dirs or ())
    elif options.kind == MEM0:
        from ..stores.mem0.config import load_config

        load_config(_configuration(options))
    # Key and address of a service come from the environment, and are looked at where it is opened.


def refuse_second_opinion(options: Options) -> None:
    """Refuse a second opinion on a graph, whose proposals no language model judges.

    Raises:
        UsageError: If one is asked for.
    """
    if options.kind == GRAPH and options.second_opinion is not None:
        raise UsageError("--second-opinion does not work on knowledge graphs; leave it out.")


def tell_fidelity(session: Session, notes: Iterable[str], *, begun: bool = True) -> None:
    """Say what an undo could not bring back, where ids do not come back; nothing if nothing is to be done."""
    if begun and session.store.kind in (PLATFORM, SERVER):
        for note in notes:
            tell(f"note: {note}")


def _open_mem0(options: Options, observer: Observer) -> Session:
    path = _configuration(options)
    from ..stores import open_store
    from ..stores.mem0.config import load_config

    os.environ.setdefault("TQDM_DISABLE", "1")  # the models mem0 loads would draw bars of their own
    config = load_config(path)
    settings = config.settings
    store = open_store(config, wait_s=options.wait or 0.0)
    return _plain_session(store, settings, options, observer)


def _open_export(options: Options, observer: Observer) -> Session:
    from ..stores.jsonl import JsonlStore

    if options.export is None:
        raise ConfigError("Name the export: mem0-dream jsonl memories.jsonl, or --export.")
    store = JsonlStore(options.export, mapping=options.mapping, decisions=options.decisions)
    return _plain_session(store, options.section(), options, observer)


def _open_remote(options: Options, observer: Observer) -> Session:
    from ...settings import checked
    from ..stores.remote.calling import Patience

    section = options.section()
    patience = checked(Patience, section.pop("remote", {}), "mem0_dream.remote")
    for name, variable in _VARIABLES[options.kind].items():  # noted, so that a printed command gets there
        setattr(options, name, getattr(options, name) or os.environ.get(variable) or None)
    store: Store
    if options.kind == PLATFORM:
        from ..stores.remote.platform import open_platform

        store = open_platform(
            host=options.host, org=options.org, project=options.project, patience=patience, section=section
        )
    else:
        from ..stores.remote.server import open_server

        if not options.url:
            raise ConfigError("Name the server: mem0-dream server http://localhost:8888, or --url.")
        store = open_server(options.url, patience=patience, section=section)
    return _plain_session(store, section, options, observer)


def _plain_session(store: Store, section: Mapping[str, Any], options: Options, observer: Observer) -> Session:
    """A session on a store of single records; if it cannot begin, the store is closed."""
    from ..engine import Session
    from ..kinds.mem0 import Mem0Kind

    try:
        return Session(
            store,
            settings=options.settings(section),
            state_dir=options.state_dir,
            observer=observer,
            kind=Mem0Kind(store, wanted=options.wanted()),
        )
    except BaseException:
        store.close()
        raise


def _configuration(options: Options) -> Path:
    """mem0's own configuration.

    Raises:
        ConfigError: If none is named.
    """
    if options.config is not None:
        return options.config
    if os.environ.get("MEM0_API_KEY"):
        raise ConfigError(
            "No configuration. MEM0_API_KEY is set: for memories on mem0's hosted platform say `mem0-dream "
            "platform`; for the open-source Memory give its configuration with --config mem0.yaml."
        )
    raise ConfigError("No configuration: give mem0's own with --config mem0.yaml.")
