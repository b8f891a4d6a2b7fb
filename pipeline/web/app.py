"""The review over HTTP: a page, and a few requests that each do one thing on the desk.

Everything that touches the desk runs in one thread, one after another; only the progress can be read at
any time.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ...errors import DreamError, JournalError, MovedOnError, StoreError, StoreLockedError, UsageError
from ...models.text.reading import from_json
from ..fronts import StoreAccess
from ..reporting.html import render
from ..reporting.text import visible
from ..stores.files import json_text
from ..writing.lock import store_lock
from .desk import ReviewDesk, ReviewObserver

BODY_BYTES = 1_000_000  # A longer request is refused; a merged text is far shorter
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every answer; there is none of CORS among them on purpose."""
_OPEN = ("version", "kind", "now", "summary")
"""Parts of a page that hold no text and no name; all others need the token."""
Data = dict[str, Any]
Work = Callable[[Data], Data | str | None]


class _Told(JSONResponse):
    def render(self, content: Any) -> bytes:  # noqa: ANN401  (a JSON value)
        return json_text(content, dense=True).encode()


def review_app(desk: ReviewDesk, gate: Gate, watched: ReviewObserver, executor: Executor) -> Starlette:
    """The application; `executor` has one thread, in which the desk was made."""
    own = ReviewRoutes(desk, gate, executor)

    async def progress(_request: Request) -> Response:
        return _Told(watched.told)

    routes = [Route("/", own.page, methods=["GET"]), Route("/progress", progress, methods=["POST"])]
    for path, more, work in _works(desk):
        routes.append(Route(f"/{path}", own.doing(more, work), methods=["POST"]))
    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=own.guarded)])


class ReviewRoutes:
    """The requests that a review answers."""

    def __init__(self, desk: ReviewDesk, gate: Gate, executor: Executor) -> None:
        self._desk, self._gate, self._executor = desk, gate, executor

    async def guarded(self, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        """Look at every request before anything else does, and seal every answer."""
        try:
            self._gate.check_host(request.headers)
            if request.method == "POST":
                self._gate.check_write(request.headers)
            response = await answer(request)
        except DeniedError as denied:
            response = (
                PlainTextResponse(f"{denied}\n", denied.status)
                if request.method == "GET"
                else _Told({"error": str(denied), "moved": denied.moved}, denied.status)
            )
        response.headers.update(HEADERS)
        return response

    async def page(self, request: Request) -> Response:
        """The page; without the token only its numbers."""
        if self._gate.admits(request.query_params.get("token")):
            self._gate.seat = secrets.token_urlsafe()
            return HTMLResponse(render(await self._fresh(), lines=self._desk.lines, live=True))
        whole = (await self._done(self._desk.data)).items()
        hidden = {name: type(value)() if isinstance(value, list | dict) else None for name, value in whole}
        data = hidden | {name: value for name, value in whole if name in _OPEN}
        return HTMLResponse(render(data | {"live": {"csrf": "", "seat": "", "readonly": True}}, live=True))

    def doing(self, more: str, work: Work) -> Callable[[Request], Awaitable[Response]]:
        """A request that does one thing on the desk, answered by what it says and the state of the page."""
        desk = self._desk

        async def answer(request: Request) -> Response:
            given = await _body(request)
            try:
                result = await self._done(lambda: work(given))
            except OSError as error:  # a full disk
                refused = {"error": visible(f"This did not work: {error.strerror or type(error).__name__}.")}
                return _Told(refused | {"live": await self._done(desk.live)}, 409)
            except DreamError as error:
                wrong = {"error": visible(desk.access.spoken(str(error)))}
                if isinstance(error, MovedOnError):
                    return _Told(wrong | {"data": await self._fresh()}, 409)
                in_the_way = isinstance(error, StoreError | JournalError)
                return _Told(wrong | {"live": await self._done(desk.live)}, 409 if in_the_way else 400)
            told = {"told": result} if isinstance(result, str) else result or {}
            if more:
                told |= {more: await (self._fresh() if more == "data" else self._done(desk.live))}
            return _Told(told)

        return answer

    async def _fresh(self) -> Data:
        data: Data = await self._done(self._desk.data)
        live = {"csrf": self._gate.csrf, "seat": self._gate.seat, "readonly": bool(data["gaps"])}
        return data | {"live": data["live"] | live}

    async def _done(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401  (whatever the work gives)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _works(desk: ReviewDesk) -> tuple[tuple[str, str, Work], ...]:
    """What can be asked for: its path, what of the page is sent along, and what does it."""
    now = desk.access.clock

    def answer(given: Data) -> None:
        desk.review.answer(_text(given, "key"), _text(given, "say"), given.get("text"), now=now())

    def pin(given: Data) -> None:
        desk.review.pin(_text(given, "id"), pinned=given.get("pinned") is True, now=now())

    def check(given: Data) -> Data:
        details, words = desk.review.lost(desk.review.find(_text(given, "key")), _text(given, "text"))
        return {"lost": details, "words": words}

    return (
        ("answer", "live", answer),
        ("answers", "live", lambda it: desk.review.answer_all(_keys(it), _text(it, "say"), now=now())),
        ("withdraw", "live", lambda it: desk.review.withdraw(*_keys(it))),
        ("pin", "live", pin),
        ("check", "", check),
        ("preview", "", lambda _: desk.preview()),
        ("apply", "data", lambda it: desk.apply(_text(it, "digest"), over=it.get("over") is True)),
        ("undo", "data", lambda it: desk.undo(_text(it, "run"), str(it.get("action") or ""))),
        ("resume", "data", lambda it: desk.resume(_text(it, "run"))),
        ("forget", "data", lambda it: desk.forget(_text(it, "number"))),
        ("refresh", "data", lambda _: desk.refresh()),
        ("calibrate", "data", lambda _: desk.calibrate()),
    )


async def _body(request: Request) -> Data:
    whole = b""
    async for part in request.stream():
        whole += part
        if len(whole) > BODY_BYTES:
            raise DeniedError(413, "This request is too long.")
    try:
        given = from_json(whole or b"{}")
    except ValueError:
        raise DeniedError(400, "This request is no JSON.") from None
    if not isinstance(given, dict):
        raise DeniedError(400, "This request is no JSON object.")
    return given


def _text(given: Data, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise DeniedError(400, f"This request names no {name}.")
    return value


def _keys(given: Data) -> list[str]:
    keys = given.get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise DeniedError(400, "This request names no keys.")
    return keys


class DeniedError(Exception):
    """A request that is not answered: the status to answer with, and if the page lost its place to a tab."""

    def __init__(self, status: int, message: str, *, moved: bool = False) -> None:
        super().__init__(message)
        self.status, self.moved = status, moved


@dataclass(slots=True)
class Gate:
    """The secrets of one review, and whose turn it is."""

    port: int  # where the review listens
    # In the address that the terminal prints; without it nothing can be changed, nor read.
    token: str = field(default_factory=secrets.token_urlsafe)
    csrf: str = field(default_factory=secrets.token_urlsafe)  # in the page that was given out for the token
    seat: str = ""  # the tab that was opened last, which alone may write

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse names that are not ours."""
        if headers.get("host", "") not in self._hosts:
            raise DeniedError(421, "This address is not served here.")

    def admits(self, token: str | None) -> bool:
        """Whether a page may be given out whole; False for none of it but the numbers."""
        if token and not _equal(token, self.token):
            raise DeniedError(403, "This link is not the one that the terminal printed.")
        return bool(token)

    def check_write(self, headers: Mapping[str, str]) -> None:
        """Refuse whatever this page, in the tab opened last, did not send."""
        if headers.get("origin", "") not in {f"http://{host}" for host in self._hosts}:
            raise DeniedError(403, "This request comes from another page.")
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            raise DeniedError(415, "This request is no JSON.")
        if not _equal(headers.get("x-dream-token", ""), self.token):
            told = "Read-only: this page was opened without the token that the terminal printed."
            raise DeniedError(403, told)
        if not _equal(headers.get("x-csrf-token", ""), self.csrf):
            told = "This page is of an earlier review; open the link that the terminal printed."
            raise DeniedError(403, told)
        if not _equal(headers.get("x-dream-seat", ""), self.seat):
            told = "This review is open in another tab. Reload this one to go on here."
            raise DeniedError(409, told, moved=True)

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def _hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})


def _equal(given: str, held: str) -> bool:
    return bool(held) and hmac.compare_digest(given.encode(), held.encode())


def serve(
    access: StoreAccess,
    watched: ReviewObserver,
    *,
    port: int,
    opened: Callable[[str, Callable[[], None]], None],
) -> None:
    """Answer the browser until the program is told to end; `opened` is told the address, and how to end."""
    listening = _listen(port)
    # SQLite's connections and most clients belong to the thread that opened them: all work is done in one.
    with listening, ThreadPoolExecutor(max_workers=1, thread_name_prefix="review") as executor:
        desk = executor.submit(ReviewDesk, access, watched).result()
        gate = Gate(int(listening.getsockname()[1]))
        with contextlib.ExitStack() as alone:  # passes and agents may go on
            try:
                alone.enter_context(store_lock(desk.directory, f"{desk.fingerprint}-review"))
            except StoreLockedError as error:
                raise StoreLockedError(
                    "A review of this store is open already; go on there, or end it with Ctrl-C first."
                ) from error
            app = review_app(desk, gate, watched, executor)
            silent: dict[str, Any] = {"log_level": "error", "access_log": False, "server_header": False}
            server = uvicorn.Server(uvicorn.Config(app, lifespan="off", **silent))
            opened(gate.address, lambda: setattr(server, "should_exit", True))
            server.run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise UsageError(f"Port {port} cannot be used ({error.strerror}); leave --port out.") from error
    listening.listen()
    return listening
