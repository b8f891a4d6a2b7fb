"""Small fixed stores of every kind, and a way to keep one of them as a file and set it up again.

Whatever a machine, a clock or a folder puts into an output is named anew by `Place.plain`, so that two runs
of one version are equal to the byte.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from graph_world import entity, relation, write
from markdown_trees import fingerprint, memory_file, write_tree
from markdown_world import write_world
from mem0_dream.pipeline.cli.main import main
from mem0_dream.testing import FakeEncoder

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SETTINGS = {"scorer": "keywords", "max_delete": 1.0, "min_delete": 0, "assume_unread": True}
DIMENSIONS = 64
_SQLITE = b"SQLite format 3"
_NOT_KEPT = ("qdrant", "home", "history", "state/locks", "state/cache", "state/plans")
"""What is made again from the rows, or without what was there."""
_CLOCKLESS = {"undo", "resume", "apply", "reject", "runs"}
_MEMORIES: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("alice", "Deploys the shop to staging on Tuesdays", 40, {}),
    ("alice", "Deploys the shop to staging on Tuesdays early", 20, {"source": "chat"}),
    ("alice", "Trains on hills. Runs the Leeds marathon every spring with the Otley harriers club.", 30, {}),
    ("alice", "Runs the Leeds marathon every spring with the Otley harriers club. Wears carbon shoes.", 12, {}),
    ("alice", "Uses tabs for indentation in Go code.", 90, {"category": "style"}),
    ("alice", "Never uses tabs for indentation in Go code.", 3, {"category": "style"}),
    ("alice", "Is looking for a plumber in Leeds for the kitchen tap.", 400, {"category": "todo"}),
    ("alice", "Fixed bug", 10, {}),
    ("alice", "[PINNED] Fixed bug", 900, {"pinned": True}),
    ("alice", "Blood type O-", 700, {}),
    ("alice", "Sings alto in the cathedral choir every Thursday.", 15, {}),
    ("alice", "Pays 96 euros a month for the allotment.", 15, {}),
    ("alice", "Pays 69 euros a month for the allotment.", 14, {}),
    ("bob", "Deploys the shop to staging on Tuesdays", 40, {}),
    ("bob", "deploys the shop to staging on Tuesdays.", 41, {}),
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One store in a folder of its own.

    Attributes:
        kind: What `--store` takes.
        folder: Everything of it lies here, our own state too.
        words: Options that name the place on the command line.
        content: All that is stored, to the byte where bytes are the store's own.
    """

    kind: str
    folder: Path
    words: tuple[str, ...]
    content: Callable[[], Any]

    def call(self, *words: str, answers: str = "", code: int = 0) -> Result:
        """The command line on this store, at a fixed moment."""
        timed = () if _CLOCKLESS & set(words) else ("--now", NOW.isoformat())
        scope = ("--all",) if self.kind == "mem0" and timed else ()
        done = CliRunner().invoke(main, [*words, *self.words, *scope, *timed], input=answers)
        assert not isinstance(done.exception, Exception), done.exception
        assert done.exit_code == code, done.output
        return done

    def transcript(self, *steps: tuple[tuple[str, ...], str]) -> str:
        """What each call prints, on both streams."""
        parts = []
        for words, answers in steps:
            done = self.call(*words, answers=answers)
            clock = _CLOCKLESS & set(words)
            shown = f"$ mem0-dream {' '.join(words)}\n{done.stdout}--- errors\n{done.stderr}\n"
            parts.append(
                re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d UTC|  taken back)", "<TIME>", shown) if clock else shown
            )
        return self.plain("".join(parts))

    def plain(self, text: str) -> str:
        """The text without what differs from folder to folder and from run to run."""
        for found, name in ((str(self.folder), "<FOLDER>"), (self.store(), "<STORE>")):
            text = text.replace(found, name)
        for pattern, name in (
            (r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[1-57-9][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        ):
            met = dict.fromkeys(re.findall(pattern, text))
            for number, word in enumerate(met, 1):
                text = text.replace(word, f"<{name} {number}>")
        text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+(\+00:00|Z)?", "<TIME>", text)
        text = re.sub(r"Duration: [\d.]+ s", "Duration: <DURATION>", text)
        text = re.sub(r"\d{4}-\d\d-\d\d-forgotten", "<DAY>-forgotten", text)
        return re.sub(r"-?\d+\.\d{5,}(e-?\d+)?", lambda found: f"{float(found[0]):.4f}", text)

    def store(self) -> str:
        """The store's fingerprint, as a plan names it."""
        return str(json.loads(self.call("plan").stdout.partition("\n")[0])["store"])

    def journal(self) -> str:
        """All tables of the journal, a JSON object for each row."""
        with sqlite3.connect(self.folder / "state" / "journal.db") as database:
            database.row_factory = sqlite3.Row
            tables = [
                row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            lines = [
                json.dumps(
                    {"table": table, **{key: _shown(value) for key, value in dict(row).items()}},
                    ensure_ascii=False,
                )
                for table in sorted(tables)
                for row in database.execute(f"SELECT * FROM {table} ORDER BY rowid")
            ]
        return self.plain("".join(f"{line}\n" for line in lines))


def _shown(value: object) -> object:
    """A value of the journal; a plan as its lines, a vector as its length."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str) and "\n{" in value:
        return [json.loads(line) for line in value.split("\n") if line]
    return value


def mem0_place(folder: Path, monkeypatch: pytest.MonkeyPatch, *, rows: list[Any] | None = None) -> Place:
    """A real Qdrant store with the rows that mem0 would write; only the embedder is a fake."""
    from mem0 import Memory
    from mem0_dream.pipeline.stores.mem0.store import Mem0Store

    encoder = FakeEncoder()

    class Embedder:
        config = None

        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return [float(value) for value in encoder.encode([text])[0]]

    monkeypatch.setattr("mem0.utils.factory.EmbedderFactory.create", lambda *_: Embedder())
    config: dict[str, Any] = {
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": str(folder / "qdrant"),
                "on_disk": True,
                "collection_name": "memories",
                "embedding_model_dims": DIMENSIONS,
            },
        },
        "embedder": {"provider": "openai", "config": {"api_key": "none"}},
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "history_db_path": str(folder / "history.db"),
    }
    file = folder / "mem0.json"
    file.write_text(json.dumps({**config, "mem0_dream": SETTINGS}))
    given = _mem0_rows(encoder) if rows is None else rows
    memory = Memory.from_config(config)
    memory.vector_store.insert(
        [row[2] for row in given], [row[1] for row in given], [row[0] for row in given]
    )
    Mem0Store(memory, owned=True).close()

    def content() -> Any:
        opened = Memory.from_config(config)
        points = opened.vector_store.client.scroll("memories", limit=1000, with_vectors=True)[0]
        found = sorted([str(point.id), point.payload, list(point.vector)] for point in points)
        Mem0Store(opened, owned=True).close()
        return found

    return Place("mem0", folder, ("--config", str(file)), content)


def _mem0_rows(encoder: FakeEncoder) -> list[Any]:
    """Id, payload and vector of every memory; the ids are of a version that mem0 itself never gives."""
    rows = []
    for number, (user, text, days, metadata) in enumerate(_MEMORIES, 1):
        moment = (NOW - timedelta(days=days)).isoformat()
        payload = {
            "user_id": user,
            "data": text,
            "hash": hashlib.md5(text.encode()).hexdigest(),  # noqa: S324  (as mem0 does)
            "created_at": moment,
            "updated_at": moment,
            **metadata,
        }
        vector = [float(value) for value in encoder.encode([text])[0]]
        rows.append([f"{number:08x}-0000-6000-8000-{number:012x}", payload, vector])
    return rows


def markdown_place(folder: Path, monkeypatch: pytest.MonkeyPatch, *, root: Path | None = None) -> Place:
    """A project as coding agents leave it, with three directories of memories."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    root = root or write_world(folder / "shop")
    words = ("--store", "md", "--root", str(root), "--config", str(_settings(folder)))
    return Place("md", folder, words, lambda: fingerprint(root))


def small_markdown_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """One directory with a duplicate, a contradiction and a list; no history."""
    place = ".claude/memory"
    files = {
        f"{place}/tabs.md": memory_file("Use tabs for indentation in Go files.", kind="feedback"),
        f"{place}/tabs_again.md": memory_file(
            "Use tabs for indentation in all the Go files.", kind="feedback", date="2026-11-01"
        ),
        f"{place}/friday.md": memory_file("Always deploy on Fridays from the release branch.", kind="user"),
        f"{place}/no_friday.md": memory_file(
            "Never deploy on Fridays from the release branch.", kind="user", date="2026-11-02"
        ),
        f"{place}/rules.md": "# Rules\r\n\r\n- Check the search tests\r\n- check the search tests.\r\n- Be kind\r\n",
        f"{place}/MEMORY.md": "# Memory\n\n- [tabs](tabs.md)\n- [friday](friday.md)\n",
    }
    return markdown_place(folder, monkeypatch, root=write_tree(folder / "shop", files))


def graph_place(folder: Path, monkeypatch: pytest.MonkeyPatch, *, fill: bool = True) -> Place:
    """A file of a memory server, and a core memory beside it."""
    file = folder / "memory.jsonl"
    if fill:
        write(file, _graph_lines(), end="\n")
    words = ("--store", "graph", "--file", str(file), "--core", str(folder / "core.json"))
    return Place("graph", folder, (*words, "--config", str(_settings(folder))), file.read_bytes)


def _graph_lines() -> list[str]:
    def day(ago: int) -> str:
        return (NOW - timedelta(days=ago)).date().isoformat()

    def used(first: int, last: int) -> list[str]:
        return [f"Applied in p{number} - HELPFUL ({day(20)})" for number in range(first, last)]

    services = ("checkout", "search", "billing", "shipping")
    return [
        entity("cache warm", "Warm the image cache before the sale", *used(0, 10), f"Discovered: {day(100)}"),
        entity(
            "image cache warm",
            "Warm the image cache before the sale.",
            *used(10, 18),
            f"Discovered: {day(90)}",
        ),
        entity("deploy hours", "The deploy window of the shop opens at nine", kind="research"),
        entity("deploy window", "The deploy window of the shop opens at nine daily", kind="research"),
        entity("cats a", "Cats like the warm sofa", kind="design"),
        entity("cats b", "Cats do not like the warm sofa", kind="design"),
        entity("old idea", "An idea nobody took up", f"Discovered: {day(300)}", kind="mistake"),
        entity("kept idea", "[pinned] Fixed bug", f"Discovered: {day(300)}", kind="mistake"),
        *(
            entity(name, f"The {name} service is number {n}", kind="service")
            for n, name in enumerate(services)
        ),
        *(relation(a, b) for a, b in pairwise(services)),
        relation("old idea", "deploy hours"),
        relation("cache warm", "search", "speeds up"),
    ]


def _settings(folder: Path) -> Path:
    file = folder / "settings.yaml"
    file.write_text(f"mem0_dream: {json.dumps(SETTINGS)}\n")
    return file


PLACES: dict[str, Callable[..., Place]] = {
    "mem0": mem0_place,
    "md": markdown_place,
    "graph": graph_place,
}
SMALL = PLACES | {"md": small_markdown_place}
"""The same kinds for what is kept as a file."""


def keep(place: Place) -> dict[str, Any]:
    """The store and our state about it as JSON, with names in place of the folder and the fingerprint."""
    kept: dict[str, Any] = {"files": {}, "rows": place.content() if place.kind == "mem0" else None}
    store = place.store()

    def named(text: str) -> str:
        return text.replace(str(place.folder), "{FOLDER}").replace(store, "{STORE}")

    for path in sorted(place.folder.rglob("*")):
        name = path.relative_to(place.folder).as_posix()
        if path.is_dir() or name.startswith(_NOT_KEPT):
            continue
        if name.endswith(("-wal", "-shm", ".lock", ".tar", "mem0.json")):
            continue
        data, stat = path.read_bytes(), path.stat()
        entry: dict[str, Any] = {"mtime_ns": stat.st_mtime_ns, "mode": stat.st_mode & 0o777}
        if data.startswith(_SQLITE):
            with sqlite3.connect(path) as database:
                entry["sql"] = [named(line) for line in database.iterdump()]
        else:
            try:
                entry["text"] = named(data.decode())
            except UnicodeDecodeError:
                entry["base64"] = base64.b64encode(data).decode()
        kept["files"][named(name)] = entry
    return kept


def set_up(kind: str, kept: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The store as it was kept, in another folder."""
    if kind == "mem0":
        place = mem0_place(folder, monkeypatch, rows=kept["rows"])
    elif kind == "md":
        (folder / "shop").mkdir()
        place = markdown_place(folder, monkeypatch, root=folder / "shop")
    else:
        place = graph_place(folder, monkeypatch, fill=False)
        (folder / "memory.jsonl").write_text(kept["files"]["memory.jsonl"]["text"])
    store = place.store()

    def real(text: str) -> str:
        return text.replace("{FOLDER}", str(folder)).replace("{STORE}", store)

    for name, entry in kept["files"].items():
        path = folder / real(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if "sql" in entry:
            with sqlite3.connect(path) as database:
                database.executescript(real("\n".join(entry["sql"])))
            continue
        data = real(entry["text"]).encode() if "text" in entry else base64.b64decode(entry["base64"])
        path.write_bytes(data)
        path.chmod(entry["mode"])
        os.utime(path, ns=(entry["mtime_ns"], entry["mtime_ns"]))
    return place
