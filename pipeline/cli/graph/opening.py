"""The command line for knowledge graphs: `--store graph`, and what else one can ask a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ....errors import ConfigError, UsageError

if TYPE_CHECKING:
    from ...engine import Session
    from ...planning.graph.proposing import GraphPlanner
    from ...planning.stages import Observer
    from ...reporting.graph.health import Health
    from ...rules.graph.settings import GraphSettings
    from ...stores.graph.store import GraphStore
    from ..options import Options

Command = TypeVar("Command", bound=Callable[..., Any])
KIND = "graph"

PLACE_OPTIONS = (
    click.option(
        "--file",
        "graph_file",
        type=click.Path(path_type=Path),
        help="With --store graph: the memory server's JSON Lines file.",
    ),
    click.option("--mcp", help="With --store graph: the command of a memory server, instead of its file."),
    click.option(
        "--core", type=click.Path(path_type=Path), help="With --store graph: the core memory (JSON)."
    ),
)
"""Where the graph is; every command on a store takes them."""
PASS_OPTIONS = (
    click.option("--health", is_flag=True, help="Show how the memory is doing; exit code 9 on a warning."),
    click.option(
        "--repair", is_flag=True, help="With --store graph: move broken lines to the archive first."
    ),
    click.option("--relate", is_flag=True, help="With --store graph: propose new relations, too."),
    click.option(
        "--repair-relations",
        is_flag=True,
        help="With --store graph: remove relations to names without a line, and those that stand twice.",
    ),
)
"""What only a pass takes."""


def pass_options(command: Command) -> Command:
    """Add the options of a pass over a graph to a command."""
    for option in reversed(PASS_OPTIONS):
        command = option(command)
    return command


def open_graph(options: Options, given: Mapping[str, Any], observer: Observer | None = None) -> Session:
    """A session on the graph that the options name.

    Raises:
        ConfigError: If they name none, or two.
    """
    from ...engine import Session
    from ...planning.graph.proposing import GraphPlanner
    from ...stores.graph.file import FileMedium, Medium
    from ...stores.graph.store import GraphStore
    from ...writing.state import state_directory
    from ..options import settings_of, wanted
    from ..progress import Bars

    require_place(options)
    section, limits = _configured(options)
    settings, kinds = settings_of(section, options), wanted(options)
    medium: Medium
    if options.graph_file is not None:
        medium = FileMedium(options.graph_file)
    else:
        from ...stores.graph.server import ServerMedium

        medium = ServerMedium(str(options.mcp))
    state = state_directory(options.state_dir)
    store = GraphStore(medium, state=state, core=options.core)
    planner = GraphPlanner(
        store,
        limits=limits,
        relate=bool(given.get("relate")),
        repair_relations=bool(given.get("repair_relations")),
        wanted=kinds,
    )
    return Session(store, settings=settings, state_dir=state, observer=observer or Bars(), planner=planner)


@contextlib.contextmanager
def graph_session(options: Options) -> Iterator[tuple[Session, GraphStore, GraphPlanner]]:
    """Open the graph that the options name, with what only graphs have."""
    with open_graph(options, {}) as session:
        yield session, *graph_parts(session)


def graph_parts(session: Session) -> tuple[GraphStore, GraphPlanner]:
    """What only graphs have."""
    from ...planning.graph.proposing import GraphPlanner
    from ...stores.graph.store import GraphStore

    if not isinstance(session.store, GraphStore) or not isinstance(session.planner, GraphPlanner):
        raise UsageError("This command works on a knowledge graph; use --store graph.")
    return session.store, session.planner


def require_place(options: Options) -> None:
    """Refuse options that name no graph, or two."""
    if (options.graph_file is None) == (options.mcp is None):
        raise ConfigError(
            "Name one graph: its file with --file memory.jsonl, or its server with --mcp COMMAND."
        )


def _configured(options: Options) -> tuple[dict[str, Any], GraphSettings]:
    """The sections `mem0_dream` and `mem0_dream.graph` of a configuration, if one was given."""
    from pydantic import ValidationError

    from ...rules.graph.settings import GraphSettings
    from ..options import section_of

    section = section_of(options)
    try:
        limits = GraphSettings(**section.pop("graph", {}))
    except (ValidationError, TypeError) as error:
        raise ConfigError(f"The settings mem0_dream.graph are wrong: {error}.") from None
    return section, limits


def graph_health(options: Options) -> Health:
    """How the graph is doing as it stands."""
    from ...reporting.graph.passing import GraphState
    from ...stores.base import ScopeFilter

    with graph_session(options) as (session, store, planner):
        inventory, means = session.read(ScopeFilter()), session.means(options.moment)
        return GraphState.of(inventory, store.document(), planner, means).health


def graph_options(ctx: click.Context, given: dict[str, Any]) -> Options:
    """The options of a command that only graphs have."""
    from ..options import Options

    options = Options.gather(ctx, given, kind=KIND)
    if options.store_kind != KIND:
        raise UsageError("This command works on a knowledge graph; use --store graph.")
    return options
