"""A chat endpoint on the loopback address that answers well, late, wrongly, or not at all."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import loopback


@dataclass
class Reply:
    content: str = '{"label": "duplicate"}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0  # seconds before it answers, unless the server is closed first
    body: bytes | None = None  # instead of a chat answer around the content


def says(label: str) -> Reply:
    return Reply(json.dumps({"label": label}))


class LanguageModel(loopback.LoopbackServer):  # type: ignore[misc]
    """Answers each request with what `replies` holds next, then with what `decide` says about the pair."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.decide: Callable[[str, str], Reply] = lambda _a, _b: says("duplicate")
        super().__init__(self._reply)

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(request.body["messages"][-1]["content"]) for request in self.requests]

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("authorization") for request in self.requests]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(each["a"]["text"], each["b"]["text"]) for each in self.asked]

    def _reply(self, request: loopback.Request) -> loopback.Reply:
        reply = self.replies.pop(0) if self.replies else self.decide(*self.pairs[-1])
        message = {"role": "assistant", "content": reply.content}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        answer = {"id": "x", "object": "chat.completion", "created": 0, "choices": choices}
        content = answer | {"model": request.body["model"]} if reply.body is None else reply.body
        return loopback.Reply(reply.status, content, reply.headers, reply.after)
