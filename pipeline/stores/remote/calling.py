"""Ask a service that may be busy, slow or gone, until it answers or it is plain that it will not.

A request whose answer was lost may have been carried out. So a request that must not be carried out
twice comes with a way to look whether it was (`instead`), and is repeated only if it was not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ....errors import ConfigError, DreamError, StoreError
from ....models.http import failure_of

Answer = TypeVar("Answer")

_DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a service is asked."""

    attempts: int = 7  # requests for one answer, the first included
    first_wait: float = 1.0  # seconds before the second attempt; it doubles with each further one
    longest_wait: float = 60.0  # seconds that no pause of our own exceeds
    per_minute: float = 600  # requests a minute at most; the hosted platform publishes 1000 additions
    looks: int = 7  # how often a change is looked for before it counts as not made
    timeout: float = 60.0  # seconds for one answer


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
        self, what: str, request: Callable[[], Answer], *, instead: Callable[[], Answer | None] = lambda: None
    ) -> Answer:
        """Make a request until it is answered; `what` names it as a sentence may: "listing memories".

        Before each repetition `instead` gives the answer if an earlier attempt was carried out after all.
        `ConfigError` if the service refuses the key, `StoreError` if it does not answer or refuses the
        request.
        """
        from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

        tries = 0

        def _attempt() -> Answer:
            nonlocal tries
            tries += 1
            if tries > 1 and (answer := instead()) is not None:
                return answer
            now = self._clock()
            if now < self._next:
                self._sleep(self._next - now)
            self._next = max(self._next, now) + 60 / self.patience.per_minute
            return request()

        def wait(state: RetryCallState) -> float:
            """Seconds before the next attempt: doubled each time, spread, and never less than asked for."""
            doubled = self.patience.first_wait * 2.0 ** (state.attempt_number - 1)
            spread = min(self.patience.longest_wait, doubled) * (0.5 + self._jitter() / 2)
            error = state.outcome.exception() if state.outcome else None
            asked = failure_of(error).after if error is not None else None
            return spread if asked is None else asked + spread / 10

        retrying = Retrying(
            stop=stop_after_attempt(self.patience.attempts),
            retry=retry_if_exception(lambda error: failure_of(error).passing),
            wait=wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(_attempt)
        except DreamError:
            raise
        except Exception as error:
            failure = failure_of(error)
            if failure.status in _DENIED:
                raise ConfigError(
                    f"{self.service} refuses the key ({failure.words}) for {what}; check the key."
                ) from error
            times = f" after {tries} attempts" if tries > 1 else ""
            raise StoreError(f"{self.service} did not answer {what}{times}: {failure.words}.") from error

    def look(self, probe: Callable[[], Answer], *, until: Callable[[Answer], bool]) -> Answer:
        """Probe until the answer is as wanted, a few times: a change may take a moment to show."""
        for number in range(self.patience.looks):
            answer = probe()
            if until(answer) or number + 1 == self.patience.looks:
                break
            self._sleep(min(self.patience.first_wait / 4 * 2**number, self.patience.longest_wait))
        return answer
