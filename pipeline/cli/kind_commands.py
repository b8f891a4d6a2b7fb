"""A pass over one kind of store as a command of its own, with the options of that kind alone.

`mem0-dream md` is `mem0-dream --store md`; which options a kind has stands in `kinds.OPTIONS_OF`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ...errors import UsageError
from .grouped import GroupedCommand
from .kinds import GRAPH, MARKDOWN, OPTIONS_OF, PLATFORM, SERVER
from .options import Options

Start = Callable[[click.Context, Options, dict[str, Any]], None]

_WIDE = {"max_content_width": 100}
_NOT_HERE = ("store_kind", "version")
_WITH = re.compile(r"^With --store \w+(?: (--[\w -]+))?: (\w)")
_PLACES = {
    MARKDOWN: ("root", click.Argument(["root"], metavar="[PROJECT]", required=False, type=Path)),
    GRAPH: ("graph_file", click.Argument(["graph_file"], metavar="[FILE]", required=False, type=Path)),
    SERVER: ("url", click.Argument(["url"], metavar="[URL]", required=False)),
}
"""The option that an argument replaces, where a kind has one place."""
_HELP = {
    MARKDOWN: """Consolidate the Markdown memories of PROJECT, or of the present folder.

    \b
    Example:
      mem0-dream md
      mem0-dream md ~/work/shop --auto --if-due
    """,
    GRAPH: """Consolidate the knowledge graph of a memory server: its FILE, or a running server.

    \b
    Example:
      mem0-dream graph memory.jsonl --core core-memory.json
      mem0-dream graph --mcp "npx @modelcontextprotocol/server-memory" --dry-run
    """,
    PLATFORM: """Consolidate memories on mem0's hosted platform.

    The key of the project is taken from MEM0_API_KEY. Requests are paced, and repeated where the
    platform is busy; what an undo cannot give back there is said before anything is changed.

    \b
    Example:
      mem0-dream platform --user-id alice --dry-run
      mem0-dream platform --all --auto --retire
    """,
    SERVER: """Consolidate memories on a mem0 server of your own at URL.

    The key is taken from MEM0_SERVER_API_KEY, or a token from MEM0_SERVER_TOKEN.

    \b
    Example:
      mem0-dream server http://localhost:8888 --user-id alice --dry-run
    """,
}


def kind_commands(main: click.Group, start: Start) -> list[click.Command]:
    """A command for each kind of store that is not opened by mem0's own configuration.

    Args:
        main: Has the options of all kinds.
        start: Makes a pass.
    """
    return [_command(main, kind, start) for kind in _HELP]


def _command(main: click.Group, kind: str, start: Start) -> click.Command:
    replaced, argument = _PLACES.get(kind, ("", None))
    options = [
        _own(param)
        for param in main.params
        if isinstance(param, click.Option)
        and param.name not in (*_NOT_HERE, replaced)
        and kind in OPTIONS_OF.get(str(param.name), (kind,))
    ]
    absent = {str(param.name): None for param in main.params}

    @click.pass_context
    def run(ctx: click.Context, /, **given: Any) -> None:
        """Make a pass over this kind of store."""
        options = Options.gather(ctx, given, kind=kind)
        if options.store_kind != kind:
            raise UsageError(f"`mem0-dream {kind}` works on --store {kind}, not on another store.")
        start(ctx, options, absent | given)

    help_text = re.sub(r"(?m)^    ", "", _HELP[kind]).strip()
    params = [*options, *([copy.copy(argument)] if argument is not None else [])]
    return GroupedCommand(kind, params=params, callback=run, help=help_text, context_settings=_WIDE)


def _own(option: click.Option) -> click.Option:
    """An option without the words that say for which kind it is."""
    own = copy.copy(option)
    own.help = _WITH.sub(
        lambda match: f"With {match[1]}: {match[2]}" if match[1] else match[2].upper(), option.help or ""
    )
    return own
