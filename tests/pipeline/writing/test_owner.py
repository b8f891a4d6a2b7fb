"""A lock has an owner, and is taken over only from one that is provably gone."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from mem0_dream.errors import StoreLockedError
from mem0_dream.pipeline.writing import owner as owner_module
from mem0_dream.pipeline.writing.owner import SILENT_S, Owner
from mem0_dream.pipeline.writing.state import store_lock


@pytest.fixture
def name(tmp_path: Path) -> Path:
    """The file in which the owner of the store "one" is named."""
    (tmp_path / "locks").mkdir()
    return tmp_path / "locks" / "one.owner.json"


def leave(name: Path, owner: Owner, *, silent_s: float = 0.0) -> None:
    """A named owner without a lock, last seen so long ago."""
    name.write_text(json.dumps(asdict(owner)))
    seen = time.time() - silent_s
    os.utime(name, (seen, seen))


def test_the_owner_is_named_while_it_holds_the_lock(tmp_path: Path, name: Path) -> None:
    """Process, machine, start; nobody afterwards."""
    with store_lock(tmp_path, "one"):
        assert Owner.read(name) == Owner.present()
        assert Owner.present().pid == os.getpid()
    assert not name.exists()


def test_a_living_owner_is_not_robbed_though_the_lock_is_free(tmp_path: Path, name: Path) -> None:
    """A file system that lost the lock, or somebody who removed it, proves nothing."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        import psutil

        leave(name, Owner(other.pid, platform.node(), psutil.Process(other.pid).create_time()))
        refused = pytest.raises(StoreLockedError, match=rf"process {other.pid} took it .* remove {name}")
        with refused, store_lock(tmp_path, "one"):
            pass
        other.communicate(b"\n")
    with store_lock(tmp_path, "one"):
        pass


def test_a_number_that_was_given_again_is_another_process(tmp_path: Path, name: Path) -> None:
    """After a restart of the machine another process has the number."""
    leave(name, replace(Owner.present(), started=Owner.present().started - 5000))
    with store_lock(tmp_path, "one"):
        pass


def test_an_owner_elsewhere_counts_as_gone_after_a_long_silence(tmp_path: Path, name: Path) -> None:
    """Its process cannot be looked up; its heartbeat can."""
    elsewhere = Owner(1, "another-machine", 0.0)
    leave(name, elsewhere, silent_s=SILENT_S - 60)
    refused = pytest.raises(StoreLockedError, match="process 1 on another-machine took it")
    with refused, store_lock(tmp_path, "one"):
        pass
    leave(name, elsewhere, silent_s=SILENT_S + 60)
    with store_lock(tmp_path, "one"):
        pass


def test_an_unreadable_name_is_nobody(tmp_path: Path, name: Path) -> None:
    """Half a file of a crash must not stop all nights."""
    name.write_text('{"pid":')
    with store_lock(tmp_path, "one"):
        assert Owner.read(name) == Owner.present()


def test_an_owner_gives_signs_of_life(tmp_path: Path, name: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is touched again and again."""
    monkeypatch.setattr(owner_module, "BEAT_S", 0.01)
    with store_lock(tmp_path, "one"):
        os.utime(name, (0, 0))
        while name.stat().st_mtime == 0:
            time.sleep(0.01)


def test_the_second_of_two_waits_for_the_first(tmp_path: Path) -> None:
    """With a time to wait it gets its turn; without one it is told who is at work."""
    code = (
        "import sys, pathlib; from mem0_dream.pipeline.writing.state import store_lock\n"
        "with store_lock(pathlib.Path(sys.argv[1]), 'one'):\n    print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        first.stdout.readline()
        with pytest.raises(StoreLockedError, match=f"process {first.pid}"), store_lock(tmp_path, "one"):
            pass
        first.stdin.write(b"\n")
        first.stdin.flush()
        with store_lock(tmp_path, "one", wait_s=60):
            assert Owner.read(tmp_path / "locks" / "one.owner.json") == Owner.present()
