"""Asynchronous and hosted clients: consolidated in one await, and their reads remembered."""

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kinds import small_config
from loopback import LoopbackServer
from mem0_dream import aconsolidate, consolidate, open_store, track_access
from mem0_dream.errors import UsageError
from mem0_dream.pipeline.writing.access import AccessLog
from mem0_dream.settings import Settings
from platform_double import PlatformDouble

pytestmark = pytest.mark.store
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SETTINGS = Settings(scorer="keywords", encoder="words", max_delete=1.0)
DEPLOYS = "Deploys the shop to staging on Tuesdays"
TEXTS = (DEPLOYS, f"d{DEPLOYS[1:]}.", "Likes tea a lot")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
    double = PlatformDouble()
    for number, text in enumerate(TEXTS):
        double.put(text, user_id="alice", created_at=NOW - timedelta(days=number + 1))
    with LoopbackServer(double) as opened:
        opened.double = double  # type: ignore[attr-defined]
        yield opened


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return small_config(tmp_path, monkeypatch, path=str(tmp_path / "qdrant"), on_disk=True)


def test_an_async_memory_is_consolidated_through_its_own_parts(config, tmp_path):
    """An embedded store may be open only once, and stays open for the application."""
    from mem0 import AsyncMemory

    async def night() -> tuple[int, set[str]]:
        memory = AsyncMemory.from_config(config)
        for text in TEXTS:
            await memory.add([{"role": "user", "content": text}], user_id="alice", infer=False)
        given: Any = {"settings": SETTINGS, "state_dir": tmp_path / "state", "now": NOW}
        done = await aconsolidate(memory, user_id="alice", apply=True, **given)
        assert done.result is not None
        left = await memory.get_all(filters={"user_id": "alice"})
        return done.result.merged, {row["memory"] for row in left["results"]}

    merged, texts = asyncio.run(night())
    assert merged == 1
    assert len(texts) == 2


def test_an_async_platform_client_is_consolidated_with_its_key(server: Any, tmp_path: Path) -> None:
    import httpx
    from mem0 import AsyncMemoryClient

    async def night() -> int:
        async with httpx.AsyncClient() as connection:
            client = AsyncMemoryClient(api_key="m0-double", host=server.url, client=connection)
            given: Any = {"settings": SETTINGS, "state_dir": tmp_path, "now": NOW}
            done = await aconsolidate(client, all_scopes=True, apply=True, retire=True, **given)
            assert done.result is not None
            left = await client.get_all(filters={"user_id": "alice"})
            assert left["count"] == 2
            return done.result.merged

    assert asyncio.run(night()) == 1
    assert len(server.double.rows) == 3


def test_a_platform_client_is_a_store(server: Any, tmp_path: Path) -> None:
    import httpx
    from mem0 import MemoryClient

    with httpx.Client() as connection:
        client = MemoryClient(api_key="m0-double", host=server.url, client=connection)
        for given in (client, track_access(client, state_dir=tmp_path)):
            store = open_store(given)
            plan = consolidate(store, user_id="alice", settings=SETTINGS, state_dir=tmp_path, now=NOW).plan
            store.close()
            assert (store.kind, len(plan.merges)) == ("platform", 1)
        assert client.get_all(filters={"user_id": "alice"})["count"] == 3


def test_an_asynchronous_client_is_told_how(server: Any, config: dict[str, Any]) -> None:
    from mem0 import AsyncMemory, AsyncMemoryClient

    for client in (AsyncMemoryClient(api_key="m0-double", host=server.url), AsyncMemory.from_config(config)):
        with pytest.raises(UsageError, match="await aconsolidate"):
            open_store(client)


def test_reads_through_hosted_clients_are_remembered(server: Any, tmp_path: Path) -> None:
    import httpx
    from mem0 import AsyncMemoryClient, MemoryClient

    first, second, _ = server.double.rows

    async def agent() -> None:
        async with httpx.AsyncClient() as connection:
            client = AsyncMemoryClient(api_key="m0-double", host=server.url, client=connection)
            await track_access(client, state_dir=tmp_path, clock=lambda: NOW).get(second)

    with httpx.Client() as connection:
        client = MemoryClient(api_key="m0-double", host=server.url, client=connection)
        tracked = track_access(client, state_dir=tmp_path, clock=lambda: NOW)
        tracked.search(TEXTS[0], filters={"user_id": "alice"}, top_k=1)
        asyncio.run(agent())
        log = AccessLog(tmp_path)
        assert log.tracked(open_store(client).fingerprint) == {first, second}
        assert log.last(open_store(client).fingerprint) == {first: NOW, second: NOW}
        log.close()
