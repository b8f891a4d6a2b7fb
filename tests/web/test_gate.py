"""Who a review answers: each way in that is not the page of the printed link is shut."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from reviewing import World, small_world

testclient = pytest.importorskip("starlette.testclient", reason="starlette is not installed")

from mem0_dream.pipeline.web.app import HEADERS, Gate, review_app  # noqa: E402
from mem0_dream.pipeline.web.desk import ReviewDesk, ReviewObserver  # noqa: E402

PORT = 41234
HOST = f"127.0.0.1:{PORT}"


class Front:
    def __init__(self, world: World, executor: ThreadPoolExecutor) -> None:
        self.world = world
        self.gate = Gate(PORT)
        self.desk = executor.submit(ReviewDesk, world.access(), ReviewObserver()).result()
        app = review_app(self.desk, self.gate, ReviewObserver(), executor)
        self.client = testclient.TestClient(app, base_url=f"http://{HOST}")

    def page(self, token: str | None = None) -> str:
        found = self.client.get("/", params={"token": token or self.gate.token})
        assert found.status_code == 200
        return str(found.text)

    @property
    def headers(self) -> dict[str, str]:
        gate = self.gate
        secrets = {"X-Dream-Token": gate.token, "X-CSRF-Token": gate.csrf, "X-Dream-Seat": gate.seat}
        return {"Origin": f"http://{HOST}", **secrets}

    def post(self, path: str, body: object = None, **changed: str | None) -> Any:
        """A request as the page sends it, with some headers changed or left out."""
        other = {name.replace("_", "-"): value or "" for name, value in changed.items()}
        return self.client.post(path, json=body or {}, headers=self.headers | other)

    @property
    def merge(self) -> str:
        return next(str(card["key"]) for card in self.desk.data()["cards"] if card["kind"] == "merge")


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    with ThreadPoolExecutor(max_workers=1) as executor:
        opened = Front(small_world(tmp_path), executor)
        opened.page()
        yield opened


def test_the_printed_link_shows_everything_and_may_write(front: Front) -> None:
    assert "Pickle" in front.page()
    assert front.post("/answer", {"key": front.merge, "say": "yes"}).json()["live"]["changes"] == 1


def test_half_a_sign_in_a_memory_is_sent_like_any_other(front: Front) -> None:
    front.world.store.rows["bug"]["text"] += " \ud83d"
    assert "\ud83d" in json.dumps(front.post("/refresh").json(), ensure_ascii=False)


def test_without_the_token_there_are_numbers_and_no_text_and_nothing_can_be_written(front: Front) -> None:
    bare = front.client.get("/").text
    for secret in ("Pickle", "whippet", "alice", front.gate.token, front.gate.csrf, front.gate.seat):
        assert secret not in bare
    assert re.search(r'"readonly":true', bare)
    assert re.search(r'"merges":2', bare)
    assert '"cards":[]' in bare
    denied = front.post("/answer", {"key": front.merge, "say": "yes"}, X_Dream_Token=None)
    assert denied.status_code == 403
    assert denied.json()["error"].startswith("Read-only")
    assert front.desk.live()["answers"] == {}


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", None, 403),
        ("X_Dream_Token", "guess", 403),
        ("X_CSRF_Token", "guess", 403),
        ("X_CSRF_Token", None, 403),
        ("Host", "evil.example", 421),
        ("Host", f"evil.example:{PORT}", 421),
        ("Content_Type", "text/plain", 415),
    ],
)
def test_a_request_that_is_not_of_this_page_does_nothing(front, header, value, status):
    body = {"key": front.merge, "say": "yes"}
    for path in ("/answer", "/apply", "/undo", "/progress"):
        assert front.post(path, body, **{header: value}).status_code == status
    assert front.desk.live()["answers"] == {}


def test_a_name_that_leads_here_sees_no_page(front: Front) -> None:
    found = front.client.get("/", params={"token": front.gate.token}, headers={"Host": "evil.example"})
    assert (found.status_code, "Pickle" in found.text) == (421, False)


def test_the_tab_opened_last_is_the_one_that_writes(front: Front) -> None:
    first = front.gate.seat
    front.page()
    told = front.post("/answer", {"key": front.merge, "say": "yes"}, X_Dream_Seat=first)
    assert (told.status_code, told.json()["moved"]) == (409, True)
    assert front.post("/answer", {"key": front.merge, "say": "yes"}).status_code == 200


def test_every_answer_is_sealed_and_allows_no_other_origin(front: Front) -> None:
    for found in (front.client.get("/"), front.post("/progress"), front.client.get("/none")):
        assert {name: found.headers[name] for name in HEADERS} == HEADERS
        assert not [name for name in found.headers if name.startswith("access-control")]


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"say": "yes"}', b'{"key": 1, "say": "yes"}'])
def test_a_damaged_request_is_one_sentence(front: Front, body: bytes) -> None:
    headers = front.headers | {"Content-Type": "application/json"}
    told = front.client.post("/answer", content=body, headers=headers)
    assert (told.status_code, "error" in told.json()) == (400, True)


def test_a_request_of_a_megabyte_is_refused(front: Front) -> None:
    assert front.post("/check", {"key": front.merge, "text": "x" * 1_000_001}).status_code == 413


def test_an_answer_that_does_not_fit_its_proposal_is_refused(front: Front) -> None:
    key = front.merge
    for body in (
        {"key": key, "say": "a"},
        {"key": "none", "say": "yes"},
        {"key": key, "say": "no", "text": "x"},
    ):
        assert front.post("/answer", body).status_code == 400
    assert front.desk.live()["answers"] == {}
