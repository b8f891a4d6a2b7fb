"""The command line's server for agents: it opens the same store as every other command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ...errors import MissingExtraError
from .kinds import again, completed
from .options import Options, open_session, plan_options, require_store, scope_options, store_options

if TYPE_CHECKING:
    from ..engine import Session
    from ..mcp_server.desk import Place
    from ..planning.stages import Observer

_EXTRA = "The official MCP SDK is not installed; run `pip install 'mem0-dream[mcp]'`."


@click.command("mcp")
@store_options
@scope_options
@plan_options
@click.option("--allow-write", is_flag=True, help="Switch on the tools that change memories.")
@click.option("--retire", is_flag=True, help="Expire memories instead of deleting them.")
@click.pass_context
def mcp_command(ctx: click.Context, /, *, allow_write: bool, retire: bool, **given: Any) -> None:
    """Serve passes to an agent over the Model Context Protocol, on the standard streams.

    Without --allow-write the agent can look and ask, and change nothing.

    \b
    Example:
      mem0-dream mcp --config mem0.yaml --user-id alice
      mem0-dream mcp --store md --root . --allow-write
    """  # noqa: D301
    options = Options.gather(ctx, {**given, "retire": retire})
    require_store(options)
    try:
        from ..mcp_server.server import DreamServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtraError(_EXTRA) from error
    from ..mcp_server.desk import ToolDesk

    place = _place(options, allow_write=allow_write, retire=retire)
    DreamServer(ToolDesk(place), allow_write=allow_write).run("stdio")


def _place(options: Options, *, allow_write: bool, retire: bool) -> Place:
    from ..mcp_server.desk import Place
    from .asking import proposed
    from .runs import found_status

    @contextlib.contextmanager
    def opened(observer: Observer) -> Iterator[Session]:
        """The store of the options, for as long as one call takes."""
        with open_session(options, observer=observer) as session:
            yield session

    return Place(
        open=opened,
        propose=lambda session: proposed(session, options),
        status=lambda session: found_status(session, options),
        scopes=options.scopes,
        moment=lambda: options.moment,
        command=lambda *words: again(options, *words),
        complete=lambda text: completed(text, options),
        state_dir=options.state_dir,
        retire=retire,
        may_write=allow_write,
    )
