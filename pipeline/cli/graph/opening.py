"""The command line for knowledge graphs: `--store graph`, and what else one can ask a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ....errors import ConfigError, UsageError

if TYPE_CHECKING:
    from ...graph_session import GraphSession
    from ...planning.stages import Observer
    from ...reporting.graph.health import Health
    from ...rules.graph.settings import GraphSettings
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


@contextlib.contextmanager
def graph_session(options: Options, *, observer: Observer | None = None) -> Iterator[GraphSession]:
    """Open the graph that the options name.

    Raises:
        ConfigError: If they name none, or two.
    """
    from ...graph_session import GraphSession
    from ...stores.graph.file import FileMedium, Medium
    from ...stores.graph.store import GraphStore
    from ...writing.state import state_directory
    from ..options import settings_of
    from ..progress import Bars

    require_place(options)
    section, limits = _configured(options)
    settings = settings_of(section, options)
    medium: Medium
    if options.graph_file is not None:
        medium = FileMedium(options.graph_file)
    else:
        from ...stores.graph.server import ServerMedium

        medium = ServerMedium(str(options.mcp))
    state = state_directory(options.state_dir)
    store = GraphStore(medium, state=state, core=options.core)
    with GraphSession(
        store, settings=settings, graph=limits, state_dir=state, observer=observer or Bars()
    ) as session:
        yield session


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


class GraphState:
    """A graph at one moment: its entities, orphans and health."""

    def __init__(self, session: GraphSession, options: Options) -> None:
        """Look at it; nothing is planned for that, and no pair is judged."""
        from ...planning.graph.relations import orphans
        from ...reporting.graph.health import graph_health
        from ...rules.graph.nodes import nodes_of
        from ...stores.base import ScopeFilter

        inventory = session.read(ScopeFilter())
        document = session.store.document()
        nodes = nodes_of(inventory.memories)
        last = session.last
        self.nodes = {node.id: node for node in nodes}
        self.orphans = orphans(document.names, document.relations)
        self.health = graph_health(
            nodes,
            duplicates=session.look_alikes(nodes),
            orphans=len(self.orphans),
            settings=session.graph_settings,
            now=options.moment,
            gaps=inventory.gaps,
            last=last.at if last else None,
        )


def graph_health(options: Options) -> Health:
    """How the graph is doing as it stands."""
    with graph_session(options) as session:
        return GraphState(session, options).health


def graph_options(ctx: click.Context, given: dict[str, Any]) -> Options:
    """The options of a command that only graphs have."""
    from ..options import Options

    options = Options.gather(ctx, given, kind=KIND)
    if options.store_kind != KIND:
        raise UsageError("This command works on a knowledge graph; use --store graph.")
    return options
