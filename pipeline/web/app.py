"""The review over HTTP: a page, and a few requests that each do one thing on the desk.

Everything that touches the desk runs in one thread, one after another; only the progress can be read at
any time.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ...errors import DreamError, JournalError, MovedOnError, StoreError
from ..reporting.html import render
from .desk import ReviewDesk, ReviewObserver

BODY_BYTES = 1_000_000
"""A longer request is refused; a merged text is far shorter."""
_OPEN = ("version", "kind", "now", "summary")
"""Parts of a page that hold no text and no name; all others need the token."""
Work = Callable[[dict[str, Any]], dict[str, Any]]


def review_app(desk: ReviewDesk, gate: Gate, watched: ReviewObserver, executor: Executor) -> Starlette:
    """The application; `executor` has one thread, in which the desk was made."""
    own = ReviewRoutes(desk, gate, watched, executor)
    routes = [Route("/", own.page, methods=["GET"]), Route("/progress", own.progress, methods=["POST"])]
    routes += [Route(f"/{name}", own.doing(work), methods=["POST"]) for name, work in own.works().items()]
    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=own.guarded)])


class ReviewRoutes:
    """The requests that a review answers."""

    def __init__(self, desk: ReviewDesk, gate: Gate, watched: ReviewObserver, executor: Executor) -> None:
        self._desk = desk
        self._gate = gate
        self._watched = watched
        self._executor = executor

    async def guarded(self, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        """Look at every request before anything else does, and seal every answer."""
        try:
            self._gate.check_host(request.headers)
            if request.method == "POST":
                self._gate.check_write(request.headers)
            response = await answer(request)
        except DeniedError as denied:
            told = {"error": str(denied), "moved": denied.moved}
            bare = request.method == "GET"
            response = (
                PlainTextResponse(f"{denied}\n", denied.status) if bare else JSONResponse(told, denied.status)
            )
        response.headers.update(HEADERS)
        return response

    async def page(self, request: Request) -> Response:
        """The page; without the token only its numbers."""
        whole = self._gate.admits(request.query_params.get("token"))
        data = await self._done(self._desk.data)
        seat = self._gate.take_seat() if whole else ""
        if not whole:
            data = {name: value if name in _OPEN else _nothing(value) for name, value in data.items()}
        data["live"] = data["live"] | {"csrf": self._gate.csrf if whole else "", "seat": seat}
        data["live"]["readonly"] = not whole or bool(data["gaps"])
        lines = self._desk.lines if whole else ()
        return HTMLResponse(render(data, lines=lines, live=True))

    async def progress(self, _request: Request) -> Response:
        """The progress of the work while it goes on."""
        return JSONResponse(self._watched.told)

    def doing(self, work: Work) -> Callable[[Request], Awaitable[Response]]:
        """A request that does one thing on the desk and returns the state of the answers."""
        desk = self._desk

        async def answer(request: Request) -> Response:
            given = await _body(request)
            try:
                result = await self._done(lambda: work(given))
            except MovedOnError as moved:
                return JSONResponse({"error": desk.spoken(moved), "data": await self._fresh()}, 409)
            except DreamError as error:
                live = await self._done(desk.live)
                in_the_way = isinstance(error, StoreError | JournalError)
                return JSONResponse({"error": desk.spoken(error), "live": live}, 409 if in_the_way else 400)
            if result.pop("fresh", False):
                result["data"] = await self._fresh()
            return JSONResponse(result)

        return answer

    def works(self) -> dict[str, Work]:
        """What can be asked for, by its path."""
        desk = self._desk

        def kept(work: Callable[[dict[str, Any]], object]) -> Work:
            return lambda given: (work(given), {"live": desk.live()})[1]

        def told(work: Callable[[dict[str, Any]], str]) -> Work:
            return lambda given: {"told": work(given), "fresh": True}

        return {
            "answer": kept(
                lambda given: desk.answer(_text(given, "key"), _text(given, "say"), given.get("text"))
            ),
            "answers": kept(lambda given: desk.answer_all(_keys(given), _text(given, "say"))),
            "withdraw": kept(lambda given: desk.withdraw(*_keys(given))),
            "pin": kept(lambda given: desk.pin(_text(given, "id"), pinned=given.get("pinned") is True)),
            "check": lambda given: desk.lost(_text(given, "key"), _text(given, "text")),
            "preview": lambda _given: desk.preview(),
            "apply": lambda given: (
                desk.apply(_text(given, "digest"), over=given.get("over") is True) | {"fresh": True}
            ),
            "undo": told(lambda given: desk.undo(_text(given, "run"), str(given.get("action") or ""))),
            "resume": told(lambda given: desk.resume(_text(given, "run"))),
            "forget": told(lambda given: desk.forget(_text(given, "number"))),
            "refresh": told(lambda _given: desk.refresh()),
            "calibrate": told(lambda _given: desk.calibrate()),
        }

    async def _fresh(self) -> dict[str, Any]:
        data: dict[str, Any] = await self._done(self._desk.data)
        live = {"csrf": self._gate.csrf, "seat": self._gate.seat, "readonly": bool(data["gaps"])}
        return data | {"live": data["live"] | live}

    async def _done(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401  (whatever the work gives)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


async def _body(request: Request) -> dict[str, Any]:
    import json

    whole = b""
    async for part in request.stream():
        whole += part
        if len(whole) > BODY_BYTES:
            raise DeniedError(413, "This request is too long.")
    try:
        given = json.loads(whole or b"{}")
    except ValueError:
        raise DeniedError(400, "This request is no JSON.") from None
    if not isinstance(given, dict):
        raise DeniedError(400, "This request is no JSON object.")
    return given


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise DeniedError(400, f"This request names no {name}.")
    return value


def _nothing(value: object) -> object:
    return type(value)() if isinstance(value, list | dict) else None


def _keys(given: dict[str, Any]) -> list[str]:
    return [str(key) for key in given.get("keys", [])]


TOKEN_BYTES = 32
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every answer; there is none of CORS among them on purpose."""
ELSEWHERE = "This review is open in another tab. Reload this one to go on here."


class DeniedError(Exception):
    """A request that is not answered.

    Attributes:
        status: The status to answer with.
        moved: Whether the page lost its place to another tab.
    """

    def __init__(self, status: int, message: str, *, moved: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.moved = moved


def _secret() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(slots=True)
class Gate:
    """The secrets of one review, and whose turn it is."""

    port: int  # where the review listens
    # In the address that the terminal prints; without it nothing can be changed, nor read.
    token: str = field(default_factory=_secret)
    csrf: str = field(default_factory=_secret)  # in the page that was given out for the token
    seat: str = ""  # the tab that was opened last

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse names that are not ours."""
        if headers.get("host", "") not in self._hosts:
            raise DeniedError(421, "This address is not served here.")

    def admits(self, token: str | None) -> bool:
        """Whether a page may be given out whole; False for none of it but the numbers."""
        if not token:
            return False
        if not _equal(token, self.token):
            raise DeniedError(403, "This link is not the one that the terminal printed.")
        return True

    def take_seat(self) -> str:
        """Make the page that is given out now the one that may write."""
        self.seat = _secret()
        return self.seat

    def check_write(self, headers: Mapping[str, str]) -> None:
        """Refuse whatever this page, in the tab opened last, did not send."""
        if headers.get("origin", "") not in {f"http://{host}" for host in self._hosts}:
            raise DeniedError(403, "This request comes from another page.")
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            raise DeniedError(415, "This request is no JSON.")
        if not _equal(headers.get("x-dream-token", ""), self.token):
            raise DeniedError(
                403, "Read-only: this page was opened without the token that the terminal printed."
            )
        if not _equal(headers.get("x-csrf-token", ""), self.csrf):
            raise DeniedError(
                403, "This page is of an earlier review; open the link that the terminal printed."
            )
        if not _equal(headers.get("x-dream-seat", ""), self.seat):
            raise DeniedError(409, ELSEWHERE, moved=True)

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def _hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})


def _equal(given: str, held: str) -> bool:
    return bool(held) and hmac.compare_digest(given.encode(), held.encode())
