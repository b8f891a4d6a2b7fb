"""The undo of files: to the letter where nothing was written since, by lines where something was."""

import os

import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.errors import RefusedChangeError
from mem0_dream.pipeline.stores.files import digest, undo
from mem0_dream.pipeline.stores.files.undo import FileHistory, merge_lines, read_image


@pytest.fixture
def history(tmp_path):
    (tmp_path / "state").mkdir()
    opened = FileHistory(tmp_path / "state")
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path):
    """Five lines, private, old, and without a line feed at the end."""
    file = tmp_path / "notes.md"
    file.write_bytes(b"1\n2\n3\r\n4\n5")
    file.chmod(0o640)
    os.utime(file, ns=(1_000_000_007, 1_000_000_007))
    return file


def drop(history, path, line, **options):
    """Remove one line, as one step under its name."""
    now = read_image(path)
    kept = [each for each in now.data.split(b"\n") if each.strip() != line]
    history.write(path, b"\n".join(kept), before=now, key=line.decode(), **options)


def look(path):
    about = path.stat()
    return path.read_bytes(), about.st_mode & 0o777, about.st_mtime_ns


@pytest.mark.parametrize("order", ["321", "123", "213", "132"])
def test_every_step_is_taken_back_alone_and_all_of_them_to_the_letter(history, path, order):
    was = look(path)
    for line in (b"3", b"4", b"2"):
        drop(history, path, line)
    back = {"1": "3", "2": "4", "3": "2"}
    for number in order:
        history.take_back(path, back[number])
        assert back[number].encode() in path.read_bytes()
    assert look(path) == was


def test_what_others_wrote_since_stays(history, path):
    drop(history, path, b"2")
    path.write_bytes(path.read_bytes().replace(b"4", b"four") + b"\n6")
    history.take_back(path, "2")
    assert path.read_bytes() == b"1\n2\n3\r\nfour\n5\n6"


def test_the_same_lines_changed_since_are_left_alone(history, path):
    now = read_image(path)
    history.write(path, now.data.replace(b"4", b"iv"), before=now, key="4")
    path.write_bytes(path.read_bytes().replace(b"iv", b"vier"))
    with pytest.raises(RefusedChangeError, match="in the same place"):
        history.take_back(path, "4")
    assert b"vier" in path.read_bytes()


@pytest.mark.parametrize("theirs", [False, True])
def test_a_removed_and_a_new_file_turn_back_unless_others_wrote_there_since(history, path, tmp_path, theirs):
    was, new = look(path), tmp_path / "new" / "index.md"
    history.write(path, None, before=read_image(path), key="gone")
    history.write(new, b"first", before=None, key="new")
    assert not path.exists()
    for file, key in ((path, "gone"), (new, "new")):
        if not theirs:
            history.take_back(file, key)
            continue
        file.write_bytes(b"theirs")
        with pytest.raises(RefusedChangeError, match="changed since"):
            history.take_back(file, key)
        assert file.read_bytes() == b"theirs"
    assert theirs or (look(path) == was and not new.exists())


def test_a_write_is_refused_once_the_file_moved_or_is_read_only(history, path):
    before = read_image(path)
    path.write_bytes(b"theirs")
    with pytest.raises(RefusedChangeError, match="changed meanwhile"):
        history.write(path, b"ours", before=before, key="k")
    path.chmod(0o400)
    with pytest.raises(RefusedChangeError, match="read-only"):
        history.write(path, b"ours", before=read_image(path), key="k")
    assert path.read_bytes() == b"theirs"


def test_a_step_that_was_noted_and_never_taken_comes_back_as_it_is(history, path):
    was = look(path)
    history.note(str(path), read_image(path), b"never written", key="k")
    history.take_back(path, "k")
    assert look(path) == was


def test_many_steps_of_many_runs_are_taken_back_by_a_later_one(tmp_path, history, path, monkeypatch):
    """States are kept as differences, and as a whole once a run; few of them are in memory."""
    monkeypatch.setattr(undo, "_IN_MEMORY", 2)
    path.write_bytes(b"\n".join(b"line %d" % number for number in range(40)))
    was = look(path)
    for run in range(4):
        opened = FileHistory(tmp_path / "state")
        for number in range(run * 10, run * 10 + 10):
            drop(opened, path, b"line %d" % number)
        assert opened.ask("SELECT COUNT(*) FROM images WHERE base = ''")[0][0] == run + 1
        opened.close()
    for number in reversed(range(40)):
        history.take_back(path, f"line {number}")
    assert look(path) == was


def test_a_note_is_found_by_the_bytes_it_led_to_and_read_by_its_owner_alone(tmp_path, history, path):
    drop(history, path, b"2", note={"ids": ["a", "b"]})
    assert history.noted(str(path), digest(path.read_bytes())) == {"ids": ["a", "b"]}
    assert history.noted(str(path), digest(b"theirs")) is None
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "state").iterdir()} == {0o600}


def test_lines_both_changed_are_settled_by_the_caller():
    def united(base, ours, theirs):
        return [b"+".join([*ours, *theirs])] if base else None

    assert merge_lines([b"a"], [b"b"], [b"c"], resolve=united) == [b"b+c"]
    assert merge_lines([b"a"], [b"b"], [b"c"]) is None
    assert merge_lines([b"a", b"b", b"c"], [b"c"], [b"a"]) == []
    assert merge_lines([b"a"], [b"a", b"x"], [b"a", b"y"], order=[b"a", b"y", b"x"]) == [b"a", b"y", b"x"]


texts = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), max_size=6)


@settings(deadline=None)
@given(base=texts, ours=texts, theirs=texts)
def test_one_side_alone_wins_and_a_merge_invents_nothing(base, ours, theirs):
    assert merge_lines(base, ours, base) == ours
    assert merge_lines(base, base, theirs) == theirs
    assert merge_lines(base, ours, ours) == ours
    both = merge_lines(base, ours, theirs)
    assert both is None or set(both) <= {*base, *ours, *theirs}


@settings(deadline=None)
@given(lines=st.lists(st.integers(0, 99), unique=True, min_size=3, max_size=12), data=st.data())
def test_a_line_dropped_comes_back_beside_any_other_change(lines, data):
    whole = [str(line).encode() for line in lines]
    dropped = data.draw(st.sampled_from(whole))
    base = [line for line in whole if line != dropped]
    theirs = [line for line in base if data.draw(st.booleans())] + [b"new"]
    merged = merge_lines(base, whole, theirs, order=whole)
    assert merged is not None
    assert sorted(merged) == sorted([*theirs, dropped])
