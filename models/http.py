"""What a failed HTTP request means: whether asking again may help, and how long the service asks to wait.

For every service that is asked over HTTP, language models and memory stores alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import DreamError

LONGEST_PAUSE = 300.0
"""A service that asks for a longer pause has a quota of its own; a later run is the better answer."""
_BUSY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no answer: status code if one came, whether asking again may help, seconds to wait.

    `words` say what happened, without any text of the answer.
    """

    status: int | None
    passing: bool
    after: float | None
    words: str


def failure_of(error: BaseException, *, longest: float = LONGEST_PAUSE) -> Failure:
    """What an exception of an HTTP client means for the request.

    Args:
        error: The exception.
        longest: Seconds that are waited at most if the service asks for it.
    """
    if isinstance(error, DreamError):
        return Failure(None, passing=False, after=None, words="")
    response = getattr(error, "response", None)
    if response is None:
        return Failure(None, passing=_of_the_line(error), after=None, words=type(error).__name__)
    status, after = int(response.status_code), _retry_after(response)
    passing = status in _BUSY or status >= 500
    if after is not None and after > longest:
        return Failure(
            status, passing=False, after=after, words=f"status {status}, asks to wait {after:.0f} s"
        )
    return Failure(status, passing=passing, after=after if passing else None, words=f"status {status}")


def _of_the_line(error: BaseException) -> bool:
    """Whether the connection failed, or an answer broke off, so that the next may come."""
    import httpx

    broken = (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError, ConnectionError, TimeoutError)
    return isinstance(error, broken)


def _retry_after(response: Any) -> float | None:  # noqa: ANN401  (httpx or requests)
    """Seconds of a Retry-After header, given as a number or as a date."""
    text = response.headers.get("Retry-After")
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
