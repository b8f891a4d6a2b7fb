"""Language models: one client of an OpenAI-compatible endpoint, and its two uses.

`OpenAIJudge` scores pairs of memories; an `Adviser` gives a second opinion on one pair. Nothing but JSON in
time counts, else a pair stays as unsure as it was. The key is read from the environment and appears in no
message, name or log.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import ConfigError, MissingExtraError, NoAnswerError, UsageError
from .http import failure_of
from .scorer import CONTRADICTION, DISTINCT, DUPLICATE, PairInput, PairScores, Thresholds
from .text.tables import pattern, table_lines

if TYPE_CHECKING:
    import httpx

KEY_VARIABLES = ("MEM0_DREAM_API_KEY", "OPENAI_API_KEY")  # in this order; a local endpoint needs none
ATTEMPTS = 4
TIMEOUT_SECONDS = 120.0
Message = dict[str, str]
ANY_OBJECT: Mapping[str, Any] = {"type": "json_object"}
LONGEST_PAUSE = 30.0  # longest wait in seconds that a server may ask for; a longer one is not waited out
_failure = partial(failure_of, longest=LONGEST_PAUSE)


class ChatEndpoint:
    """One model at an OpenAI-compatible endpoint; `name` is part of cache keys, `spoken` is for a person.

    The spec is MODEL@URL, such as qwen3@http://localhost:11434/v1; UsageError if it names no model or no
    http(s) address. The timeout is in seconds, for an answer.
    """

    def __init__(self, spec: str, *, timeout: float = TIMEOUT_SECONDS) -> None:
        at = max(spec.find("@http://"), spec.find("@https://"))
        self.model, self._address = spec[: max(at, 0)], spec[at + 1 :].rstrip("/")
        if not self.model or not _is_address(self._address):
            # The spec itself is not repeated: an address may hold a password.
            raise UsageError(
                "This names no language model with its address; write openai:MODEL@URL, "
                "such as openai:qwen3@http://localhost:11434/v1."
            )
        parts = urlsplit(self._address)
        port = f":{parts.port}" if parts.port else ""
        # without user, password and query
        self.place = f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
        self.name, self.spoken = f"endpoint:{spec}", f"{self.model} at {self.place}"
        self._client: httpx.Client | None = None
        self._timeout = timeout

    def prepare(self) -> None:
        """Nothing to do: an endpoint is opened with the first question."""

    def reply(self, messages: list[Message], form: Mapping[str, Any] = ANY_OBJECT) -> str:
        """Send a conversation; what the model says, or nothing; NoAnswerError without an answer."""
        body = {"model": self.model, "messages": messages, "temperature": 0, "response_format": form}
        answer = self._post(body)
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
        longer = tenacity.wait_exponential_jitter(multiplier=0.5, max=20)

        def pause(state: Any) -> float:  # noqa: ANN401
            return _failure(state.outcome.exception()).after or float(longer(state))

        def again(error: BaseException) -> bool:  # a model that answers no JSON would do so again
            return _failure(error).passing and not isinstance(error, ValueError)

        stop = tenacity.stop_after_attempt(ATTEMPTS) | tenacity.stop_before_delay(self._timeout)
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(again), stop=stop, wait=pause, reraise=True
        )
        if self._client is None:
            self._client = httpx.Client(timeout=self._timeout, follow_redirects=False)  # the key stays here
        client = self._client

        def send() -> object:
            answer = client.post(f"{self._address}/chat/completions", json=body, headers=headers)
            answer.raise_for_status()
            return answer.json()

        try:
            return attempts(send)
        except httpx.HTTPStatusError as error:
            told = f"answered {error.response.status_code}"
            line = f"The language model at {self.place} {told}; check the model's name and the key."
            raise NoAnswerError(line, reason=told, hopeless=not _failure(error).passing) from None
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


PAIRS_PER_REQUEST = 10  # enough to share the instructions' cost, few enough that answers are not mixed up
_JUDGE_VERSION = 1
_COLUMNS = {"duplicate": DUPLICATE, "contradiction": CONTRADICTION, "distinct": DISTINCT}


class OpenAIJudge:
    """Asks a chat model at an OpenAI-compatible endpoint, of a spec as for `ChatEndpoint`."""

    thresholds = Thresholds(auto=0.95, duplicate=0.5, contradiction=0.7)
    """Not fitted on memories: `mem0-dream calibrate` fits them for the model at hand."""

    def __init__(self, spec: str) -> None:
        self._endpoint = ChatEndpoint(spec)
        self.name = f"openai-{_JUDGE_VERSION}:{self._endpoint.model}@{self._endpoint.place}"

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Ask about all pairs; NoAnswerError if the endpoint does not answer."""
        import numpy as np

        probabilities = np.full((len(pairs), 3), 1 / 3, dtype=np.float32)
        entailment = np.zeros((len(pairs), 2), dtype=np.float32)
        for start in range(0, len(pairs), PAIRS_PER_REQUEST):
            chunk = pairs[start : start + PAIRS_PER_REQUEST]
            for number, row, contained in self._ask(chunk):
                probabilities[start + number] = row
                swapped = chunk[number].a > chunk[number].b
                entailment[start + number] = contained[::-1] if swapped else contained
        return PairScores(probabilities, entailment)

    def _ask(self, pairs: Sequence[PairInput]) -> Iterator[tuple[int, list[float], list[bool]]]:
        """Number, probabilities, and containment in both directions, of each verdict that is one."""
        shown = [{"number": number, **_shown(pair)} for number, pair in enumerate(pairs, 1)]
        form = json.loads("".join(table_lines("prompts", "judge_form")))
        try:
            verdicts = json.loads(self._endpoint.reply(_asking("judge", {"pairs": shown}), form))["verdicts"]
        except (KeyError, TypeError, ValueError):
            return
        seen: set[int] = set()
        for verdict in verdicts if isinstance(verdicts, list) else ():
            said = verdict if isinstance(verdict, dict) else {}
            number, confidence = said.get("number"), said.get("confidence")
            if not isinstance(number, int) or not 1 <= number <= len(pairs) or number in seen:
                continue
            seen.add(number)
            column = _COLUMNS.get(str(said.get("label")))
            if column is not None and isinstance(confidence, (int, float)) and 0 <= confidence <= 1:
                row = [confidence if place == column else (1 - confidence) / 2 for place in range(3)]
                yield number - 1, row, [said.get(f"{x}_says_all_of_{y}") is True for x, y in ("ab", "ba")]


def _asking(prompt: str, about: object) -> list[Message]:
    # without lone surrogates, which some stores let in and no request can hold
    sendable = json.dumps(about, ensure_ascii=False).encode("utf-8", "replace").decode()
    instructions = "\n".join(table_lines("prompts", prompt))
    return [{"role": "system", "content": instructions}, {"role": "user", "content": sendable}]


def _shown(pair: PairInput) -> dict[str, Any]:
    """A pair as a model reads it, the same for a pair and its mirror image."""
    sides = sorted(((pair.a, pair.a_date), (pair.b, pair.b_date)), key=lambda side: (side[0], str(side[1])))
    a, b = ({"text": text, "stated": moment.date().isoformat() if moment else None} for text, moment in sides)
    return {"category": pair.category, "a": a, "b": b}


PROMPT_VERSION = 1
LABELS = ("duplicate", "contradiction", "distinct", "unsure")
OPENAI_PREFIX = "openai:"
_REFUSALS = frozenset({400, 401, 403, 404, 422})  # status codes that the next pair would meet, too


class Mem0Adviser:
    """The model that mem0's own configuration names, through mem0's own factory."""

    def __init__(self, section: Mapping[str, Any] | None) -> None:
        """Take the section `llm` of a mem0 configuration; without one no model may read the memories."""
        if not section:
            raise ConfigError(
                "A second opinion needs to know whose: the configuration has no section llm. Add it, "
                "or name a model with second_opinion: openai:MODEL@URL."
            )
        self._provider = str(section.get("provider") or "openai")
        self._config, secret = dict(section.get("config") or {}), pattern("secret_key")
        public = {key: value for key, value in self._config.items() if not secret.search(str(key))}
        self.name = f"mem0:{self._provider}:{json.dumps(public, sort_keys=True, default=str)}"
        model = self._config.get("model")
        self.spoken = f"{model} ({self._provider})" if model else f"the default model of {self._provider}"
        self._llm: Any = None

    def prepare(self) -> None:
        """Let mem0 construct its client."""
        from mem0.utils.factory import LlmFactory

        try:
            self._llm = LlmFactory.create(self._provider, dict(self._config))
        except ImportError as error:
            raise MissingExtraError(
                f"The language model provider {self._provider} needs a package that is not installed: "
                f"{error.name or 'see the documentation of mem0'}."
            ) from None
        except Exception as error:  # noqa: BLE001  (any provider's own; its text may hold a key)
            raise ConfigError(
                f"mem0 cannot open the language model of the section llm ({type(error).__name__}); "
                "check its provider, model and key."
            ) from None

    def reply(self, messages: list[Message]) -> object:
        """Ask once, as mem0 itself asks; the provider's client repeats a request after a passing fault."""
        try:
            return self._llm.generate_response(messages=messages, response_format=dict(ANY_OBJECT))
        except Exception as error:  # noqa: BLE001  (any provider's own)
            raise _no_answer(error) from None


Adviser = ChatEndpoint | Mem0Adviser  # a language model that can be asked for a second opinion


def load_adviser(wanted: bool | str, *, llm: Mapping[str, Any] | None, timeout: float) -> Adviser | None:  # noqa: FBT001
    """Who gives second opinions: nobody, with True the model of mem0's section `llm`, or openai:MODEL@URL."""
    if wanted is True:
        return Mem0Adviser(llm)
    return ChatEndpoint(wanted.removeprefix(OPENAI_PREFIX), timeout=timeout) if wanted else None


def opinion(adviser: Adviser, pair: PairInput, *, timeout: float) -> str:
    """Ask about one pair; the label, or NoAnswerError without an answer in time, or if it is no verdict."""
    label = verdict(_within(timeout, lambda: adviser.reply(question(pair))))
    if label is None:
        raise NoAnswerError("The language model gave no verdict.", reason="no verdict")
    return label


def question(pair: PairInput) -> list[Message]:
    """The conversation about a pair, the same for a pair and its mirror image."""
    return _asking("adviser", _shown(pair))


def verdict(content: object) -> str | None:
    """The label of an answer that is one JSON object, bare or in one code fence; else nothing."""
    if not isinstance(content, str):
        return None
    fenced = pattern("answer_fence").match(content)
    try:
        read = json.loads(fenced[1] if fenced else content, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return None
    label = read.get("label") if isinstance(read, dict) else None
    return label if isinstance(label, str) and label in LABELS else None


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError
    return fields


def _within(seconds: float, call: Callable[[], object]) -> object:
    """The result of a call, if it comes in time: some clients know no timeout, and one that hangs is left."""
    told: Future[object] = Future()

    def work() -> None:
        try:
            told.set_result(call())
        except BaseException as error:  # noqa: BLE001  (raised again where somebody waits for it)
            told.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    if not wait((told,), seconds).done:
        raise NoAnswerError("The language model did not answer in time.", reason="late")
    return told.result()


def _no_answer(error: Exception) -> NoAnswerError:
    """Why a provider's client gave nothing, by its status if it tells one; its own text is not repeated."""
    name, response = type(error).__name__, getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int):
        told = f"answered {status}"
        return NoAnswerError(f"The language model {told}.", reason=told, hopeless=status in _REFUSALS)
    if "timeout" in name.lower():
        return NoAnswerError("The language model did not answer in time.", reason="late")
    return NoAnswerError(f"The language model does not answer ({name}).", reason=f"failed with {name}")
