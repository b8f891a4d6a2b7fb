"""The core memory that promotions go to, and the archive of what is forgotten."""

import json

import pytest
from graph_world import NOW, apply, day, entity, kind_of, propose, relation
from mem0_dream.errors import RefusedChangeError, UsageError
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.base import Update
from mem0_dream.pipeline.stores.files.undo import FileHistory
from mem0_dream.pipeline.stores.graph.core_memory import CoreFile
from mem0_dream.pipeline.stores.graph.lines import GraphLine
from mem0_dream.pipeline.stores.graph.store import archive_forgotten, find_forgotten

USES = (*[f"Applied in p{i} - HELPFUL ({day(40)})" for i in range(16)], f"Discovered: {day(99)}")
PROVEN = (
    entity("tests-first", "Write tests first", *USES),
    entity("tabs", "Prefers tabs in Go", *USES, kind="preference"),
)
"""A pattern and a preference that proved themselves."""
ORIGINAL = {
    "identity": {"name": "x"},
    "stablePatterns": {"earlyReturns": "Return early", "namedExports": {"summary": "Name exports"}},
    "preferences": {"theme": "dark"},
    "memoryConfig": {"relevanceThreshold": 3, "decayThresholdDays": 400, "minUsesToRetain": 1, "own": True},
    "lastUpdated": "2026-01-27",
    "lastConsolidation": None,
}
UNUSED = ("Grunt builds", "Applied in shop", f"Discovered: {day(400)}")


@pytest.fixture
def core(tmp_path):
    def written(data):
        path = tmp_path / "core.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=4))
        return path

    return written


def test_promotion_writes_the_core_memory_and_undo_takes_it_back(graph, core):
    text = '{"identity": {"name": "x"},\n "stablePatterns": ["old one"]}'
    path = core(text)
    opened = graph.open(*PROVEN, core=path)
    apply(opened)
    whole = json.loads(path.read_text())
    assert whole["identity"] == {"name": "x"}
    old, new = whole["stablePatterns"]
    assert (old, new["name"]) == ("old one", "tests-first")
    assert whole["preferences"][0]["content"] == ["Prefers tabs in Go"]
    assert f"Promoted to core memory: {day(0)}" in graph.entities()["tabs"]
    assert graph.undone(opened)
    assert path.read_text() == text


def test_when_another_program_consolidated_counts(graph, core):
    opened = graph.open(*PROVEN, core=core({**ORIGINAL, "lastConsolidation": day(2)}))
    due, why = kind_of(opened).due(NOW)
    assert (due, why.partition("last run ")[2][:8]) == (False, "60 hours")


def test_the_original_form_of_the_core_memory_is_read_kept_and_written(graph, core):
    path = core(ORIGINAL)
    before = path.read_text()
    said = (("earlyReturns", "Return early"), ("namedExports", "Name exports"), ("theme", "dark"))
    assert CoreFile(path, FileHistory(graph.folder)).statements() == said
    first = PROVEN[0].replace('"tests-first"', '"pattern:tests-first"')
    opened = graph.open(first, PROVEN[1], entity("old", "Grunt", f"Discovered: {day(300)}"), core=path)
    limits = kind_of(opened).graph
    assert (limits.keep_above, limits.forget_unused.days, limits.forget_uses) == (3, 400, 1)
    plan = propose(opened)
    assert plan.prunes == ()
    apply(opened, plan)
    whole = json.loads(path.read_text())
    assert whole["preferences"] == {"theme": "dark", "tabs": "Prefers tabs in Go"}
    assert whole["stablePatterns"].pop("testsFirst")["name"] == "pattern:tests-first"
    assert whole["stablePatterns"] == ORIGINAL["stablePatterns"]
    assert (whole["lastUpdated"], whole["lastConsolidation"]) == (day(0), day(0))
    assert whole["memoryConfig"] == ORIGINAL["memoryConfig"]
    # The run knows where it promoted to; a new session need not be told.
    assert graph.undone(graph.open())
    assert path.read_text() == before


def test_what_a_person_had_in_the_core_memory_is_not_demoted(graph, core):
    held = {"stablePatterns": {"testsFirst": "My own words"}}
    path = core(held)
    opened = graph.open(PROVEN[0], core=path)
    apply(opened)
    core(held | {"identity": "changed since"})
    opened.undo(now=NOW)
    assert json.loads(path.read_text())["stablePatterns"] == {"testsFirst": "My own words"}


def test_limits_that_were_given_come_before_those_of_the_core_memory(graph, core):
    path = core(ORIGINAL)
    limits = kind_of(graph.open(core=path, forget_uses=7)).graph
    assert (limits.forget_uses, limits.keep_above) == (7, 3)
    assert kind_of(graph.open(core=core("{"))).graph == GraphSettings()


@pytest.mark.parametrize("damaged", ["{", "[]", '{"preferences": 3}', '{"stablePatterns": [{"nam": "x"}]}'])
def test_a_damaged_core_memory_is_left_alone(graph, core, damaged):
    path = core(damaged)
    result = apply(graph.open(*PROVEN, core=path))
    assert ["core memory" in why for _, why in result.moved] == [True, True]
    assert path.read_text() == damaged
    assert graph.same()


def test_a_promoted_memory_is_not_promoted_twice(tmp_path):
    core = CoreFile(tmp_path / "core.json", FileHistory(tmp_path))
    for _ in range(2):
        core.promote("a", "pattern", ["x"], at=NOW, key="run a")
    assert core.statements() == (("a", "x"),)


def test_a_core_memory_is_needed_to_promote(graph):
    opened = graph.open(PROVEN[0])
    assert propose(opened).actions == ()
    mark = "Promoted to core memory: 2026-11-21"
    with pytest.raises(RefusedChangeError):
        opened.store.write(Update("tests-first", f"tests-first\n- {mark}", observations=(mark,)))


def test_a_forgotten_memory_is_archived_first_and_comes_back(graph):
    lines = [entity("old", *UNUSED, extra=1), entity("shop", kind="stack"), relation("old", "shop")]
    opened = graph.open(*lines)
    apply(opened)
    assert "old" not in graph.entities()
    entry = graph.archived("forgotten")[0]
    assert (entry["name"], entry["extra"], entry["relations"][0]["to"]) == ("old", 1, "shop")
    assert entry["forgottenAt"] == NOW.isoformat()
    assert "unused for 400 days" in entry["reason"]
    assert opened.store.bring_back("old", now=NOW) == (1, 0)
    assert sorted(graph.path.read_text().splitlines()) == sorted(lines)
    assert propose(opened).prunes == ()


def test_nothing_is_forgotten_that_cannot_be_archived(graph):
    (graph.folder / "archive").mkdir()
    (graph.folder / "archive" / "2026-11-21-forgotten.json").write_text("{")
    assert apply(graph.open(entity("old", *UNUSED))).pruned == 0
    assert graph.same()


def test_the_archive_is_appended_and_the_newest_found(tmp_path):
    for text in ("one", "two", "two"):
        archive_forgotten(tmp_path, [GraphLine.of(entity("a", text))], [], at=NOW, reason="r")
    assert len(json.loads((tmp_path / "2026-11-21-forgotten.json").read_text())) == 2
    assert find_forgotten(tmp_path, "a") == ([GraphLine.of(entity("a", "two"))], [])
    with pytest.raises(UsageError):
        find_forgotten(tmp_path, "b")


def test_restoring_leaves_out_relations_to_what_is_gone(graph):
    store = graph.open(entity("other", "x")).store
    edges = [GraphLine.of(relation("old", "gone")), GraphLine.of(relation("other", "old"))]
    archive_forgotten(store.archive, [GraphLine.of(entity("old"))], edges, at=NOW, reason="r")
    assert store.bring_back("old", now=NOW) == (1, 1)
    with pytest.raises(UsageError):
        store.bring_back("old", now=NOW)
