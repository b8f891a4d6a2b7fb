"""The whole of it on a graph of 300 entities, through the command line as a person uses it."""

from __future__ import annotations

import json
import os

import forks
import pytest
from graph_world import big_graph, day, entities, relations, server, servers, write
from typed import on_store

__all__ = ["server", "servers"]

pytestmark = pytest.mark.e2e


def entities_of(lines) -> list[str]:
    return [row["name"] for row in map(json.loads, lines) if row["type"] == "entity"]


class Box:
    def __init__(self, folder, lines) -> None:
        self.path, self.core, self.state = (
            folder / "memory.jsonl",
            folder / "core-memory.json",
            folder / "state",
        )
        self.before = write(self.path, lines)

    def run(self, *arguments, answers="", code=0, place=True, mcp=None):
        found = ["--mcp", f"MEMORY_FILE_PATH={self.path} {mcp}"] if mcp else ["--file", str(self.path)]
        where = ["--store", "graph", *found, "--core", str(self.core)] if place else []
        environment = os.environ | {"MEM0_DREAM_STATE_DIR": str(self.state)}
        words = tuple(on_store(("--scorer", "keywords", *arguments, *where)))
        done = forks.run(forks.Call(words, environment, answers, imports=forks.OF_FILES))
        assert done.code == code, done
        return done.out + done.err


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    return Box(tmp_path_factory.mktemp("graph"), big_graph())


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """The big graph after an unattended night, which leaves nothing to do."""
    settled = Box(tmp_path_factory.mktemp("settled"), big_graph())
    settled.run("--auto", *NOW)
    return settled


NOW = ("--now", "2026-11-21")


def test_health_of_a_big_graph_warns(box):
    state = json.loads(box.run("status", "--check", "--json", *NOW, code=9))["health"]
    assert (state["total"], state["by_type"]["research"]) == (300, 29)
    assert state["indicators"]["count"]["status"] == "WARN"
    assert state["indicators"]["potential duplicates"]["value"] == 20
    assert "Recommendations:" in box.run("status", "--check", *NOW, code=9)
    assert box.path.read_bytes() == box.before


def test_a_dry_run_changes_nothing(box):
    shown = box.run("--dry-run", *NOW)
    assert "Merges (20):" in shown
    assert "Prunes (29):" in shown
    assert "[graph:tests-first] — promote: 18 uses, effectiveness 100%, 100 days old" in shown
    assert "Conflicts (1):" in shown
    assert box.path.read_bytes() == box.before


def test_a_pass_with_answers_then_undo(tmp_path):
    box = Box(tmp_path, big_graph())
    shown = box.run(*NOW, answers="b\ny\n")
    held = entities(box.path)
    assert len(held) == 300 - 20 - 29
    assert held["tabs"] == ["Do not use tabs for Go code"]
    assert "amber-keys" not in held
    assert f"Merged from: amber-keys on {day(0)}" in held["amber-gateway-keys"]
    assert ("amber-gateway-keys", "tests-first", "follows") in relations(box.path)
    gone = set(entities_of(big_graph())) - set(held)
    assert not any(gone & set(edge[:2]) for edge in relations(box.path))
    assert ("tabs", "nowhere", "uses") in relations(box.path)
    assert json.loads(box.core.read_text())["stablePatterns"] == {
        "testsFirst": "Write the failing test before the fix"
    }
    archive = json.loads(next((box.path.parent / "archive").glob("*-forgotten.json")).read_text())
    assert len(archive) == 29
    for part in ("- Memories analysed: 300", "- Memories merged: 20 into 20", "- Forgotten (archived): 29"):
        assert part in shown
    assert "- tests-first (promote: 18 uses" in shown
    assert "promoted as stablePatterns.testsFirst" in shown
    # Without --core: the run knows where it had promoted to.
    box.run("undo", "--store", "graph", "--file", str(box.path), place=False)
    assert box.path.read_bytes() == box.before
    assert not box.core.exists()
    # What was answered and taken back is an answer, too.
    assert "merged=0 pruned=0 conflicts_skipped=1" in box.run("--auto", *NOW)
    assert box.path.read_bytes() == box.before


def test_forgetting_alone_and_coming_back(tmp_path):
    box = Box(tmp_path, big_graph())
    box.run("--only", "prunes", "--auto", *NOW)
    assert len(entities(box.path)) == 271
    assert "Restored: forgotten-0, with 1 relations." in box.run("restore", "forgotten-0")
    assert ("forgotten-0", "tabs", "uses") in relations(box.path)
    assert "forgotten-0" in entities(box.path)
    box.run("restore", "no such memory", code=2)


def test_unattended_twice(settled):
    once = settled.path.read_bytes()
    assert "merged=0 pruned=0 conflicts_skipped=1" in settled.run("--auto", *NOW)
    assert "due: 251 memories, more than 200" in settled.run("--auto", "--if-due", *NOW)
    assert settled.path.read_bytes() == once


def test_other_commands(settled):
    before = settled.path.read_bytes()
    assert "tests-first" in settled.run("reflect", "--memories", *NOW)
    assert "Beliefs (1):" in settled.run("reflect", "--beliefs", *NOW)
    assert "Since 2026-11-21:" in settled.run("reflect", *NOW)
    topics = json.loads(settled.run("attention", "--json", *NOW))["topics"]
    assert topics[0]["weight"] == 1.0
    assert "Focus: amber" in settled.run("attention", "--focus", "amber", *NOW)
    assert "Focus: none set" in settled.run("attention", "--reset", *NOW)
    assert "CRON_TZ=UTC" in settled.run("schedule", "--print", "cron")
    assert "Memories: 251 living" in settled.run("status")
    assert "removed" in settled.run("runs")
    assert settled.path.read_bytes() == before


def test_the_filter_answers_with_its_exit_code(box, tmp_path):
    learning = {
        "name": "x",
        "observations": ["Never deploy the frost cluster by hand"],
        "severity": "critical",
    }
    (tmp_path / "new.json").write_text(json.dumps(learning))
    assert json.loads(box.run("check", "--learning", str(tmp_path / "new.json")))["save"] is True
    said = "Rotate the keys of the amber gateway on the first Monday of the month"
    (tmp_path / "known.json").write_text(json.dumps({"name": "amber gateway keys", "observations": [said]}))
    answer = json.loads(box.run("check", "--learning", str(tmp_path / "known.json"), code=10))
    assert answer["nearest"] == "amber-gateway-keys"


def test_a_broken_line_loses_nothing(tmp_path):
    broken = Box(tmp_path, [*big_graph()[:3], "{broken", *big_graph()[3:6]])
    assert "line 4 of the graph is broken" in broken.run("--auto", *NOW, code=4)
    assert broken.path.read_bytes() == broken.before
    broken.run("--auto", "--repair", *NOW)
    assert len(entities(broken.path)) == 6
    kept = json.loads(next((tmp_path / "archive").glob("*-broken.json")).read_text())
    assert kept[0]["lines"] == [{"number": 4, "raw": "{broken"}]


def test_a_schedule_that_is_not_due_says_so(tmp_path):
    small = Box(tmp_path, big_graph()[:5])
    assert "due: never consolidated" in small.run("--auto", "--if-due", *NOW)
    assert "not due: 5 memories, 0 new" in small.run("--auto", "--if-due", "--now", "2026-11-22")
    assert "due: 7 days since the last run" in small.run("--auto", "--if-due", "--now", "2026-11-28")


def test_the_same_through_the_real_server(server, tmp_path):
    graph = big_graph(kept=29, double=5, old=6)  # the server tells all of it before and after each change
    by_file, by_server = Box(_folder(tmp_path / "a"), graph), Box(_folder(tmp_path / "b"), graph)
    by_file.run("--auto", *NOW)
    by_server.run("--auto", *NOW, mcp=server)
    assert entities(by_server.path) == entities(by_file.path)
    assert sorted(relations(by_server.path)) == sorted(relations(by_file.path))
    assert json.loads(by_server.core.read_text()) == json.loads(by_file.core.read_text())
    assert len(entities(by_server.path)) == len(entities_of(graph)) - 5 - 6
    by_server.run("undo", mcp=server)
    before = Box(_folder(tmp_path / "c"), graph)
    assert {n: sorted(t) for n, t in entities(by_server.path).items()} == {
        n: sorted(t) for n, t in entities(before.path).items()
    }
    assert sorted(relations(by_server.path)) == sorted(relations(before.path))


def _folder(path):
    path.mkdir()
    return path
