"""Graphs for tests: lines as the memory server writes them, and sessions that need no model."""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import NOW
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.statements import Reader
from mem0_dream.pipeline.kinds.graph import GraphKind
from mem0_dream.pipeline.plan import Plan, RunResult
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.graph.entities import Node, nodes_of
from mem0_dream.pipeline.stores.graph.media import FileMedium
from mem0_dream.pipeline.stores.graph.store import GraphStore
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

SERVER_PACKAGE = "@modelcontextprotocol/server-memory"
SERVERS = {"renames": "2026.8.31", "writes in place": "2026.7.4"}
"""The newest server, and the last one that wrote into the file itself."""


def entity(name: str, *observations: str, kind: str = "pattern", **fields: Any) -> str:
    said = {"name": name, "entityType": kind, "observations": list(observations)}
    return _line({"type": "entity", **said, **fields})


def relation(source: str, target: str, kind: str = "uses", **fields: Any) -> str:
    return _line({"type": "relation", "from": source, "to": target, "relationType": kind, **fields})


def write(path: Path, lines: Iterable[str], *, end: str = "") -> bytes:
    data = ("\n".join(lines) + end).encode()
    path.write_bytes(data)
    return data


def session(path: Path, state: Path, *, core: Path | None = None, **options: Any) -> Session:
    store = GraphStore(FileMedium(path), state=state, core=core)
    wanted = {name: options.pop(name) for name in ("relate", "repair_relations") if name in options}
    kind = GraphKind(store, limits=GraphSettings(**options), **wanted)
    return Session(store, settings=Settings(scorer="keywords", max_delete=1.0), state_dir=state, kind=kind)


def propose(opened: Session, **more: Any) -> Plan:
    return opened.propose(ScopeFilter(), now=NOW, **more)


def apply(opened: Session, plan: Plan | None = None, **more: Any) -> RunResult:
    return opened.apply(propose(opened) if plan is None else plan, now=NOW, within_budget=False, **more)


class Graph:
    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self.state, self.path = folder, state, folder / "m.jsonl"
        self.before = b""

    def write(self, *lines: str, end: str = "") -> None:
        self.before = write(self.path, lines, end=end)

    def open(self, *lines: str, end: str = "", **options: Any) -> Session:
        if lines:
            self.write(*lines, end=end)
        return session(self.path, self.state, **options)

    def judged(self, scorer: FakeScorer, *lines: str, encoder: FakeEncoder | None = None) -> Session:
        """A session on these lines for which a fake judges."""
        self.write(*lines)
        store = GraphStore(FileMedium(self.path), state=self.state)
        limits, encoder = Settings(scorer="keywords"), encoder or FakeEncoder()
        return Session(store, settings=limits, state_dir=self.state, encoder=encoder, scorer=scorer)

    def nodes(self, *lines: str) -> tuple[tuple[Node, ...], Session]:
        opened = self.open(*lines)
        return nodes_of(opened.read(ScopeFilter()).memories), opened

    def same(self) -> bool:
        return self.path.read_bytes() == self.before

    def undone(self, opened: Session) -> bool:
        opened.undo(now=NOW)
        return self.same()

    def entities(self) -> dict[str, list[str]]:
        return entities(self.path)

    def relations(self) -> list[tuple[str, str, str]]:
        return relations(self.path)

    def archived(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / "archive" / f"2026-11-21-{name}.json"
        found: list[dict[str, Any]] = json.loads(path.read_text())
        return found


def repair(opened: Session) -> RunResult | None:
    plan = kind_of(opened).repair(NOW)
    return opened.apply(plan, now=NOW) if plan is not None else None


def models(opened: Session) -> Reader:
    return kind_of(opened).reader(opened.means(NOW))


def kind_of(opened: Session) -> GraphKind:
    assert isinstance(opened.kind, GraphKind)
    return opened.kind


def entities(path: Path) -> dict[str, list[str]]:
    rows = [json.loads(line) for line in path.read_text().split("\n") if line.strip()]
    return {row["name"]: row["observations"] for row in rows if row.get("type") == "entity"}


def relations(path: Path) -> list[tuple[str, str, str]]:
    rows = [json.loads(line) for line in path.read_text().split("\n") if line.strip()]
    return [(row["from"], row["to"], row["relationType"]) for row in rows if row.get("type") == "relation"]


def _line(item: dict[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Gives the command of a real memory server, installed with npm; skips where there is none."""
    pytest.importorskip("mcp", reason="the official MCP SDK is not installed (extra: mcp)")

    @functools.cache
    def installed(version: str) -> str:
        npm, node = shutil.which("npm"), shutil.which("node")
        if npm is None or node is None:
            pytest.skip("npm is missing, so the real memory server cannot be installed")
        home = tmp_path_factory.mktemp("npm")
        package = f"{SERVER_PACKAGE}@{SERVERS[version]}"
        command = [npm, "install", "--silent", "--prefix", str(home), package]
        if subprocess.run(command, capture_output=True, timeout=180, check=False).returncode != 0:
            pytest.skip("npm could not install the real memory server (no network?)")
        return f"{node} {home}/node_modules/{SERVER_PACKAGE}/dist/index.js"

    return installed


@pytest.fixture
def server(servers: Callable[[str], str]) -> str:
    """The command of the newest memory server, or of the one that MEM0_DREAM_MEMORY_SERVER names."""
    return os.environ.get("MEM0_DREAM_MEMORY_SERVER") or servers("renames")


STRICT = "Turn on strict mode in every new TypeScript project of the shop team"


def twins() -> list[str]:
    uses = ("Applied in shop - HELPFUL (2026-11-02)", "Applied in blog - NOT HELPFUL (2026-11-09)")
    return [
        entity("strict-mode", STRICT, uses[0], "Discovered: 2026-01-02"),
        entity("typescript-strict-mode", STRICT + ".", *uses, "Discovered: 2026-03-02", origin="import"),
        entity("shop", "The web shop for garden tools, run by four people", kind="stack"),
        entity("blog", "Static pages about fishing in Norway", kind="project"),
        relation("strict-mode", "shop"),
        relation("typescript-strict-mode", "shop", weight=2),
        relation("blog", "strict-mode"),
        relation("typescript-strict-mode", "strict-mode"),
    ]


WORDS = [
    "amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "jade", "kelp", "lotus", "maple",
    "north", "olive", "pearl", "quartz", "river", "sable", "tulip", "umber", "velvet", "willow", "xenon", "yarrow",
    "zephyr", "acorn", "birch", "clover", "dune",
]  # fmt: skip


def day(ago: int) -> str:
    return (NOW - timedelta(days=ago)).date().isoformat()


def big_graph(*, kept: int = 229, double: int = 20, old: int = 29) -> list[str]:
    """300 entities: 20 double ones, 29 to forget, one to promote, a contradiction, and the rest to keep."""
    lines = []
    for number in range(kept):
        word, other = WORDS[number % 30], WORDS[(number // 30 + 7) % 30]
        said = " ".join(WORDS[(number * step + step) % 30] + str(number % (step + 6)) for step in range(1, 8))
        uses = [f"Applied in {word} - HELPFUL ({day(10 + number % 60)})"] * (1 + number % 3)
        uses.append(f"Discovered: {day(200)}")
        lines.append(entity(f"{word}-{other}-{number}", said, *uses, kind="tech-insight"))
    for number in range(double):
        said = f"Rotate the keys of the {WORDS[number]} gateway on the first Monday of the month"
        lines.append(entity(f"{WORDS[number]}-keys", said, f"Discovered: {day(80)}"))
        lines.append(entity(f"{WORDS[number]}-gateway-keys", said + ".", f"Discovered: {day(40)}"))
    for number in range(old):
        idea = (f"An idea nobody took up, number {number}", f"Discovered: {day(300)}")
        lines.append(entity(f"forgotten-{number}", *idea, kind="research"))
    proven = [f"Applied in p{number} - HELPFUL ({day(20)})" for number in range(18)]
    proven.append(f"Discovered: {day(100)}")
    lines.append(entity("tests-first", "Write the failing test before the fix", *proven))
    lines.append(entity("tabs", "Use tabs for Go code", "Do not use tabs for Go code", kind="preference"))
    lines += [relation(f"{WORDS[i]}-keys", "tests-first", "follows") for i in range(double)]
    lines += [relation("forgotten-0", "tabs"), relation("tabs", "nowhere"), relation("tabs", "tests-first")]
    return lines
