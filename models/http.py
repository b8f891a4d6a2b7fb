"""What a failed HTTP request means: whether asking again may help, and how long the service asks to wait."""

from __future__ import annotations

import contextlib
import json
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DreamError

if TYPE_CHECKING:
    import httpx

LONGEST_PAUSE = 300.0  # a service that asks for more has a quota of its own: a later run is the better answer
LARGEST_ANSWER = 256_000_000  # bytes
_BUSY = frozenset({408, 425, 429})
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Failure(NamedTuple):
    """Why a request has no answer."""

    status: int | None  # the code, if one came
    passing: bool  # whether asking again may help
    after: float | None  # seconds to wait
    words: str  # what happened, without any text of the answer


def failure_of(error: BaseException, *, longest: float = LONGEST_PAUSE) -> Failure:
    """What an exception of an HTTP client means for the request; `longest` seconds are waited at most."""
    if isinstance(error, DreamError):
        return Failure(None, passing=False, after=None, words="")
    response = getattr(error, "response", None)
    if response is None:  # the connection failed, or an answer broke off, so that the next may come
        from httpx import DecodingError, TransportError

        broken = TransportError, DecodingError, json.JSONDecodeError, ConnectionError, TimeoutError
        return Failure(None, passing=isinstance(error, broken), after=None, words=type(error).__name__)
    status, after = int(response.status_code), _retry_after(response)
    passing, words = status in _BUSY or status >= 500, f"status {status}"
    if after is not None and after > longest:
        return Failure(status, passing=False, after=after, words=f"{words}, asks to wait {after:.0f} s")
    return Failure(status, passing=passing, after=after if passing else None, words=words)


def received(client: httpx.Client, request: httpx.Request, *, seconds: float) -> httpx.Response:
    """The whole response to a request; a redirect is not followed.

    `httpx.ReadTimeout` if it trickles on past this time, whatever comes at each moment, or is far too large.
    """
    from httpx import ReadTimeout, Response

    response = client.send(request, stream=True, follow_redirects=False)
    with contextlib.closing(response):
        ends, parts, size = time.monotonic() + seconds, [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if time.monotonic() > ends or size > LARGEST_ANSWER:
                raise ReadTimeout("the answer does not end", request=request)
    plain = {name: value for name, value in response.headers.items() if name not in _ENCODED}
    whole = Response(response.status_code, headers=plain, content=b"".join(parts), request=request)
    whole.next_request = response.next_request
    return whole


def _retry_after(response: Any) -> float | None:  # noqa: ANN401  (httpx or requests)
    text = response.headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(text))
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    return None
