"""Hidden copies that a killed process left: what is on record is removed, anything else is named, the living's stay."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from mem0_dream.pipeline.stores.files.exchange import leftovers
from mem0_dream.pipeline.stores.files.undo import FileHistory, Image


def ended() -> int:
    """The number of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return process.pid


def copy_of(file: Path, data: bytes, *, by: int) -> Path:
    path = file.with_name(f".{file.name}.{by}.mem0-dream.tmp")
    path.write_bytes(data)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (folder := tmp_path / "memories").mkdir()
    (folder / "tea.md").write_bytes(b"Likes tea")
    return folder / "tea.md"


@pytest.mark.parametrize("data", [b"Likes tea", b"Likes green tea"])
def test_what_was_to_be_written_or_was_replaced_is_on_record_and_goes(
    file: Path, data: bytes, own_state: Path
) -> None:
    with closing(FileHistory(own_state)) as history:
        history.note(str(file), Image(b"Likes tea"), b"Likes green tea", key="m1")
        copy = copy_of(file, data, by=ended())
        assert history.tidy(file.parent) == []
    assert not copy.exists()


def test_what_somebody_else_wrote_at_that_moment_is_named_and_stays(file: Path, own_state: Path) -> None:
    copy = copy_of(file, b"Likes coffee", by=ended())
    with closing(FileHistory(own_state)) as history:
        (told,) = history.tidy(file.parent)
    assert told.startswith(f"{copy} holds what another program wrote into tea.md")
    assert "coffee" not in told
    assert copy.read_bytes() == b"Likes coffee"


def test_what_a_living_process_writes_is_left_to_it(file: Path) -> None:
    copy_of(file, b"Likes tea", by=os.getpid())
    assert list(leftovers(file.parent)) == []


def test_a_process_that_began_later_only_bears_the_number(file: Path) -> None:
    """As in a container, where each pass is the first process."""
    import psutil

    copy = copy_of(file, b"Likes tea", by=ended())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as later:
        until = psutil.Process(later.pid).create_time()
        named = copy.rename(file.with_name(f".tea.md.{later.pid}.mem0-dream.tmp"))
        while named.stat().st_ctime <= until:  # renaming dates it, so it is the later one's
            named.chmod(0o600)
        assert list(leftovers(file.parent)) == []
        later.communicate(b"\n")
    assert list(leftovers(file.parent)) == [(named, file)]


@pytest.mark.parametrize(
    "name", [".tea.md.x.mem0-dream.tmp", "tea.md.1.mem0-dream.tmp", ".tea.md.mem0-dream.tmp"]
)
def test_nothing_else_is_taken_for_one(file: Path, name: str) -> None:
    file.with_name(name).write_bytes(b"")
    file.with_name(f".tea.md.{ended()}.mem0-dream.tmp").symlink_to(file)
    assert list(leftovers(file.parent)) == []
