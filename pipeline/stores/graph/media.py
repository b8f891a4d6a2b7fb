"""Where a graph is kept: the memory server's file, changed all at once or not at all, or a running server.

A change is worked out from the bytes that were read, and takes effect only if those bytes are still there.
Where a server that writes meanwhile could not be kept from losing a write, nothing is written as long as one
is seen to run: one of this user, outside of containers. A running server decides the order of its lines and
drops what it does not know, so an undo gives back what was said and not the bytes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import ConfigError, MissingExtraError, RefusedChangeError, StoreError, StoreLockedError
from ....models.text.reading import from_json
from ..files.exchange import keeps_waiting, lease, replace_file
from .lines import FIELDS, Edge, GraphDocument, GraphLine

if TYPE_CHECKING:
    from mcp import ClientSession, StdioServerParameters

LOCK_SECONDS = 10.0  # how long a write waits for another program that holds the lock beside the file
READ_SECONDS = 0.5  # that a read waits for a program that writes; then it reads what is there
ANSWER_SECONDS = 60.0  # how long the server may take for one answer
SERVER = "server-memory"  # stands in the command of the memory server, however it was started
_PLACE_VARIABLE, _DEFAULT_PLACE = "MEMORY_FILE_PATH", "memory.jsonl"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
Process = tuple[int, Sequence[str], Mapping[str, str]]  # number, words of the command, environment


class FileMedium:
    """The JSON Lines file itself."""

    verbatim = True  # bytes that are put in come out again

    def __init__(self, path: Path) -> None:
        """Bind a file; a link is followed, so that the link stays one."""
        self.path = path.expanduser().resolve()
        self.name = f"file:{self.path}"
        self.folder: Path | None = self.path.parent

    def check(self) -> None:
        """A server that cannot be kept waiting must not run."""
        if self.path.exists() and not keeps_waiting(self.path):
            self._refuse_beside_a_server()

    def load(self) -> bytes:
        """Read the file; `StoreError` if it is not there or cannot be read."""
        try:
            with self.path.open("rb") as file:
                lease(file, patience=READ_SECONDS)
                return file.read()
        except OSError as error:
            raise StoreError(f"The graph {self.path} cannot be read ({error.strerror}).") from error

    def save(self, before: bytes, after: bytes) -> None:
        """Replace the file if it still holds what was loaded."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path.with_name(f".{self.path.name}.mem0-dream.lock"), timeout=LOCK_SECONDS)
        try:
            with lock:
                replace_file(self.path, after, before=before, unguarded=self._refuse_beside_a_server)
        except Timeout:
            held = f"Another program holds the lock of {self.path}; nothing was changed; try again."
            raise StoreLockedError(held) from None

    def close(self) -> None:
        """Nothing is held between writes."""

    def _refuse_beside_a_server(self) -> None:
        process = server_on(self.path)
        if process is not None:
            raise StoreLockedError(
                f"A memory server (process {process}) works on {self.path}, and this system cannot keep its "
                "writes safe from ours; stop the program that runs it, then try again."
            )


def server_on(path: Path, processes: Iterable[Process] | None = None) -> int | None:
    """The memory server of a file (resolved); a relative path, and the default, begin at its own program."""
    for number, command, variables in _running() if processes is None else processes:
        words = [word for word in command if SERVER in word]
        homes = [Path(word).resolve().parent for word in words if os.sep in word] or [Path.cwd()]
        file = variables.get(_PLACE_VARIABLE) or _DEFAULT_PLACE
        if words and path in {(home / file).resolve() for home in homes}:
            return number
    return None


def _running() -> Iterator[Process]:
    import psutil

    for process in psutil.process_iter():
        try:
            command = process.cmdline()
            if process.pid != os.getpid() and any(SERVER in word for word in command):
                yield process.pid, command, process.environ()
        except (psutil.Error, OSError):  # it has ended, or is not ours
            continue


class ServerMedium:
    """A memory server over stdio, started by its command; every change goes through its own tools."""

    verbatim = False  # it keeps only what it knows
    folder: Path | None = None

    def __init__(self, command: str) -> None:
        """Start the server by a command as one would type it; variables may stand before it.

        `ConfigError` if it is none, `MissingExtraError` without the SDK, `StoreError` if it does not start.
        """
        variables: dict[str, str] = {}
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ConfigError(f"The command of the memory server cannot be read: {error}.") from None
        while words and _VARIABLE.match(words[0]):
            name, _, variables[name] = words.pop(0).partition("=")
        if not words:
            raise ConfigError("The command of the memory server is empty; give one with --mcp.")
        place = variables.get(_PLACE_VARIABLE) or os.environ.get(_PLACE_VARIABLE, "")
        self.name = f"mcp:{shlex.join(words)} {place}"
        self._stack = contextlib.ExitStack()
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import StdioServerParameters
        except ModuleNotFoundError as error:
            told = "The official MCP SDK is not installed; run `pip install 'mem0-dream[mcp]'`."
            raise MissingExtraError(told) from error
        parameters = StdioServerParameters(command=words[0], args=words[1:], env={**os.environ, **variables})
        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            self._session: ClientSession = self._stack.enter_context(
                self._portal.wrap_async_context_manager(_connected(parameters))
            )
        except Exception as error:
            self._stack.close()
            why = f"The memory server `{words[0]}` does not start ({_first_line(error)})."
            raise StoreError(why) from error

    def check(self) -> None:
        """The server writes by itself."""

    def load(self) -> bytes:
        """The graph as the server tells it, one line for each entity and relation."""
        graph = self._call("read_graph", {})
        lines = [GraphLine.new("relation", *map(e.get, FIELDS["relation"])) for e in graph["relations"]]
        for each in graph["entities"]:
            said = {"observations": each["observations"]}
            lines.append(GraphLine.new("entity", *map(each.get, FIELDS["entity"]), **said))
        return GraphDocument(tuple(lines)).in_order().data

    def save(self, before: bytes, after: bytes) -> None:
        """Make the change with the server's own tools, if they can; first what adds, then what removes."""
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
        if answer.is_error:
            raise StoreError(f"The memory server refused {tool}; its file may hold a broken line.")
        try:
            told = answer.structured_content or from_json(answer.content[0].text)
        except (ValueError, AttributeError, IndexError):
            told = None
        if not isinstance(told, dict):
            raise StoreError(f"The memory server answered {tool} in another form than expected.")
        return told

    async def _ask(self, tool: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401  (a type of the SDK)
        import anyio

        with anyio.fail_after(ANSWER_SECONDS):
            return await self._session.call_tool(tool, arguments)


Medium = FileMedium | ServerMedium


def tool_calls(before: GraphDocument, after: GraphDocument) -> list[tuple[str, dict[str, Any]]]:
    """The server's tools that lead from one graph to another; `RefusedChangeError` if they cannot."""
    old, new = (
        {name: [text for line in lines for text in line.item["observations"]] for name, lines in each.items()}
        for each in (before.entities, after.entities)
    )
    held, wanted = dict.fromkeys(before.relations), dict.fromkeys(after.relations)
    added = {name: [text for text in new[name] if text not in old[name]] for name in new if name in old}
    removed = {name: [text for text in old[name] if text not in new[name]] for name in new if name in old}
    for name, texts in added.items():
        made = [text for text in old[name] if text not in removed[name]] + texts
        if Counter(made) != Counter(new[name]):
            raise RefusedChangeError(f"the server cannot tell equal observations of {name} apart")
    created = [
        {"name": name, "entityType": lines[-1].item["entityType"], "observations": new[name]}
        for name, lines in after.entities.items()
        if name not in old
    ]
    gone = [name for name in old if name not in new]
    lost = [edge for edge in held if edge not in wanted and not {*edge[:2]} & {*gone}]
    rows: tuple[tuple[str, str, list[Any]], ...] = (
        ("create_entities", "entities", created),
        ("add_observations", "observations", _said("contents", added)),
        ("create_relations", "relations", [_edge(edge) for edge in wanted if edge not in held]),
        ("delete_relations", "relations", list(map(_edge, lost))),
        ("delete_observations", "deletions", _said("observations", removed)),
        ("delete_entities", "entityNames", gone),
    )
    return [(tool, {argument: values}) for tool, argument, values in rows if values]


def _said(argument: str, texts: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    return [{"entityName": name, argument: each} for name, each in texts.items() if each]


def _edge(edge: Edge) -> dict[str, str]:
    return dict(zip(FIELDS["relation"], edge, strict=True))


@contextlib.asynccontextmanager
async def _connected(parameters: StdioServerParameters) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession, stdio_client

    with Path(os.devnull).open("w") as silence:  # noqa: ASYNC230  (opening it does not wait)
        async with stdio_client(parameters, errlog=silence) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield session


def _first_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
