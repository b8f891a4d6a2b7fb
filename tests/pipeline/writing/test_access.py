"""The access log: what an agent reads is remembered, and nothing else changes for it."""

import asyncio
import logging
import sqlite3
import time
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from mem0_dream.pipeline.stores.mem0.backends import store_fingerprint
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_dream.pipeline.writing.access import AccessLog, track_access
from mem0_stores import remember

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
CONFIG = SimpleNamespace(vector_store=SimpleNamespace(provider="qdrant", config=SimpleNamespace(path="/q")))


class Client:
    config = CONFIG
    top_k = 5

    def search(self, query: str, *, top_k: int = 20) -> dict[str, Any]:
        return {"results": [{"id": str(number), "memory": query} for number in range(top_k)]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        return {"id": memory_id, "memory": "Likes tea"} if memory_id != "gone" else None

    def add(self, text: str) -> str:
        return text


class TestLog:
    def test_the_newest_access_of_each_memory_is_kept(self, tmp_path):
        log = AccessLog(tmp_path)
        zone = timezone(timedelta(hours=5))
        log.record("one", ["a", "b"], NOON.astimezone(zone))
        log.record("one", ["a"], NOON - timedelta(days=1))
        log.record("one", ["b"], NOON + timedelta(microseconds=1))
        log.record("two", ["a"], NOON)
        log.record("two", [], NOON)
        assert log.last("one") == {"a": NOON, "b": NOON + timedelta(microseconds=1)}
        assert AccessLog(tmp_path).last("two") == {"a": NOON}
        assert (log.last("three"), log.tracked("one")) == ({}, frozenset())
        log.close()
        log.close()


class TestTracking:
    def test_search_and_get_are_remembered(self, tmp_path):
        client: Any = track_access(Client(), state_dir=tmp_path, clock=lambda: NOON)
        client.search("tea", top_k=2)
        client.get("x")
        client.get("gone")
        client.add("new")
        assert AccessLog(tmp_path).last(store_fingerprint(client)) == {"0": NOON, "1": NOON, "x": NOON}
        assert AccessLog(tmp_path).tracked(store_fingerprint(client)) == {"0", "1", "x"}

    def test_answers_and_everything_else_pass_untouched(self, tmp_path):
        bare = Client()
        client: Any = track_access(bare, state_dir=tmp_path)
        assert client.search("tea") == bare.search("tea")
        assert client.search.__name__ == "search"
        assert client.add("x") == "x"
        client.top_k = 7
        assert bare.top_k == 7
        del client.top_k
        assert client.top_k == 5
        assert repr(client).startswith("TrackedMemory(<")
        with pytest.raises(AttributeError):
            client.nothing  # noqa: B018

    def test_a_failing_log_never_reaches_the_application(self, tmp_path, caplog):
        (tmp_path / "journal.db").mkdir()
        client: Any = track_access(Client(), state_dir=tmp_path)
        with caplog.at_level(logging.DEBUG, logger="mem0_dream"):
            for _ in range(3):
                assert len(client.search("my secret tea")["results"]) == 20
        (record,) = caplog.records
        assert (record.levelname, "secret" in record.getMessage()) == ("WARNING", False)

    def test_a_busy_log_does_not_stop_the_application(self, tmp_path):
        client: Any = track_access(Client(), state_dir=tmp_path)
        client.get("x")
        other = sqlite3.connect(tmp_path / "journal.db")
        other.execute("BEGIN IMMEDIATE")
        started = time.perf_counter()
        assert client.get("y") is not None
        assert time.perf_counter() - started < 2
        other.rollback()
        other.close()
        client.get("z")
        assert set(AccessLog(tmp_path).last(store_fingerprint(client))) == {"x", "y", "z"}

    def test_remembering_costs_next_to_nothing(self, tmp_path):
        client: Any = track_access(Client(), state_dir=tmp_path)
        client.search("tea")
        started = time.perf_counter()
        for _ in range(100):
            client.search("tea")
        assert (time.perf_counter() - started) / 100 < 0.02

    @pytest.mark.store
    def test_a_real_client_is_tracked(self, qdrant, tmp_path):
        memory = qdrant.memory()
        tea = remember(memory, "Likes tea", user_id="alice")
        coffee = remember(memory, "Likes coffee", user_id="alice")
        other = remember(memory, "Likes chess", user_id="bob")
        with track_access(memory, state_dir=tmp_path / "state", clock=lambda: NOON) as client:
            client.search("tea", filters={"user_id": "alice"}, threshold=0.0)
            client.get(other)
            remember(client, "Likes rain", user_id="alice")
            found = AccessLog(tmp_path / "state").last(store_fingerprint(qdrant.config))
        Mem0Store(memory, owned=True).close()
        assert found == {tea: NOON, coffee: NOON, other: NOON}

    @pytest.mark.store
    def test_a_real_async_client_is_tracked(self, qdrant, tmp_path):
        from mem0 import AsyncMemory

        (tea,) = qdrant.fill(["Likes tea"])

        async def read() -> None:
            async with track_access(
                AsyncMemory.from_config(qdrant.config), state_dir=tmp_path / "state", clock=lambda: NOON
            ) as client:
                assert len((await client.search("tea", filters={"user_id": "alice"}))["results"]) == 1
                assert (await client.get(tea))["memory"] == "Likes tea"
            client.vector_store.client.close()

        asyncio.run(read())
        assert AccessLog(tmp_path / "state").last(store_fingerprint(qdrant.config)) == {tea: NOON}
