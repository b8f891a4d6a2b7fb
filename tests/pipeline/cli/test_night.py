"""An unattended pass tells its scheduler what came of it, and never fails because nobody listens."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from builders import NOW, memory
from e2e_cli import ALICE, OWN, Invoke, dream, store  # type: ignore[import-not-found]
from hypothesis import given
from hypothesis import strategies as st
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.rules.due import LastPass, due_reason
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.heartbeat import Beat, beats, write_beat
from mem0_dream.pipeline.writing.nights import NightLog, names_of
from mem0_dream.pipeline.writing.owner import Owner
from mem0_dream.pipeline.writing.state import store_lock
from mem0_dream.settings import Settings, read_settings
from mem0_dream.testing import InMemoryStore

__all__ = ["dream", "store"]

DAY = timedelta(days=1)


class Listener:
    """A server that keeps what is posted to it, and answers as it is told."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.status = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?token=s3cret"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A server on this machine."""
    found = Listener()
    yield found
    found.server.shutdown()
    found.server.server_close()


# --- the webhook ---


def test_a_webhook_is_told_the_figures_and_no_text(dream: Invoke, listener: Listener) -> None:
    """One request, after the pass."""
    dream("--auto", "--all", "--webhook", listener.url)
    (told,) = listener.posted
    assert (told["outcome"], told["exit_code"], told["kind"]) == ("ok", 0, "memory")
    assert told["counts"]["merged"] == 2
    assert told["text"] == "mem0-dream: ok, merged=2 pruned=2 conflicts=1 unsure=0"
    assert "whippet" not in json.dumps(told)


def test_texts_only_on_request(dream: Invoke, listener: Listener) -> None:
    """Each action with what it was about."""
    dream("--auto", "--all", "--webhook", listener.url, "--webhook-texts")
    assert "whippet" in json.dumps(listener.posted[0]["actions"])


@pytest.mark.parametrize("status", [400, 500])
def test_a_webhook_that_refuses_is_a_warning(dream: Invoke, listener: Listener, status: int) -> None:
    """The pass was done; the address, which may hold a token, is not repeated."""
    listener.status = status
    done = dream("--auto", "--all", "--webhook", listener.url)
    assert f"warning: the webhook could not be told: it answered {status}." in done.stderr
    assert "s3cret" not in done.output


def test_a_webhook_that_nobody_answers_is_a_warning(dream: Invoke) -> None:
    """No listener, no failure."""
    done = dream("--auto", "--all", "--webhook", "http://127.0.0.1:9/x")
    assert "warning: the webhook could not be told: ConnectError." in done.stderr


def test_a_failed_pass_is_told_too(dream: Invoke, store: InMemoryStore, listener: Listener) -> None:
    """With its exit code and its sentence."""
    store.gaps = ("the store lists 3 of 4 rows",)
    dream("--auto", "--all", "--webhook", listener.url, code=4)
    assert (listener.posted[0]["outcome"], listener.posted[0]["exit_code"]) == ("failed", 4)
    assert "lists 3 of 4 rows" in listener.posted[0]["said"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--auto", "--webhook", "ftp://x"), "no address of http"),
        (("--auto", "--webhook", "http://["), "no address of http"),
        (("--dry-run", "--webhook", "http://x"), "add --auto"),
        (("--auto", "--webhook-texts"), "--webhook-texts goes with --webhook"),
        (("--dry-run", "--metrics", "m.prom"), "add --auto"),
    ],
)
def test_what_cannot_be_told_is_refused_before_anything_is_opened(
    dream: Invoke, store: InMemoryStore, words: tuple[str, ...], told: str
) -> None:
    """A usage error, and nothing done."""
    store.before_write = lambda _: pytest.fail("nothing may be written")
    assert told in dream("--all", *words, code=2).stderr


# --- metrics ---


def test_metrics_are_written_as_prometheus_reads_them(dream: Invoke, tmp_path: Path) -> None:
    """Read back by the client's own parser."""
    from prometheus_client.parser import text_string_to_metric_families

    path = tmp_path / "night.prom"
    dream("--auto", "--all", "--metrics", str(path))
    families = text_string_to_metric_families(path.read_text())
    found = {sample.name: sample.value for family in families for sample in family.samples}
    assert found["mem0_dream_merged"] == 2
    assert found["mem0_dream_last_run_success"] == 1
    assert (
        found["mem0_dream_last_success_timestamp_seconds"] == found["mem0_dream_last_run_timestamp_seconds"]
    )


def test_after_a_failure_the_last_success_is_still_told(
    dream: Invoke, store: InMemoryStore, tmp_path: Path
) -> None:
    """That is what an alert is made of."""
    path = tmp_path / "night.prom"
    dream("--auto", "--all")
    store.gaps = ("a gap",)
    dream("--auto", "--all", "--metrics", str(path), code=4)
    lines = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines() if line[:1] != "#")
    assert lines["mem0_dream_last_run_exit_code"] == "4.0"
    ok, run = (float(lines[f"mem0_dream_last_{name}_timestamp_seconds"]) for name in ("success", "run"))
    assert 0 < ok < run


def test_metrics_that_cannot_be_written_are_a_warning(dream: Invoke, tmp_path: Path) -> None:
    """The pass was done."""
    done = dream("--auto", "--all", "--metrics", str(tmp_path / "no" / "night.prom"))
    assert "warning: the metrics could not be written" in done.stderr


def test_without_the_extra_one_sentence_names_it(dream: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is done."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert "mem0-dream[metrics]" in dream("--auto", "--all", "--metrics", "m.prom", code=8).stderr


# --- the heartbeat ---


def test_the_last_run_is_told_without_opening_the_store(
    dream: Invoke, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 0 while it is alive."""
    assert dream("runs", "--last", "--json", code=9).stdout.startswith('{\n  "alive": false')
    dream("--auto", *ALICE)
    monkeypatch.setattr("mem0_dream.pipeline.stores.open_store", lambda _: pytest.fail("opened"))
    told = json.loads(dream("runs", "--last", "--json").stdout)
    assert (told["alive"], told["last"]["outcome"], told["last"]["scopes"]) == (
        True,
        "ok",
        {"user_id": "alice"},
    )
    assert told["last"]["run"]
    assert told["last"]["last_ok"] == told["last"]["finished_at"]


def test_a_night_that_failed_is_visible(dream: Invoke, store: InMemoryStore) -> None:
    """Until the next one ends well; each choice of memories is a job of its own."""
    store.gaps = ("a gap",)
    dream("--auto", "--all", code=4)
    assert "the last run failed: Read-only: a gap" in dream("runs", "--last", code=9).stdout
    store.gaps = ()
    dream("--auto", *ALICE)
    assert "failed" in dream("runs", "--last", code=9).stdout
    dream("--auto", "--all")
    assert dream("runs", "--last").stdout.count(" UTC  ok, merged=") == 2


def test_a_store_that_cannot_be_opened_leaves_a_heartbeat(
    dream: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead database is the commonest dead night."""

    def closed(_: object) -> None:
        raise StoreError("The store does not answer.")

    monkeypatch.setattr("mem0_dream.pipeline.stores.open_store", closed)
    dream("--auto", "--all", code=4)
    assert "the last run failed: The store does not answer." in dream("runs", "--last", code=9).stdout


def test_a_dry_run_and_a_person_leave_none(dream: Invoke) -> None:
    """Only a scheduler's jobs beat."""
    dream("--dry-run", "--all")
    dream("--all", answers="skip\ny\n")
    dream("runs", "--last", code=9)


def beat(path: Path, outcome: str, owner: Owner, *, hours: float = 0) -> Beat:
    """A heartbeat so many hours old, written and read again."""
    at = (NOW - timedelta(hours=hours)).isoformat()
    write_beat(
        path, "p", "j", {"started_at": at, "finished_at": at, "outcome": outcome, "said": "s"}, ok=False
    )
    (found,) = beats(path, "p")
    return Beat(found.job, found.night, owner, found.ok_at)


def test_a_dead_cron_a_killed_and_a_running_night_are_told_apart(tmp_path: Path) -> None:
    """Overdue; died; alive."""
    here, dead = Owner.present(), Owner(2**22 + 1, Owner.present().host, 1.0)
    span = timedelta(hours=36)
    assert beat(tmp_path, "ok", here, hours=40).trouble(now=NOW, within=span) == "it has not run for 40 hours"
    assert beat(tmp_path, "ok", here, hours=30).trouble(now=NOW, within=span) == ""
    assert "died" in beat(tmp_path, "running", dead).trouble(now=NOW, within=span)
    assert beat(tmp_path, "running", here).trouble(now=NOW, within=span) == ""


def test_a_heartbeat_that_cannot_be_written_is_a_warning(
    dream: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk must not stop a pass that could still be done."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mem0_dream.pipeline.writing.heartbeat.write_beat", full)
    assert "warning: the heartbeat could not be written" in dream("--auto", "--all").stderr


# --- whether it is due ---


def test_a_pass_that_is_due_says_why_and_then_is_not(dream: Invoke, store: InMemoryStore) -> None:
    """First never, then too soon, then too little, then enough."""
    assert "mem0-dream: due: never consolidated." in dream("--auto", "--if-due", *ALICE).stderr
    assert "not due: 0 new memories since the last run, less than an hour ago; due 24 hours after it" in (
        dream("--auto", "--if-due", *ALICE).stderr
    )
    tomorrow = ("--now", (NOW + DAY).isoformat())
    assert "not due: 0 new memories since the last run, 24 hours ago; due from 20." in (
        dream("--auto", "--if-due", *ALICE, *tomorrow).stderr
    )
    for number in range(20):
        store.rows |= InMemoryStore([memory(f"n{number}", f"Note {number} about topic {number}.")]).rows
    told = dream("--auto", "--if-due", *ALICE, *tomorrow).stderr
    assert (
        "mem0-dream: due: 20 new memories since the last run, 24 hours ago; limits 20 and 24 hours." in told
    )


def test_not_due_as_json_and_as_a_heartbeat(dream: Invoke, listener: Listener) -> None:
    """A night that had nothing to do is alive."""
    dream("--auto", "--all")
    told = json.loads(dream("--auto", "--all", "--if-due", "--json", "--webhook", listener.url).stdout)
    assert told["due"] is False
    assert listener.posted[0]["outcome"] == "not due"
    assert json.loads(dream("runs", "--last", "--json").stdout)["last"]["outcome"] == "not due"


def test_another_choice_of_memories_is_another_pass(dream: Invoke) -> None:
    """One user's night says nothing about another's."""
    dream("--auto", *ALICE)
    assert "due: never consolidated" in dream("--auto", "--if-due", "--user-id", "bob").stderr


def test_the_limits_are_settable(dream: Invoke) -> None:
    """In the configuration."""
    dream("--auto", *ALICE)
    told = dream("--auto", "--if-due", *ALICE, settings=f"{OWN[:-1]}, due_after: 0h, due_new: 0}}").stderr
    assert "mem0-dream: due: 0 new memories" in told
    assert read_settings({"due_after": "2d"}).due_after == timedelta(days=2)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 100))
def test_due_needs_both_time_and_news(before: set[int], now: set[int], hours: int) -> None:
    """Neither alone is enough."""
    last = LastPass(NOW - timedelta(hours=hours), before)
    due, why = due_reason(now, last, settings=Settings(), now=NOW)
    assert due == (hours >= 24 and len(now - before) >= 20)
    assert f"{len(now - before)} new memories" in why


def test_what_a_merge_adds_is_not_new(dream: Invoke, store: InMemoryStore, own_state: Path) -> None:
    """Else each night would make the next one due."""
    dream("--auto", "--all")
    assert any(name.startswith("new-") for name in store.rows)
    log = NightLog(own_state)
    last = log.last(store.fingerprint, ScopeFilter())
    log.close()
    assert last is not None
    assert names_of(store.rows) <= set(last.known)
    assert last.at == NOW.astimezone(UTC)
    assert isinstance(last.at, datetime)


# --- two at once ---


@pytest.fixture
def other_run(own_state: Path, store: InMemoryStore) -> Iterator[threading.Event]:
    """Another run at the same store, until the event is set."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        """Have the lock."""
        with store_lock(own_state, store.fingerprint):
            taken.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(60)
    yield done
    done.set()
    thread.join()


def test_a_second_run_is_refused_or_waits(dream: Invoke, other_run: threading.Event) -> None:
    """Exit code 5 without a time to wait; with one it has its turn."""
    refused = dream("--auto", "--all", code=5)
    assert f"(process {os.getpid()}) is working on this store" in refused.stderr
    assert "the last run failed: Another" in dream("runs", "--last", code=9).stdout
    threading.Timer(0.2, other_run.set).start()
    assert "merged=2" in dream("--auto", "--all", "--wait", "60").stdout


# --- logs ---


def test_logs_as_json_are_json_line_by_line(dream: Invoke, store: InMemoryStore) -> None:
    """Remarks, the night itself, and no memory text."""
    lines = dream("--auto", "--if-due", "--log-json", *ALICE).stderr.splitlines()
    records = [json.loads(line) for line in lines]
    assert records[0]["message"] == "due: never consolidated."
    assert records[-1]["night"]["counts"]["merged"] == 2
    assert {"time", "level", "logger", "message"} <= records[-1].keys()
    assert "whippet" not in "".join(lines)


def test_an_error_is_a_record_too(dream: Invoke, store: InMemoryStore) -> None:
    """With its level; and without the option it is the sentence as ever."""
    store.gaps = ("a gap",)
    records = [
        json.loads(line) for line in dream("--auto", "--all", "--log-json", code=4).stderr.splitlines()
    ]
    assert (records[-1]["level"], records[-1]["message"]) == (
        "error",
        "Read-only: a gap. Nothing was changed.",
    )
    assert dream("--auto", "--all", code=4).stderr == "mem0-dream: Read-only: a gap. Nothing was changed.\n"
