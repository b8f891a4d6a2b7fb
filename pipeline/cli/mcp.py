"""The command line's server for agents: it opens the same store as every other command."""

from __future__ import annotations

import click

from ...errors import MissingExtraError
from .opening import require_store
from .options import Options, command

_EXTRA = "The official MCP SDK is not installed; run `pip install 'mem0-dream[mcp]'`."


@command("store", "scope", "plan", "write", name="mcp")
@click.option("--allow-write", is_flag=True, help="Switch on the tools that change memories.")
def mcp_command(options: Options, *, allow_write: bool) -> None:
    """Serve passes to an agent over the Model Context Protocol, on the standard streams.

    Without --allow-write the agent can look and ask, and change nothing.

    Example:
      mem0-dream mcp --config mem0.yaml --user-id alice
      mem0-dream mcp --store md --root . --allow-write
    """
    require_store(options)
    try:
        from ..mcp.server import DreamServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtraError(_EXTRA) from error
    from ..mcp.tools import Tools
    from .pages import access_of

    tools = Tools(access_of(options), may_write=allow_write)
    DreamServer(tools, allow_write=allow_write).run("stdio")


COMMANDS = (mcp_command,)
