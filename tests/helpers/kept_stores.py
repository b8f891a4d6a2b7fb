"""Small fixed stores of every kind, and what is printed about them, equal to the byte wherever it runs."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from graph_world import day, entity, relation
from kinds import World, graph_world, mem0_world, project_world
from markdown_world import write_world
from mem0_dream.testing import FakeEncoder
from typed import CLOCKLESS, NOW

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


def transcript(world: World, *steps: tuple[tuple[str, ...], str]) -> str:
    parts = []
    for words, answers in steps:
        done = world.call(*words, answers=answers)
        shown = f"$ mem0-dream {' '.join(words)}\n{done.stdout}--- errors\n{done.stderr}\n"
        clock = r"\d{4}-\d\d-\d\d( \d\d:\d\d UTC|  taken back)"
        parts.append(re.sub(clock, "<TIME>", shown) if CLOCKLESS & set(words) else shown)
    return _plain(world, "".join(parts))


def _plain(world: World, text: str) -> str:
    store = str(json.loads(world.call("plan").stdout.partition("\n")[0])["store"])
    text = text.replace(str(world.folder), "<FOLDER>").replace(store, "<STORE>")
    for pattern, name in (
        (r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[1-57-9][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    ):
        for number, word in enumerate(dict.fromkeys(re.findall(pattern, text)), 1):
            text = text.replace(word, f"<{name} {number}>")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+(\+00:00|Z)?", "<TIME>", text)
    text = re.sub(r"Duration: [\d.]+ s", "Duration: <DURATION>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d-forgotten", "<DAY>-forgotten", text)
    return re.sub(r"-?\d+\.\d{5,}(e-?\d+)?", lambda found: f"{float(found[0]):.4f}", text)


def _mem0_filled(memory: Any) -> list[str]:
    """Store rows as mem0 would write them; the ids are of a version that mem0 itself never gives."""
    encoder, rows = FakeEncoder(), []
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
        rows.append((f"{number:08x}-0000-6000-8000-{number:012x}", payload, vector))
    ids, payloads, vectors = map(list, zip(*rows, strict=True))
    memory.vector_store.insert(vectors, payloads, ids)
    return ids


def _graph_lines() -> list[str]:
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


def with_core(world: World) -> World:
    return replace(world, words=(*world.words, "--core", str(world.folder / "core.json")))


WORLDS: dict[str, Callable[[Path, pytest.MonkeyPatch], World]] = {
    "mem0": lambda folder, patch: mem0_world(folder, patch, _mem0_filled),
    "md": lambda folder, patch: project_world(folder, patch, write_world(folder / "shop")),
    "graph": lambda folder, patch: with_core(graph_world(folder, patch, _graph_lines())),
}
