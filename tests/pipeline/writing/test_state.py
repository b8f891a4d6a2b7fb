"""The state directory and the lock of a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mem0_dream.errors import ConfigError, StoreLockedError
from mem0_dream.pipeline.writing.state import STATE_DIR_VARIABLE, state_directory, store_lock


def test_the_argument_comes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given, then MEM0_DREAM_STATE_DIR, then the platform's own place."""
    monkeypatch.setenv(STATE_DIR_VARIABLE, str(tmp_path / "variable"))
    assert state_directory(tmp_path / "given" / "deep") == tmp_path / "given" / "deep"
    assert state_directory() == tmp_path / "variable"
    monkeypatch.delenv(STATE_DIR_VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_directory().name == "mem0-dream"
    assert tmp_path in state_directory().parents


def test_the_directory_is_private(tmp_path: Path) -> None:
    """The journal holds texts, so nobody else may read it."""
    assert state_directory(tmp_path / "own").stat().st_mode & 0o077 == 0


def test_a_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` works as in a shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_directory("~/dreams") == tmp_path / "dreams"


def test_a_place_that_cannot_be_a_directory_is_named(tmp_path: Path) -> None:
    """A file in the way gives one sentence with the way out."""
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            ConfigError, match=f"state directory {wrong} cannot be created .*{STATE_DIR_VARIABLE}"
        ):
            state_directory(wrong)


def test_one_run_per_store(tmp_path: Path) -> None:
    """The second is told who holds it; another store is free; afterwards it is free again."""
    with store_lock(tmp_path, "one"):
        with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"), store_lock(tmp_path, "one"):
            pass
        with store_lock(tmp_path, "two"):
            pass
    with store_lock(tmp_path, "one"):
        pass


def test_an_error_frees_the_lock(tmp_path: Path) -> None:
    """However a run ends, the next one may begin."""
    with pytest.raises(ZeroDivisionError), store_lock(tmp_path, "one"):
        _ = 1 / 0
    with store_lock(tmp_path, "one"):
        pass


def test_a_dead_holder_leaves_no_lock(tmp_path: Path) -> None:
    """The file of a killed process stays behind, its lock does not."""
    code = (
        "import os, sys, pathlib; from mem0_dream.pipeline.writing.state import store_lock\n"
        "with store_lock(pathlib.Path(sys.argv[1]), 'one'): os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -9
    assert (tmp_path / "locks" / "one.pid").exists()
    with store_lock(tmp_path, "one"):
        assert (tmp_path / "locks" / "one.pid").read_text() == str(os.getpid())


def test_a_lock_without_a_name_of_its_holder(tmp_path: Path) -> None:
    """A holder that has not written its number yet is still a holder."""
    with store_lock(tmp_path, "one"):
        (tmp_path / "locks" / "one.pid").unlink()
        with pytest.raises(StoreLockedError, match="is working on this store"), store_lock(tmp_path, "one"):
            pass


def test_locks_that_cannot_be_made_are_named(tmp_path: Path) -> None:
    """A file where the locks should be is told in one sentence."""
    (tmp_path / "locks").write_text("")
    with pytest.raises(ConfigError, match="lock"), store_lock(tmp_path, "one"):
        pass
