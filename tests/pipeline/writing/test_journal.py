"""The journal: what is written is read back, and a damaged one is an error, not an empty one."""

import math
from datetime import date, timedelta
from typing import Any

import pytest
from builders import NOW
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream.errors import JournalError
from mem0_dream.pipeline.stores.base import Snapshot
from mem0_dream.pipeline.writing.journal import (
    ChangeState,
    Journal,
    Operation,
    Outcome,
    Run,
    RunState,
    copied,
)

SNAPSHOT = Snapshot("m1", {"text": "Zoë", "n": 1.5}, (0.1, -2.0), ({"id": "e1"},))


def begin(journal: Journal, run: str = "r1", *, store: str = "s", **more: Any) -> None:
    given = {"plan": "{}\n", "snapshots": [SNAPSHOT], "retire_on": None, "at": NOW} | more
    plan, snapshots, retire_on, at = given.values()
    journal.begin(Run(run, store, at, None, RunState.APPLYING, retire_on, plan), map(copied, snapshots))


def test_a_run_is_read_back(journal):
    begin(journal, retire_on=date(2026, 11, 20))
    run = journal.run("r1")
    assert (run.id, run.store, run.started_at, run.finished_at) == ("r1", "s", NOW, None)
    assert (run.state, run.retire_on, run.plan) == (RunState.APPLYING, date(2026, 11, 20), "{}\n")
    assert run.interrupted


def test_two_runs_of_one_second_have_names_of_their_own(journal, monkeypatch):
    digits = iter(["0a0a", "0a0a", "0a0a", "1b1b"])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(digits))
    first = journal.new_name(NOW)
    begin(journal, first)
    assert first.endswith("-0a0a")
    assert journal.new_name(NOW).endswith("-1b1b")


def test_a_run_is_on_the_disk_before_anything_is_done(journal, own_state):
    begin(journal)
    number = journal.intend("r1", "m1", Operation.REMOVE, "m1")
    other = Journal(own_state)
    assert other.interrupted("s") == journal.run("r1")
    (change,) = other.changes("r1")
    assert (change.number, change.state) == (number, ChangeState.INTENDED)
    assert other.snapshot("r1", "m1") == SNAPSHOT
    other.close()
    assert journal.ask("PRAGMA synchronous")[0][0] == 2, "FULL: a commit waits for the disk"


floats = st.floats(allow_nan=False, width=32)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(st.text(), json_values, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    payload=payloads,
    vector=st.none() | st.lists(floats | st.floats(allow_nan=False), max_size=6).map(tuple),
    links=st.lists(payloads, max_size=2).map(tuple),
)
def test_a_snapshot_is_read_back_bit_by_bit(tmp_path_factory, payload, vector, links):
    journal = Journal(tmp_path_factory.mktemp("journal"))
    before = Snapshot("m", payload, vector, links)
    begin(journal, snapshots=[before])
    found = journal.snapshot("r1", "m")
    assert found == before
    assert list(found.payload) == list(payload)
    signs = [[math.copysign(1, value) for value in each or ()] for each in (found.vector, vector)]
    assert signs[0] == signs[1]
    journal.close()


def test_changes_are_numbered_and_marked(journal):
    begin(journal)
    begin(journal, "r2")
    assert journal.intend("r1", "a1", Operation.ADD, None) == 1
    assert journal.intend("r1", "a1", Operation.REMOVE, "m1") == 2
    assert journal.intend("r2", "a1", Operation.REMOVE, "m1") == 1
    journal.mark("r1", 1, ChangeState.DONE, memory="new")
    first, second = journal.changes("r1")
    assert (first.operation, first.memory, first.state) == (Operation.ADD, "new", ChangeState.DONE)
    assert (second.operation, second.memory, second.state) == (Operation.REMOVE, "m1", ChangeState.INTENDED)


def test_outcomes_are_kept_per_action(journal):
    begin(journal)
    journal.conclude("r1", "a1", Outcome.SKIPPED, "gone")
    journal.conclude("r1", "a2", Outcome.APPLIED)
    journal.conclude("r1", "a1", Outcome.APPLIED)
    assert journal.outcomes("r1") == {"a1": (Outcome.APPLIED, ""), "a2": (Outcome.APPLIED, "")}


def test_runs_are_listed_newest_first_and_per_store(journal):
    begin(journal, "old")
    begin(journal, "first")
    begin(journal, "second", at=NOW - timedelta(days=1))  # the clock went back
    begin(journal, "foreign", store="other")
    assert [run.id for run in journal.runs("s")] == ["second", "first", "old"]
    assert {run.id for run in journal.runs()} == {"second", "first", "old", "foreign"}


@pytest.mark.parametrize("state", RunState)
def test_an_interrupted_run_is_found(journal, state):
    begin(journal)
    unfinished = state in (RunState.APPLYING, RunState.UNDOING)
    journal.set_state("r1", state, at=NOW)
    assert (journal.interrupted("s") is not None) == unfinished
    assert (journal.run("r1").finished_at is None) == unfinished
    assert journal.interrupted("other") is None


def test_a_run_that_cannot_be_written_whole_is_not_written(journal):
    with pytest.raises(JournalError, match="cannot be used"):
        begin(journal, snapshots=[SNAPSHOT, SNAPSHOT])
    assert journal.runs() == ()
    begin(journal)


def test_what_is_not_there_is_an_error(journal):
    with pytest.raises(JournalError, match="no run 'r9'"):
        journal.run("r9")
    begin(journal)
    with pytest.raises(JournalError, match="no copy of memory m9") as caught:
        journal.snapshot("r1", "m9")
    assert caught.value.ids == ("m9",)


@pytest.mark.parametrize(
    "content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\x07" * 4000, None]
)
def test_a_damaged_file_or_a_folder_is_an_error_and_stays_as_it_is(tmp_path, content):
    file = tmp_path / "journal.db"
    file.mkdir() if content is None else file.write_bytes(content)
    with pytest.raises(JournalError, match=r"journal\.db cannot be opened .* nothing may be changed"):
        Journal(tmp_path)
    assert content is None or file.read_bytes() == content


def test_damage_deeper_in_the_file_is_an_error_too(own_state):
    journal = Journal(own_state)
    for number in range(40):
        begin(journal, f"r{number}", plan="x" * 4000)
    journal.tell("PRAGMA wal_checkpoint(TRUNCATE)")
    journal.close()
    file = own_state / "journal.db"
    content = bytearray(file.read_bytes())
    content[4096 * 6 :] = b"\xab" * (len(content) - 4096 * 6)
    file.write_bytes(content)
    with pytest.raises(JournalError, match=r"journal\.db cannot be"):
        Journal(own_state).runs()
