"""Ask a service that may be busy, slow or gone, until it answers or it is plain that it will not.

A request whose answer was lost may have been carried out. So a request that must not be carried out
twice comes with a way to look whether it was (`instead`), and is repeated only if it was not.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ....errors import ConfigError, DreamError, StoreError

Answer = TypeVar("Answer")

_GIVE_UP_OVER_SECONDS = 300.0
"""A service that asks for a longer pause has a quota of its own; a later run is the better answer."""
_BUSY = frozenset({408, 425, 429})
_DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a service is asked.

    Attributes:
        attempts: Requests for one answer, the first included.
        first_wait: Seconds before the second attempt; it doubles with each further one.
        longest_wait: Seconds that no pause of our own exceeds.
        per_minute: Requests a minute at most; the hosted platform publishes 1000 additions.
        looks: How often a change is looked for before it counts as not made.
        timeout: Seconds for one answer.
    """

    attempts: int = 7
    first_wait: float = 1.0
    longest_wait: float = 60.0
    per_minute: float = 600
    looks: int = 7
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no answer.

    Attributes:
        status: The status code; None where no answer came.
        passing: Asking again may help.
        after: Seconds the service asks to wait.
        words: What happened, without any text of the answer.
    """

    status: int | None
    passing: bool
    after: float | None
    words: str


class Caller:
    """Makes requests of one service, one after the other."""

    def __init__(
        self,
        service: str,
        patience: Patience | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Name the service as a sentence may; the clock and the waiting are replaceable for tests."""
        self.service = service
        self.patience = patience or Patience()
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self._next = 0.0

    def ask(
        self,
        what: str,
        request: Callable[[], Answer],
        *,
        instead: Callable[[], Answer | None] = lambda: None,
    ) -> Answer:
        """Make a request until it is answered.

        Args:
            what: The request as a sentence may name it: "listing memories".
            request: Makes it once.
            instead: Before each repetition: the answer, if an earlier attempt was carried out after all.

        Raises:
            ConfigError: If the service refuses the key.
            StoreError: If it does not answer, or refuses the request.
        """
        from tenacity import Retrying, retry_if_exception, stop_after_attempt

        tries = 0

        def attempt() -> Answer:
            """One request at the agreed pace."""
            nonlocal tries
            tries += 1
            answer = instead() if tries > 1 else None
            if answer is not None:
                return answer
            self._pace()
            return request()

        retrying = Retrying(
            stop=stop_after_attempt(self.patience.attempts),
            retry=retry_if_exception(lambda error: failure_of(error).passing),
            wait=lambda state: self._wait(
                state.attempt_number, state.outcome.exception() if state.outcome else None
            ),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(attempt)
        except DreamError:
            raise
        except Exception as error:
            raise self._sentence(what, failure_of(error), tries) from error

    def look(self, probe: Callable[[], Answer], *, until: Callable[[Answer], bool]) -> Answer:
        """Probe until the answer is as wanted, a few times: a change may take a moment to show."""
        for number in range(self.patience.looks):
            answer = probe()
            if until(answer) or number + 1 == self.patience.looks:
                break
            self._sleep(min(self.patience.first_wait / 4 * 2**number, self.patience.longest_wait))
        return answer

    def _pace(self) -> None:
        """Wait for the next moment at which a request may be made."""
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(self._next, now) + 60 / self.patience.per_minute

    def _wait(self, number: int, error: BaseException | None) -> float:
        """Seconds before the next attempt: doubled each time, spread, and never less than asked for."""
        longest = min(self.patience.longest_wait, self.patience.first_wait * 2.0 ** (number - 1))
        spread = longest * (0.5 + self._jitter() / 2)
        asked = failure_of(error).after if error is not None else None
        return spread if asked is None else asked + spread / 10

    def _sentence(self, what: str, failure: Failure, tries: int) -> DreamError:
        if failure.status in _DENIED:
            return ConfigError(f"{self.service} refuses the key ({failure.words}) for {what}; check the key.")
        times = f" after {tries} attempts" if tries > 1 else ""
        return StoreError(f"{self.service} did not answer {what}{times}: {failure.words}.")


def failure_of(error: BaseException) -> Failure:
    """What an exception of an HTTP client means for the request."""
    if isinstance(error, DreamError):
        return Failure(None, passing=False, after=None, words="")
    response = _response(error)
    status = _status(error, response)
    if status is None:
        return Failure(None, passing=_of_the_line(error), after=None, words=type(error).__name__)
    after = _retry_after(response)
    passing = status in _BUSY or status >= 500
    if after is not None and after > _GIVE_UP_OVER_SECONDS:
        return Failure(
            status, passing=False, after=after, words=f"status {status}, asks to wait {after:.0f} s"
        )
    return Failure(status, passing=passing, after=after if passing else None, words=f"status {status}")


def _response(error: BaseException) -> Any:  # noqa: ANN401  (httpx or requests)
    """The answer behind an error; mem0's client raises its own error while it handles the HTTP one."""
    for failure in (error, error.__context__, error.__cause__):
        response = getattr(failure, "response", None)
        if response is not None:
            return response
    return None


def _status(error: BaseException, response: Any) -> int | None:  # noqa: ANN401
    if response is not None:
        return int(response.status_code)
    told = getattr(error, "debug_info", None)
    status = told.get("status_code") if isinstance(told, dict) else None
    return int(status) if status is not None else None


def _of_the_line(error: BaseException) -> bool:
    """Whether the connection failed, or an answer broke off, so that the next may come."""
    import httpx

    broken = (httpx.TransportError, httpx.DecodingError, json.JSONDecodeError, ConnectionError, TimeoutError)
    causes = (error, error.__context__, error.__cause__)
    return any(isinstance(cause, broken) for cause in causes)


def _retry_after(response: Any) -> float | None:  # noqa: ANN401
    """Seconds of a Retry-After header, given as a number or as a date."""
    text = response.headers.get("Retry-After") if response is not None else None
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
