"""The file of a graph and a running server: nothing of anybody is lost."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

import pytest
from graph_world import (
    NOW,
    SERVERS,
    STRICT,
    apply,
    entity,
    propose,
    relation,
    server,
    servers,
    session,
    twins,
)
from mem0_dream.errors import ConfigError, RefusedChangeError, StoreError, StoreLockedError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.graph import GraphKind
from mem0_dream.pipeline.stores.base import Delete, ScopeFilter
from mem0_dream.pipeline.stores.files import exchange
from mem0_dream.pipeline.stores.files.exchange import keeps_waiting
from mem0_dream.pipeline.stores.graph import media as graph_file
from mem0_dream.pipeline.stores.graph.lines import GraphDocument
from mem0_dream.pipeline.stores.graph.media import FileMedium, ServerMedium, server_on, tool_calls
from mem0_dream.pipeline.stores.graph.store import GraphStore
from mem0_dream.settings import Settings

__all__ = ["server", "servers"]


def test_a_held_lock_stops_a_write(tmp_path, monkeypatch):
    from filelock import FileLock

    monkeypatch.setattr(graph_file, "LOCK_SECONDS", 0.05)
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"old")
    with FileLock(tmp_path / ".m.jsonl.mem0-dream.lock"), pytest.raises(StoreLockedError):
        FileMedium(path).save(b"old", b"new")
    assert path.read_bytes() == b"old"


def test_beside_a_server_that_cannot_be_kept_waiting_nothing_is_begun(graph, monkeypatch):
    monkeypatch.setattr(exchange, "lease", lambda *_, **__: "none")
    monkeypatch.setattr(graph_file, "server_on", lambda asked: 4711 if asked == graph.path else None)
    with graph.open(*twins()) as opened:
        plan = propose(opened)
        with pytest.raises(StoreLockedError, match=r"A memory server \(process 4711\) works on .*; stop"):
            apply(opened, plan)
        assert list(opened.journal.runs(opened.store.fingerprint)) == []
    with pytest.raises(StoreLockedError):
        FileMedium(graph.path).save(graph.before, b"ours")
    assert graph.same()


def test_a_missing_graph_is_an_error(graph):
    with pytest.raises(StoreError):
        graph.open().read(ScopeFilter())


def test_a_name_that_no_journal_can_keep_is_left_alone(graph):
    half = entity("typescript-strict-mode?", STRICT).replace("?", r"\ud83d")
    doubt = entity("?", "Cats like the sofa", "Cats do not like the sofa").replace("?", r"\ud83d")
    plan = propose(opened := graph.open(entity("strict-mode", f"{STRICT}."), half, doubt))
    assert (plan.actions, apply(opened, plan).merged, graph.same()) == ((), 0, True)


def test_a_link_stays_a_link(graph):
    graph.write(*twins())
    link = graph.folder / "link.jsonl"
    link.symlink_to(graph.path.name)
    apply(session(link, graph.state))
    assert link.is_symlink()
    assert "strict-mode" not in graph.entities()


def test_a_survivor_that_was_written_back_keeps_the_other_alive(graph):
    opened = graph.open(*twins())
    plan, real = propose(opened), opened.store.write

    def interfering(change):
        if isinstance(change, Delete):
            graph.write(*twins())
        return real(change)

    opened.store.write = interfering
    assert apply(opened, plan).moved
    assert graph.same()


def documents(before, after):
    return GraphDocument.parse("\n".join(before).encode()), GraphDocument.parse("\n".join(after).encode())


def test_tools_add_before_they_remove():
    before = [entity("a", "one"), entity("b", "two"), relation("a", "b"), relation("b", "a")]
    after = [entity("a", "one", "two"), entity("c", "three"), relation("a", "c")]
    tools = [tool for tool, _ in tool_calls(*documents(before, after))]
    assert tools == ["create_entities", "add_observations", "create_relations", "delete_entities"]


def test_equal_observations_are_refused():
    with pytest.raises(RefusedChangeError):
        tool_calls(*documents([entity("a", "x", "x")], [entity("a", "x")]))


@pytest.mark.parametrize("command", ["", "A=b", 'npx "'])
def test_a_command_that_is_none_is_an_error(command):
    with pytest.raises(ConfigError):
        ServerMedium(command)


def test_a_server_that_does_not_start_is_an_error():
    pytest.importorskip("mcp")
    with pytest.raises(StoreError):
        ServerMedium("/does/not/exist")


def graph_of(medium):
    graph = medium._call("read_graph", {})
    said = [(each["name"], each["entityType"], sorted(each["observations"])) for each in graph["entities"]]
    return sorted(said), sorted((e["from"], e["to"], e["relationType"]) for e in graph["relations"])


@pytest.mark.e2e
def test_a_running_server_consolidates_and_takes_it_back(server, graph):
    old = entity("old", "Grunt builds", "Discovered: 2025-01-01")
    graph.write(*twins(), old, relation("old", "shop"), relation("blog", "gone"))
    store = GraphStore(ServerMedium(f"MEMORY_FILE_PATH={graph.path} {server}"), state=graph.state)
    kind, settings = GraphKind(store, repair_relations=True), Settings(scorer="keywords", max_delete=1.0)
    with Session(store, settings=settings, state_dir=graph.state, kind=kind) as opened:
        before = graph_of(store.medium)
        result = apply(opened)
        assert (result.merged, result.pruned, result.moved) == (1, 1, ())
        assert not {"strict-mode", "old"} & set(graph.entities())
        assert all(end in graph.entities() for edge in graph.relations() for end in edge[:2])
        assert propose(opened).actions == ()
        opened.undo(now=NOW)
        # The server itself refuses no dangling relation, so it comes back too.
        assert graph_of(store.medium) == before


@pytest.mark.e2e
def test_the_real_server_reads_what_we_write(server, graph):
    apply(graph.open(*twins(), entity("ünï \u2028 code", "line\nbreak", "\U0001f600")))
    medium = ServerMedium(f"MEMORY_FILE_PATH={graph.path} {server}")
    try:
        names = {name for name, _, _ in graph_of(medium)[0]}
    finally:
        medium.close()
    assert names == set(graph.entities())


NODE = ("node", "/opt/node_modules/@modelcontextprotocol/server-memory/dist/index.js")
NAMED = {"MEMORY_FILE_PATH": "/data/m.jsonl"}


@pytest.mark.parametrize(
    ("command", "variables", "file"),
    [
        (NODE, {"HOME": "/root", **NAMED}, "/data/m.jsonl"),
        (NODE, {"MEMORY_FILE_PATH": "own.jsonl"}, str(Path(NODE[1]).with_name("own.jsonl"))),
        (NODE, {}, str(Path(NODE[1]).with_name("memory.jsonl"))),
        (("npm exec @modelcontextprotocol/server-memory",), NAMED, "/data/m.jsonl"),
        (("mcp-server-memory",), NAMED, "/data/m.jsonl"),
    ],
)
def test_a_server_is_known_by_its_file(command, variables, file):
    editor = (8, ("vim", "/data/m.jsonl"), NAMED)
    assert server_on(Path(file), [editor, (7, command, variables)]) == 7
    assert server_on(Path("/data/other.jsonl"), [(7, command, variables)]) is None


def test_a_running_server_is_found(tmp_path):
    path = tmp_path.resolve() / "m.jsonl"
    waits = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "server-memory"]
    environment = os.environ | {"MEMORY_FILE_PATH": str(path)}
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert server_on(path) == server.pid
        assert server_on(path.with_name("other")) is None
    assert server_on(path) is None


def service_pairs() -> list[str]:
    """Six pairs to merge, and a diary for another writer."""
    pairs = [
        entity(name, f"The service {word} listens on the port of the {word} team", "Discovered: 2026-10-01")
        for word in ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
        for name in (f"{word}-service", f"{word}-service-port")
    ]
    return [*pairs, entity("diary", "begun")]


class Diarist:
    """Lets a real server write diary entries, one after the other, until it is told to stop."""

    def __init__(self, command: str, path: Path) -> None:
        self.medium = ServerMedium(f"MEMORY_FILE_PATH={path} {command}")
        self.written: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.medium.close()

    def _write(self) -> None:
        while not self._stop.is_set() and len(self.written) < 2000:
            text = f"entry {len(self.written)}"
            entry = {"entityName": "diary", "contents": [text]}
            self.medium._call("add_observations", {"observations": [entry]})
            self.written.append(text)
            # Every moment of its read, change and write shall meet every moment of ours.
            self._stop.wait(len(self.written) % 7 / 1000)


@pytest.mark.e2e
@pytest.mark.parametrize("version", SERVERS)
def test_nothing_the_server_writes_is_lost_while_we_run(version, servers, graph):
    """Three passes, one of them undone, while a server writes, and one more when it rests."""
    graph.write(*service_pairs())
    if not keeps_waiting(graph.path):
        pytest.skip("this system cannot keep a server waiting")
    said = {text for texts in graph.entities().values() for text in texts}
    with graph.open() as opened:
        with Diarist(servers(version), graph.path) as diarist:
            for number in range(3):
                result = apply(opened)
                if number == 1 and result.run:
                    # What was taken back is not proposed again, unless that is withdrawn.
                    opened.undo(now=NOW)
                    opened.withdraw(opened.answered)
        assert apply(opened).moved == ()
        assert propose(opened).actions == ()
    held = graph.entities()
    assert len(held) == 7
    assert diarist.written
    assert set(diarist.written) <= set(held["diary"])
    assert said <= {text for texts in held.values() for text in texts}
