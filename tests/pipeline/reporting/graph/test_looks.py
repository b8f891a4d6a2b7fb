"""The health of a graph, and looking back at it."""

from datetime import timedelta
from typing import Any

import pytest
from builders import ALICE
from graph_world import NOW, day, entity, models, relation
from mem0_dream.pipeline.plan import Member, Merge, Prune
from mem0_dream.pipeline.reporting.graph import beliefs, look_back, ranking, this_week
from mem0_dream.pipeline.reporting.health import graph_state, health_lines
from mem0_dream.pipeline.rules.graph_use import GraphSettings
from mem0_dream.pipeline.stores.graph.entities import TYPES
from mem0_dream.pipeline.stores.graph.lines import GraphDocument, GraphLine
from mem0_dream.pipeline.stores.graph.store import GraphNotes, LastRun

LAST = LastRun(NOW - timedelta(days=2), {"a": (1, 0.5), "b": (1, 1.0)})
GOOD, BAD = "Applied in a - HELPFUL", "Applied in a - NOT HELPFUL"


def health(found, *, most=200, **more):
    document = GraphDocument(tuple(GraphLine.of(relation(node.id, node.id)) for node in found))
    return graph_state(found, document, GraphSettings(max_memories=most), NOW, 0, **more)


def test_health_counts_and_warns(graph):
    old = entity("old", "x", f"Discovered: {day(100)}", BAD)
    new = entity("new", "y", f"Discovered: {day(10)}", GOOD, kind="mistake")
    state = health(graph.nodes(old, new)[0])
    assert state.by_type == dict.fromkeys(TYPES, 0) | {"pattern": 1, "mistake": 1}
    assert (state.total, state.age, state.effectiveness) == (2, 55, 0.5)
    assert [item.name for item in state.indicators if item.status == "WARN"] == ["stale", "low effectiveness"]
    assert len(state.recommendations) == 2
    assert state.to_json()["status"] == "WARN"
    assert "  WARN stale (unused > 90 d): 1 (limit 0)" in health_lines(state)


@pytest.mark.parametrize("most", [2, 3])
def test_research_is_counted_by_the_end_of_its_type_and_too_many_warn(graph, most):
    kinds = {"a": "market-research", "b": "Research", "c": "note"}
    found, _ = graph.nodes(*(entity(name, name * 2, kind=kind) for name, kind in kinds.items()))
    state = health(found, most=most)
    assert (state.by_type["research"], state.by_type["note"], state.ok) == (2, 1, most == 3)


def test_an_empty_memory_is_healthy_unless_it_could_not_be_read():
    state = health(())
    assert (state.ok, state.age, state.effectiveness) == (True, None, None)
    state = health((), gaps=("line 4 is broken",))
    assert (state.ok, state.to_json()["gaps"]) == (False, ["line 4 is broken"])
    assert health_lines(state)[-1] == "Read-only: line 4 is broken"


def test_reflection_names_what_moved(graph):
    uses = {"a": [GOOD], "b": [BAD], "c": []}
    found, _ = graph.nodes(*(entity(name, name * 2, *lines) for name, lines in uses.items()))
    about: dict[str, Any] = {"id": "x", "scope": ALICE, "category": None}
    united = Merge(**about, members=(Member("a", ""), Member("d", "")), survivor="a", text="")
    gone = Prune(**about, members=(Member("e", ""),), reason="stale")
    looked, lines = look_back(found, LAST, [united, gone])
    assert "  a: 50% -> 100%, +0 uses" in lines[lines.index("What worked:") :]
    assert "  b: 100% -> 0%, +0 uses" in lines[lines.index("What did not:") :]
    assert {"  + c", "  ~ d -> a", "  - e"} <= set(lines)
    assert looked["worked"] == [{"name": "a", "was": 0.5, "now": 1.0, "uses": 0}]
    assert look_back(found, None)[1] == ["No run to look back to; consolidate first."]
    assert [row["name"] for row in ranking(found)[0]["memories"]] == ["a", "b"]


def test_what_is_judged_for_the_first_time_moved(graph, tmp_path):
    uses = {"first": [BAD], "again": [GOOD, GOOD.replace(" a ", " b ")], "idle": [GOOD]}
    found, _ = graph.nodes(*(entity(name, name * 2, *lines) for name, lines in uses.items()))
    notes = GraphNotes(tmp_path, "g")
    assert notes.last is None
    notes.remember(LastRun(NOW, {"first": (0, None), "again": (1, 1.0), "idle": (1, 1.0)}))
    looked, _ = look_back(found, notes.last)
    moved = [[(move["name"], move["uses"]) for move in looked[side]] for side in ("worked", "did_not")]
    assert moved == [[("again", 1)], [("first", 1)]]


def test_this_week_is_seven_days(graph):
    old = entity("old", "y", f"Discovered: {day(9)}", f"Applied in a ({day(1)})")
    found, _ = graph.nodes(entity("new", "x", f"Discovered: {day(6)}"), old)
    _, lines = this_week(found, NOW)
    assert "  + new" in lines
    assert "  + old" not in lines
    assert any("old" in line and line.startswith("  *") for line in lines)


def test_a_contradicted_belief_is_flagged(graph):
    rule = "Use tabs for Go code"
    said = {"rule": rule, "doubt": "Do not use tabs for Go code", "same": f"{rule}."}
    found, opened = graph.nodes(*(entity(name, text) for name, text in said.items()))
    told, lines = beliefs([("rule", rule)], found, models(opened))
    sides = {
        side: [{"memory": name, "observation": said[name]}]
        for side, name in (("for", "same"), ("against", "doubt"))
    }
    assert told["beliefs"] == [{"name": "rule", **sides, "contradicted": True}]
    assert lines[-2:] == [
        "    for: same - Use tabs for Go code.",
        "    against: doubt - Do not use tabs for Go code",
    ]
