"""Scopes judged ahead by other processes: the plan stays the same to the byte, whatever happens to a worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from importlib.util import find_spec

import pytest
from builders import NOW
from mem0_dream.errors import MissingExtraError, ModelError
from mem0_dream.pipeline import workers
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.settings import Settings
from mem0_stores import build_place, shared_encoder

__all__ = ["shared_encoder"]

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
    """A Qdrant store on disk, which a single process may open, with three users."""
    place = build_place("qdrant", tmp_path_factory.mktemp("workers"))
    for user in USERS:
        place.fill([f"{text} ({user})" if at % 2 else text for at, text in enumerate(TEXTS)], user_id=user)
    yield place
    place.close()


@pytest.fixture(autouse=True)
def _small_shares(monkeypatch):
    monkeypatch.setattr(workers, "SHARE", 4)


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


def kill_the_first_worker():
    while not (children := multiprocessing.active_children()):
        time.sleep(0.01)
    os.kill(children[0].pid, signal.SIGKILL)


@pytest.mark.parametrize("killed", [False, True], ids=["unharmed", "a worker is killed"])
def test_the_plan_is_that_of_a_serial_run(place, alone, tmp_path, killed, caplog):
    killer = threading.Thread(target=kill_the_first_worker, daemon=True)
    if killed:
        killer.start()
    assert planned(place, tmp_path, workers=2) == alone
    assert ("A worker process ended" in caplog.text) == killed


def test_what_did_not_change_is_not_sent_again(place, alone, tmp_path, monkeypatch):
    sent = []

    def run(shares, _cache, _settings):
        sent.append(len(shares))
        return ((share, {}) for share in shares)

    monkeypatch.setattr(workers, "_by_processes", run)
    assert planned(place, tmp_path, workers=2) == planned(place, tmp_path, workers=2) == alone
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
