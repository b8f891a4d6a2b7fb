"""The state directory, and the lock of a store: its owner is named, and robbed only if it is provably gone."""

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from mem0_dream.errors import ConfigError, StoreLockedError
from mem0_dream.pipeline.stores.files import STATE_DIR_VARIABLE, state_directory
from mem0_dream.pipeline.writing import lock as lock_module
from mem0_dream.pipeline.writing.lock import SILENT_S, Owner, store_lock


@pytest.fixture
def name(tmp_path):
    """The file in which the owner of the store "one" is named."""
    (tmp_path / "locks").mkdir()
    return tmp_path / "locks" / "one.owner.json"


def taken(folder: Path, store: str = "one", **options: float) -> Owner | None:
    """Take a lock and give it back: who was named meanwhile."""
    with store_lock(folder, store, **options):
        return Owner.read(folder / "locks" / f"{store}.owner.json")


def leave(name: Path, owner: Owner, *, silent_s: float = 0.0) -> None:
    """A named owner without a lock, last seen so long ago."""
    name.write_text(json.dumps(asdict(owner)))
    seen = time.time() - silent_s
    os.utime(name, (seen, seen))


def test_the_owner_is_named_while_it_holds_the_lock_and_an_unreadable_name_is_nobody(tmp_path, name):
    name.write_text('{"pid":')
    with store_lock(tmp_path, "one"):
        assert Owner.read(name) == Owner.present()
        assert Owner.present().pid == os.getpid()
        name.unlink()
        with pytest.raises(StoreLockedError, match="is working on this store"):
            taken(tmp_path)
    assert not name.exists()


def test_a_living_owner_is_not_robbed_though_the_lock_is_free(tmp_path, name):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        import psutil

        leave(name, Owner(other.pid, platform.node(), psutil.Process(other.pid).create_time()))
        with pytest.raises(StoreLockedError, match=rf"process {other.pid} took it .* remove {name}"):
            taken(tmp_path)
        other.communicate(b"\n")
    assert taken(tmp_path)


def test_a_number_that_was_given_again_is_another_process(tmp_path, name):
    leave(name, replace(Owner.present(), started=Owner.present().started - 5000))
    assert taken(tmp_path)


def test_an_owner_elsewhere_counts_as_gone_after_a_long_silence(tmp_path, name):
    elsewhere = Owner(1, "another-machine", 0.0)
    leave(name, elsewhere, silent_s=SILENT_S - 60)
    with pytest.raises(StoreLockedError, match="process 1 on another-machine took it"):
        taken(tmp_path)
    leave(name, elsewhere, silent_s=SILENT_S + 60)
    assert taken(tmp_path)


def test_an_owner_gives_signs_of_life(tmp_path, name, monkeypatch):
    monkeypatch.setattr(lock_module, "BEAT_S", 0.01)
    with store_lock(tmp_path, "one"):
        os.utime(name, (0, 0))
        while name.stat().st_mtime == 0:
            time.sleep(0.01)


def test_the_second_of_two_waits_for_the_first(tmp_path):
    code = (
        "import sys, pathlib; from mem0_dream.pipeline.writing.lock import store_lock\n"
        "with store_lock(pathlib.Path(sys.argv[1]), 'one'):\n    print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdin is not None
        first.stdout.readline()
        with pytest.raises(StoreLockedError, match=f"process {first.pid}"):
            taken(tmp_path)
        first.stdin.write(b"\n")
        first.stdin.flush()
        assert taken(tmp_path, wait_s=60) == Owner.present()


def test_the_directory_is_private_and_an_argument_comes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_DIR_VARIABLE, str(tmp_path / "variable"))
    assert state_directory(tmp_path / "given" / "deep") == tmp_path / "given" / "deep"
    assert state_directory() == tmp_path / "variable"
    monkeypatch.setenv(STATE_DIR_VARIABLE, "")  # counts as unset
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_directory().name == "mem0-dream"
    assert tmp_path in state_directory().parents
    assert state_directory("~/dreams") == tmp_path / "dreams"
    assert state_directory(tmp_path / "own").stat().st_mode & 0o077 == 0


def test_a_place_for_state_or_locks_that_cannot_be_a_directory_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            ConfigError, match=f"state directory {wrong} cannot be created .*{STATE_DIR_VARIABLE}"
        ):
            state_directory(wrong)
    (tmp_path / "locks").write_text("")
    with pytest.raises(ConfigError, match="lock"):
        taken(tmp_path)


def test_one_run_per_store(tmp_path):
    with store_lock(tmp_path, "one"):
        with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
            taken(tmp_path)
        assert taken(tmp_path, "two")
    with pytest.raises(ZeroDivisionError), store_lock(tmp_path, "one"):
        _ = 1 / 0  # an error frees it, too
    assert taken(tmp_path)


def test_a_dead_holder_leaves_no_lock(tmp_path):
    code = (
        "import os, sys, pathlib; from mem0_dream.pipeline.writing.lock import store_lock\n"
        "with store_lock(pathlib.Path(sys.argv[1]), 'one'): os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -9
    name = tmp_path / "locks" / "one.owner.json"
    assert name.exists()
    with store_lock(tmp_path, "one"):
        assert json.loads(name.read_text())["pid"] == os.getpid()
        assert {file.stat().st_mode & 0o077 for file in (tmp_path / "locks").iterdir()} == {0}
