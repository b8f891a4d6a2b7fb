"""The kinds of stores as data: one small messy world of each, behind one face."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import real_server
from click.testing import Result
from graph_world import entity, relation, write
from markdown_trees import fingerprint, memory_file, write_tree
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.reporting.text import NAMED as OWN_KINDS
from mem0_dream.pipeline.stores import open_store
from mem0_dream.pipeline.stores.base import ScopeFilter, Store, Update
from mem0_dream.pipeline.stores.remote.services import open_platform, open_server
from mem0_dream.pipeline.stores.remote.store import Patience
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder
from mem0_stores import remember
from typed import NOW, run

PINNED = "[pinned] Fixed bug"
SETTINGS: dict[str, Any] = {"scorer": "keywords", "max_delete": 1.0, "min_delete": 0, "assume_unread": True}
AREAS = ("checkout", "search", "billing", "catalogue", "shipping", "returns", "accounts", "pricing")
DIMENSIONS = 64
STATEMENTS = [
    ("Deploys the shop to staging on Tuesdays", 40),
    ("Currently deploys the shop to staging on Tuesdays.", 20),
    ("Uses tabs for indentation in Go code.", 90),
    ("Never uses tabs for indentation in Go code.", 3),
    ("Fixed bug", 10),
    ("Something about work", 10),
    (PINNED, 900),
    *((f"The {area} service is written in language number {n}.", 15) for n, area in enumerate(AREAS)),
]
"""Text and age in days of what a mem0 store holds, wherever it is."""


@dataclass(frozen=True)
class World:
    kind: str  # what `--store` takes
    folder: Path  # everything of it lies here
    words: tuple[str, ...]  # options that name the place on the command line
    open: Callable[[], Store]
    content: Callable[[], Any]  # all that is stored, to the byte where bytes are the store's own
    pair: tuple[str, str] = ("", "")  # ids of the two statements of one fact
    pinned: str = ""  # id of the pinned memory
    close: Callable[[], None] = lambda: None  # ends what the world runs on

    def session(self, state: Path) -> Session:
        return Session(self.open(), settings=Settings(**SETTINGS), state_dir=state)

    def call(self, *words: str, answers: str = "", code: int = 0) -> Result:
        own = self.kind in OWN_KINDS
        (file := self.folder / "settings.yaml").write_text(f"mem0_dream: {json.dumps(SETTINGS)}\n")
        scope = ("--config", str(file)) if own else ("--all",)
        return run([*words, *self.words], scope=scope, answers=answers, code=code)

    def add_words(self, memory_id: str, words: str) -> None:
        with closing(self.open()) as store:
            memory = store.parse(store.fetch([memory_id])[memory_id])
            said = (*memory.metadata["observations"], words) if "observations" in memory.metadata else ()
            store.write(Update(memory_id, f"{memory.text}\n- {words}", observations=said))

    def texts(self) -> dict[str, str]:
        with closing(self.open()) as store:
            return {memory.id: memory.text for memory in store.read(ScopeFilter()).memories}


def remembered(memory: Any, rows: list[tuple[str, int]] = STATEMENTS) -> list[str]:
    dated = [(text, {"created_at": (NOW - timedelta(days=days)).isoformat()}) for text, days in rows]
    return [remember(memory, text, user_id="alice", metadata=metadata) for text, metadata in dated]


def milvus_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    place: dict[str, Any] = {"url": str(folder / "milvus.db"), "token": "", "metric_type": "COSINE"}
    return mem0_world(folder, monkeypatch, provider="milvus", **place)


def small_config(
    folder: Path, monkeypatch: pytest.MonkeyPatch, provider: str = "qdrant", **place: Any
) -> dict[str, Any]:
    """mem0's own configuration of a small store; only its embedder is a fake."""
    monkeypatch.setattr("mem0.utils.factory.EmbedderFactory.create", lambda *_: _FakeEmbedder())
    size = {"collection_name": "memories", "embedding_model_dims": DIMENSIONS}
    none = {"provider": "openai", "config": {"api_key": "none"}}
    return {
        "vector_store": {"provider": provider, "config": {**size, **place}},
        "embedder": none,
        "llm": none,
        "history_db_path": str(folder / "history.db"),
    }


def mem0_world(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[[Any], list[str]] = remembered,
    provider: str = "qdrant", **place: Any,
) -> World:  # fmt: skip
    """A real store that mem0 wrote, if nothing else is said on Qdrant; only its embedder is a fake."""
    from mem0 import Memory
    from mem0_dream.pipeline.stores.mem0.store import Mem0Store

    place = place or {"path": str(folder / "qdrant"), "on_disk": True}
    config = small_config(folder, monkeypatch, provider, **place)
    file = folder / "mem0.json"
    file.write_text(json.dumps(config | {"mem0_dream": SETTINGS}))
    memory = Memory.from_config(config)
    ids = fill(memory)
    Mem0Store(memory, owned=True).close()

    def content() -> Any:
        with closing(open_store(file)) as store:
            return store.fetch(ids + [memory.id for memory in store.read(ScopeFilter()).memories])

    words, pair = ("--config", str(file)), (ids[0], ids[1])
    return World("mem0", folder, words, lambda: open_store(file), content, pair, ids[6])


class _FakeEmbedder:
    config = None

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [float(value) for value in FakeEncoder().encode([text])[0]]


def markdown_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    place = ".claude/memory"
    files = {
        f"{place}/tabs.md": memory_file("Use tabs for indentation in Go files.", kind="feedback"),
        f"{place}/tabs_again.md": memory_file(
            "Use tabs for indentation in the Go files.", kind="feedback", date="2026-11-01"
        ),
        f"{place}/friday.md": memory_file("Always deploy on Fridays from the release branch.", kind="user"),
        f"{place}/no_friday.md": memory_file(
            "Never deploy on Fridays from the release branch.", kind="user", date="2026-11-02"
        ),
        f"{place}/pinned.md": memory_file(PINNED, name="pinned"),
    } | {
        f"{place}/{area}.md": memory_file(f"The {area} service is number {n}.")
        for n, area in enumerate(AREAS)
    }
    names = sorted(file.removeprefix(f"{place}/") for file in files)
    files[f"{place}/MEMORY.md"] = "# Memory\n\n" + "".join(f"- [{name}]({name})\n" for name in names)
    world = project_world(folder, monkeypatch, write_tree(folder / "shop", files))
    return replace(world, pair=(f"{place}/tabs.md", f"{place}/tabs_again.md"), pinned=f"{place}/pinned.md")


def library_state(folder: Path) -> Path:
    (state := folder / "library-state").mkdir(exist_ok=True)
    return state


def project_world(folder: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> World:
    """A project with memory directories; nothing of another home is seen."""
    from mem0_dream.pipeline.stores.markdown.directories import discover
    from mem0_dream.pipeline.stores.markdown.store import MarkdownStore

    monkeypatch.setenv("HOME", str(folder / "home"))

    def opened() -> Store:
        found = discover(root, home=folder / "home")
        return MarkdownStore(found, root=root, state=library_state(folder))

    return World("md", folder, ("--store", "md", "--root", str(root)), opened, lambda: fingerprint(root))


def graph_world(folder: Path, _monkeypatch: pytest.MonkeyPatch, lines: Sequence[str] = ()) -> World:
    """A memory server's file, of the given lines or of those of the contract."""
    from mem0_dream.pipeline.stores.graph.media import FileMedium
    from mem0_dream.pipeline.stores.graph.store import GraphStore

    file = folder / "memory.jsonl"
    write(file, lines or _graph_lines(), end="\n")
    words, pair = ("--store", "graph", "--file", str(file)), ("cache warm", "image cache warm")

    def opened() -> Store:
        return GraphStore(FileMedium(file), state=library_state(folder))

    return World("graph", folder, words, opened, file.read_bytes, pair, "kept idea")


def _graph_lines() -> list[str]:
    long_ago = (NOW - timedelta(days=300)).date().isoformat()
    lately = (NOW - timedelta(days=10)).date().isoformat()
    return [
        entity("cache warm", "Warm the image cache before the sale"),
        entity("image cache warm", "Warm the image cache before the sale."),
        entity("cats a", "Cats like the warm sofa", kind="design"),
        entity("cats b", "Cats do not like the warm sofa", kind="design"),
        entity("old idea", "An idea nobody took up", f"Discovered: {long_ago}", kind="mistake"),
        entity("kept idea", PINNED, f"Discovered: {long_ago}", kind="mistake"),
        entity("make tip", "Build with make", f"Applied in shop - HELPFUL ({lately})", kind="mistake"),
        *(entity(area, f"The {area} service is number {n}", kind="service") for n, area in enumerate(AREAS)),
        *(relation(a, b) for a, b in pairwise(AREAS)),
    ]


def platform_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    from services import Service

    service = Service.platform()
    monkeypatch.setenv("MEM0_API_KEY", service.double.key)
    return _remote_world(folder, "platform", service.server.url, _put(service), service.close)


def _put(service: Any) -> list[str]:
    return [
        service.put(text, user_id="alice", created_at=NOW - timedelta(days=days)) for text, days in STATEMENTS
    ]


def server_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A mem0 server of one's own: the double's routes, and mem0 itself behind them."""
    from services import Service

    service = Service.hosted(folder, monkeypatch)
    service.double.key = "none"
    monkeypatch.setenv("MEM0_SERVER_API_KEY", "none")
    return _remote_world(folder, "server", service.server.url, _put(service), service.close)


def real_server_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MEM0_SERVER_API_KEY", real_server.KEY)
    url = real_server.emptied()
    return _remote_world(folder, "server", url, real_server.filled(url, STATEMENTS, NOW), lambda: None)


def _remote_world(folder: Path, kind: str, url: str, ids: list[str], close: Callable[[], None]) -> World:
    """Ids are the service's own, so the content is all that an undo promises: everything else."""
    file = folder / "remote.json"
    patience = Patience(per_minute=1e9, first_wait=0.001)
    file.write_text(json.dumps({"mem0_dream": SETTINGS | {"remote": asdict(patience)}}))

    def opened() -> Store:
        if kind == "platform":
            return open_platform(host=url, patience=patience)
        return open_server(url, patience=patience)

    def content() -> Any:
        with closing(opened()) as store:
            return promised(store.read(ScopeFilter()).memories)

    words = ("--store", kind, "--host" if kind == "platform" else "--url", url, "--config", str(file))
    return World(kind, folder, words, opened, content, (ids[0], ids[1]), ids[6], close)


def promised(memories: Iterable[Memory]) -> Counter[tuple[str, str]]:
    return Counter((repr(replace(each, id="")), repr(sorted(each.metadata.items()))) for each in memories)


def jsonl_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    from mem0_dream.pipeline.stores.jsonl import JsonlStore

    file, config = folder / "export.jsonl", folder / "export.json"
    config.write_text(json.dumps({"mem0_dream": SETTINGS}))
    rows = [
        {"id": f"{n:08}-row", "memory": text, "user_id": "alice",
         "created_at": (NOW - timedelta(days)).isoformat()}
        for n, (text, days) in enumerate(STATEMENTS)
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    beside = folder / "export.dreamed.jsonl"

    def content() -> Any:
        return file.read_bytes(), beside.read_bytes() if beside.exists() else None

    words = ("--store", "jsonl", "--config", str(config), "--export", str(file))
    first, second, *_ = ids = [row["id"] for row in rows]
    return World("jsonl", folder, words, lambda: JsonlStore(file), content, (first, second), ids[6])


KINDS: dict[str, Callable[[Path, pytest.MonkeyPatch], World]] = {
    "mem0": mem0_world,
    "platform": platform_world,
    "server": server_world,
    "jsonl": jsonl_world,
    "md": markdown_world,
    "graph": graph_world,
}
"""A new kind of store is held to the contract by a line here."""
if real_server.SOURCE:
    KINDS["real_server"] = real_server_world
