"""What the installed mem0 client sends, to the letter: a version that asks differently fails here.

The doubles answer what is documented; this holds them to what is really asked. And how patiently a service
is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback import LoopbackServer
from mem0_dream.errors import StoreError
from mem0_dream.models.http import failure_of
from mem0_dream.pipeline.stores.remote.calling import Caller, Patience
from platform_double import PlatformDouble

pytestmark = pytest.mark.store
Known = tuple[Any, PlatformDouble, LoopbackServer]


@pytest.fixture
def known():
    """mem0's own client, connected to the double."""
    import httpx
    from mem0 import MemoryClient

    double = PlatformDouble()
    with LoopbackServer(double) as server, httpx.Client() as connection:
        yield MemoryClient(api_key=double.key, host=server.url, client=connection), double, server


def test_opening_asks_which_project_the_key_belongs_to(known):
    client, double, server = known
    (ping,) = server.requests
    assert (ping.method, ping.path, ping.query, ping.body) == ("GET", "/v1/ping/", {}, None)
    assert ping.headers["authorization"] == f"Token {double.key}"
    assert (client.org_id, client.project_id) == (double.org, double.project)


CALLS: dict[str, tuple[Callable[[Any, str], Any], str, str, dict[str, str], Any]] = {
    "a page": (
        lambda client, _: client.get_all(
            filters={"user_id": "ann"}, page=1, page_size=200, show_expired=True, include_merged=True
        ),
        "POST",
        "/v3/memories/",
        {"page": "1", "page_size": "200"},
        {"filters": {"user_id": "ann"}, "show_expired": True, "include_merged": True},
    ),
    "one memory": (lambda client, memory: client.get(memory), "GET", "/v1/memories/{}/", {}, None),
    "an addition": (
        lambda client, _: client.add(
            [{"role": "user", "content": "Likes jazz"}],
            user_id="ann",
            run_id="r1",
            infer=False,
            metadata={"k": 1},
            timestamp=1_700_000_000,
            expiration_date="2027-01-01",
        ),
        "POST",
        "/v3/memories/add/",
        {},
        {
            "messages": [{"role": "user", "content": "Likes jazz"}],
            "user_id": "ann",
            "run_id": "r1",
            "infer": False,
            "metadata": {"k": 1},
            "timestamp": 1_700_000_000,
            "expiration_date": "2027-01-01",
        },
    ),
    "another text": (
        lambda client, memory: client.update(memory, text="Likes green tea"),
        "PUT",
        "/v1/memories/{}/",
        {},
        {"text": "Likes green tea"},
    ),
    "no expiry": (
        lambda client, memory: client.update(memory, metadata={"k": None}, expiration_date=None),
        "PUT",
        "/v1/memories/{}/",
        {},
        {"metadata": {"k": None}, "expiration_date": None},
    ),
    "a deletion without what is linked": (
        lambda client, memory: client.delete(memory),
        "DELETE",
        "/v1/memories/{}/",
        {},
        None,
    ),
    "a search": (
        lambda client, _: client.search("tea", filters={"user_id": "ann"}, top_k=20, threshold=0.0),
        "POST",
        "/v3/memories/search/",
        {},
        {"query": "tea", "filters": {"user_id": "ann"}, "top_k": 20, "threshold": 0.0},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_sent_as_the_double_expects(known, name):
    client, double, server = known
    memory = double.put("Likes tea", user_id="ann")
    call, method, path, query, body = CALLS[name]
    call(client, memory)
    sent = server.requests[-1]
    assert (sent.method, sent.path, sent.query, sent.body) == (method, path.format(memory), query, body)


@pytest.mark.parametrize("name", CALLS)
def test_the_asynchronous_client_sends_the_same(known, name):
    import asyncio

    import httpx
    from mem0 import AsyncMemoryClient

    _, double, server = known
    memory = double.put("Likes tea", user_id="ann")
    call, method, path, query, body = CALLS[name]

    async def asked() -> None:
        async with httpx.AsyncClient() as connection:
            client = AsyncMemoryClient(api_key=double.key, host=server.url, client=connection)
            await call(client, memory)

    asyncio.run(asked())
    sent = server.requests[-1]
    assert (sent.method, sent.path, sent.query, sent.body) == (method, path.format(memory), query, body)


def test_the_clients_errors_say_what_is_relied_on(known):
    from loopback import Fault
    from mem0.exceptions import MemoryNotFoundError, RateLimitError

    client, _, server = known
    absent = "00000000-0000-4000-8000-000000000000"
    with pytest.raises(MemoryNotFoundError) as gone:
        client.get(absent)
    assert gone.value.details
    server.fault = lambda _number, _request: Fault.LIMIT
    with pytest.raises(RateLimitError) as limited:
        client.get(absent)
    assert failure_of(limited.value).status == 429
    assert failure_of(limited.value).after == 1.0


def test_the_doubles_pages_are_the_platforms(known):
    from mem0.exceptions import ValidationError

    client, double, _ = known
    for number in range(250):
        double.put(f"Fact {number}", user_id="ann")
    page = client.get_all(filters={"user_id": "ann"})
    assert (len(page["results"]), page["count"], page["next"] is None) == (100, 250, False)
    last = client.get_all(filters={"user_id": "ann"}, page=2, page_size=200)
    assert (len(last["results"]), last["next"]) == (50, None)
    for wrong in (
        {"page": 1, "page_size": 201},
        {"filters": {"metadata": {"k": 1}}},
        {"filters": {"who": "ann"}},
    ):
        with pytest.raises(ValidationError):
            client.get_all(**{"filters": {"user_id": "ann"}} | wrong)


def test_the_double_drops_an_exact_repeat_without_a_word(known):
    client, double, _ = known
    message = [{"role": "user", "content": "Likes tea"}]
    first = client.add(message, user_id="ann", infer=False)
    again = client.add(message, user_id="ann", infer=False)
    other = client.add(message, user_id="bob", infer=False)
    assert [len(answer["results"]) for answer in (first, again, other)] == [1, 0, 1]
    assert len(double.rows) == 2


def test_the_double_names_the_run_differently_in_each_answer(known):
    client, double, _ = known
    memory = double.put("Likes tea", user_id="ann", run_id="r1")
    listed = client.get_all(filters={"user_id": "ann"})["results"][0]
    found = client.search("Likes tea", filters={"user_id": "ann"})["results"][0]
    assert (listed["session_id"], client.get(memory)["session_id"], found["run_id"]) == ("r1", "r1", "r1")
    assert "run_id" not in listed
    assert "session_id" not in found


def caller(waits: list[float], **limits: Any) -> Caller:
    now = [0.0]

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    return Caller("The service", Patience(**limits), sleep=sleep, clock=lambda: now[0], jitter=lambda: 1.0)


def test_pauses_double_up_to_a_bound():
    waits: list[float] = []
    patient = caller(waits, attempts=5, first_wait=1, longest_wait=3, per_minute=1e9)

    def failing() -> None:
        raise ConnectionError

    with pytest.raises(StoreError, match="did not answer listing after 5 attempts: ConnectionError"):
        patient.ask("listing", failing)
    assert [round(wait, 3) for wait in waits] == [1, 2, 3, 3]


def test_requests_keep_their_distance():
    waits: list[float] = []
    patient = caller(waits, per_minute=60)
    for _ in range(4):
        patient.ask("listing", lambda: 1)
    assert sum(waits) == pytest.approx(3.0)


def test_our_own_errors_pass_through():
    assert not failure_of(StoreError("x")).passing
