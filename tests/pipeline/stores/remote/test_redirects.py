"""A key goes to the address it was given for, and not where that one sends its callers on to."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from loopback import LoopbackServer, Reply, Request
from mem0_dream.errors import DreamError, NoAnswerError, StoreError
from mem0_dream.models.llm import ChatEndpoint
from mem0_dream.pipeline.stores.remote.services import open_platform, open_server
from platform_double import PlatformDouble
from services import EVERYTHING, QUICK, Service

pytestmark = pytest.mark.store
SECRETS = {
    "MEM0_API_KEY": "m0-double",
    "MEM0_SERVER_API_KEY": "server-key",
    "MEM0_DREAM_API_KEY": "model-key",
}


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server that answers everybody, and writes down what it was sent."""
    with LoopbackServer(lambda _: Reply(200, {"results": []})) as server:
        yield server


def sending_on(to: str, status: int = 307) -> Callable[[Request], Reply]:
    return lambda asked: Reply(status, {}, {"Location": f"{to}{asked.path}"})


CALLS: dict[str, Callable[[str], object]] = {
    "the platform": lambda url: open_platform(host=url, patience=QUICK),
    "a server": lambda url: open_server(url, patience=QUICK).read(EVERYTHING),
    "a language model": lambda url: ChatEndpoint(f"model@{url}").reply(
        [{"role": "user", "content": "hello"}]
    ),
}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("who", CALLS)
def test_no_key_follows_a_redirect_to_another_host(
    who: str, status: int, other: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    with LoopbackServer(sending_on(other.url, status)) as asked:
        with pytest.raises((StoreError, NoAnswerError)) as told:
            CALLS[who](asked.url)
        assert asked.requests, "it was asked"
    assert other.requests == []
    assert who == "a language model" or f"sends its callers on to {other.url}" in str(told.value)
    assert not any(secret in str(told.value) for secret in SECRETS.values())


def test_another_scheme_is_another_address() -> None:
    with LoopbackServer(
        lambda asked: Reply(308, {}, {"Location": f"https://127.0.0.1{asked.path}"})
    ) as asked:
        store = open_server(asked.url, patience=QUICK)
        with closing(store), pytest.raises(DreamError, match="on to https://127"):
            store.read(EVERYTHING)


def test_a_redirect_within_one_address_is_followed(platform: Service) -> None:
    memory_id = platform.put("Likes tea", user_id="alice")
    double: PlatformDouble = platform.double

    def moved(asked: Request) -> Reply:
        if asked.path.startswith("/v2"):
            return double(
                Request(asked.method, asked.path.replace("/v2", "/v1", 1), {}, asked.body, asked.headers)
            )
        if asked.path.startswith("/v1/memories/"):
            return Reply(307, {}, {"Location": asked.path.replace("/v1", "/v2", 1)})
        return double(asked)

    platform.server._service = moved
    assert set(platform.open().fetch([memory_id])) == {memory_id}


def test_an_address_that_sends_on_to_itself_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(lambda asked: Reply(307, {}, {"Location": asked.path})) as asked:
        store = open_server(asked.url, patience=QUICK)
        with closing(store), pytest.raises(StoreError, match="status 307"):
            store.read(EVERYTHING)
        assert len(asked.requests) < 10
