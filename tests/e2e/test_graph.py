"""The whole of it on a graph of 300 entities, through the command line as a person uses it."""

import json
import os

import forks
import pytest
from graph_world import big_graph, day, entities, relations, server, servers, write
from typed import on_store

__all__ = ["server", "servers"]

pytestmark = pytest.mark.e2e
NOW = ("--now", "2026-11-21")


class Box:
    def __init__(self, folder, lines) -> None:
        folder.mkdir(exist_ok=True)
        self.path, self.core = folder / "memory.jsonl", folder / "core-memory.json"
        self.state = folder / "state"
        self.before = write(self.path, lines)
        self.names = {row["name"] for row in map(json.loads, lines) if row["type"] == "entity"}

    def run(self, *arguments, answers="", code=0, place=True, mcp=None):
        found = ["--mcp", f"MEMORY_FILE_PATH={self.path} {mcp}"] if mcp else ["--file", str(self.path)]
        where = ["--store", "graph", *found, "--core", str(self.core)] if place else []
        environment = os.environ | {"MEM0_DREAM_STATE_DIR": str(self.state)}
        words = tuple(on_store(("--scorer", "keywords", *arguments, *where)))
        done = forks.run(forks.Call(words, environment, answers, imports=forks.OF_FILES))
        assert done.code == code, done
        return done.out + done.err

    def same(self):
        return self.path.read_bytes() == self.before


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    return Box(tmp_path_factory.mktemp("graph"), big_graph())


def test_looking_changes_nothing(box):
    state = json.loads(box.run("status", "--check", "--json", *NOW, code=9))["health"]
    assert (state["total"], state["by_type"]["research"]) == (300, 29)
    assert state["indicators"]["count"]["status"] == "WARN"
    assert state["indicators"]["potential duplicates"]["value"] == 20
    assert "Recommendations:" in box.run("status", "--check", *NOW, code=9)
    shown = box.run("--dry-run", *NOW)
    assert all(
        part in shown for part in ("Merges (20):", "Prunes (29):", "[graph:tests-first]", "Conflicts (1):")
    )
    assert box.same()


def test_a_pass_with_answers_then_undo(tmp_path):
    box = Box(tmp_path, big_graph())
    shown = box.run(*NOW, answers="b\ny\n")
    held, edges = entities(box.path), relations(box.path)
    assert len(held) == 300 - 20 - 29
    assert held["tabs"] == ["Do not use tabs for Go code"]
    assert "amber-keys" not in held
    assert f"Merged from: amber-keys on {day(0)}" in held["amber-gateway-keys"]
    assert {("amber-gateway-keys", "tests-first", "follows"), ("tabs", "nowhere", "uses")} <= set(edges)
    assert not any((box.names - set(held)) & set(edge[:2]) for edge in edges)
    core = json.loads(box.core.read_text())
    assert core["stablePatterns"] == {"testsFirst": "Write the failing test before the fix"}
    archive = json.loads(next((box.path.parent / "archive").glob("*-forgotten.json")).read_text())
    assert len(archive) == 29
    for part in ("- Memories analysed: 300", "- Memories merged: 20 into 20", "- Forgotten (archived): 29"):
        assert part in shown
    assert "- tests-first (promote: 18 uses" in shown
    assert "promoted as stablePatterns.testsFirst" in shown
    # Without --core: the run knows where it had promoted to.
    box.run("undo", "--store", "graph", "--file", str(box.path), place=False)
    assert box.same()
    assert not box.core.exists()
    # What was answered and taken back is an answer, too.
    assert "merged=0 pruned=0 conflicts_skipped=1" in box.run("--auto", *NOW)
    assert box.same()


def test_forgetting_alone_and_coming_back(tmp_path):
    box = Box(tmp_path, big_graph())
    box.run("--only", "prunes", "--auto", *NOW)
    assert len(entities(box.path)) == 271
    assert "Restored: forgotten-0, with 1 relations." in box.run("restore", "forgotten-0")
    assert ("forgotten-0", "tabs", "uses") in relations(box.path)
    assert "forgotten-0" in entities(box.path)
    box.run("restore", "no such memory", code=2)


def test_after_an_unattended_night_nothing_is_left_to_do(tmp_path):
    settled = Box(tmp_path, big_graph())
    settled.run("--auto", *NOW)
    once = settled.path.read_bytes()
    assert "merged=0 pruned=0 conflicts_skipped=1" in settled.run("--auto", *NOW)
    assert "due: 251 memories, more than 200" in settled.run("--auto", "--if-due", *NOW)
    assert "tests-first" in settled.run("reflect", "--memories", *NOW)
    assert "Focus: amber" in settled.run("attention", "--focus", "amber", *NOW)
    assert settled.path.read_bytes() == once


def test_the_filter_answers_with_its_exit_code(box, tmp_path):
    said = "Rotate the keys of the amber gateway on the first Monday of the month"
    new = {"name": "x", "observations": ["Never deploy the frost cluster by hand"], "severity": "critical"}
    known = {"name": "amber gateway keys", "observations": [said]}
    path = tmp_path / "learning.json"
    for learning, code, key, value in ((new, 0, "save", True), (known, 10, "nearest", "amber-gateway-keys")):
        path.write_text(json.dumps(learning))
        assert json.loads(box.run("check", "--learning", str(path), code=code))[key] == value


def test_the_same_through_the_real_server(server, tmp_path):
    graph = big_graph(kept=29, double=5, old=6)  # the server tells all of it before and after each change
    by_file, by_server, before = (Box(tmp_path / name, graph) for name in "abc")
    by_file.run("--auto", *NOW)
    by_server.run("--auto", *NOW, mcp=server)
    assert entities(by_server.path) == entities(by_file.path)
    assert sorted(relations(by_server.path)) == sorted(relations(by_file.path))
    assert json.loads(by_server.core.read_text()) == json.loads(by_file.core.read_text())
    assert len(entities(by_server.path)) == len(before.names) - 5 - 6
    by_server.run("undo", mcp=server)
    back, were = (entities(box.path).items() for box in (by_server, before))
    assert {name: sorted(said) for name, said in back} == {name: sorted(said) for name, said in were}
    assert sorted(relations(by_server.path)) == sorted(relations(before.path))
