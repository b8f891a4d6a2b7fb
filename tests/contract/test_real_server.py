"""mem0's own server, from a checkout of its repository; the contract's other files run on it, too (`KINDS`)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import real_server
from killing import KILLED
from kinds import NOW, SETTINGS, real_server_world

pytestmark = [
    pytest.mark.store,
    pytest.mark.skipif(
        not real_server.SOURCE, reason="make test-server SOURCE=a checkout of mem0's repository"
    ),
]
KILLER = """
import datetime, json, sys
from killing import dying
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.remote.services import open_server
from mem0_dream.settings import Settings
url, state, settings, now, step, retire = json.loads(sys.argv[1])
now, store = datetime.datetime.fromisoformat(now), open_server(url)
store.write = dying(store.write, step, after=bool(step % 2))
with Session(store, settings=Settings(**settings), state_dir=state) as session:
    plan = session.propose(ScopeFilter(), now=now)
    session.apply(plan, now=now, choices={each.id: "b" for each in plan.conflicts}, retire=retire)
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("retire", [False, True])
def test_a_run_killed_at_any_write_is_finished_and_taken_back(tmp_path, monkeypatch, retire):
    world = real_server_world(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(Path(real_server.__file__).parent), prepend=os.pathsep)
    before, after, kills = world.content(), [], 0
    for step in range(1, 30):
        state = str(tmp_path / f"state-{step}")
        case = json.dumps([world.words[3], state, SETTINGS, NOW.isoformat(), step, retire])
        done = subprocess.run(
            [sys.executable, "-c", KILLER, case], check=False, capture_output=True, text=True
        )
        assert done.returncode in (0, KILLED), done.stderr
        kills += done.returncode == KILLED
        commands = ["resume", "undo"] if done.returncode and step % 3 else ["undo"]
        for command in commands:
            if (command == "undo" and commands != ["undo"]) or not done.returncode:
                after.append(sorted(world.texts().values()))
            world.call(command, "--state-dir", state)
        assert world.content() == before, f"killed at write {step}"
        if not done.returncode:
            break
    assert kills >= 5
    assert after.count(after[0]) == len(after) > 3


def test_a_night_that_retires_deletes_nothing_and_its_undo_gives_every_id_back(tmp_path, monkeypatch):
    world = real_server_world(tmp_path, monkeypatch)
    before, texts = world.content(), world.texts()
    world.call("--auto", "--retire")
    assert world.content() != before
    assert world.texts().keys() == texts.keys()
    world.call("undo")
    assert (world.content(), world.texts()) == (before, texts)
