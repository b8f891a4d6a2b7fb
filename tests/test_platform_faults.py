"""A pass over the hosted platform when the line fails at any single request: nothing is lost."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mem0_dream.errors import DreamError, StoreError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.records import Memory
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.platform import open_platform
from mem0_dream.pipeline.stores.remote.calling import Patience
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder
from mem0_dream.testing_http import Fault, LoopbackServer, Request
from mem0_dream.testing_platform import PlatformDouble

pytestmark = pytest.mark.store
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
EVERYTHING = ScopeFilter()
SETTINGS = Settings(scorer="keywords", max_delete=1.0, min_delete=0, assume_unread=True)
QUICK = Patience(per_minute=1e9, first_wait=0.001, longest_wait=0.002, timeout=0.25, looks=3)
ONCE = Patience(attempts=1, per_minute=1e9, first_wait=0.001, timeout=0.25, looks=3)
DELAY = 0.3
TEXTS = (
    ("Deploys the shop to staging on Tuesdays", 40),
    ("Deploys the shop to staging on Tuesdays early", 20),
    ("Deploys the shop to staging on Tuesdays", 10),
    ("Fixed bug", 10),
    ("The billing service is written in Rust.", 15),
)
Shown = Counter[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the double."""
    monkeypatch.setenv("MEM0_API_KEY", "m0-double")


def world(**options: Any) -> PlatformDouble:
    """Three statements of one fact, two of them equal; one that says nothing; a bystander."""
    double = PlatformDouble(**options)
    for number, (text, days) in enumerate(TEXTS):
        double.put(
            text,
            user_id="alice",
            run_id="r1",
            metadata={"source": f"chat {number}"},
            created_at=NOW - timedelta(days=days),
        )
    return double


def promised(memory: Memory) -> tuple[Any, ...]:
    """All that an undo gives back: everything but the id."""
    return (
        memory.text,
        memory.scope,
        memory.category,
        memory.created_at,
        memory.updated_at,
        memory.expires_on,
        repr(sorted(memory.metadata.items())),
    )


@contextmanager
def session(server: LoopbackServer, state: Path, patience: Patience = QUICK) -> Iterator[Session]:
    """A session of one process."""
    store = open_platform(host=server.url, patience=patience)
    with Session(store, settings=SETTINGS, state_dir=state, encoder=FakeEncoder()) as opened:
        yield opened


def content(server: LoopbackServer) -> Shown:
    """What is stored, as an undo promises it."""
    server.fault = lambda _number, _request: None
    store = open_platform(host=server.url, patience=QUICK)
    found = Counter(promised(memory) for memory in store.read(EVERYTHING).memories)
    store.close()
    return found


def facts(shown: Shown) -> set[str]:
    """The different texts."""
    return {item[0] for item in shown}


def night(server: LoopbackServer, state: Path, patience: Patience, *, retire: bool = False) -> None:
    """One unattended pass."""
    with session(server, state, patience) as opened:
        plan = opened.propose(EVERYTHING, now=NOW, unattended=True)
        opened.apply(plan, now=NOW, retire=retire)


def at(position: int, fault: Fault) -> Callable[[int, Request], Fault | None]:
    """The fault happens to one request."""
    return lambda number, _request: fault if number == position else None


def requests_of(retire: bool = False) -> tuple[int, Shown, Shown]:
    """How many requests a pass without faults makes, and what is stored before and after it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, LoopbackServer(world()) as server:
        before = content(server)
        first = len(server.requests)
        night(server, Path(folder), QUICK, retire=retire)
        count = len(server.requests) - first
        return count, before, content(server)


def settled(state: Path, server: LoopbackServer) -> None:
    """Finish what a failed process left, until nothing is left to finish."""
    server.fault = lambda _number, _request: None
    with session(server, state) as opened:
        if opened.journal.interrupted(opened.store.fingerprint) is not None:
            opened.resume(now=NOW)


def stripped(shown: Shown) -> Counter[tuple[Any, ...]]:
    """Without what names a run or an id, for worlds of their own."""
    return Counter((item[0], item[1], item[3], item[5]) for item in shown.elements())


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_at_any_request_is_survived(fault: Fault, tmp_path: Path) -> None:
    """With the usual patience the pass ends as if nothing had been, and its undo as promised."""
    count, _, after = requests_of()
    for position in range(0, count, 1 if fault is not Fault.DELAY else 3):
        with LoopbackServer(world(), delay=DELAY) as server:
            before = content(server)
            server.fault = at(len(server.requests) + position, fault)
            night(server, tmp_path / f"{position}", QUICK)
            assert stripped(content(server)) == stripped(after), f"request {position}"
            with session(server, tmp_path / f"{position}") as opened:
                opened.undo(now=NOW)
            assert content(server) == before, f"undo after a fault at request {position}"


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.TWICE])
def test_a_process_that_gives_up_at_any_request_is_resumed(fault: Fault, tmp_path: Path) -> None:
    """Without patience the pass ends with one sentence; no fact is gone by then, and resume finishes."""
    count, _, after = requests_of()
    gave_up = 0
    for position in range(0, count, 1 if fault is not Fault.DELAY else 3):
        with LoopbackServer(world(), delay=DELAY) as server:
            before = content(server)
            server.fault = at(len(server.requests) + position, fault)
            try:
                night(server, tmp_path / f"{position}", ONCE)
            except DreamError as error:
                assert "Deploys" not in str(error)
                gave_up += 1
            lost = facts(before) - facts(content(server)) - {"Fixed bug"}
            kept = {"Deploys the shop to staging on Tuesdays early"}
            assert kept <= facts(content(server)), f"request {position}"
            assert lost <= {"Deploys the shop to staging on Tuesdays"}
            settled(tmp_path / f"{position}", server)
            if facts(content(server)) == facts(before):  # it gave up before it had begun
                night(server, tmp_path / f"{position}", QUICK)
            assert stripped(content(server)) == stripped(after), f"request {position}"
    assert gave_up >= count * 0.3


@pytest.mark.parametrize("fault", Fault)
def test_an_undo_is_finished_whatever_happens_to_a_request(fault: Fault, tmp_path: Path) -> None:
    """Every single request of the undo; nothing comes back twice."""
    for position in itertools.count(0, 1 if fault is not Fault.DELAY else 4):
        with LoopbackServer(world(), delay=DELAY) as server:
            before = content(server)
            state = tmp_path / f"{position}"
            night(server, state, QUICK)
            first = len(server.requests)
            server.fault = at(first + position, fault)
            try:
                with session(server, state, ONCE) as opened:
                    opened.undo(now=NOW)
            except StoreError:
                pass
            reached = len(server.requests) - first > position
            settled(state, server)
            with session(server, state) as opened:
                if opened.journal.runs(opened.store.fingerprint)[0].state != "undone":
                    opened.undo(now=NOW)
            assert content(server) == before, f"request {position}"
            if not reached:
                return


def test_a_retiring_pass_survives_and_keeps_every_id(tmp_path: Path) -> None:
    """With --retire nothing is deleted, and the undo gives back ids, too."""
    count, _, _ = requests_of(retire=True)
    for fault, position in itertools.product((Fault.RESET, Fault.LIMIT, Fault.TRUNCATE), range(count)):
        double = world()
        ids = set(double.rows)
        with LoopbackServer(double) as server:
            before = content(server)
            server.fault = at(len(server.requests) + position, fault)
            state = tmp_path / f"{fault.name}-{position}"
            night(server, state, QUICK, retire=True)
            assert set(double.rows) == ids
            assert sum(row.get("expiration_date") is not None for row in double.rows.values()) == 3
            with session(server, state) as opened:
                opened.undo(now=NOW)
            assert content(server) == before
            assert set(double.rows) == ids
