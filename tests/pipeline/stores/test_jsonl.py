"""Exports in, decisions out: four published formats, fields of one's own, and files that are none."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mem0_dream.errors import ConfigError, DreamError, UsageError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import Add, Delete, Retire, ScopeFilter, Update
from mem0_dream.pipeline.stores.jsonl import JsonlStore, read_mapping
from mem0_dream.records import Scope
from mem0_dream.settings import Settings

EVERYTHING = ScopeFilter()
NOW = datetime(2026, 11, 21, tzinfo=UTC)
KEYWORDS = Settings(scorer="keywords", max_delete=1.0, min_delete=0)
A, B, C = "Deploys the shop on Tuesdays.", "deploys the shop on Tuesdays", "Sings alto in the choir of Leeds."
DAY = "2026-09-01T10:00:00+00:00"
EXPORTS = json.loads(Path(__file__).with_name("exports.json").read_text(encoding="utf-8"))


def export(folder: Path, *rows: Any, name: str = "export.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize("named", [True, False], ids=["by name", "by what it holds"])
@pytest.mark.parametrize("preset", EXPORTS)
def test_a_published_format_is_read_consolidated_and_taken_back(tmp_path, preset, named):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(EXPORTS[preset]))
    before, beside = file.read_bytes(), tmp_path / "export.dreamed.json"
    store = JsonlStore(file, mapping=preset if named else None)
    memories = store.read(EVERYTHING).memories
    assert [memory.text for memory in memories] == [A, B, C]
    assert {memory.category for memory in memories} == {"work"}
    assert {memory.created_at for memory in memories} == {datetime(2026, 9, 1, 10, tzinfo=UTC)}
    with Session(store, settings=KEYWORDS) as session:
        result = session.apply(session.propose(EVERYTHING, now=NOW, unattended=True), now=NOW)
        assert (result.merged, file.read_bytes()) == (1, before)
        written = json.loads(beside.read_text())
        (where,) = (key for key, value in EXPORTS[preset].items() if isinstance(value, list) and value)
        assert written | {where: None} == EXPORTS[preset] | {where: None}
        kept = [row["text"] if preset == "hindsight" else row for row in written[where]]
        assert len(kept) == 2
        assert session.propose(EVERYTHING, now=NOW).actions == ()
        session.undo(now=NOW)
    assert (beside.exists(), file.read_bytes()) == (False, before)


def test_fields_are_named_and_lines_that_do_not_change_stay_to_the_letter(tmp_path: Path) -> None:
    rows = [
        {"uuid": "1", "content": {"said": A}, "project": "shop", "lang": "en"},
        {"uuid": "2", "content": {"said": C}},
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text(f"{json.dumps(rows[0])}\n\n{json.dumps(rows[1], separators=(',', ':'))}\n")
    store = JsonlStore(file, mapping="text=content.said,id=uuid,scope=project")
    first, _ = store.read(EVERYTHING).memories
    assert (first.text, first.scope, first.metadata) == (A, Scope.of(user_id="shop"), {"lang": "en"})
    store.write(Update("1", B))
    lines = (tmp_path / "notes.dreamed.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {**rows[0], "content": {"said": B}}
    assert lines[1] == file.read_text().splitlines()[2]
    store.write(Update("1", A))
    assert not (tmp_path / "notes.dreamed.jsonl").exists()


@pytest.mark.parametrize("decides", [False, True])
def test_a_text_may_hold_ends_of_lines_of_other_programs_and_halves_of_signs(tmp_path, decides):
    """A lone surrogate is a text in JavaScript, and no UTF-8."""
    file, decisions = tmp_path / "export.jsonl", tmp_path / "decisions.jsonl" if decides else None
    kept = json.dumps({"id": "1", "text": f"{A}\u2028more\x85"}, ensure_ascii=False) + "\r\n"
    file.write_bytes((kept + json.dumps({"id": "2", "text": "Half a \ud83d"}) + "\n").encode())
    for text in (f"{C}\u2028more", "The other half \ude00"):
        JsonlStore(file, decisions=decisions).write(Update("2", text))
        found = JsonlStore(file, decisions=decisions).read(EVERYTHING)
        told = [memory.text for memory in found.memories]
        assert (told, found.gaps) == ([f"{A}\u2028more\x85", text], ())
    assert decides or (tmp_path / "export.dreamed.jsonl").read_bytes().startswith(kept.encode())


def test_halves_of_signs_are_merged_remembered_and_taken_back(tmp_path):
    club = "Runs the Leeds marathon every spring with the Otley harriers club"
    texts = (f"Trains on hills \ud83d. {club}.", f"{club}. Wears carbon shoes \ude00.")
    file = export(tmp_path, *({"id": str(number), "text": text} for number, text in enumerate(texts)))
    for _ in range(2):  # what the first pass found is not always in the cache
        with Session(JsonlStore(file), settings=KEYWORDS, state_dir=tmp_path) as session:
            result = session.apply(session.propose(EVERYTHING, now=NOW), now=NOW)
            assert result.merged == 1
            session.undo(now=NOW)
            session.withdraw(session.answered)
            assert {memory.text for memory in session.read(EVERYTHING).memories} == {*texts}


def test_an_id_that_no_journal_can_keep_is_left_alone(tmp_path):
    file = export(tmp_path, {"id": "1", "text": A}, {"id": "\ud83d", "text": A})
    with Session(JsonlStore(file), settings=KEYWORDS) as session:
        assert session.propose(EVERYTHING, now=NOW, unattended=True).actions == ()


def test_what_hindsight_invalidated_is_retired(tmp_path: Path) -> None:
    row = {"id": "1", "text": A, "fact_type": "world", "state": "invalidated"}
    row |= {"invalidated_at": DAY, "edited_at": DAY}
    (memory,) = JsonlStore(export(tmp_path, row), mapping="hindsight").read(EVERYTHING).memories
    assert memory.is_retired(NOW.date())
    assert memory.updated_at == datetime.fromisoformat(DAY)


def test_lines_of_several_users_stay_theirs(tmp_path: Path) -> None:
    rows = [{"id": user, "text": A, "user_id": user, "fact_type": "x"} for user in ("alice", "bob")]
    store = JsonlStore(export(tmp_path, *rows))
    assert [str(m.scope) for m in store.read(EVERYTHING).memories] == ["user_id=alice", "user_id=bob"]


def test_decisions_say_what_the_owner_has_to_do(tmp_path: Path) -> None:
    texts = zip("123", (A, B, C), strict=True)
    file = export(tmp_path, *({"id": n, "text": text, "user_id": "a"} for n, text in texts))
    decisions = tmp_path / "decisions.jsonl"
    store = JsonlStore(file, decisions=decisions)
    before = store.fetch(["1", "2", "3"])
    store.write(Delete("2"))
    store.write(Update("1", "Deploys the shop on Fridays."))
    store.write(Retire("3", NOW.date(), {"superseded_by": "1"}))
    added = store.write(Add("Likes tea", Scope.of(user_id="a"), {}, NOW, mark="m"))
    told = [json.loads(line) for line in decisions.read_text().splitlines()]
    assert [(each["action"], each["id"], each["was"]) for each in told] == [
        ("rewrite", "1", A), ("delete", "2", B), ("supersede", "3", C), ("add", added, None),
    ]  # fmt: skip
    assert told[2]["row"]["expiration_date"] == NOW.date().isoformat()
    assert store.find_mark("m", Scope.of(user_id="a")) == added
    again = JsonlStore(file, decisions=decisions)
    assert again.read(EVERYTHING) == store.read(EVERYTHING)
    told_again = [memory.text for memory in again.read(EVERYTHING).memories]
    assert sorted(told_again) == sorted(["Deploys the shop on Fridays.", C, "Likes tea"])
    # The owner carries them out, in part: what is gone is no longer decided about.
    export(tmp_path, {"id": "1", "text": A, "user_id": "a"}, {"id": "3", "text": C, "user_id": "a"})
    assert not JsonlStore(file, decisions=decisions).read(EVERYTHING).gaps
    export(tmp_path, {"id": "1", "text": "Changed since.", "user_id": "a"})
    gaps = JsonlStore(file, decisions=decisions).read(EVERYTHING).gaps
    assert gaps == ("export.jsonl changed since 1 decisions were made; move decisions.jsonl away",)
    assert before["1"].payload["row"]["text"] == A


def test_a_newer_export_is_not_mixed_with_what_was_written_before(tmp_path: Path) -> None:
    import os

    file = export(tmp_path, {"id": "1", "text": A}, {"id": "2", "text": B})
    store = JsonlStore(file)
    store.write(Delete("2"))
    assert not store.read(EVERYTHING).gaps
    later = (tmp_path / "export.dreamed.jsonl").stat().st_mtime + 5
    os.utime(file, (later, later))
    (gap,) = store.read(EVERYTHING).gaps
    assert gap == "export.jsonl is newer than export.dreamed.jsonl; move that away to begin anew"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"id": "1", "text": "x"}', "{broken"], "record 2 of f.jsonl is no JSON object"),
        (['{"id": "1", "text": "x"}', '{"id": "1", "text": "y"}'], "the id 1 stands twice in f.jsonl"),
        (['{"id": "1", "text": "x"}', '{"id": "2", "text": 7}'], "record 2 of f.jsonl has no text"),
        (
            ['{"items": [{"id": "1", "text": "x"}], "total": 9}'],
            "f.jsonl is one page: it holds 1 of 9 records",
        ),
        (
            ['{"results": [{"id": "1", "memory": "x"}], "count": 2}'],
            "f.jsonl is one page: it holds 1 of 2 records",
        ),
    ],
)
def test_what_cannot_be_read_makes_it_read_only(tmp_path: Path, lines: list[str], told: str) -> None:
    (tmp_path / "f.jsonl").write_text("\n".join(lines))
    assert JsonlStore(tmp_path / "f.jsonl").read(EVERYTHING).gaps == (told,)


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "none.jsonl").write_text("hello\n")
    other = export(tmp_path, {"not": "ours"}, name="other.jsonl")
    good = export(tmp_path, {"id": "1", "text": A})
    for make, told in (
        (lambda: JsonlStore(tmp_path / "gone"), "cannot be read: No such file"),
        (lambda: JsonlStore(tmp_path / "binary"), "no text in UTF-8"),
        (lambda: JsonlStore(tmp_path / "none.jsonl"), "holds no memory that can be read"),
        (lambda: JsonlStore(good, decisions=good), "is the export itself"),
        (lambda: JsonlStore(good, decisions=other), "holds no decisions of mem0-dream"),
        (lambda: read_mapping("letta"), "'letta' is no preset"),
        (lambda: read_mapping("mem0,colour=x"), "maps nothing"),
    ):
        with pytest.raises(DreamError, match=told) as raised:
            make()
        assert isinstance(raised.value, ConfigError | UsageError)
        assert "\n" not in str(raised.value)


def test_the_command_line_reads_an_export(tmp_path: Path) -> None:
    rows = [{"id": f"{n}", "text": text} for n, text in enumerate((A, B, C))]
    file, decisions = export(tmp_path, *rows), tmp_path / "d.jsonl"
    options = ("--decisions", str(decisions), "--all", "--scorer", "keywords", "--max-delete", "1")
    words = ["jsonl", str(file), *options]
    done = CliRunner().invoke(main, [*words, "--auto"])
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["action"] for line in decisions.read_text().splitlines()] == ["amend", "delete"]
    (looked_at := tmp_path / "other.jsonl").write_text(file.read_text())
    assert CliRunner().invoke(main, ["jsonl", str(looked_at), "--all", "--dry-run"]).exit_code == 0
    assert CliRunner().invoke(main, ["undo"]).exit_code == 0  # of the one store that has a run
    assert not decisions.exists()
    assert "Name the export" in CliRunner().invoke(main, ["jsonl", "--all"]).output
    for text, told in (("x: 's3cret", "is no valid YAML: line 1"), ("mem0_dream: 90d", "must hold settings")):
        (settings := tmp_path / "s.yaml").write_text(text)
        refused = CliRunner().invoke(main, [*words, "--config", str(settings)])
        assert (refused.exit_code, told in refused.stderr, "s3cret" in refused.output) == (2, True, False)
    for folder in (".", "/"):
        assert "Is a directory" in CliRunner().invoke(main, ["jsonl", folder, "--all"]).output


def test_a_graph_and_an_export_are_told_apart(tmp_path: Path) -> None:
    entity = {"type": "entity", "name": "a", "entityType": "b", "observations": []}
    graph = export(tmp_path, entity, name="g.jsonl")
    files = (graph, export(tmp_path, {"id": "1", "text": A}))
    assert [open_store(file, state_dir=tmp_path).kind for file in files] == ["graph", "jsonl"]
