"""A pass over the platform, or a server, when the line fails at any single request: nothing is lost."""

import itertools
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kinds import promised
from loopback import Fault, LoopbackServer
from mem0_dream.errors import DreamError, StoreError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores.remote.services import open_platform
from mem0_dream.pipeline.stores.remote.store import Patience, memory_of
from mem0_dream.pipeline.writing.journal import RunState
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder
from platform_double import PlatformDouble
from services import EVERYTHING, QUICK as EASY
from typed import on_store

pytestmark = pytest.mark.store
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECTION = {"scorer": "keywords", "max_delete": 1.0, "min_delete": 0, "assume_unread": True}
SETTINGS = Settings.model_validate(SECTION)
SURE = replace(EASY, timeout=30)
"""A busy machine is no fault: only where an answer comes late is the wait for it short."""
QUICK = replace(SURE, timeout=0.25)
ONCE = replace(SURE, attempts=1)
DELAY = 0.3
TEXTS = (
    ("Deploys the shop to staging on Tuesdays", 40),
    ("User deploys the shop to staging on Tuesday.", 20),
    ("Deploys the shop to staging on Tuesdays", 10),
    ("Fixed bug", 10),
    ("The billing service is written in Rust.", 15),
)


def world(name: object) -> PlatformDouble:
    """Three statements of one fact, two of them equal; one that says nothing; a bystander."""
    double = PlatformDouble(project=f"project {name}")
    for number, (text, days) in enumerate(TEXTS):
        moment, metadata = NOW - timedelta(days=days), {"source": f"chat {number}"}
        double.put(text, user_id="alice", run_id="r1", metadata=metadata, created_at=moment)
    return double


def memories(double: PlatformDouble) -> list[Memory]:
    return [memory_of({**row, "session_id": row.get("run_id")}) for row in double.rows.values()]


def content(double: PlatformDouble) -> Counter[tuple[str, str]]:
    return promised(memories(double))


def facts(double: PlatformDouble) -> Counter[str]:
    return Counter(f"{each.text} ({each.scope}, {each.expires_on})" for each in memories(double))


@contextmanager
def session(server: LoopbackServer, state: Path, patience: Patience = SURE) -> Iterator[Session]:
    store = open_platform(host=server.url, patience=patience)
    with Session(store, settings=SETTINGS, state_dir=state, encoder=FakeEncoder()) as opened:
        yield opened


def night(server: LoopbackServer, state: Path, patience: Patience = SURE, *, retire: bool = False) -> None:
    with session(server, state, patience) as opened:
        plan = opened.propose(EVERYTHING, now=NOW, unattended=True)
        opened.apply(plan, now=NOW, retire=retire)


def faulty(server: LoopbackServer, position: int, fault: Fault | None = None) -> None:
    """The fault happens to one request from now on; without one the line is sound again."""
    wanted = len(server.requests) + position
    server.retry_after = "0.001"
    server.fault = lambda number, _request: fault if number == wanted else None


def smooth(state: Path, *, retire: bool = False) -> tuple[int, Counter[str]]:
    """How many requests a pass without faults makes, and what it leaves."""
    double = world("smooth")
    with LoopbackServer(double) as server:
        night(server, state, retire=retire)
        return len(server.requests), facts(double)


def failure(call: Callable[[], None]) -> str:
    """The sentence with which a call ends; empty if it succeeds."""
    try:
        call()
    except DreamError as error:
        return str(error)
    return ""


def finished(server: LoopbackServer, state: Path) -> None:
    """What a failed process left is finished by the next one."""
    with session(server, state) as opened:
        if opened.journal.interrupted(opened.store.fingerprint) is not None:
            opened.resume(now=NOW)


@pytest.mark.parametrize(("fault", "retire"), [*((fault, False) for fault in Fault), (Fault.RESET, True)])
def test_a_fault_at_any_request_is_survived_and_where_memories_are_retired_every_id_stays(
    fault, retire, tmp_path
):
    count, after = smooth(tmp_path, retire=retire)
    for position in range(count):
        double = world(position)
        before, ids = content(double), set(double.rows)
        with LoopbackServer(double, delay=DELAY) as server:
            faulty(server, position, fault)
            night(server, tmp_path, QUICK if fault is Fault.DELAY else SURE, retire=retire)
            assert facts(double) == after, f"request {position}"
            retired = sum(row.get("expiration_date") is not None for row in double.rows.values())
            assert (retired, set(double.rows) == ids) == ((3, True) if retire else (0, False))
            if retire or (fault in (Fault.RESET, Fault.TRUNCATE) and position % 3 == 0):
                with session(server, tmp_path) as opened:
                    opened.undo(now=NOW)
                assert content(double) == before, f"undo after a fault at request {position}"
                assert not retire or set(double.rows) == ids


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_at_any_request_to_a_server_is_survived_by_a_pass_and_its_undo(fault, hosted, tmp_path):
    for text, days in (TEXTS[0], TEXTS[2], TEXTS[4]):
        hosted.put(text, created_at=NOW - timedelta(days=days), metadata={"days": days})
    before, server = hosted.content(), hosted.server
    server.delay = DELAY + 0.05
    patience = replace(EASY, timeout=DELAY) if fault is Fault.DELAY else EASY
    for position in itertools.count():
        first = len(server.requests)
        faulty(server, position, fault)
        for step in ("apply", "undo"):
            store = hosted.open(patience=patience)
            with Session(store, settings=SETTINGS, state_dir=tmp_path, encoder=FakeEncoder()) as opened:
                if step == "undo":
                    assert opened.undo(now=NOW).kept == ()
                    continue
                opened.withdraw(opened.answered)
                opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
                assert len(store.read(EVERYTHING).memories) == 2
        reached = len(server.requests) - first > position
        faulty(server, 0)
        assert hosted.content() == before, f"request {position}"
        if not reached:
            return


@pytest.mark.parametrize("fault", [Fault.DROP, Fault.RESET])
def test_a_process_that_gives_up_at_any_request_is_resumed(fault, tmp_path):
    count, after = smooth(tmp_path)
    gave_up = 0
    for position in range(count):
        double = world(position)
        before = facts(double)
        with LoopbackServer(double) as server:
            faulty(server, position, fault)
            told = failure(lambda: night(server, tmp_path, ONCE))
            assert "Deploys" not in told
            gave_up += bool(told)
            assert sum(text.startswith("Deploys the shop to staging on Tuesdays") for text in facts(double))
            assert any(text.startswith("The billing service") for text in facts(double))
            faulty(server, 0)
            finished(server, tmp_path)
            if facts(double) == before:  # it gave up before it had begun
                night(server, tmp_path)
            assert facts(double) == after, f"request {position}"
    assert gave_up >= count - 2  # a deletion that was done, and a look for what is there


@pytest.mark.parametrize("fault", [Fault.DROP, Fault.RESET, Fault.TWICE])
def test_an_undo_is_finished_whatever_happens_to_a_request(fault, tmp_path):
    for position in itertools.count():
        double = world(position)
        before = content(double)
        with LoopbackServer(double) as server:
            night(server, tmp_path)
            first = len(server.requests)
            faulty(server, position, fault)
            with suppress(StoreError), session(server, tmp_path, ONCE) as opened:
                opened.undo(now=NOW)
            reached = len(server.requests) - first > position
            faulty(server, 0)
            finished(server, tmp_path)
            with session(server, tmp_path) as opened:
                if opened.journal.runs(opened.store.fingerprint)[0].state is not RunState.UNDONE:
                    opened.undo(now=NOW)
            assert content(double) == before, f"request {position}"
            if not reached:
                return


def test_by_commands_alone_a_fault_at_any_request_loses_nothing(tmp_path):
    count, after = smooth(tmp_path)
    file = tmp_path / "hasty.json"
    failed = resumed = 0
    for position, fault in zip(range(count), itertools.cycle(Fault), strict=False):
        double = world(f"command {position}")
        before = content(double)
        with LoopbackServer(double, delay=DELAY) as server:
            place = ["--store", "platform", "--host", server.url, "--config", str(file)]
            auto = [*place, "--all", "--auto", "--encoder", "words", "--now", NOW.isoformat()]
            hasty = replace(QUICK if fault is Fault.DELAY else ONCE, attempts=1)
            file.write_text(json.dumps({"mem0_dream": SECTION | {"remote": asdict(hasty)}}))
            faulty(server, position, fault)
            done = command(*auto)
            faulty(server, 0)
            file.write_text(json.dumps({"mem0_dream": SECTION | {"remote": asdict(SURE)}}))
            if done.exit_code:
                assert done.exit_code == StoreError.exit_code, done.output
                assert "Deploys" not in done.stderr
                failed += 1
                named = re.search(r"`mem0-dream (resume [^`]+)`", done.stderr)
                resumed += named is not None
                done = command(*(shlex.split(named[1]) if named else auto))
            assert done.exit_code == 0, f"{fault} at request {position}: {done.output}"
            assert facts(double) == after, f"{fault} at request {position}"
            undone = command("undo", *place)
            assert undone.exit_code == 0, undone.output
            assert content(double) == before, f"undo after {fault} at request {position}"
    assert failed > count // 2
    assert resumed


def command(*words: str) -> Result:
    done = CliRunner().invoke(main, on_store(words))
    assert not isinstance(done.exception, Exception), done.exception
    return done
