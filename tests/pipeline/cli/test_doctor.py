"""Links to memories that are gone are counted, dropped on request, and named again by an undo."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.base import Add, Update
from mem0_dream.pipeline.stores.mem0 import store as mem0_store
from mem0_dream.pipeline.stores.mem0.rows import Backend
from mem0_dream.pipeline.stores.mem0.store import EntityLinks, Mem0Store
from mem0_dream.records import Scope
from mem0_stores import Place

pytestmark = pytest.mark.store


def run(place: Place, *words: str, answers: str = "", code: int = 0) -> Result:
    config = Path(place.config["history_db_path"]).parent / "mem0.json"
    config.write_text(json.dumps(place.config))
    done = CliRunner().invoke(main, [*words, "--config", str(config)], input=answers)
    assert not isinstance(done.exception, Exception), done.exception
    assert done.exit_code == code, done.output
    return done


def links(place: Place) -> dict[str, tuple[Any, ...]]:
    store = place.open()
    try:
        entities = store.backend.entities()
        assert entities is not None
        rows = entities.get([row.id for row in entities.rows({})])
        return {key: (dict(row.payload), row.vector) for key, row in sorted(rows.items())}
    finally:
        store.close()


def forgotten(place: Place, memory_id: str) -> None:
    fresh = place.memory()
    fresh.delete(memory_id)
    Mem0Store(fresh, owned=True).close()


@pytest.fixture
def orphaned(place):
    """Two memories; one was deleted as mem0 does in a fresh process, and is named twice."""
    ids = place.fill(["Lives in Lisbon", "Works in Lisbon"])
    place.link("Lisbon", *ids)
    place.link("A zebra crossing on the motorway", ids[0])
    forgotten(place, ids[0])
    return place, ids


def test_orphans_are_counted_dropped_and_named_again(orphaned, monkeypatch):
    place, ids = orphaned
    before = links(place)
    told = run(place, "doctor", "--dry-run", code=9).stdout
    assert "Links to memories that are gone: 2, in 2 entities." in told
    assert "Cancelled" in run(place, "doctor", answers="n\n").stdout
    with monkeypatch.context() as patch:
        patch.setattr(Backend, "count", lambda *_: 9)
        assert "Nothing can be repaired" in run(place, "doctor", "--yes", code=4).stderr
    assert links(place) == before
    done = run(place, "doctor", answers="y\n")
    assert "Proposed: drop 2 links of 2 entities (an empty one goes). Apply? " in done.stdout
    assert [payload["linked_memory_ids"] for payload, _ in links(place).values()] == [[ids[1]]]
    assert "gone: 0, in 0 entities" in run(place, "doctor", "--dry-run").stdout
    name = done.stderr.split("undo ")[1].split()[0]
    assert name in run(place, "runs").stdout
    assert "restored: 2" in run(place, "undo", name).stdout
    assert links(place) == before


def test_an_undo_keeps_what_the_agent_linked_since(qdrant):
    ids = qdrant.fill(["Lives in Lisbon", "Works in Lisbon", "Sings in Lisbon"])
    qdrant.link("Lisbon", *ids[:2])
    forgotten(qdrant, ids[0])
    name = run(qdrant, "doctor", "--yes").stderr.split("undo ")[1].split()[0]
    qdrant.link("Lisbon", ids[2])
    run(qdrant, "undo", name)
    assert [set(payload["linked_memory_ids"]) for payload, _ in links(qdrant).values()] == [set(ids)]


def test_merged_memories_are_linked(qdrant, monkeypatch):
    (first,) = qdrant.fill(["Lives in Lisbon"])
    store = qdrant.open()
    added = store.write(
        Add("Works in Lisbon", Scope.of(user_id="alice"), {"merged_from": ["x"]}, None, "run/1")
    )
    store.close()
    qdrant.link("Lisbon", first)
    before = links(qdrant)
    told = run(qdrant, "doctor", "--dry-run").stdout
    assert "could not be looked at, since mem0 finds entities with spaCy: 1." in told

    monkeypatch.setattr(mem0_store, "_reads_entities", lambda: True)
    monkeypatch.setattr("mem0.memory.main.extract_entities", lambda _: [("PROPER", "Lisbon")])
    assert json.loads(run(qdrant, "doctor", "--json", code=9).stdout)["merged_without_links"] == [added]
    name = run(qdrant, "doctor", "--yes").stderr.split("undo ")[1].split()[0]
    assert [set(payload["linked_memory_ids"]) for payload, _ in links(qdrant).values()] == [{first, added}]
    run(qdrant, "undo", name)
    assert links(qdrant) == before


def test_a_store_without_links_is_fine(qdrant):
    qdrant.fill(["Lives in Lisbon"])
    assert "none are linked in this store; nothing to repair" in run(qdrant, "doctor").stdout


def test_a_repair_that_is_killed_is_finished_by_resume(orphaned, monkeypatch):
    place, ids = orphaned
    before, real, steps = links(place), EntityLinks.write, iter([True, False])

    def write(self: EntityLinks, change: Any) -> str:
        if next(steps):
            return real(self, change)
        raise KeyboardInterrupt

    run(place, "doctor", "--dry-run", code=9)
    with monkeypatch.context() as patch:
        patch.setattr(EntityLinks, "write", write)
        config = Path(place.config["history_db_path"]).parent / "mem0.json"
        CliRunner().invoke(main, ["doctor", "--yes", "--config", str(config)])
    name = run(place, "runs").stdout.split()[0]
    assert "applying" in run(place, "runs").stdout
    run(place, "resume", name)
    assert [payload["linked_memory_ids"] for payload, _ in links(place).values()] == [[ids[1]]]
    run(place, "undo", name)
    assert links(place) == before


def test_a_memory_that_came_back_keeps_its_links(qdrant):
    ids = qdrant.fill(["Lives in Lisbon"])
    memory = qdrant.memory()
    memory._upsert_entity("Lisbon", "PROPER", ids[0], {"user_id": "alice"})
    store = Mem0Store(memory, owned=True)
    entities = store.backend.entities()
    assert entities is not None
    (row,) = entities.rows({})
    links = store.links
    links.write(Update(row.id, ""))
    assert links.fetch([row.id])[row.id].payload == {"wrong": ""}
    assert [dict(each.payload) for each in entities.rows({})] == [dict(row.payload)]
    store.close()


def test_other_kinds_have_no_links(tmp_path):
    (tmp_path / "g.jsonl").write_text("")
    words = ["doctor", "--store", "graph", "--file", str(tmp_path / "g.jsonl")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "this store has none" in done.stderr
