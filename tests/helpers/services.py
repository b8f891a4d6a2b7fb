"""mem0's two services over real HTTP, behind one face: the platform's double, and mem0 behind its server's routes."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pytest
from kinds import promised, small_config
from loopback import LoopbackServer
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.remote.services import open_platform, open_server
from mem0_dream.pipeline.stores.remote.store import Patience, RemoteStore
from mem0_dream.records import Memory, Scope
from mem0_stores import remember
from platform_double import PlatformDouble
from server_double import ServerDouble

EVERYTHING = ScopeFilter()
QUICK = Patience(per_minute=1e9, first_wait=0.001, longest_wait=0.002, timeout=5, looks=3)
DAY = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)
ALICE = Scope.of(user_id="alice")


class Service:
    def __init__(self, double: Any, put: Callable[..., str]) -> None:
        self.double, self.put = double, put  # stores a memory as the service would, and tells its id
        self.server = LoopbackServer(double)
        self.stores: list[Any] = []

    @classmethod
    def platform(cls, **options: Any) -> Self:
        double = PlatformDouble(**options)
        return cls(double, double.put)

    @classmethod
    def hosted(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Self:
        from mem0 import Memory
        from qdrant_client import QdrantClient

        memory = Memory.from_config(small_config(folder, monkeypatch, client=QdrantClient(":memory:")))

        def put(text: str, *, created_at: datetime = DAY, **options: Any) -> str:
            metadata = {"created_at": created_at.isoformat(), **options.pop("metadata", {})}
            return remember(memory, text, metadata=metadata, **{"user_id": "alice"} | options)

        return cls(ServerDouble(memory), put)

    def open(self, **options: Any) -> Any:
        given = {"patience": QUICK} | options
        opener = open_platform if isinstance(self.double, PlatformDouble) else open_server
        place = {"host" if opener is open_platform else "url": self.server.url}
        self.stores.append(opener(**place, **given))
        return self.stores[-1]

    def content(self) -> Counter[tuple[str, str]]:
        return promised(self.open().read(EVERYTHING).memories)

    def close(self) -> None:
        for store in self.stores:
            store.close()
        self.server.close()


def stored(store: RemoteStore, memory_id: str) -> Memory:
    return store.parse(store.fetch([memory_id])[memory_id])
