"""Where a store is; vector stores without a backend of their own, and rare ways of the others."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mem0_dream.errors import DreamError, StoreError
from mem0_dream.pipeline.stores.base import Capabilities, Delete, Restore, Snapshot
from mem0_dream.pipeline.stores.mem0 import backends
from mem0_dream.pipeline.stores.mem0.backends import LISTING_FAULTS, WRITABLE, store_fingerprint
from mem0_dream.pipeline.stores.mem0.rows import asking
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_stores import ALICE, EVERYTHING, build_place


class DictStore:
    """mem0's vector store interface over a dict, as a provider without vectors would answer."""

    def __init__(self, count: Any = None) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.count = count

    def list(self, filters: dict[str, str] | None = None, top_k: int = 100) -> list[Any]:
        found = [SimpleNamespace(id=key, payload=value) for key, value in self.rows.items()]
        return [[row for row in found if (filters or {}).items() <= row.payload.items()][:top_k]]

    def get(self, vector_id: str) -> Any:
        row = self.rows.get(vector_id)
        return SimpleNamespace(id=vector_id, payload=row) if row is not None else None

    def col_info(self) -> Any:
        return self.count


TEA = {"data": "Likes tea", "user_id": "alice"}


def read_only(count: Any = None, provider: str = "pinecone") -> Mem0Store:
    """A store of one memory over just enough of a mem0 Memory."""
    place, vectors = SimpleNamespace(collection_name="memories", host="box"), DictStore(count)
    vectors.rows["1"] = TEA
    config = SimpleNamespace(vector_store=SimpleNamespace(provider=provider, config=place))
    return Mem0Store(SimpleNamespace(config=config, vector_store=vectors))


@pytest.mark.parametrize("provider", [*LISTING_FAULTS, "a_new_one"])
def test_an_unknown_store_is_read_only_with_the_reason(provider):
    store = read_only(provider=provider)
    inventory = store.read(ALICE)
    assert len(inventory.memories) == 1
    assert inventory.gaps[0].startswith(f"a {provider} listing is not provably complete: ")
    assert store.capabilities == Capabilities(retire=False, vector=False)


@pytest.mark.parametrize("info", [{"count": 2}, SimpleNamespace(row_count=2)])
def test_a_count_that_differs_is_told_too(info):
    store = read_only(info)
    assert store.read(EVERYTHING).gaps[1].startswith("2 rows were counted before the listing, 1 listed")
    assert len(store.read(ALICE).gaps) == 1


@pytest.mark.parametrize("change", [Delete("1"), Restore(Snapshot("1", {"data": "Likes coffee"}))])
def test_nothing_is_written_to_a_store_that_is_read_only(change):
    store = read_only({"count": 1})
    with pytest.raises(StoreError, match="A pinecone listing is not provably complete"):
        store.write(change)
    assert store.fetch(["1", "2"]) == {"1": Snapshot("1", TEA)}
    store.close()


def test_a_generic_store_finds_links_by_looking_at_every_row():
    vectors = DictStore()
    vectors.rows = {"e1": {"linked_memory_ids": ["1", "2"]}, "e2": {"linked_memory_ids": "1"}, "e3": {}}
    backend = backends.GenericBackend(vectors, "pinecone")
    assert [row.id for row in backend.linking(["2", "9"])] == ["e1"]
    assert backend.entities() is None


def test_errors_of_a_client_hold_no_text():
    with pytest.raises(StoreError) as caught, asking("reading the store"):
        raise ValueError("Likes tea")
    assert str(caught.value) == "Reading the store failed: ValueError."
    with pytest.raises(StoreError) as caught, asking("reading the store"):
        raise ConnectionRefusedError("port 1\nmore")
    assert str(caught.value) == "Reading the store failed: ConnectionRefusedError: port 1."
    with pytest.raises(DreamError, match="as it is"), asking("reading the store"):
        raise DreamError("as it is")


@pytest.mark.store
def test_a_qdrant_server_gets_payloads_alone(qdrant, monkeypatch):
    store, (memory_id,) = qdrant.filled(["Likes tea"])
    backend = store.backend
    monkeypatch.setattr(backend, "_embedded", lambda: None)
    (before,) = backend.get([memory_id]).values()
    monkeypatch.setattr(store.memory.vector_store.client, "upsert", lambda *a, **k: 1 / 0)
    backend.put(Snapshot(memory_id, {"data": "Likes coffee"}, before.vector))
    (after,) = backend.get([memory_id]).values()
    with pytest.raises(StoreError, match="Writing to the Qdrant collection failed"):
        backend.put(Snapshot(memory_id, {}, (0.0,) * 384))
    assert (after.payload, after.vector) == ({"data": "Likes coffee"}, before.vector)


def test_every_provider_of_mem0_is_either_proven_or_read_only_with_a_reason():
    from mem0.utils.factory import VectorStoreFactory

    assert not WRITABLE.keys() & LISTING_FAULTS.keys()
    assert WRITABLE.keys() | LISTING_FAULTS.keys() == VectorStoreFactory.provider_to_class.keys()
    assert all(backend.provider == provider for provider, backend in WRITABLE.items())


@pytest.mark.store
def test_closing_hangs_up_on_a_chroma_server(chroma_server, shared_encoder, tmp_path):
    place = build_place("chroma-server", tmp_path, chroma_server)
    store, _ = place.filled(["Likes tea"])
    session = store.memory.vector_store.client._server._session
    assert not session.is_closed
    store.close()
    assert session.is_closed


# Fingerprints: equal for equal places, different otherwise, and without secrets.


def config(provider: str, **values: Any) -> dict[str, Any]:
    return {"vector_store": {"provider": provider, "config": {"collection_name": "memories"} | values}}


PLACES = json.loads(Path(__file__).with_name("places.json").read_text(encoding="utf-8"))


def fingerprint(provider: str, values: dict[str, Any]) -> str:
    """Of a configuration; in one a ready pool of connections is named."""
    if pool := values.get("connection_pool"):
        values = {"connection_pool": SimpleNamespace(**pool)}
    section = config(provider, **values)["vector_store"]
    return store_fingerprint({"vector_store": section if provider else {"config": section["config"]}})


@pytest.mark.parametrize(("one", "two"), PLACES["equal"])
def test_equal_places_have_equal_fingerprints(one, two):
    assert fingerprint(*one) == fingerprint(*two)


def test_different_places_have_different_fingerprints_and_nothing_said_is_a_place():
    found = [fingerprint(*place) for place in PLACES["different"]]
    assert len(set(found)) == len(found)
    assert store_fingerprint({}) == fingerprint("qdrant", {"collection_name": "mem0"})


def test_a_client_and_its_configuration_agree(tmp_path):
    values = config("qdrant", path=str(tmp_path))
    place = SimpleNamespace(**values["vector_store"]["config"], client=None)
    section = SimpleNamespace(vector_store=SimpleNamespace(provider="qdrant", config=place))
    assert store_fingerprint(SimpleNamespace(config=section)) == store_fingerprint(values)


def test_a_ready_client_is_located_by_itself(tmp_path):
    from qdrant_client import QdrantClient

    path, served = {"path": str(tmp_path / "q")}, {"host": "box", "port": 6333}
    for client, place in (
        (QdrantClient(**path), path),
        (QdrantClient(**served, check_compatibility=False), served),
    ):
        named = store_fingerprint(config("qdrant", client=client))
        assert named == store_fingerprint(config("qdrant", **place))
        client.close()


def test_a_described_place_holds_no_secret():
    named = [
        backends.describe_place("pgvector", {"connection_string": "postgresql://alice:s3cret@db:5433/app"}),
        backends.describe_place("redis", {"redis_url": "redis://alice:s3cret@box:1/0", "password": "s3cret"}),
        backends.describe_place("qdrant", {"url": "https://alice:s3cret@box:6333", "api_key": "s3cret"}),
    ]
    assert named == ["db:5433/app", "redis(redis_url=redis://box:1/0)", "box:6333"]
