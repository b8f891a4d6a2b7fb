"""The tools as the protocol has them; what they take and do stands in `tools`.

One call is worked on at a time, in a thread, so that the server can report and be told to stop. Whatever
prints while it serves, prints to the error stream: the output belongs to the protocol.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import metadata
from importlib.resources import files
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from ...errors import DreamError
from ..planning.stages import Advance
from ..reporting.text import visible
from .tools import CHANGES, Tools, shown

OFF = (
    "{name} is off: this server was started to look, not to change. The person can start it with "
    "`mem0-dream mcp --allow-write`."
)
INSTRUCTIONS = (files(__package__) / "instructions.md").read_text(encoding="utf-8").strip()
TOLD = tomllib.loads((files(__package__) / "tools.toml").read_text(encoding="utf-8"))
"""What an agent is told of all tools, and of each."""
EVERY_SECONDS = 0.1  # reports of progress are not closer together than this, but for the end of a stage
LOOKS = ("plan", "explain", "status", "check")  # change nothing; `answer` notes what a person said


class DreamServer(MCPServer[None]):
    """A server whose destructive tools are off unless it may write."""

    def __init__(self, tools: Tools) -> None:
        version = ""
        with contextlib.suppress(metadata.PackageNotFoundError):  # of a checkout on the path alone
            version = metadata.version("mem0-dream")
        given: Any = {"instructions": INSTRUCTIONS, "log_level": "ERROR", "lifespan": _quiet}
        super().__init__("mem0-dream", version=version, **given)
        self._tools = tools
        self._turn = anyio.Lock()
        self._off = set() if tools.may_write else {f"dream_{name}" for name in CHANGES}
        for name in (*LOOKS, "answer", *CHANGES):
            hints = ToolAnnotations(
                read_only_hint=name in LOOKS,
                destructive_hint=None if name in LOOKS else name in CHANGES,
                idempotent_hint=None if name in LOOKS else name == "answer",
                open_world_hint=False,
            )
            # Text alone: a result with a schema, too, would be sent twice.
            told = str(TOLD[f"dream_{name}"])
            self.add_tool(self._tool(name), description=told, annotations=hints, structured_output=False)
        self.resource("dream://report/last", mime_type="text/plain")(self.last_report)
        self.resource("dream://conflicts/open", mime_type="application/json")(self.open_conflicts)

    async def last_report(self) -> str:
        """The report of the newest plan."""
        return await self._work(None, "last_report")

    async def open_conflicts(self) -> str:
        """Conflicts that wait for a person."""
        return await self._work(None, "open_conflicts")

    def _tool(self, name: str) -> Callable[..., Any]:
        """A method as the SDK wants a tool: with a context in place of the session."""

        async def call(ctx: Context[None, Any], **given: Any) -> str:  # noqa: ANN401
            return await self._work(ctx, name, **given)

        signature = inspect.signature(getattr(self._tools, name), eval_str=True)
        context, *own = signature.parameters.values()
        parameters = [context.replace(name="ctx", annotation=Context[None, Any]), *own]
        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        call.__name__ = f"dream_{name}"
        return call

    async def list_tools(self) -> list[ListedTool]:
        """The tools that are on; an argument that a tool does not name is refused."""
        tools = [tool for tool in await super().list_tools() if tool.name not in self._off]
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool that is on, with arguments that it has."""
        if name in self._off:
            raise ToolError(OFF.format(name=name))
        known = {tool.name: tool.input_schema.get("properties", {}) for tool in await super().list_tools()}
        if name in known and (unknown := sorted(set(arguments) - set(known[name]))):
            takes = ", ".join(known[name]) or "none"
            raise ToolError(f"{name} has no argument {visible(unknown[0])[:80]}; it takes: {takes}.")
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            if not isinstance(cause, ValidationError):
                raise ToolError(str(cause if isinstance(cause, ToolError) else error)) from None
            wrong = cause.errors(include_url=False)
            told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
            raise ToolError(visible(told)) from None

    async def _work(self, ctx: Context[None, Any] | None, name: str, **options: Any) -> str:  # noqa: ANN401
        """Do it in a thread, when it is its turn; a cancelled call stops at its next step."""

        def tell(progress: float, total: float | None, words: str) -> None:
            if ctx is not None:
                anyio.from_thread.run(ctx.report_progress, progress, total, words)

        watched = CallObserver(tell, anyio.from_thread.check_cancelled)
        async with self._turn:
            try:
                result = shown(
                    await anyio.to_thread.run_sync(
                        functools.partial(self._tools.call, name, watched, **options)
                    )
                )
            except DreamError as error:
                told = self._tools.sentence(error)
                raise (ToolError if ctx is not None else ResourceError)(told) from error
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


class CallObserver:
    """The progress of a call as one number that only grows, and the place where a cancelled call stops."""

    def __init__(self, tell: Callable[[float, float | None, str], None], check: Callable[[], None]) -> None:
        self._tell, self._check = tell, check
        self._before = self._told = self._at = 0.0

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """One stage; a cancelled call does not begin it."""
        self._check()
        held = [0]

        def advance(done: int) -> None:
            self._check()
            held[0] = max(held[0], done)
            last = total is not None and done >= total
            progress = self._before + held[0]
            if progress > self._told and (last or time.monotonic() - self._at >= EVERY_SECONDS):
                self._told, self._at = progress, time.monotonic()
                words = f"{name}: {held[0]}" if total is None else f"{name}: {held[0]} of {total}"
                self._tell(progress, None if total is None else self._before + total, words)

        try:
            yield advance
        finally:
            self._before += max(held[0], 1)


@contextlib.asynccontextmanager
async def _quiet(_server: MCPServer[None]) -> AsyncIterator[None]:
    """What is printed goes to the error stream, even what is still buffered when the server ends."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
