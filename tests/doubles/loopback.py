"""Real HTTP on the loopback address around a double of a service, with all that goes wrong on a line."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


class Fault(StrEnum):
    DROP = "the connection breaks before the service sees the request"
    DELAY = "the service does it, but the answer comes later than anyone waits"
    LIMIT = "429, with the seconds to wait"
    ERROR = "500, and nothing was done"
    ERROR_AFTER = "500, though it was done"
    TRUNCATE = "it is done, and the answer breaks off"
    TWICE = "the request is delivered twice"
    RESET = "it is done, and the connection breaks without an answer"


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # without the query
    query: Mapping[str, str]
    body: Any  # from JSON
    headers: Mapping[str, str]  # by lower-case name


@dataclass(frozen=True)
class Reply:
    status: int
    content: Any  # becomes JSON, if it is not bytes already
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0  # seconds before it is sent, unless the server is closed first


Service = Callable[[Request], Reply]


class LoopbackServer:
    """Serves one service until it is closed; requests are answered one at a time."""

    def __init__(self, service: Service, *, delay: float = 1.0) -> None:
        self.requests: list[Request] = []
        # What happens to the n-th request, counted from 0.
        self.fault: Callable[[int, Request], Fault | None] = lambda _number, _request: None
        # Called before a request is answered, such as for another client that writes.
        self.before: Callable[[Request], None] = lambda _request: None
        self.delay = delay  # seconds of `Fault.DELAY`
        self.retry_after = "1"  # what `Fault.LIMIT` asks to wait
        self._service = service
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()

    def _answered(self, request: Request) -> tuple[Fault | None, Reply | None]:
        """Let the service answer, and whatever befalls this request."""
        with self._lock:
            fault = self.fault(len(self.requests), request)
            self.requests.append(request)
            self.before(request)
            if fault is Fault.DROP:
                return fault, None
            if fault is Fault.LIMIT:
                return None, Reply(429, {"detail": "Rate limit exceeded."}, {"Retry-After": self.retry_after})
            if fault is Fault.ERROR:
                return None, Reply(500, {"detail": "Internal server error."})
            if fault is Fault.TWICE:
                self._service(request)
            reply = self._service(request)
            if fault is Fault.ERROR_AFTER:
                return None, Reply(500, {"detail": "Internal server error."})
            return fault, reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                address = urlsplit(self.path)
                fault, reply = server._answered(
                    Request(
                        self.command,
                        address.path,
                        dict(parse_qsl(address.query, keep_blank_values=True)),
                        json.loads(raw) if raw else None,
                        {name.lower(): value for name, value in self.headers.items()},
                    )
                )
                server._closed.wait(server.delay if fault is Fault.DELAY else reply.after if reply else 0)
                _send(self, fault, reply)

            do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  (names of http.server)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler


def _send(connection: BaseHTTPRequestHandler, fault: Fault | None, reply: Reply | None) -> None:
    if reply is None or fault is Fault.RESET:
        _break(connection)
        return
    content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
    lines = [f"HTTP/1.1 {reply.status} Answer", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    lines += ["Content-Type: application/json", "", ""]
    half = fault is Fault.TRUNCATE
    # In one piece: a body sent behind its head would wait for an acknowledgement.
    with contextlib.suppress(OSError):  # the client may have gone
        connection.connection.sendall(
            "\r\n".join(lines).encode() + content[: len(content) // 2 if half else None]
        )
    if half:
        _break(connection)


def _break(connection: BaseHTTPRequestHandler) -> None:
    connection.close_connection = True
    with contextlib.suppress(OSError):  # it may be broken already
        connection.connection.shutdown(socket.SHUT_RDWR)
