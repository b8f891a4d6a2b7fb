"""Our own files: private, never opened beside an open database, and no link of somebody else's."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import NOW
from mem0_dream.errors import JournalError
from mem0_dream.pipeline.judging.cache import FILE_NAME, Cache
from mem0_dream.pipeline.stores.files import DATABASE, make_private
from mem0_dream.pipeline.stores.files.undo import keep_folders
from mem0_dream.pipeline.writing.access import AccessLog
from mem0_dream.pipeline.writing.journal import Journal

_PASSER_BY = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
print(database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
database.close()
"""


def passes_by(file: Path) -> int:
    """Another process opens a database, reads it and ends; how many tables and indexes it saw."""
    done = subprocess.run([sys.executable, "-c", _PASSER_BY, str(file)], capture_output=True, check=True)
    return int(done.stdout)


BESIDE: dict[str, Callable[[Path], object]] = {
    "a second journal": lambda folder: Journal(folder).close(),
    "the access log": lambda folder: AccessLog(folder).close(),
    "the same file made private": lambda folder: make_private(folder / DATABASE),
    "the folder kept in a copy": lambda folder: keep_folders(
        {"all": folder.parent}, folder / "copy.tar", without=folder
    ),
}


@pytest.mark.parametrize("case", BESIDE)
def test_what_a_process_does_beside_its_journal_leaves_its_locks(case: str, tmp_path: Path) -> None:
    (folder := tmp_path / "state").mkdir()
    with contextlib.closing(Journal(folder)) as journal:
        BESIDE[case](folder)
        passes_by(folder / DATABASE)
        assert (folder / f"{DATABASE}-wal").exists(), "the other process believed itself the last"
        tables = passes_by(folder / DATABASE)
        journal.tell("CREATE TABLE later (one TEXT)")
        assert passes_by(folder / DATABASE) == tables + 1


def test_a_cache_that_is_used_leaves_the_locks_of_a_connection_to_it(tmp_path: Path) -> None:
    cache, file = Cache(tmp_path), tmp_path / FILE_NAME
    cache.store({b"key": b"value"})
    with contextlib.closing(sqlite3.connect(file)) as held:
        assert held.execute("SELECT count(*) FROM entries_1").fetchone() == (1,)
        assert cache.load([b"key"]) == {b"key": b"value"}
        passes_by(file)
        assert file.with_name(f"{FILE_NAME}-wal").exists()


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
def test_a_link_in_a_folder_that_others_may_write_is_refused(ending: str, tmp_path: Path) -> None:
    """What is behind it may be any file of the user's, which would be written into."""
    (folder := tmp_path / "shared").mkdir()
    folder.chmod(0o777)
    victims = [tmp_path / f"victim of {name}" for name in (DATABASE, FILE_NAME)]
    for name, victim in zip((DATABASE, FILE_NAME), victims, strict=True):
        victim.touch()
        (folder / f"{name}{ending}").symlink_to(victim)
    with pytest.raises(JournalError, match="is a link in a folder that others may write"):
        Journal(folder)
    Cache(folder).store({b"key": b"value"})
    assert Cache(folder).load([b"key"]) == {}
    assert [victim.read_bytes() for victim in victims] == [b"", b""]


def test_a_link_that_only_its_owner_can_have_made_is_followed(tmp_path: Path) -> None:
    (folder := tmp_path / "own").mkdir(mode=0o700)
    (folder / DATABASE).symlink_to(tmp_path / "elsewhere.db")
    (tmp_path / "elsewhere.db").touch()
    with contextlib.closing(Journal(folder)) as journal:
        assert journal.new_name(NOW)
    assert (tmp_path / "elsewhere.db").stat().st_size > 0
    assert (tmp_path / "elsewhere.db").stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / DATABASE, 0o644)  # opening it would wait for ever
    with pytest.raises(JournalError, match="no regular file"):
        Journal(tmp_path)
    assert (tmp_path / DATABASE).stat().st_mode & 0o777 == 0o644
