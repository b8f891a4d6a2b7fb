"""The platform is asked as the installed mem0 client asks it, to the letter; another version fails here."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from loopback import LoopbackServer
from mem0_dream.errors import StoreError
from mem0_dream.models.http import failure_of
from mem0_dream.pipeline.stores.base import Add
from mem0_dream.pipeline.stores.remote.services import open_platform
from mem0_dream.pipeline.stores.remote.store import Caller, Patience
from mem0_dream.records import Scope
from platform_double import PlatformDouble

pytestmark = pytest.mark.store
Known = tuple[Any, PlatformDouble, LoopbackServer]
ANN, MOMENT = {"user_id": "ann"}, datetime.fromtimestamp(1_700_000_000, UTC)
OPTIONS: dict[str, Any] = {"metadata": {"k": 1}, "expiration_date": "2027-01-01"}


@pytest.fixture
def known():
    import httpx
    from mem0 import MemoryClient

    double = PlatformDouble()
    with LoopbackServer(double) as server, httpx.Client() as connection:
        yield MemoryClient(api_key=double.key, host=server.url, client=connection), double, server


ALL = {"page": 1, "page_size": 200, "show_expired": True, "include_merged": True}
JAZZ: dict[str, Any] = {**ANN, "run_id": "r1", "infer": False, "timestamp": 1_700_000_000, **OPTIONS}
CALLS: dict[str, tuple[Callable[[Any, str], Any], Callable[[Any, str], Any]]] = {
    "a page": (lambda client, _: client.get_all(filters=ANN, **ALL), lambda store, _: store._page(ANN, 1, merged=True)),
    "one memory": (lambda client, memory: client.get(memory), lambda store, memory: store._get(memory)),
    "an addition": (
        lambda client, _: client.add([{"role": "user", "content": "Likes jazz"}], **JAZZ),
        lambda store, _: store._post(Add("Likes jazz", Scope.of(**ANN, run_id="r1"), {"k": 1}, MOMENT, ""), "2027-01-01"),
    ),
    "another text": (
        lambda client, memory: client.update(memory, text="Likes green tea"),
        lambda store, memory: store._put(memory, {"text": "Likes green tea"}),
    ),
    "no expiry": (
        lambda client, memory: client.update(memory, metadata={"k": None}, expiration_date=None),
        lambda store, memory: store._put(memory, {"metadata": {"k": None}, "expiration_date": None}),
    ),
    "a deletion without what is linked": (
        lambda client, memory: client.delete(memory), lambda store, memory: store._drop(memory),
    ),
    "a search": (
        lambda client, _: client.search("tea", filters={"AND": [ANN]}, top_k=20, threshold=0.0),
        lambda store, _: store._search("tea", ANN, 20),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_each_request_is_the_clients_to_the_letter(known, monkeypatch, name):
    client, double, server = known
    monkeypatch.setenv("MEM0_API_KEY", double.key)
    store = open_platform(host=server.url)
    asked, memory = [*server.requests], double.put("Likes tea", **ANN)
    for who, call in zip((client, store), CALLS[name], strict=True):
        call(who, memory)
        asked.append(server.requests[-1])
    store.close()
    for theirs, ours in (asked[:2], asked[2:]):  # what opens both, and the call
        for part in ("method", "path", "query", "body"):
            assert getattr(theirs, part) == getattr(ours, part)
        assert ours.headers["authorization"] == f"Token {double.key}"
        for header in ("authorization", "mem0-user-id"):
            assert theirs.headers[header] == ours.headers[header]


def test_the_doubles_pages_are_the_platforms(known):
    from mem0.exceptions import ValidationError

    client, double, _ = known
    for number in range(250):
        double.put(f"Fact {number}", user_id="ann")
    page = client.get_all(filters={"user_id": "ann"})
    assert (len(page["results"]), page["count"], page["next"] is None) == (100, 250, False)
    last = client.get_all(filters={"user_id": "ann"}, page=2, page_size=200)
    assert (len(last["results"]), last["next"]) == (50, None)
    wrongs = ({"page": 1, "page_size": 201}, {"filters": {"metadata": {"k": 1}}}, {"filters": {"who": "ann"}})
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            client.get_all(**{"filters": {"user_id": "ann"}} | wrong)


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
