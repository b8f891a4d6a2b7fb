"""What a failed HTTP request means: whether asking again may help, and how long the service asks to wait."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from ..errors import DreamError

LONGEST_PAUSE = 300.0  # a service that asks for more has a quota of its own: a later run is the better answer
_BUSY = frozenset({408, 425, 429})


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


def _retry_after(response: Any) -> float | None:  # noqa: ANN401  (httpx or requests)
    text = response.headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(text))
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    return None
