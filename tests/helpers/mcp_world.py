"""The server for agents with the SDK's own client: in this process on a store in memory, or over the streams."""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
from builders import NOW
from mcp import Client, StdioServerParameters
from mem0_dream.pipeline.cli.options import Options
from mem0_dream.pipeline.cli.pages import access_of
from mem0_dream.pipeline.mcp.server import DreamServer
from mem0_dream.pipeline.mcp.tools import Tools

T = TypeVar("T")


@dataclass
class Answered:
    data: dict[str, Any]
    error: str = ""
    progress: list[tuple[float, float | None, str]] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        assert not self.error, self.error
        return self.data[name]


async def call(client: Client, tool: str, **arguments: Any) -> Answered:
    told: list[tuple[float, float | None, str]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    result = await client.call_tool(tool, arguments, progress_callback=note)
    text = getattr(result.content[0], "text", "") if result.content else ""
    if result.is_error:
        return Answered({}, text, told)
    assert result.structured_content is None, "each result is given once"
    return Answered(dict(json.loads(text)), "", told)


@dataclass(frozen=True)
class Agent:
    """An agent and its server; each `ask` is a connection of its own."""

    server: Callable[[], Any]

    def session(self, work: Callable[[Client], Awaitable[T]]) -> T:
        async def run() -> T:
            async with Client(self.server()) as client:
                return await work(client)

        return anyio.run(run)

    def ask(self, tool: str, **arguments: Any) -> Answered:
        return self.session(lambda client: call(client, tool, **arguments))

    def answer(self, plan: Answered, answers: dict[str, str], **more: Any) -> Answered:
        return self.ask("dream_answer", plan_id=plan["plan_id"], answers=answers, **more)

    def apply(self, plan: Answered) -> Answered:
        return self.ask("dream_apply", plan_id=plan["plan_id"])

    def read(self, uri: str) -> str:
        async def work(client: Client) -> str:
            found = await client.read_resource(uri)
            return str(getattr(found.contents[0], "text", ""))

        return self.session(work)

    def tools(self) -> dict[str, Any]:
        async def work(client: Client) -> dict[str, Any]:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

        return self.session(work)


def inside(config: Path, *, allow_write: bool = True, retire: bool | None = None, **options: Any) -> Agent:
    given = Options(config=config, **{"user_id": "alice", "now": NOW} | options)
    given.retire = retire
    tools = Tools(access_of(given), may_write=allow_write)
    return Agent(lambda: DreamServer(tools))


def over_stdio(*arguments: str, environment: dict[str, str]) -> Agent:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "mem0_dream", "mcp", *arguments], env=os.environ | environment
    )
    return Agent(lambda: parameters)
