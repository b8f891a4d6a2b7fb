"""A file takes the place of another; what somebody else writes in the same moment is never lost."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import other_writer
import pytest
from mem0_dream.errors import RefusedChangeError, StoreLockedError
from mem0_dream.pipeline.stores.files import exchange
from mem0_dream.pipeline.stores.files.exchange import keeps_waiting, lease, replace_file

OTHER = Path(other_writer.__file__)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "m.jsonl"
    file.write_bytes(b"old")
    return file


@pytest.fixture
def waiting(path):
    """Skips where other programs cannot be kept waiting."""
    if not keeps_waiting(path):
        pytest.skip("this system has no leases")


def in_the_moment(monkeypatch, *, before=lambda: None, after=lambda: None):
    """Do something just before, or just after, two files are exchanged."""
    real = exchange._exchange

    def exchanging(one, other):
        before()
        done = real(one, other)
        if not done:
            pytest.skip("this system cannot exchange two files in one step")
        after()
        return done

    monkeypatch.setattr(exchange, "_exchange", exchanging)


def refused(path, match=None):
    with pytest.raises(RefusedChangeError, match=match):
        replace_file(path, b"ours", before=b"old")


def renamed_over(path, data):
    new = path.with_name("theirs.tmp")
    new.write_bytes(data)
    new.replace(path)


def test_a_file_is_replaced_only_as_it_was_read_and_keeps_its_mode(path):
    path.write_bytes(b"theirs")
    path.chmod(0o640)
    refused(path)
    assert path.read_bytes() == b"theirs"
    replace_file(path, b"ours", before=b"theirs")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"ours", 0o640)
    assert list(path.parent.iterdir()) == [path]


def test_a_new_file_takes_no_place(tmp_path):
    path = tmp_path / "new" / "m.jsonl"
    replace_file(path, b"ours", before=None)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"ours", 0o600)
    with pytest.raises(RefusedChangeError):
        replace_file(path, b"again", before=None)


@pytest.mark.parametrize("leased", [True, False])
def test_a_rename_at_the_very_last_moment_stands(path, monkeypatch, leased):
    if not leased:
        monkeypatch.setattr(exchange, "lease", lambda *_, **__: "none")
    theirs = [b"theirs, longer"]
    in_the_moment(monkeypatch, before=lambda: renamed_over(path, theirs.pop()) if theirs else None)
    refused(path, "at the same moment")
    assert path.read_bytes() == b"theirs, longer"
    assert list(path.parent.iterdir()) == [path]


def test_a_rename_right_after_ours_stands(path, monkeypatch):
    in_the_moment(monkeypatch, after=lambda: renamed_over(path, b"theirs"))
    refused(path, "at the same moment")
    assert path.read_bytes() == b"theirs"


def test_nobody_reads_ours_while_theirs_is_in_our_hands(path, monkeypatch, waiting):
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(path.read_bytes()))

    def reading():
        reader.start()
        reader.join(0.1)
        assert seen == []

    in_the_moment(monkeypatch, before=lambda: renamed_over(path, b"theirs"), after=reading)
    refused(path)
    reader.join()
    assert seen == [b"theirs"]


def test_who_writes_into_the_old_file_is_waited_for(path, monkeypatch, waiting):
    writer = threading.Thread(target=lambda: path.write_bytes(b"theirs"))

    def writing():
        writer.start()
        writer.join(0.1)

    in_the_moment(monkeypatch, before=writing)
    refused(path, "at the same moment")
    writer.join()
    assert path.read_bytes() == b"theirs"


def test_a_file_that_stays_open_for_writing_is_locked(path, monkeypatch, waiting):
    monkeypatch.setattr(exchange, "WRITER_SECONDS", 0.05)
    with path.open("r+b"), pytest.raises(StoreLockedError, match="is writing"):
        replace_file(path, b"ours", before=b"old")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("exchanges", [True, False])
def test_where_nobody_can_be_kept_waiting_the_caller_may_refuse(path, monkeypatch, exchanges):
    def refuse():
        raise StoreLockedError("a server runs")

    if exchanges:
        monkeypatch.setattr(exchange, "lease", lambda *_, **__: "none")
    else:
        monkeypatch.setattr(exchange, "_exchange", lambda *_: False)
    with pytest.raises(StoreLockedError, match="a server runs"):
        replace_file(path, b"ours", before=b"old", unguarded=refuse)
    assert path.read_bytes() == b"old"
    replace_file(path, b"ours", before=b"old")
    assert path.read_bytes() == b"ours"
    assert list(path.parent.iterdir()) == [path]


def test_on_another_system_a_file_is_renamed(path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    asked = []
    replace_file(path, b"ours", before=b"old", unguarded=lambda: asked.append(True))
    refused(path)
    assert (path.read_bytes(), asked, keeps_waiting(path)) == (b"ours", [True], False)


@pytest.mark.parametrize("way", ["renames", "writes in place"])
def test_a_program_that_writes_without_end_loses_nothing(path, way, waiting):
    command = [sys.executable, str(OTHER), str(path), way, "2"]
    told: Counter[str] = Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        while other.poll() is None:
            with path.open("rb") as file:
                lease(file, patience=1)
                before = file.read()
            theirs = [line for line in before.split(b"\n") if not line.startswith(b"ours")]
            try:
                replace_file(path, b"\n".join([*theirs, b"ours"]), before=before)
            except RefusedChangeError as refused:
                told[str(refused)] += 1
        assert other.stdout is not None
        count = int(other.stdout.read())
    assert count > 0
    assert told
    assert {f"theirs {number}" for number in range(count)} <= set(path.read_text().split("\n"))
    assert list(path.parent.iterdir()) == [path]
