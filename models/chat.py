"""One chat model behind an OpenAI-compatible endpoint: a request, an answer, or the reason for none.

It knows neither memories nor verdicts. After a passing fault the request is repeated, when the server
allows and while there is time; the key is read from the environment and appears in no message, name or log.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import NoAnswerError, UsageError

if TYPE_CHECKING:
    import httpx

KEY_VARIABLES = ("MEM0_DREAM_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the key, in this order; a local endpoint needs none."""
ATTEMPTS = 4
TIMEOUT_SECONDS = 120.0
LONGEST_PAUSE = 30.0
"""Longest wait in seconds that a server may ask for (Retry-After); a longer one is not waited out."""


class ChatEndpoint:
    """Sends requests to one model; nothing is sent before the first."""

    def __init__(
        self,
        spec: str,
        *,
        client: httpx.Client | None = None,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Take the model's name and address apart.

        Args:
            spec: MODEL@URL, such as qwen3@http://localhost:11434/v1.
            client: Instead of a client of our own.
            timeout: Seconds for an answer.
            attempts: How often a passing fault is tried again, the first time included.

        Raises:
            UsageError: If the spec names no model or no http(s) address.
        """
        at = max(spec.find("@http://"), spec.find("@https://"))
        self.model, self._address = spec[: max(at, 0)], spec[at + 1 :].rstrip("/")
        if not self.model or not _is_address(self._address):
            # The spec itself is not repeated: an address may hold a password.
            raise UsageError(
                "This names no language model with its address; write openai:MODEL@URL, "
                "such as openai:qwen3@http://localhost:11434/v1."
            )
        self._client = client
        self._timeout = timeout
        self._attempts = attempts

    @property
    def place(self) -> str:
        """The address without what may be a secret: user, password and query."""
        parts = urlsplit(self._address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    def ask(self, messages: list[dict[str, str]], **more: Any) -> str:  # noqa: ANN401  (JSON)
        """Send a conversation; what the model says.

        Raises:
            NoAnswerError: If the endpoint does not answer, or not in the form of a chat.
        """
        answer = self._post({"model": self.model, "messages": messages, **more})
        try:
            content = answer["choices"][0]["message"]["content"]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            content = None
        return content if isinstance(content, str) else ""

    def _post(self, body: Mapping[str, Any]) -> object:
        import httpx
        import tenacity

        key = next((os.environ[name] for name in KEY_VARIABLES if os.environ.get(name)), None)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: _is_passing(httpx, error)),
            stop=tenacity.stop_after_attempt(self._attempts) | tenacity.stop_before_delay(self._timeout),
            wait=_pause(httpx, tenacity.wait_exponential_jitter(multiplier=0.5, max=20)),
            reraise=True,
        )

        if self._client is None:
            self._client = httpx.Client(timeout=self._timeout)
        client = self._client

        def send() -> object:
            """One attempt."""
            answer = client.post(f"{self._address}/chat/completions", json=body, headers=headers)
            answer.raise_for_status()
            return answer.json()

        try:
            return attempts(send)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise NoAnswerError(
                f"The language model at {self.place} answered {status}; check the model's name and the key.",
                reason=f"answered {status}",
                hopeless=not _is_passing(httpx, error),
            ) from None
        except (httpx.HTTPError, ValueError) as error:
            late = isinstance(error, httpx.TimeoutException)
            raise NoAnswerError(
                f"The language model at {self.place} does not answer ({type(error).__name__}); "
                "is it running, and is the address right?",
                reason="late" if late else "unreachable" if isinstance(error, httpx.HTTPError) else "no JSON",
            ) from None


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _is_passing(httpx: Any, error: BaseException) -> bool:  # noqa: ANN401  (the lazily imported module)
    """Whether another attempt may help: no connection, too many requests, or a server's own fault."""
    if isinstance(error, httpx.HTTPStatusError):
        status: int = error.response.status_code
        passing = status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR
        return bool(passing and _wanted_pause(error) <= LONGEST_PAUSE)
    return bool(isinstance(error, httpx.TransportError))


def _pause(httpx: Any, otherwise: Any) -> Any:  # noqa: ANN401
    """How long to wait before the next attempt: what the server says, else longer each time."""

    def pause(state: Any) -> float:  # noqa: ANN401
        """Seconds."""
        error = state.outcome.exception()
        said = _wanted_pause(error) if isinstance(error, httpx.HTTPStatusError) else 0.0
        return said or float(otherwise(state))

    return pause


def _wanted_pause(error: Any) -> float:  # noqa: ANN401
    """Seconds of a Retry-After header; 0 if there is none in seconds."""
    said = str(error.response.headers.get("retry-after", ""))
    return float(said) if said.replace(".", "", 1).isdecimal() else 0.0
