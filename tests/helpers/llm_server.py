"""A chat endpoint on the loopback address that answers well, late, wrongly, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One answer of the server.

    Attributes:
        content: What the model says.
        status: The status code.
        headers: More headers.
        after: Seconds before it answers, unless the server is closed first.
        body: Instead of a chat answer around the content.
    """

    content: str = '{"label": "duplicate"}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0
    body: bytes | None = None


def says(label: str) -> Reply:
    """A well-formed verdict."""
    return Reply(json.dumps({"label": label}))


class LanguageModel:
    """Answers each request with what `replies` holds next, then with what `decide` says about the pair."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.replies: list[Reply] = []
        self.decide: Callable[[str, str], Reply] = lambda _a, _b: says("duplicate")
        self._closed = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the endpoint."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The texts it was asked about, one pair for each request."""
        return [(each["a"]["text"], each["b"]["text"]) for each in self.asked]

    def close(self) -> None:
        """Stop serving, and let go of answers that wait."""
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                pair = json.loads(body["messages"][-1]["content"])
                model.asked.append(pair)
                model.keys.append(self.headers.get("Authorization"))
                reply = (
                    model.replies.pop(0)
                    if model.replies
                    else model.decide(pair["a"]["text"], pair["b"]["text"])
                )
                model._closed.wait(reply.after) if reply.after else None
                message = {"role": "assistant", "content": reply.content}
                answer = {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                }
                data = reply.body if reply.body is not None else json.dumps(answer).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client had gone

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler
