"""An unattended pass: its entry of a scheduler, what it tells it, and that it never fails because nobody listens."""

import contextlib
import json
import os
import shlex
import sys
import threading
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml
from builders import NOW, memory
from click.testing import CliRunner, Result
from e2e_cli import ALICE, OWN
from hypothesis import given, strategies as st
from mem0_dream.errors import StoreError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.cli.night import KINDS
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.writing.lock import Owner, store_lock
from mem0_dream.pipeline.writing.passes import KEPT, Pass, Passes, due_reason, names_of
from mem0_dream.settings import Settings, read_settings
from mem0_dream.testing import InMemoryStore

DAY = timedelta(days=1)


def test_metrics_are_written_as_prometheus_reads_them_and_tell_the_last_success(dream, store, tmp_path):
    from prometheus_client.parser import text_string_to_metric_families

    path = tmp_path / "night.prom"
    dream("--auto", "--all", "--metrics", str(path))
    families = text_string_to_metric_families(path.read_text())
    found = {x.name.removeprefix("mem0_dream_"): x.value for family in families for x in family.samples}
    assert (found["merged"], found["last_run_success"]) == (2, 1)
    assert found["last_success_timestamp_seconds"] == found["last_run_timestamp_seconds"]
    store.gaps = ("a gap",)
    dream("--auto", "--all", "--metrics", str(path), code=4)
    lines = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines() if line[:1] != "#")
    assert lines["mem0_dream_last_run_exit_code"] == "4.0"
    ok, run = (float(lines[f"mem0_dream_last_{name}_timestamp_seconds"]) for name in ("success", "run"))
    assert 0 < ok < run


def test_what_cannot_be_written_or_noted_is_a_warning_or_a_sentence(dream, store, tmp_path, monkeypatch):
    done = dream("--auto", "--all", "--metrics", str(tmp_path / "no" / "night.prom"))
    assert "warning: the metrics could not be written" in done.stderr
    store.before_write = lambda _: pytest.fail("nothing may be written")
    assert "add --auto" in dream("--all", "--dry-run", "--metrics", "m.prom", code=2).stderr
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert "mem0-dream[metrics]" in dream("--auto", "--all", "--metrics", "m.prom", code=8).stderr
    store.before_write = lambda _: None
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("mem0_dream.pipeline.writing.passes.Passes.begin", full)
    assert "warning: the pass could not be noted" in dream("--auto", "--all").stderr


def test_the_last_run_is_told_without_opening_the_store(dream, store, monkeypatch):
    assert dream("runs", "--last", "--json", code=9).stdout.startswith('{\n  "alive": false')
    dream("--auto", *ALICE)
    monkeypatch.setattr("mem0_dream.pipeline.stores.open_store", lambda _, **__: pytest.fail("opened"))
    told = json.loads(dream("runs", "--last", "--json").stdout)
    assert (told["alive"], told["last"]["outcome"]) == (True, "ok")
    assert told["last"]["scopes"] == {"user_id": "alice"}
    assert told["last"]["run"]
    assert told["last"]["last_ok"] == told["last"]["finished_at"]


def test_a_night_that_failed_is_visible(dream, store, monkeypatch):
    store.gaps = ("a gap",)
    dream("--auto", "--all", code=4)
    assert "the last run failed: Read-only: a gap" in dream("runs", "--last", code=9).stdout
    store.gaps = ()
    dream("--auto", *ALICE)
    assert "failed" in dream("runs", "--last", code=9).stdout
    dream("--auto", "--all")
    assert dream("runs", "--last").stdout.count(" UTC  ok, merged=") == 2
    closed = Mock(side_effect=StoreError("The store does not answer."))
    monkeypatch.setattr("mem0_dream.pipeline.stores.open_store", closed)
    dream("--auto", "--all", code=4)
    assert "the last run failed: The store does not answer." in dream("runs", "--last", code=9).stdout


def test_a_night_can_be_previewed_and_only_a_night_is_noted(dream, store):
    before = dict(store.rows)
    shown = dream("--auto", "--dry-run", "--all").stdout
    assert "Merges (2)" in shown
    assert "Dry run: no changes made." in shown
    assert store.rows == before
    told = dream("--auto", "--dry-run", "--all", "--max-delete", "0").stderr
    assert "a night would hold back a part" in told
    dream("--all", answers="skip\ny\n")
    dream("runs", "--last", code=9)


def passed(path: Path, outcome: str, owner: Owner, *, hours: float = 0) -> Pass:
    at = (NOW - timedelta(hours=hours)).isoformat()
    night = {"started_at": at, "finished_at": at, "outcome": outcome, "said": "s"}
    with contextlib.closing(Passes(path)) as passes:
        passes.end(passes.begin("p", "j", night), night, ok=False)
        (found,) = passes.last("p")
    return replace(found, owner=owner)


def test_only_the_latest_passes_of_a_job_are_kept_and_the_last_good_end_with_them(tmp_path):
    night = {"started_at": NOW.isoformat(), "finished_at": NOW.isoformat(), "outcome": "ok"}
    with contextlib.closing(Passes(tmp_path)) as passes:
        passes.end(passes.begin("p", "j", night), night, ok=True)
        for _ in range(KEPT + 5):
            passes.begin("p", "j", night)
        passes.begin("p", "other", night)
        assert [(each.job, each.ok_at) for each in passes.last("p")] == [("other", None), ("j", NOW)]
        assert passes.ask("SELECT COUNT(*) FROM passes")[0][0] == KEPT + 1


def test_a_dead_cron_a_killed_and_a_running_night_are_told_apart(tmp_path):
    here, dead = Owner.present(), Owner(2**22 + 1, Owner.present().host, 1.0)

    def trouble(*how, **more):
        return passed(tmp_path, *how, **more).trouble(now=NOW, within=timedelta(hours=36))

    assert trouble("ok", here, hours=40) == "it has not run for 40 hours"
    assert trouble("ok", here, hours=30) == trouble("running", here) == ""
    assert "died" in trouble("running", dead)


def test_a_pass_that_is_due_says_why_and_then_is_not(dream, store):
    since, tomorrow = "new memories since the last run", ("--now", (NOW + DAY).isoformat())

    def told(*words):
        return dream("--auto", "--if-due", *ALICE, *words).stderr

    assert "mem0-dream: due: never consolidated." in told()
    assert f"not due: 0 {since}, less than an hour ago; due 24 hours after it" in told()
    assert f"not due: 0 {since}, 24 hours ago; due from 20." in told(*tomorrow)
    for number in range(20):
        store.rows |= InMemoryStore([memory(f"n{number}", f"Note {number} about topic {number}.")]).rows
    assert f"mem0-dream: due: 20 {since}, 24 hours ago; limits 20 and 24 hours." in told(*tomorrow)


def test_not_due_is_told_and_another_choice_of_memories_is_another_pass_and_the_limits_are_settable(dream):
    dream("--auto", "--all")
    told = json.loads(dream("--auto", "--all", "--if-due", "--json").stdout)
    assert told["due"] is False
    assert json.loads(dream("runs", "--last", "--json").stdout)["last"]["outcome"] == "not due"
    dream("--auto", *ALICE)
    assert "due: never consolidated" in dream("--auto", "--if-due", "--user-id", "bob").stderr
    told = dream("--auto", "--if-due", *ALICE, settings=f"{OWN[:-1]}, due_after: 0h, due_new: 0}}").stderr
    assert "mem0-dream: due: 0 new memories" in told
    assert read_settings({"due_after": "2d"}).due_after == timedelta(days=2)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 100))
def test_due_needs_both_time_and_news(before, now, hours):
    last = (NOW - timedelta(hours=hours), before)
    due, why = due_reason(now, last, after=Settings().due_after, new=Settings().due_new, now=NOW)
    assert due == (hours >= 24 and len(now - before) >= 20)
    assert f"{len(now - before)} new memories" in why


def test_what_a_merge_adds_is_not_new(dream, store, own_state):
    dream("--auto", "--all")
    assert any(name.startswith("new-") for name in store.rows)
    with contextlib.closing(Passes(own_state)) as passes:
        last = passes.last_seen(store.fingerprint, ScopeFilter())
    assert last is not None
    assert names_of(store.rows) <= set(last[1])
    assert last[0] == NOW.astimezone(UTC)


@pytest.fixture
def other_run(own_state, store):
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store_lock(own_state, store.fingerprint):
            taken.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(60)
    yield done
    done.set()
    thread.join()


def test_a_second_run_is_refused_or_waits(dream, other_run):
    refused = dream("--auto", "--all", code=5)
    assert f"(process {os.getpid()}) is working on this store" in refused.stderr
    assert "the last run failed: Another" in dream("runs", "--last", code=9).stdout
    threading.Timer(0.2, other_run.set).start()
    assert "merged=2" in dream("--auto", "--all", "--wait", "60").stdout


def test_logs_as_json_are_json_line_by_line(dream, store):
    lines = dream("--auto", "--if-due", "--log-json", *ALICE).stderr.splitlines()
    records = [json.loads(line) for line in lines]
    assert records[0]["message"] == "due: never consolidated."
    assert records[-1]["night"]["counts"]["merged"] == 2
    assert {"time", "level", "logger", "message"} <= records[-1].keys()
    assert "whippet" not in "".join(lines)
    store.gaps = ("a gap",)
    lines = dream("--auto", "--all", "--log-json", code=4).stderr.splitlines()
    records = [json.loads(line) for line in lines]
    told = "Read-only: a gap. Nothing was changed."
    assert (records[-1]["level"], records[-1]["message"]) == ("error", told)
    assert dream("--auto", "--all", code=4).stderr == f"mem0-dream: {told}\n"


def printed(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, ["schedule", *words])
    assert done.exit_code == code, done.output
    return done


def test_an_entry_for_mem0_names_configuration_and_scopes(tmp_path: Path) -> None:
    line = printed("--print", "cron", "--config", str(tmp_path / "m.yaml"), "--user-id", "al ice").stdout
    words = shlex.split(line.splitlines()[1].partition("* * * ")[2])[1:]
    assert words == ["--config", str(tmp_path / "m.yaml"), "--user-id", "al ice", "--if-due", "--auto"]
    main.make_context("mem0-dream", words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--config m.yaml", "Say whose memories"),
        ("--all", "No configuration"),
        ("--config m.yaml --all -- --retyre", "No such option"),
        ("--store graph", "Name one graph"),
        ("--config m.yaml --all --time-zone Mars/Olympus", "There is no time zone 'Mars/Olympus'"),
    ],
)
def test_an_entry_that_would_fail_is_refused_at_once(words: str, told: str) -> None:
    done = printed("--print", "cron", *words.split(), code=2)
    assert (told in done.stderr, done.stdout) == (True, "")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--root /p --memory-dir /p/m", "md /p --memory-dir /p/m"),
        ("--store platform --org o1 --all", "platform --org o1 --all"),
        ("--store server --url http://m:8000 --user-id al", "server http://m:8000 --user-id al"),
        ("--file /a --scorer keywords --max-delete 1", "graph /a --max-delete 1.0 --scorer keywords"),
    ],
)
def test_an_entry_names_its_place(words: str, line: str) -> None:
    assert f" {line} --if-due --auto" in printed("--print", "cron", *words.split()).stdout


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("store", "variable"), [("platform", "MEM0_API_KEY"), ("server", "MEM0_SERVER_API_KEY"), ("mem0", "")]
)
def test_an_entry_says_where_its_key_comes_from(kind: str, store: str, variable: str, tmp_path: Path) -> None:
    place = {"platform": (), "server": ("--url", "http://m:8000"), "mem0": ("--config", str(tmp_path / "m"))}
    text = printed("--print", kind, "--store", store, *place[store], "--all").stdout
    assert (variable in text) if variable else ("API_KEY" not in text)
    if kind == "k8s" and variable:
        pod = yaml.safe_load(text)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        reference = pod["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]
        assert reference == {"name": "mem0-dream", "key": variable}


@pytest.mark.parametrize("kind", KINDS)
def test_further_options_are_carried(tmp_path: Path, kind: str) -> None:
    words = ("--config", str(tmp_path / "a b.yaml"), "--all", "--time-zone", "Europe/Berlin")
    text = printed("--print", kind, *words, "--", "--retire").stdout
    assert all(part in text for part in ("a b.yaml", "Europe/Berlin"))
    assert text.index("--all") < text.index("--retire") < text.index("--if-due") < text.index("--auto")


def test_the_entry_for_kubernetes_is_a_cron_job_that_cannot_overlap(tmp_path: Path) -> None:
    config = str(tmp_path / 'a"b.yaml')
    words = ("--print", "k8s", "--config", config, "--all", "--time-zone", "Europe/Berlin")
    job = yaml.safe_load(printed(*words).stdout)
    assert (job["kind"], job["spec"]["timeZone"]) == ("CronJob", "Europe/Berlin")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["containers"][0]["volumeMounts"] == [{"name": "state", "mountPath": "/state"}]
    assert pod["containers"][0]["command"][:3] == ["mem0-dream", "--config", config]
