"""The mem0 store on real mem0, on all four vector stores."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from mem0_dream.errors import RefusedChangeError, StoreError, UsageError
from mem0_dream.pipeline.stores import base
from mem0_dream.pipeline.stores.base import Add, Delete, Restore, Retire, ScopeFilter, Snapshot, Update
from mem0_dream.pipeline.stores.mem0.rows import Backend
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_dream.records import Scope
from mem0_stores import ALICE, DAY, EVERYTHING, link, remember

pytestmark = pytest.mark.store

USER = Scope.of(user_id="alice")
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date()
NOBODY = "11111111-2222-4333-8444-555555555555"


def entity_rows(store: Mem0Store) -> dict[str, list[str]]:
    entities = store.backend.entities()
    assert entities is not None
    return {row.payload["data"]: sorted(row.payload["linked_memory_ids"]) for row in entities.rows({})}


def through_json(snapshot: Snapshot) -> Snapshot:
    read = json.loads(json.dumps([snapshot.id, snapshot.payload, snapshot.vector, snapshot.links]))
    return Snapshot(read[0], read[1], tuple(read[2]), tuple(read[3]))


class TestRead:
    def test_every_memory_is_listed_page_by_page(self, place, monkeypatch):
        monkeypatch.setattr(Backend, "page", 7)
        store, ids = place.filled([f"Fact number {number}" for number in range(45)])
        inventory = store.read(ALICE)
        assert [memory.id for memory in inventory.memories] == sorted(ids)
        assert list(store.fetch(ids)) == ids
        assert inventory.gaps == ()
        assert inventory.store == store.fingerprint
        assert len(inventory.fidelity) == 1
        assert store.capabilities == base.Capabilities(retire=True, vector=True, amend=True)
        assert store.kind == "mem0"

    def test_scopes_are_the_full_tuple(self, place):
        place.fill(["Likes tea"])
        place.fill(["Likes tea"], agent_id="bot")
        store, _ = place.filled(["Likes tea"], user_id="bob")
        everything, alice = store.read(EVERYTHING), store.read(ALICE)
        bot = store.read(ScopeFilter({"user_id": "alice", "agent_id": "bot"}))
        scopes = {"user_id=alice", "user_id=alice agent_id=bot", "user_id=bob"}
        assert {str(memory.scope) for memory in everything.memories} == scopes
        assert len(alice.memories) == 2
        assert len(bot.memories) == 1
        assert not everything.gaps
        assert not bot.gaps

    def test_rows_without_a_role_are_the_users(self, qdrant):
        store, (first, second) = qdrant.filled(["Likes tea", "Likes oat milk"])
        row = store.backend.get([first])[first]
        store.backend.put(replace(row, payload={k: v for k, v in row.payload.items() if k != "role"}))
        plain, asked = store.read(ALICE), store.read(ScopeFilter({"user_id": "alice", "role": "user"}))
        assert {memory.id for memory in plain.memories} == {first, second}
        assert {memory.scope for memory in plain.memories} == {USER}
        assert asked.memories == plain.memories

    @pytest.mark.parametrize(
        ("ids", "problem"), [({"user_id": " "}, "empty"), ({"org": "x"}, "knows no org")]
    )
    def test_bad_filters_are_refused(self, qdrant, ids, problem):
        store, _ = qdrant.filled(["Likes tea"])
        with pytest.raises(UsageError, match=problem):
            store.read(ScopeFilter(ids))


class TestAdd:
    def test_an_added_memory_carries_exactly_what_was_asked_and_is_found(self, place):
        store, _ = place.filled([f"Likes the tea of {hour} o'clock" for hour in range(10)])
        scope = Scope.of(user_id="alice", agent_id="bot", app_id="shop")
        metadata = {"category": "food", "merged_from": ["a", "b"], "nested": {"x": None}}
        added = store.write(Add("Likes green tea from Uji", scope, metadata, DAY, "run/1"))
        memory = store.parse(store.fetch([added])[added])
        assert (memory.text, memory.scope) == ("Likes green tea from Uji", scope)
        assert (memory.metadata, memory.created_at, memory.category) == (metadata, DAY, "food")
        assert (store.finds(added), store.finds(NOBODY)) == (True, False)
        assert store.find_mark("run/1", scope) == added
        assert store.find_mark("run/2", scope) is None
        assert store.find_mark("run/1", Scope.of(user_id="bob")) is None

    def test_a_memory_that_takes_the_place_of_others_keeps_role_and_dates_and_holds_nothing_of_ours(
        self, place
    ):
        store, (first, second) = place.filled(["Likes tea", "Likes green tea"])
        before = store.fetch([first, second])
        for memory_id, hour in ((first, 9), (second, 7)):
            dated = {"role": "user", "updated_at": f"2026-10-01T{hour:02}:00:00Z"}
            row = replace(before[memory_id], payload={**before[memory_id].payload, **dated})
            store.write(Restore(row))
        added = store.write(Add("Likes green tea from Uji", USER, {"k": 1}, DAY, "run/1", (first, second)))
        payload = store.fetch([added])[added].payload
        assert payload["role"] == "user"
        assert payload["updated_at"] == "2026-10-01T09:00:00+00:00"
        assert payload["created_at"] == DAY.isoformat()
        own = {"data", "hash", "created_at", "updated_at", "text_lemmatized", "role", "user_id", "k"}
        assert payload.keys() == own

    def test_odd_texts_do_not_break_the_search(self, qdrant):
        store, (blank, long) = qdrant.filled([" ", "Plan of the garden: " + "roses by the wall, " * 2000])
        assert (store.finds(blank), store.finds(long)) == (False, True)
        store.write(Retire(long, YESTERDAY))
        assert not store.finds(long)

    def test_a_scope_that_mem0_cannot_search_finds_nothing(self, qdrant):
        store, _ = qdrant.filled(["Likes tea"])
        added = store.write(Add("Likes rain", Scope.of(user_id="alice smith"), {}, None, "run/1"))
        assert store.finds(added) is False
        (tea,) = store.read(ALICE).memories
        store.memory.vector_store.search = None
        with pytest.raises(StoreError, match="Searching the store failed"):
            store.finds(tea.id)
        store.memory.embedding_model = None
        with pytest.raises(RefusedChangeError, match="huggingface embedder of mem0's configuration failed"):
            store.write(Add("Likes snow", USER, {}, None, "run/2"))

    def test_a_store_that_drops_a_write_is_an_error(self, qdrant, monkeypatch):
        store, (memory_id,) = qdrant.filled(["Likes tea"])
        before = store.fetch([memory_id])[memory_id]
        monkeypatch.setattr(store.memory.vector_store.client, "upsert", lambda *a, **k: None)
        with pytest.raises(StoreError, match="the store does not hold it"):
            store.write(Add("Likes rain", USER, {}, None, "run/1"))
        with pytest.raises(StoreError, match="did not keep memory"):
            store.write(Retire(memory_id, YESTERDAY))
        with pytest.raises(StoreError, match="did not keep memory"):
            store.write(Update(memory_id, "Likes rain"))
        assert store.fetch([memory_id])[memory_id] == before

    def test_a_crowd_of_equal_texts_hides_nothing_and_verifying_embeds_nothing(self, qdrant):
        store, ids = qdrant.filled(["Likes tea"] * 30)
        store.memory.embedding_model = None
        assert all(map(store.finds, ids))

    def test_entities_are_linked_only_if_the_app_links_them(self, qdrant, monkeypatch):
        monkeypatch.setattr("mem0.memory.main.extract_entities", lambda text: [("PROPER", "Lisbon")])
        store, (first,) = qdrant.filled(["Lives in Lisbon"])
        store.write(Add("Works in Lisbon", USER, {}, DAY, "run/1"))
        assert store.backend.entities() is None
        link(store.memory, "Lisbon", first)
        added = store.write(Add("Has moved to Lisbon", USER, {}, DAY, "run/2"))
        assert entity_rows(store) == {"Lisbon": sorted([first, added])}


class TestDelete:
    def test_a_deleted_memory_is_gone_and_unlinked(self, place):
        ids = place.fill(["Lives in Lisbon", "Works in Lisbon"])
        place.link("Lisbon", *ids)
        place.link("A completely different thing", ids[0])
        store = place.open()
        assert [store.write(Delete(ids[0])) for _ in range(2)] == [ids[0], ids[0]]
        assert list(store.fetch(ids)) == [ids[1]]
        assert entity_rows(store) == {"Lisbon": [ids[1]]}

    def test_a_failing_history_does_not_fail_a_deletion(self, qdrant, monkeypatch):
        store, (memory_id,) = qdrant.filled(["Likes tea"])
        monkeypatch.setattr(store.memory.db, "add_history", lambda *a, **k: 1 / 0)
        assert store.write(Delete(memory_id)) == memory_id
        assert store.fetch([memory_id]) == {}

    def test_a_deletion_that_did_not_happen_is_an_error(self, qdrant, monkeypatch):
        store, (memory_id,) = qdrant.filled(["Likes tea"])
        monkeypatch.setattr(store.backend._client, "delete", lambda *_, **__: None)
        with pytest.raises(StoreError, match="still there"):
            store.write(Delete(memory_id))

    def test_what_cannot_be_an_id_is_absent_and_an_outage_never_looks_like_a_deletion(
        self, place, monkeypatch
    ):
        store, _ = place.filled(["Likes tea"])
        assert store.fetch(["no-uuid"]) == {}
        monkeypatch.setattr(store.backend, "answers", Mock(side_effect=StoreError("down")))
        with pytest.raises(StoreError, match="down"):
            store.fetch([NOBODY])


class TestUpdate:
    def test_a_text_is_replaced_in_place(self, place):
        store, (memory_id,) = place.filled(["Lives in Lisbon"], metadata={"created_at": DAY.isoformat()})
        link(store.memory, "Lisbon", memory_id)
        before = store.fetch([memory_id])[memory_id]
        store.write(Update(memory_id, "Lives in Porto"))
        after = store.parse(store.fetch([memory_id])[memory_id])
        assert (after.text, after.created_at) == ("Lives in Porto", DAY)
        assert entity_rows(store) == {}
        store.write(Restore(before))
        assert store.fetch([memory_id])[memory_id] == before

    @pytest.mark.parametrize("change", [Update(NOBODY, "Likes coffee"), Retire(NOBODY, YESTERDAY)])
    def test_changing_what_is_gone_is_an_error(self, qdrant, change):
        qdrant.fill(["Likes tea"])
        with pytest.raises(StoreError, match="is not in the store"):
            qdrant.open().write(change)


class TestRetire:
    def test_a_retired_memory_is_hidden_but_there_with_what_supersedes_it_until_it_is_restored(self, place):
        store, (memory_id,) = place.filled(["Likes tea"], metadata={"category": "food"})
        before = store.fetch([memory_id])[memory_id]
        why = {"superseded_by": "b", "superseded_reason": "newer"}
        store.write(Retire(memory_id, YESTERDAY, why))
        after = store.fetch([memory_id])[memory_id]
        scope = {"user_id": "alice"}
        hidden = store.memory.get_all(filters=scope), store.memory.search("Likes tea", filters=scope)
        got = store.memory.get(memory_id)
        assert [answer["results"] for answer in hidden] == [[], []]
        assert got["memory"] == "Likes tea"
        assert after.vector == before.vector
        changed = {key for key in after.payload if after.payload[key] != before.payload.get(key)}
        assert changed == {"hash", "expiration_date", *why}
        assert store.parse(after).metadata["superseded_by"] == "b"
        assert [each.expires_on for each in store.read(ALICE).memories] == [YESTERDAY]
        assert store.parse(after).is_retired(YESTERDAY + timedelta(days=1))
        store.write(Restore(before))
        assert store.fetch([memory_id])[memory_id] == before

    def test_the_same_fact_is_learned_again(self, place, monkeypatch):
        store, (memory_id,) = place.filled(["Likes tea"])
        answer = '{"memory": [{"text": "Likes tea"}]}'
        monkeypatch.setattr(store.memory.llm, "generate_response", lambda **_: answer, raising=False)
        assert store.memory.add("I like tea", user_id="alice")["results"] == []
        for _ in range(2):
            store.write(Retire(memory_id, YESTERDAY))
        learned = store.memory.add("I like tea", user_id="alice")["results"]
        visible = store.memory.get_all(filters={"user_id": "alice"})["results"]
        assert [found["memory"] for found in learned] == ["Likes tea"]
        assert [found["id"] for found in visible] == [learned[0]["id"]]


class TestRestore:
    def test_apply_then_undo_is_identity(self, place):
        ids = place.fill(
            [f"Note {number} about the garden in Lisbon" for number in range(8)],
            metadata={"category": "garden", "score": 0.25, "count": 3, "open": True},
        )
        place.link("Lisbon", *ids[:3])
        place.link("Zebra crossing on the motorway", ids[0])
        store = place.open()
        before, entities = store.fetch(ids), entity_rows(store)
        added = store.write(Add("All notes about the garden in Lisbon", USER, {}, DAY, "run/1"))
        assert store.finds(added)
        for memory_id in ids[:2]:
            store.write(Delete(memory_id))
        store.write(Retire(ids[2], YESTERDAY))
        store.close()

        store = place.open()
        for memory_id in (ids[2], ids[1], ids[0]):
            store.write(Restore(through_json(before[memory_id])))
        store.write(Delete(added))
        undone = store.fetch(ids)
        store.close()

        store = place.open()
        reopened, count = store.fetch(ids), len(store.read(EVERYTHING).memories)
        assert undone == before
        assert reopened == before
        assert entity_rows(store) == entities
        assert count == len(ids)

    def test_an_entity_changed_since_keeps_its_change(self, qdrant):
        store, ids = qdrant.filled(["Lives in Lisbon", "Works in Lisbon"])
        for memory_id in ids:
            link(store.memory, "Lisbon", memory_id)
        before = store.fetch(ids)
        store.write(Delete(ids[0]))
        later = remember(store.memory, "Dreams of Lisbon", user_id="alice")
        link(store.memory, "Lisbon", later)
        store.write(Restore(before[ids[0]]))
        assert entity_rows(store) == {"Lisbon": sorted([*ids, later])}

    def test_sparse_vectors_come_back(self, qdrant):
        from qdrant_client import models

        store, (memory_id,) = qdrant.filled(["Likes tea"])
        client = store.memory.vector_store.client
        (point,) = client.retrieve("memories", [memory_id], with_vectors=True)
        vector = {"": point.vector, "bm25": models.SparseVector(indices=[1, 7], values=[0.5, 0.25])}
        client.upsert("memories", [models.PointStruct(id=memory_id, vector=vector, payload=point.payload)])
        before = store.fetch([memory_id])[memory_id]
        store.write(Delete(memory_id))
        store.write(Restore(before))
        after = store.fetch([memory_id])[memory_id]
        assert after == before
        sparse = {"bm25": {"indices": [1, 7], "values": [0.5, 0.25]}}
        assert after.links == ({"index": "sparse", "vectors": sparse},)


class TestStore:
    def test_a_users_own_client_stays_open_and_single_rows_need_no_backup(self, qdrant, tmp_path):
        memory = qdrant.memory()
        remember(memory, "Likes tea", user_id="alice")
        store = Mem0Store(memory)
        assert store.backup(tmp_path / "copy") == ()
        assert len(store.read(ALICE).memories) == 1
        store.close()
        assert len(memory.get_all(filters={"user_id": "alice"})["results"]) == 1
        Mem0Store(memory, owned=True).close()

    def test_a_snapshot_is_a_copy(self, faiss):
        store, (memory_id,) = faiss.filled(["Lives in Lisbon"])
        link(store.memory, "Lisbon", memory_id)
        before: Snapshot = store.fetch([memory_id])[memory_id]
        link(store.memory, "Lisbon", "11111111-2222-4333-8444-555555555555")
        assert before.links[0]["payload"]["linked_memory_ids"] == [memory_id]
