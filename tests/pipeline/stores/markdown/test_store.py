"""The Markdown store: reads everything, changes single spans, gives back every byte."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_trees import MARKDOWN, MEMORY, Project, git, memory_file
from mem0_dream.errors import RefusedChangeError, UsageError
from mem0_dream.pipeline.stores.base import Add, Delete, Restore, Retire, ScopeFilter, Update
from mem0_dream.pipeline.stores.markdown.document import whole_id

LIST = "# Notes\r\n\r\n- alpha one\r\n- beta two\r\n  more\r\n\r\n- gamma three\r\n"
BODY = f"{MEMORY}/a.md"


def _read(project: Project):
    return project.store().read(ScopeFilter()).memories


def _entry(project: Project, text: str) -> str:
    return next(memory.id for memory in _read(project) if memory.text.startswith(text))


def test_files_and_entries_become_memories(project):
    memories = _read(project.write(a=memory_file("Body.", name="A", kind="User"), l=LIST))
    assert [(m.text, m.category) for m in memories if "#" not in m.id] == [("Body.", "user")]
    assert sorted(m.text for m in memories if "#" in m.id) == ["alpha one", "beta two\nmore", "gamma three"]


def test_index_logs_and_sessions_are_no_memories(project):
    names = [
        "MEMORY", "logs/2026/11/2026-11-20", "sessions/x", ".hidden", "README", "MEMORY_OLD", "a", "memory_1",
    ]  # fmt: skip
    project.write({f"{MEMORY}/note.txt": "Text of it."}, **dict.fromkeys(names, "Text of it."))
    assert [memory.id for memory in _read(project)] == [BODY, f"{MEMORY}/memory_1.md"]


@pytest.mark.parametrize(
    ("body", "date"), [(memory_file("Body.", date="2026-03-04"), "2026-03-04"), ("Body text.", "2025-02-03")]
)
def test_the_date_comes_from_the_frontmatter_then_the_repository_before_the_file(project, body, date):
    root = project.write({f"{MEMORY}/a b.md": body}).root
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "m")
    assert _read(project)[0].stated_at.date().isoformat() == date


@pytest.mark.parametrize("more", ["pinned: true\n", "critical: true\n", "metadata:\n  pinned: true\n"])
def test_a_pinned_file_is_pinned(project, more):
    assert _read(project.write(a=memory_file("Body.", more=more)))[0].pinned


def test_a_link_is_read_and_never_changed(project):
    root = project.write({"outside.md": "Outside text."}, a="Body text.").root
    (root / MEMORY / "link.md").symlink_to(root / "outside.md")
    linked = next(m for m in _read(project) if m.id.endswith("link.md"))
    assert linked.pinned
    for change in (Update(linked.id, "new"), Delete(linked.id)):
        with pytest.raises(RefusedChangeError):
            project.store().write(change)
    assert (root / "outside.md").read_text() == "Outside text."


@pytest.mark.parametrize("name", ["../outside.md", "a/../../outside.md", "/etc/passwd", "sub/b.md"])
def test_a_path_that_leads_out_is_refused(project, name):
    root = project.write({"elsewhere/b.md": "x y z", f"{MEMORY}/a/b.md": "x y z"}, a="Body text.").root
    (root / MEMORY / "sub").symlink_to(root / "elsewhere")
    for change in (Delete(f"{MEMORY}/{name}"), Update(f"{MEMORY}/{name}", "new")):
        with pytest.raises(UsageError):
            project.store().write(change)


def test_an_update_of_a_file_keeps_frontmatter_mark_and_endings(project):
    before = b"\xef\xbb\xbf---\r\nz: 1 # why\r\na: 2\r\n---\r\n\r\nOne.\r\nTwo.\r\n\r\n\r\n"
    project.write({BODY: before}).store().write(Update(BODY, "One.\nThree."))
    assert (project.root / BODY).read_bytes() == before.replace(b"Two.", b"Three.")


def test_entries_keep_their_names_and_age_while_neighbours_change(project):
    alpha, beta, gamma = (_entry(project.write(l=LIST), text) for text in ("alpha", "beta", "gamma"))
    stated = {memory.id: memory.stated_at for memory in _read(project)}
    store = project.store()
    store.write(Update(beta, "beta is new\nand long"))
    store.write(Delete(alpha))
    assert {m.id: (m.text, m.stated_at) for m in _read(project)} == {
        beta: ("beta is new\nand long", stated[beta]),
        gamma: ("gamma three", stated[gamma]),
    }
    assert project.text("l") == "# Notes\r\n\r\n- beta is new\r\n  and long\r\n\r\n- gamma three\r\n"


def test_equal_entries_are_told_apart(project):
    store = project.write(l="- same\n- other\n- same\n").store()
    first = next(memory.id for memory in _read(project) if memory.id.endswith(".2"))
    snapshot = store.fetch([first])[first]
    store.write(Delete(first))
    assert project.text("l") == "- same\n- other\n"
    store.write(Restore(snapshot))
    assert project.same()


def test_what_goes_stands_in_the_archive(project):
    store = project.write(a="Body text.", l=LIST).store()
    store.write(Delete(BODY))
    store.write(Delete(_entry(project, "alpha")))
    kept = sorted(path.read_text() for path in store.archive.rglob("*.md*") if path.is_file())
    assert kept == ["Body text.", "alpha one"]


def test_an_unreadable_file_is_a_gap(project, monkeypatch):
    read = Path.read_bytes

    def refuse(self: Path) -> bytes:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return read(self)

    store = project.write(a="Body text.", b="Other text.").store()
    monkeypatch.setattr(Path, "read_bytes", refuse)
    inventory = store.read(ScopeFilter())
    assert (len(inventory.memories), bool(inventory.gaps)) == (1, True)


@pytest.mark.parametrize("name", ["MEMORY", "new"])
def test_a_missing_file_can_be_written_as_a_whole_and_taken_back(project, name):
    store, place = project.write(a="Body text.").store(), whole_id(f"{MEMORY}/{name}.md")
    snapshot, text = store.fetch([place])[place], "---\nname: n\n---\n\n- fact one\n"
    store.write(Update(place, text))
    assert project.text(name) == store.parse(store.fetch([place])[place]).text == text
    store.write(Restore(snapshot))
    assert project.same()


def test_changes_it_cannot_make_are_refused(project):
    (memory,) = _read(project.write(a="Body text."))
    for change in (Add("x", memory.scope, {}, None, "m"), Retire(memory.id, memory.stated_at.date())):
        with pytest.raises(RefusedChangeError):
            project.store().write(change)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(MARKDOWN, min_size=1, max_size=3),
    picks=st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["update", "delete"])), max_size=6),
)
def test_any_changes_taken_back_in_reverse_leave_every_byte_and_time(tmp_path_factory, files, picks):
    drawn = {f"{MEMORY}/{number}.md": data for number, data in enumerate(files)}
    project = Project(tmp_path_factory.mktemp("tree")).write(drawn, z=LIST)
    store = project.store()
    ids = [memory.id for memory in store.read(ScopeFilter()).memories if not memory.pinned]
    snapshots = store.fetch(ids)
    done: list[str] = []
    for number, kind in picks:
        memory_id = ids[number % len(ids)]
        if memory_id in done or not store.fetch([memory_id]):
            continue
        try:
            store.write(Update(memory_id, f"new text {number}") if kind == "update" else Delete(memory_id))
        except RefusedChangeError:
            continue
        done.append(memory_id)
    again = project.store()
    for memory_id in reversed(done):
        again.write(Restore(snapshots[memory_id]))
    assert project.same()


def test_an_entry_comes_back_even_after_a_foreign_change(project):
    text = "- a first\n- b second\n- c third\n"
    second, store = _entry(project.write(l=text), "b second"), project.store()
    snapshot = store.fetch([second])[second]
    store.write(Delete(second))
    (project.root / MEMORY / "l.md").write_text(project.text("l") + "- d fourth\n")
    project.store().write(Restore(snapshot))
    assert project.text("l") == f"{text}- d fourth\n"
