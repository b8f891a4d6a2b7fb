"""Small fixed stores of every kind, and what is printed about them, equal to the byte wherever it runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from graph_world import entity, relation, write
from kinds import SETTINGS, small_config, written_settings
from markdown_trees import fingerprint
from markdown_world import write_world
from mem0_dream.testing import FakeEncoder
from typed import CLOCKLESS, NOW, run

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
    kind: str  # what `--store` takes
    folder: Path  # everything of it lies here, our own state too
    words: tuple[str, ...]  # options that name the place on the command line
    content: Callable[[], Any]  # all that is stored, to the byte where bytes are the store's own

    def call(self, *words: str, answers: str = "", code: int = 0) -> Result:
        """The command line on this store, at a fixed moment."""
        scope = ("--all",) if self.kind == "mem0" else ()
        return run([*words, *self.words], scope=scope, answers=answers, code=code)

    def transcript(self, *steps: tuple[tuple[str, ...], str]) -> str:
        """What each call prints, on both streams."""
        parts = []
        for words, answers in steps:
            done = self.call(*words, answers=answers)
            clock = CLOCKLESS & set(words)
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
        return str(json.loads(self.call("plan").stdout.partition("\n")[0])["store"])


def mem0_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A real Qdrant store with the rows that mem0 would write; only the embedder is a fake."""
    from mem0 import Memory
    from mem0_dream.pipeline.stores.mem0.store import Mem0Store

    config = small_config(folder, monkeypatch, path=str(folder / "qdrant"), on_disk=True)
    file = folder / "mem0.json"
    file.write_text(json.dumps({**config, "mem0_dream": SETTINGS}))
    memory = Memory.from_config(config)
    ids, payloads, vectors = zip(*_mem0_rows(FakeEncoder()), strict=True)
    memory.vector_store.insert(list(vectors), list(payloads), list(ids))
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


def markdown_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project as coding agents leave it, with three directories of memories."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    root = write_world(folder / "shop")
    words = ("--store", "md", "--root", str(root), "--config", str(written_settings(folder)))
    return Place("md", folder, words, lambda: fingerprint(root))


def graph_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    file = folder / "memory.jsonl"
    write(file, _graph_lines(), end="\n")
    words = ("--store", "graph", "--file", str(file), "--core", str(folder / "core.json"))
    return Place("graph", folder, (*words, "--config", str(written_settings(folder))), file.read_bytes)


def _graph_lines() -> list[str]:
    def day(ago: int) -> str:
        return (NOW - timedelta(days=ago)).date().isoformat()

    def used(first: int, last: int) -> list[str]:
        return [f"Applied in p{number} - HELPFUL ({day(20)})" for number in range(first, last)]

    services = ("checkout", "search", "billing", "shipping")
    return [
        entity("cache warm", "Warm the image cache before the sale", *used(0, 10), f"Discovered: {day(100)}"),
        entity("image cache warm", "Warm the image cache before the sale.", *used(10, 18),
               f"Discovered: {day(90)}"),
        entity("deploy hours", "The deploy window of the shop opens at nine", kind="research"),
        entity("deploy window", "The deploy window of the shop opens at nine daily", kind="research"),
        entity("cats a", "Cats like the warm sofa", kind="design"),
        entity("cats b", "Cats do not like the warm sofa", kind="design"),
        entity("old idea", "An idea nobody took up", f"Discovered: {day(300)}", kind="mistake"),
        entity("kept idea", "[pinned] Fixed bug", f"Discovered: {day(300)}", kind="mistake"),
        *(entity(each, f"The {each} service is number {n}", kind="service") for n, each in enumerate(services)),
        *(relation(a, b) for a, b in pairwise(services)),
        relation("old idea", "deploy hours"),
        relation("cache warm", "search", "speeds up"),
    ]  # fmt: skip


PLACES: dict[str, Callable[..., Place]] = {"mem0": mem0_place, "md": markdown_place, "graph": graph_place}
