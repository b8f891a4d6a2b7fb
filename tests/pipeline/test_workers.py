"""Scopes judged ahead by other processes: the plan stays the same to the byte, whatever happens to a worker."""

import json
import os
import signal
from datetime import timedelta
from importlib.util import find_spec
from multiprocessing.context import SpawnProcess

import pytest
from builders import NOW
from mem0_dream.errors import MissingExtraError, ModelError
from mem0_dream.pipeline import workers
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.jsonl import JsonlStore
from mem0_dream.settings import Settings
from mem0_stores import build_place

TEXTS = (
    "User lives in Porto.",
    "Lives in Porto with two cats.",
    "Invoices are exported every Friday.",
    "The export of invoices runs each Friday at 18:00.",
    "Plays chess online.",
    "Allergic to penicillin.",
)
USERS = ("ada", "ben", "cleo")
RAY = pytest.mark.skipif(find_spec("ray") is None, reason="make test-ray")


@pytest.fixture(scope="module")
def place(tmp_path_factory, shared_encoder):
    place = build_place("qdrant", tmp_path_factory.mktemp("workers"))
    for user in USERS:
        place.fill([f"{text} ({user})" if at % 2 else text for at, text in enumerate(TEXTS)], user_id=user)
    yield place
    place.close()


@pytest.fixture(autouse=True)
def _small_shares(monkeypatch):
    monkeypatch.setattr(workers, "SHARE", 4)


class Spoilt(workers.Share):
    def __reduce__(self):
        return workers.Share, (None, self.capabilities, self.settings, self.circumstances)


def planned(place, state, **limits):
    store = place.open()
    state.mkdir(exist_ok=True)
    with Session(store, settings=Settings(**limits), state_dir=state) as session:
        return dump_plan(session.propose(ScopeFilter(), now=NOW))


@pytest.fixture(scope="module")
def alone(place, tmp_path_factory):
    plan = planned(place, tmp_path_factory.mktemp("alone"))
    assert plan.count('"members"') >= len(USERS)
    return plan


@pytest.mark.parametrize("ends", [None, signal.SIGKILL, "error"])
def test_the_plan_is_that_of_a_serial_run(place, alone, tmp_path, ends, *, monkeypatch, caplog, capfd):
    begun = []
    start = SpawnProcess.start

    def started(process):
        start(process)
        begun.append(process)
        if ends == signal.SIGKILL and len(begun) == 1:
            os.kill(process.pid, signal.SIGKILL)

    monkeypatch.setattr(SpawnProcess, "start", started)
    if ends == "error":
        monkeypatch.setattr(workers, "Share", Spoilt)
    with caplog.at_level("WARNING", logger="mem0_dream"):
        assert planned(place, tmp_path, workers=2) == alone
    assert len(begun) == 2
    assert [process.exitcode for process in begun] == {None: [0, 0], "error": [1, 1]}.get(ends, [-9, 0])
    assert ("A worker process ended" in caplog.text) == bool(ends)
    assert "Traceback" not in capfd.readouterr().err


def test_what_did_not_change_is_not_sent_again(place, alone, tmp_path, monkeypatch):
    sent = []

    def run(shares, _cache, _settings):
        sent.append(len(shares))
        return ((share, {}) for share in shares)

    monkeypatch.setattr(workers, "_by_processes", run)
    assert planned(place, tmp_path, workers=2) == planned(place, tmp_path, workers=2) == alone
    assert sent == [len(USERS)]


def test_report_budget_and_journal_add_up_as_in_a_serial_run(tmp_path, monkeypatch):
    """Ada says everything twice, in another order, which is over her budget; ben and cleo one thing each."""
    said = [*TEXTS, *(" ".join(text.split()[::-1]) for text in TEXTS)]
    rows = [
        {"id": f"{user}{at}", "user_id": user, "text": text}
        for user, count in (("ada", 12), ("ben", 7), ("cleo", 7))
        for at, text in enumerate(said[:count])
    ]
    limits = {"scorer": "keywords", "encoder": "words", "max_delete": 0.25, "min_delete": 0}
    sent, said, run = [], [], workers._by_processes
    monkeypatch.setattr(workers, "_by_processes", lambda new, *rest: sent.append(len(new)) or run(new, *rest))
    (file := tmp_path / "export.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for count in (1, 2):
        (state := tmp_path / f"state{count}").mkdir()
        (decisions := tmp_path / "decisions.jsonl").unlink(missing_ok=True)
        store, settings = JsonlStore(file, decisions=decisions), Settings(**limits, workers=count)
        with Session(store, settings=settings, state_dir=state) as session:
            plan = session.propose(ScopeFilter(), now=NOW)
            result = session.apply(plan, now=NOW, hold_back=True)
            report, journal = session.reporter(plan), session.journal
            outcomes, changes = journal.outcomes(result.run), journal.changes(result.run)
            shown = report.to_json(result), report.lines(), report.done(result, auto=True, took=timedelta())
        assert "user_id=ada" in "".join(result.held)
        deleted = decisions.read_text().count('"delete"')
        assert len(plan.merges) > result.merged == len(outcomes) == deleted > 0
        said.append(repr((shown, outcomes, changes)).replace(result.run, "RUN"))
    assert said[0] == said[1]
    assert sent == [len(USERS)]


def test_ray_is_an_extra(place, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mem0-dream\[ray\]'"):
        planned(place, tmp_path, engine="ray")


@RAY
def test_ray_gives_the_same_plan(place, alone, tmp_path):
    assert planned(place, tmp_path, engine="ray") == alone


@RAY
def test_no_ray_at_the_address_is_one_sentence(place, tmp_path):
    with pytest.raises(ModelError, match=r"There is no Ray at 127\.0\.0\.1:1"):
        planned(place, tmp_path, engine="ray", address="127.0.0.1:1")
