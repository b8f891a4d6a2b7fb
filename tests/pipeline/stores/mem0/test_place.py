"""Fingerprints: equal for equal places, different otherwise, and without secrets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mem0_dream.pipeline.stores.mem0.backends import describe_place, store_fingerprint


def config(provider: str, **values: Any) -> dict[str, Any]:
    return {"vector_store": {"provider": provider, "config": {"collection_name": "memories", **values}}}


EQUAL = [
    (config("qdrant", path="/data/q"), config("qdrant", path="/data/../data/q/")),
    (config("qdrant", host="Box", port=6333), config("qdrant", url="http://box", api_key="k")),
    (config("qdrant"), {"vector_store": {"config": {"collection_name": "memories"}}}),
    ({}, {"vector_store": {"provider": "qdrant", "config": {"collection_name": "mem0"}}}),
    (
        config("pgvector", user="alice", password="x", host="db", port=5432, dbname="app"),
        config("pgvector", connection_string="postgresql://bob:y@DB/app?sslmode=require"),
    ),
    (
        config("pgvector", connection_string="host=db dbname=app user=a password=b"),
        config("pgvector", connection_pool=SimpleNamespace(conninfo="postgresql://c@db/app")),
    ),
    (config("redis", redis_url="redis://u:p@box:1"), config("redis", redis_url="redis://v:q@box:1")),
    (config("chroma", tenant="t", api_key="one"), config("chroma", tenant="t", api_key="two")),
]
DIFFERENT = [
    config("qdrant", path="/data/q"),
    config("qdrant", path="/data/r"),
    config("faiss", path="/data/q"),
    config("chroma", path="/data/q"),
    config("chroma", host="box", port=8000),
    config("qdrant", host="box", port=1),
    config("qdrant", host="box", port=2),
    config("pgvector", connection_string="postgresql://a:b@db/one"),
    config("pgvector", connection_string="postgresql://a:b@db/two"),
    config("pgvector", connection_string="postgresql://a:b@/one?host=/run/pg"),
    config("milvus", url="http://box"),
    {"vector_store": {"provider": "qdrant", "config": {"collection_name": "other", "path": "/data/q"}}},
]


@pytest.mark.parametrize(("one", "two"), EQUAL)
def test_equal_places_have_equal_fingerprints(one, two):
    assert store_fingerprint(one) == store_fingerprint(two)


def test_different_places_have_different_fingerprints():
    assert len({store_fingerprint(found) for found in DIFFERENT}) == len(DIFFERENT)


def test_a_client_and_its_configuration_agree(tmp_path):
    values = config("qdrant", path=str(tmp_path))
    section = values["vector_store"]
    vector_store = SimpleNamespace(
        provider="qdrant", config=SimpleNamespace(**section["config"], client=None)
    )
    memory = SimpleNamespace(config=SimpleNamespace(vector_store=vector_store))
    assert store_fingerprint(memory) == store_fingerprint(values)


def test_a_ready_client_is_located_by_itself(tmp_path):
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(tmp_path / "q"))
    remote = QdrantClient(host="box", port=6333, check_compatibility=False)
    assert store_fingerprint(config("qdrant", client=client)) == store_fingerprint(
        config("qdrant", path=str(tmp_path / "q"))
    )
    assert store_fingerprint(config("qdrant", client=remote)) == store_fingerprint(
        config("qdrant", host="box", port=6333)
    )
    client.close()


def test_a_described_place_holds_no_secret():
    named = [
        describe_place("pgvector", {"connection_string": "postgresql://alice:s3cret@db:5433/app"}),
        describe_place("redis", {"redis_url": "redis://alice:s3cret@box:1/0", "password": "s3cret"}),
        describe_place("qdrant", {"url": "https://alice:s3cret@box:6333", "api_key": "s3cret"}),
    ]
    assert named == ["db:5433/app", "redis(redis_url=redis://box:1/0)", "box:6333"]
