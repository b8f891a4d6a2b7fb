"""A running memory server as the place of a graph: every change goes through its own tools.

The server decides the order of its lines and drops what it does not know, so an undo gives back what
was said and not the bytes. A change is refused if the graph is no longer what was read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import ConfigError, MissingExtraError, RefusedChangeError, StoreError
from .lines import GraphDocument, GraphLine

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import ClientSession, StdioServerParameters

ANSWER_SECONDS = 60.0
"""How long the server may take for one answer."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_EXTRA = "The official MCP SDK is not installed; run `pip install 'mem0-dream[mcp]'`."


class ServerMedium:
    """A memory server over stdio, started by its command."""

    verbatim = False
    folder: Path | None = None

    def __init__(self, command: str) -> None:
        """Start the server by a command as one would type it; variables may stand before it.

        Raises:
            ConfigError: If the command is none.
            MissingExtraError: If the SDK is not installed.
            StoreError: If the server does not start.
        """
        words, variables = _split(command)
        place = variables.get("MEMORY_FILE_PATH") or os.environ.get("MEMORY_FILE_PATH", "")
        self.name = f"mcp:{shlex.join(words)} {place}"
        self._stack = contextlib.ExitStack()
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import StdioServerParameters
        except ModuleNotFoundError as error:
            raise MissingExtraError(_EXTRA) from error
        parameters = StdioServerParameters(command=words[0], args=words[1:], env={**os.environ, **variables})
        try:
            self._portal: BlockingPortal = self._stack.enter_context(start_blocking_portal())
            self._session = self._stack.enter_context(
                self._portal.wrap_async_context_manager(_connected(parameters))
            )
        except Exception as error:
            self._stack.close()
            raise StoreError(
                f"The memory server `{words[0]}` does not start ({_first_line(error)})."
            ) from error

    def check(self) -> None:
        """The server writes by itself."""

    def load(self) -> bytes:
        """The graph as the server tells it, one line for each entity and relation."""
        graph = self._call("read_graph", {})
        lines = [
            GraphLine.entity(item["name"], item["entityType"], item["observations"])
            for item in graph["entities"]
        ]
        lines += [
            GraphLine.relation(item["from"], item["to"], item["relationType"]) for item in graph["relations"]
        ]
        return GraphDocument(tuple(lines)).in_order().data

    def save(self, before: bytes, after: bytes) -> None:
        """Make the change with the server's own tools; first what adds, then what removes.

        Raises:
            RefusedChangeError: If the graph is no longer what was loaded, or the tools cannot do it.
        """
        if self.load() != before:
            raise RefusedChangeError("the graph changed meanwhile")
        for tool, arguments in tool_calls(GraphDocument.parse(before), GraphDocument.parse(after)):
            self._call(tool, arguments)

    def close(self) -> None:
        """Stop the server."""
        self._stack.close()

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = self._portal.call(self._ask, tool, dict(arguments))
        except Exception as error:
            raise StoreError(f"The memory server did not answer to {tool} ({_first_line(error)}).") from error
        if getattr(answer, "is_error", False) or getattr(answer, "isError", False):
            raise StoreError(f"The memory server refused {tool}; its file may hold a broken line.")
        structured = getattr(answer, "structured_content", None) or getattr(answer, "structuredContent", None)
        if structured is None:
            structured = json.loads(answer.content[0].text)
        return dict(structured) if isinstance(structured, dict) else {}

    async def _ask(self, tool: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401  (a type of the SDK)
        import anyio

        with anyio.fail_after(ANSWER_SECONDS):
            return await self._session.call_tool(tool, arguments)


def tool_calls(before: GraphDocument, after: GraphDocument) -> list[tuple[str, dict[str, Any]]]:
    """The server's tools that lead from one graph to another.

    Raises:
        RefusedChangeError: If they cannot, because an observation stands twice in one entity.
    """
    old, new = _entities(before), _entities(after)
    gained = [edge for edge in dict.fromkeys(after.relations) if edge not in set(before.relations)]
    lost = [edge for edge in dict.fromkeys(before.relations) if edge not in set(after.relations)]
    gone = [name for name in old if name not in new]
    added = {name: [text for text in new[name] if text not in old[name]] for name in new if name in old}
    removed = {name: [text for text in old[name] if text not in new[name]] for name in new if name in old}
    for name, texts in added.items():
        made = [text for text in old[name] if text not in removed[name]] + texts
        if Counter(made) != Counter(new[name]):
            raise RefusedChangeError(f"the server cannot tell equal observations of {name} apart")
    types = {line.name: line.item["entityType"] for line in after.lines if line.kind == "entity"}
    calls: list[tuple[str, dict[str, Any]]] = [
        (
            "create_entities",
            {
                "entities": [
                    {"name": name, "entityType": types[name], "observations": new[name]}
                    for name in new
                    if name not in old
                ]
            },
        ),
        (
            "add_observations",
            {"observations": [{"entityName": n, "contents": t} for n, t in added.items() if t]},
        ),
        ("create_relations", {"relations": [_edge(edge) for edge in gained]}),
        ("delete_relations", {"relations": [_edge(edge) for edge in lost if not set(edge[:2]) & set(gone)]}),
        (
            "delete_observations",
            {"deletions": [{"entityName": n, "observations": t} for n, t in removed.items() if t]},
        ),
        ("delete_entities", {"entityNames": gone}),
    ]
    return [(tool, arguments) for tool, arguments in calls if any(arguments.values())]


@contextlib.asynccontextmanager
async def _connected(parameters: StdioServerParameters) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession, stdio_client

    with Path(os.devnull).open("w") as silence:  # noqa: ASYNC230  (opening it does not wait)
        async with stdio_client(parameters, errlog=silence) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield session


def _split(command: str) -> tuple[list[str], dict[str, str]]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"The command of the memory server cannot be read: {error}.") from None
    variables: dict[str, str] = {}
    while words and _VARIABLE.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if not words:
        raise ConfigError("The command of the memory server is empty; give one with --mcp.")
    return words, variables


def _entities(document: GraphDocument) -> dict[str, list[str]]:
    observations: dict[str, list[str]] = {}
    for line in document.lines:
        if line.kind == "entity":
            observations.setdefault(line.name, []).extend(line.item["observations"])
    return observations


def _edge(edge: tuple[str, str, str]) -> dict[str, str]:
    return {"from": edge[0], "to": edge[1], "relationType": edge[2]}


def _first_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
