"""The Markdown store: reads everything, changes single spans, gives back every byte."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_bytes import MARKDOWN
from markdown_trees import MEMORY, fingerprint, memory_file, open_store, write_tree
from mem0_dream.errors import RefusedChangeError, UsageError
from mem0_dream.pipeline.stores.base import Add, Delete, Restore, Retire, ScopeFilter, Update
from mem0_dream.pipeline.stores.markdown.document import whole_id

EVERYTHING = ScopeFilter()
LIST = "# Notes\r\n\r\n- alpha one\r\n- beta two\r\n  more\r\n\r\n- gamma three\r\n"


def _ids(store) -> list[str]:
    return [memory.id for memory in store.read(EVERYTHING).memories]


def _entry(store, text: str) -> str:
    return next(memory.id for memory in store.read(EVERYTHING).memories if memory.text.startswith(text))


def test_files_and_entries_become_memories(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {f"{MEMORY}/a.md": memory_file("Body.", name="A", kind="User"), f"{MEMORY}/l.md": LIST}
    )
    memories = open_store(tmp_path, tmp_path / "state").read(EVERYTHING).memories
    assert [(m.text, m.category) for m in memories if "#" not in m.id] == [("Body.", "user")]
    assert sorted(m.text for m in memories if "#" in m.id) == ["alpha one", "beta two\nmore", "gamma three"]


def test_index_logs_and_sessions_are_no_memories(tmp_path: Path) -> None:
    names = [
        "MEMORY.md",
        "logs/2026/11/2026-11-20.md",
        "sessions/x.md",
        ".hidden.md",
        "note.txt",
        "README.md",
        "MEMORY_OLD.md",
    ]
    kept = ["a.md", "memory_1.md"]
    write_tree(tmp_path, {f"{MEMORY}/{name}": "Text of it." for name in [*names, *kept]})
    assert _ids(open_store(tmp_path, tmp_path / "state")) == [f"{MEMORY}/{name}" for name in kept]


def test_the_date_comes_from_the_frontmatter_first(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": memory_file("Body.", date="2026-03-04")})
    memory = open_store(tmp_path, tmp_path / "state").read(EVERYTHING).memories[0]
    assert memory.stated_at is not None
    assert memory.stated_at.date().isoformat() == "2026-03-04"


def test_the_history_of_the_repository_beats_the_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a b.md": "Body text."})
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": "2025-02-03T04:05:06Z",
        "GIT_COMMITTER_DATE": "2025-02-03T04:05:06Z",
    }
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, env=env)
    memory = open_store(tmp_path, tmp_path / "state").read(EVERYTHING).memories[0]
    assert memory.stated_at is not None
    assert memory.stated_at.isoformat() == "2025-02-03T04:05:06+00:00"


@pytest.mark.parametrize("more", ["pinned: true\n", "critical: true\n", "metadata:\n  pinned: true\n"])
def test_a_pinned_file_is_pinned(tmp_path: Path, more: str) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": memory_file("Body.", more=more)})
    assert open_store(tmp_path, tmp_path / "state").read(EVERYTHING).memories[0].pinned


def test_a_link_is_read_and_never_changed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"outside.md": "Outside text.", f"{MEMORY}/a.md": "Body text."})
    (tmp_path / MEMORY / "link.md").symlink_to(tmp_path / "outside.md")
    store = open_store(tmp_path, tmp_path / "state")
    linked = next(m for m in store.read(EVERYTHING).memories if m.id.endswith("link.md"))
    assert linked.pinned
    for change in (Update(linked.id, "new"), Delete(linked.id)):
        with pytest.raises(RefusedChangeError):
            store.write(change)
    assert (tmp_path / "outside.md").read_text() == "Outside text."


@pytest.mark.parametrize("name", ["../outside.md", "a/../../outside.md", "/etc/passwd"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text.", f"{MEMORY}/a/b.md": "x y z"})
    with pytest.raises(UsageError):
        open_store(tmp_path, tmp_path / "state").write(Delete(f"{MEMORY}/{name}"))


def test_a_linked_folder_leads_nowhere(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text.", "elsewhere/b.md": "x y z"})
    (tmp_path / MEMORY / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        open_store(tmp_path, tmp_path / "state").write(Update(f"{MEMORY}/sub/b.md", "new"))


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")
    store.read(EVERYTHING)
    (tmp_path / MEMORY / "a.md").write_text("Body text.\nMore by the agent.")
    for change in (Update(f"{MEMORY}/a.md", "new"), Delete(f"{MEMORY}/a.md")):
        with pytest.raises(RefusedChangeError, match="changed"):
            store.write(change)


def test_an_update_of_a_file_keeps_frontmatter_mark_and_endings(tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf---\r\nz: 1 # why\r\na: 2\r\n---\r\n\r\nOne.\r\nTwo.\r\n\r\n\r\n"
    write_tree(tmp_path, {f"{MEMORY}/a.md": before})
    store = open_store(tmp_path, tmp_path / "state")
    store.write(Update(f"{MEMORY}/a.md", "One.\nThree."))
    assert (tmp_path / MEMORY / "a.md").read_bytes() == before.replace(b"Two.", b"Three.")


def test_entries_keep_their_names_while_neighbours_change(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/l.md": LIST})
    store = open_store(tmp_path, tmp_path / "state")
    alpha, beta, gamma = (_entry(store, text) for text in ("alpha", "beta", "gamma"))
    store.write(Update(beta, "beta is new\nand long"))
    store.write(Delete(alpha))
    again = open_store(tmp_path, tmp_path / "state")
    assert sorted(_ids(again)) == sorted([beta, gamma])
    assert again.parse(again.fetch([beta])[beta]).text == "beta is new\nand long"
    expected = b"# Notes\r\n\r\n- beta is new\r\n  and long\r\n\r\n- gamma three\r\n"
    assert (tmp_path / MEMORY / "l.md").read_bytes() == expected


def test_equal_entries_are_told_apart(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/l.md": "- same\n- other\n- same\n"})
    before = fingerprint(tmp_path)
    store = open_store(tmp_path, tmp_path / "state")
    first = next(i for i in _ids(store) if i.endswith(".2"))
    snapshot = store.fetch([first])[first]
    store.write(Delete(first))
    assert (tmp_path / MEMORY / "l.md").read_text() == "- same\n- other\n"
    store.write(Restore(snapshot))
    assert {k: v for k, v in fingerprint(tmp_path).items() if "state" not in k} == before


def test_our_own_write_makes_no_memory_younger(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/l.md": LIST})
    store = open_store(tmp_path, tmp_path / "state")
    gamma = _entry(store, "gamma")
    stated = store.parse(store.fetch([gamma])[gamma]).stated_at
    store.write(Delete(_entry(store, "alpha")))
    assert store.parse(store.fetch([gamma])[gamma]).stated_at == stated


def test_what_goes_stands_in_the_archive(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text.", f"{MEMORY}/l.md": LIST})
    store = open_store(tmp_path, tmp_path / "state")
    store.write(Delete(_entry(store, "Body")))
    store.write(Delete(_entry(store, "alpha")))
    kept = sorted(path.read_text() for path in store.archive.rglob("*.md*") if path.is_file())
    assert kept == ["Body text.", "alpha one"]


def test_a_file_that_cannot_be_written_is_refused_not_a_crash(tmp_path: Path, monkeypatch) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(RefusedChangeError, match="cannot be removed"):
        store.write(Delete(f"{MEMORY}/a.md"))


def test_an_unreadable_file_is_a_gap(tmp_path: Path, monkeypatch) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text.", f"{MEMORY}/b.md": "Other text."})
    store = open_store(tmp_path, tmp_path / "state")
    read = Path.read_bytes

    def refuse(self: Path) -> bytes:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return read(self)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    inventory = store.read(EVERYTHING)
    assert (len(inventory.memories), inventory.complete) == (1, False)


def test_a_missing_index_can_be_written_and_taken_back(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")
    place = whole_id(f"{MEMORY}/MEMORY.md")
    snapshot = store.fetch([place])[place]
    store.write(Update(place, "# X\n"))
    index = tmp_path / MEMORY / "MEMORY.md"
    assert index.read_text() == "# X\n"
    store.write(Restore(snapshot))
    assert not index.exists()


@pytest.mark.parametrize("kind", ["add", "retire"])
def test_changes_it_cannot_make_are_refused(tmp_path: Path, kind: str) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")
    memory = store.read(EVERYTHING).memories[0]
    change = (
        Add("x", memory.scope, {}, None, "m") if kind == "add" else Retire(memory.id, memory.stated_at.date())
    )
    with pytest.raises(RefusedChangeError):
        store.write(change)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(MARKDOWN, min_size=1, max_size=3),
    picks=st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["update", "delete"])), max_size=6),
)
def test_any_changes_taken_back_in_reverse_leave_every_byte_and_time(tmp_path_factory, files, picks) -> None:
    root = tmp_path_factory.mktemp("tree")
    state = tmp_path_factory.mktemp("state")
    write_tree(
        root, {f"{MEMORY}/{number}.md": data for number, data in enumerate(files)} | {f"{MEMORY}/z.md": LIST}
    )
    before = fingerprint(root)
    store = open_store(root, state)
    ids = [memory.id for memory in store.read(EVERYTHING).memories if not memory.pinned]
    snapshots = store.fetch(ids)
    done: list[str] = []
    for number, kind in picks:
        memory_id = ids[number % len(ids)]
        if any(memory_id == other for other in done) or not store.fetch([memory_id]):
            continue
        try:
            store.write(Update(memory_id, f"new text {number}") if kind == "update" else Delete(memory_id))
        except RefusedChangeError:
            continue
        done.append(memory_id)
    again = open_store(root, state)
    for memory_id in reversed(done):
        again.write(Restore(snapshots[memory_id]))
    assert fingerprint(root) == before


def test_an_entry_comes_back_even_after_a_foreign_change(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/l.md": "- a first\n- b second\n- c third\n"})
    store = open_store(tmp_path, tmp_path / "state")
    second = _entry(store, "b second")
    snapshot = store.fetch([second])[second]
    store.write(Delete(second))
    path = tmp_path / MEMORY / "l.md"
    path.write_text(path.read_text() + "- d fourth\n")
    open_store(tmp_path, tmp_path / "state").write(Restore(snapshot))
    assert path.read_text() == "- a first\n- b second\n- c third\n- d fourth\n"


def test_a_file_a_person_changed_since_is_not_put_back(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")
    place = f"{MEMORY}/a.md"
    snapshot = store.fetch([place])[place]
    store.write(Update(place, "New text."))
    (tmp_path / place).write_text("Mine.")
    with pytest.raises(RefusedChangeError):
        store.write(Restore(snapshot))


def test_the_whole_file_view_reaches_everything(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{MEMORY}/a.md": "Body text."})
    store = open_store(tmp_path, tmp_path / "state")
    place = whole_id(f"{MEMORY}/new.md")
    store.write(Update(place, "---\nname: n\n---\n\n- fact one\n"))
    assert store.parse(store.fetch([place])[place]).text == "---\nname: n\n---\n\n- fact one\n"
