"""The file of a graph and a running server: nothing of anybody is lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

import pytest
from graph_world import (
    NOW,
    SERVERS,
    entities,
    entity,
    relation,
    relations,
    server,
    servers,
    session,
    twins,
    write,
)
from mem0_dream.errors import ConfigError, RefusedChangeError, StoreError, StoreLockedError
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.kinds.graph import GraphKind
from mem0_dream.pipeline.stores.base import ScopeFilter
from mem0_dream.pipeline.stores.files.exchange import OpenFile, keeps_waiting
from mem0_dream.pipeline.stores.graph import media as graph_file
from mem0_dream.pipeline.stores.graph.lines import GraphDocument
from mem0_dream.pipeline.stores.graph.media import FileMedium, ServerMedium, tool_calls
from mem0_dream.pipeline.stores.graph.store import GraphStore
from mem0_dream.settings import Settings

__all__ = ["server", "servers"]
EVERYTHING = ScopeFilter()


def test_a_held_lock_stops_a_write(tmp_path, monkeypatch):
    from filelock import FileLock

    monkeypatch.setattr(graph_file, "LOCK_SECONDS", 0.05)
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"old")
    with FileLock(tmp_path / ".m.jsonl.mem0-dream.lock"), pytest.raises(StoreLockedError):
        FileMedium(path).save(b"old", b"new")
    assert path.read_bytes() == b"old"


def test_beside_a_server_that_cannot_be_kept_waiting_nothing_is_begun(tmp_path, own_state, monkeypatch):
    path = tmp_path / "m.jsonl"
    before = write(path, twins())
    monkeypatch.setattr(OpenFile, "lease", lambda *_, **__: "none")
    monkeypatch.setattr(graph_file, "server_on", lambda asked: 4711 if asked == path else None)
    with session(path, own_state) as opened:
        plan = opened.propose(EVERYTHING, now=NOW)
        with pytest.raises(StoreLockedError, match=r"A memory server \(process 4711\) works on .*; stop"):
            opened.apply(plan, now=NOW)
        assert list(opened.journal.runs(opened.store.fingerprint)) == []
    with pytest.raises(StoreLockedError):
        FileMedium(path).save(before, b"ours")
    assert path.read_bytes() == before


def test_a_missing_graph_is_an_error(tmp_path, own_state):
    with pytest.raises(StoreError):
        session(tmp_path / "none.jsonl", own_state).read(EVERYTHING)


def test_a_link_stays_a_link(tmp_path, own_state):
    write(tmp_path / "real.jsonl", twins())
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    opened = session(tmp_path / "link.jsonl", own_state)
    opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert "strict-mode" not in entities(tmp_path / "real.jsonl")


def test_a_survivor_that_was_written_back_keeps_the_other_alive(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = opened.propose(EVERYTHING, now=NOW)
    real = opened.store.write

    def interfering(change):
        if type(change).__name__ == "Delete":
            write(tmp_path / "m.jsonl", twins())
        return real(change)

    opened.store.write = interfering
    result = opened.apply(plan, now=NOW)
    assert result.moved
    assert (tmp_path / "m.jsonl").read_text() == "\n".join(twins())


def documents(before, after):
    return GraphDocument.parse("\n".join(before).encode()), GraphDocument.parse("\n".join(after).encode())


def test_tools_add_before_they_remove():
    before = [entity("a", "one"), entity("b", "two"), relation("a", "b"), relation("b", "a")]
    after = [entity("a", "one", "two"), entity("c", "three"), relation("a", "c")]
    assert [tool for tool, _ in tool_calls(*documents(before, after))] == [
        "create_entities",
        "add_observations",
        "create_relations",
        "delete_entities",
    ]


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


def served(command: str, path: Path, state: Path, *, repair_relations: bool = False) -> Session:
    store = GraphStore(ServerMedium(f"MEMORY_FILE_PATH={path} {command}"), state=state)
    kind = GraphKind(store, repair_relations=repair_relations)
    settings = Settings(scorer="keywords", max_delete=1.0)
    return Session(store, settings=settings, state_dir=state, kind=kind)


def graph_of(medium):
    graph = medium._call("read_graph", {})
    return (
        sorted(
            (item["name"], item["entityType"], sorted(item["observations"])) for item in graph["entities"]
        ),
        sorted((item["from"], item["to"], item["relationType"]) for item in graph["relations"]),
    )


@pytest.mark.e2e
def test_a_running_server_consolidates_and_takes_it_back(server, tmp_path, own_state):
    path = tmp_path / "m.jsonl"
    lines = [
        *twins(),
        entity("old", "Grunt builds", "Discovered: 2025-01-01"),
        relation("old", "shop"),
        relation("blog", "gone"),
    ]
    write(path, lines)
    with served(server, path, own_state, repair_relations=True) as opened:
        before = graph_of(opened.store.medium)
        result = opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
        assert (result.merged, result.pruned, result.moved) == (1, 1, ())
        assert not {"strict-mode", "old"} & set(entities(path))
        assert all(end in entities(path) for edge in relations(path) for end in edge[:2])
        assert opened.propose(EVERYTHING, now=NOW).actions == ()
        opened.undo(now=NOW)
        after = graph_of(opened.store.medium)
    # The server itself refuses no dangling relation, so it comes back too.
    assert after == before


@pytest.mark.e2e
def test_the_real_server_reads_what_we_write(server, tmp_path, own_state):
    path = tmp_path / "m.jsonl"
    write(
        path,
        [
            *twins(),
            entity(
                "ünï \u2028 code",
                "line\nbreak",
                "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
            ),
        ],
    )
    opened = session(path, own_state)
    opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
    medium = ServerMedium(f"MEMORY_FILE_PATH={path} {server}")
    try:
        names = {name for name, _, _ in graph_of(medium)[0]}
    finally:
        medium.close()
    assert names == set(entities(path))


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


def consolidated_beside(command: str, path: Path, state: Path) -> tuple[int, list[str], int]:
    """Three passes, one of them undone, while a server writes, and one more when it rests.

    Returns:
        How much it wrote, what was lost of that or of what was there before, how many merges were made beside it.
    """
    write(path, service_pairs())
    said = {text for texts in entities(path).values() for text in texts}
    beside = 0
    with session(path, state) as opened:
        with Diarist(command, path) as diarist:
            for number in range(3):
                result = opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
                beside += result.merged
                if number == 1 and result.run:
                    # What was taken back is not proposed again, unless that is withdrawn.
                    opened.undo(now=NOW)
                    opened.withdraw(opened.answered)
        rested = opened.apply(opened.propose(EVERYTHING, now=NOW), now=NOW)
        assert rested.moved == ()
        assert opened.propose(EVERYTHING, now=NOW).actions == ()
    held = entities(path)
    everything = {text for texts in held.values() for text in texts}
    assert len(held) == 7
    lost = sorted((set(diarist.written) - set(held["diary"])) | (said - everything))
    return len(diarist.written), lost, beside


@pytest.mark.e2e
@pytest.mark.parametrize("version", SERVERS)
def test_nothing_the_server_writes_is_lost_while_we_run(version, servers, tmp_path, own_state):
    path = tmp_path / "m.jsonl"
    path.touch()
    if not keeps_waiting(path):
        pytest.skip("this system cannot keep a server waiting")
    written, lost, _ = consolidated_beside(servers(version), path, own_state)
    assert lost == []
    assert written > 0
