"""The rules of usage, forgetting, promotion, relations and health, each on a case by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from graph_world import NOW, apply, big_graph, entity, kind_of, models, propose, relation
from mem0_dream.errors import RefusedChangeError, UsageError
from mem0_dream.pipeline.cli.night import schedule_text
from mem0_dream.pipeline.engine import Session
from mem0_dream.pipeline.judging.statements import Finding, Statement
from mem0_dream.pipeline.planning.graph.judging import GraphJudge, question, united
from mem0_dream.pipeline.planning.graph.relations import dangling, orphans, proposed
from mem0_dream.pipeline.reporting.graph.health import graph_state, health_lines
from mem0_dream.pipeline.reporting.graph.reflection import (
    belief_lines,
    beliefs,
    look_back,
    look_back_lines,
    ranking,
    this_week,
    this_week_lines,
)
from mem0_dream.pipeline.review import Review
from mem0_dream.pipeline.rules.due import LastPass, due_reason
from mem0_dream.pipeline.rules.graph.relevance import Learning, load_learning, relevance
from mem0_dream.pipeline.rules.graph.use import (
    GraphSettings,
    forget_reason,
    promotion_reason,
    topics,
    weights_of,
)
from mem0_dream.pipeline.stores.base import ScopeFilter, Update
from mem0_dream.pipeline.stores.files.undo import FileHistory
from mem0_dream.pipeline.stores.graph.core_memory import CoreFile
from mem0_dream.pipeline.stores.graph.entities import TYPES, combined, is_bookkeeping, nodes_of, usage
from mem0_dream.pipeline.stores.graph.lines import GraphDocument, GraphLine
from mem0_dream.pipeline.stores.graph.store import GraphNotes, LastRun, archive_forgotten, find_forgotten
from mem0_dream.records import Candidate, Label, Memory, Scope, Verdict
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer

LIMITS = GraphSettings()


def day(ago):
    return (NOW - timedelta(days=ago)).date().isoformat()


def nodes(graph, *lines):
    opened = graph.open(*lines)
    return nodes_of(opened.read(ScopeFilter()).memories), opened


def core_of(graph, text):
    core = graph.folder / "core.json"
    core.write_text(text)
    return core


def test_usage_is_read_from_observations():
    used = usage(
        [
            "Researched: 2026-01-03",
            "Discovered: 2026-01-02",
            "Applied in shop - HELPFUL (2026-03-01)",
            "Applied in blog: NOT HELPFUL, 2026-04-01",
            "Applied in docs",
            "Anything else 2026-09-09",
        ]
    )
    assert (used.uses, used.helpful, used.unhelpful, used.effectiveness) == (3, 1, 1, 0.5)
    assert used.discovered.date().isoformat() == "2026-01-02"
    assert used.last_used.date().isoformat() == "2026-04-01"


@pytest.mark.parametrize("text", ["Discovered: 2026-02-30", "Discovered: soon", "Found in 2026"])
def test_a_date_that_is_none_is_unknown(text):
    assert usage([text]).discovered is None


@pytest.mark.parametrize(
    "text",
    [
        *(f"{word}: 2021-03-01" for word in ("Created", "Added", "Learned")),
        *(f"{said} production since 2021-03-01" for said in ("In", "Used in")),
        "Discovered: the outage of 2021-03-01 came from a full disk",
    ],
)
def test_a_date_in_a_sentence_is_content(text):
    used = usage([text])
    assert (used.discovered, used.last_used, used.uses) == (None, None, 0)
    assert not is_bookkeeping(text)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("Applied in shop - HELPFUL (2026-03-01)", 1),
        ("Applied in docs", 1),
        ("Applied in the nightly job that copies all orders to the archive", 0),
        ("Used for the login of all partners", 0),
    ],
)
def test_a_use_is_a_line_of_the_convention(text, uses):
    assert usage([text]).uses == uses


@pytest.mark.parametrize(
    "text",
    ["critical: true", "Critical: yes", "[PINNED] keep", "pinned: true", "Never delete, critical: true"],
)
def test_critical_is_read_from_a_line_or_a_field(text):
    assert usage([text]).critical
    assert usage([], {"critical": True}).critical


@pytest.mark.parametrize(
    ("lines", "pinned"),
    [
        ([entity("a", "x", createdAt="2025-03-24T14:38:53.603Z")], False),
        ([entity("a", "x", "x", f"Discovered: {day(400)}"), entity("a", "x", kind="stack")], True),
    ],
    ids=["a date in a field of another server", "one name with two types"],
)
def test_what_is_left_alone(graph, lines, pinned):
    found, opened = nodes(graph, *lines)
    assert found[0].memory.pinned is pinned
    assert propose(opened).actions == ()


def test_an_unfinished_denial_is_not_helpful():
    assert usage(["Applied in a: unhelpful", "Applied in b, did not help"]).effectiveness == 0.0


def test_equal_uses_are_counted_when_combined():
    line = "Applied in shop - HELPFUL"
    lines = combined(
        [[line, "Discovered: 2026-01-01"], [line, "Also applied: 2 times, 1 helpful, 1 not helpful"]]
    )
    used = usage(lines)
    assert (used.uses, used.helpful, used.unhelpful) == (4, 3, 1)


FORGETTABLE = usage([f"Discovered: {day(200)}"])


@pytest.mark.parametrize(
    ("changed", "forgotten"),
    [
        ({}, True),
        ({"critical": True}, False),
        ({"promoted": True}, False),
        ({"discovered": None}, False),
        ({"discovered": NOW + timedelta(days=3)}, False),
        ({"last_used": NOW - timedelta(days=29)}, False),
        ({"last_used": NOW - timedelta(days=90)}, False),
        ({"last_used": NOW - timedelta(days=91)}, True),
        ({"uses": 3}, False),
        ({"uses": 2}, True),
        ({"uses": 9, "helpful": 2, "unhelpful": 7}, True),
        ({"uses": 9, "helpful": 3, "unhelpful": 7}, False),
    ],
)
def test_forgetting_has_a_reason_or_does_not_happen(changed, forgotten):
    reason = forget_reason(replace(FORGETTABLE, **changed), settings=LIMITS, now=NOW)
    assert (reason is not None) is forgotten


def test_attention_protects_from_forgetting():
    assert forget_reason(FORGETTABLE, settings=LIMITS, now=NOW, weight=0.25) is None


PROVEN = usage([f"Discovered: {day(30)}", *[f"Applied in p{i} - HELPFUL" for i in range(15)]])


@pytest.mark.parametrize(
    ("kind", "changed", "promoted"),
    [
        ("pattern", {}, True),
        ("preference", {}, True),
        ("stack", {}, False),
        ("pattern", {"uses": 14}, False),
        ("pattern", {"helpful": 17, "unhelpful": 3}, True),
        ("pattern", {"helpful": 16, "unhelpful": 4}, False),
        ("pattern", {"discovered": NOW - timedelta(days=29)}, False),
        ("pattern", {"discovered": None}, False),
        ("pattern", {"promoted": True}, False),
    ],
)
def test_promotion_needs_uses_effectiveness_and_age(kind, changed, promoted):
    reason = promotion_reason(replace(PROVEN, **changed), kind, settings=LIMITS, now=NOW)
    assert (reason is not None) is promoted


def proven_lines():
    """A pattern and a preference that proved themselves."""
    uses = [f"Applied in p{i} - HELPFUL ({day(40)})" for i in range(16)]
    return [
        entity("tests-first", "Write tests first", *uses, f"Discovered: {day(99)}"),
        entity("tabs", "Prefers tabs in Go", *uses, f"Discovered: {day(99)}", kind="preference"),
    ]


def test_promotion_writes_the_core_memory_and_undo_takes_it_back(graph):
    text = '{"identity": {"name": "x"},\n "stablePatterns": ["old one"]}'
    core = core_of(graph, text)
    opened = graph.open(*proven_lines(), core=core)
    apply(opened)
    whole = json.loads(core.read_text())
    assert whole["identity"] == {"name": "x"}
    assert (whole["stablePatterns"][0], whole["stablePatterns"][1]["name"]) == ("old one", "tests-first")
    assert len(whole["stablePatterns"]) == 2
    assert whole["preferences"][0]["content"] == ["Prefers tabs in Go"]
    assert f"Promoted to core memory: {day(0)}" in graph.entities()["tabs"]
    assert graph.undone(opened)
    assert core.read_text() == text


ORIGINAL = {
    "identity": {"name": "x"},
    "stablePatterns": {"earlyReturns": "Return early", "namedExports": {"summary": "Name exports"}},
    "preferences": {"theme": "dark"},
    "memoryConfig": {"relevanceThreshold": 3, "decayThresholdDays": 400, "minUsesToRetain": 1, "own": True},
    "lastUpdated": "2026-01-27",
    "lastConsolidation": None,
}


def test_the_original_form_of_the_core_memory_is_read_kept_and_written(graph):
    data = json.dumps(ORIGINAL, indent=4)
    core = core_of(graph, data)
    lines = [*proven_lines(), entity("old", "Grunt", f"Discovered: {day(300)}")]
    lines[0] = lines[0].replace('"tests-first"', '"pattern:tests-first"')
    opened = graph.open(*lines, core=core)
    limits = kind_of(opened).graph
    assert (limits.keep_above, limits.forget_unused.days, limits.forget_uses) == (3, 400, 1)
    plan = propose(opened)
    assert plan.prunes == ()
    apply(opened, plan)
    whole = json.loads(core.read_text())
    assert whole["preferences"] == {"theme": "dark", "tabs": "Prefers tabs in Go"}
    assert whole["stablePatterns"].pop("testsFirst")["name"] == "pattern:tests-first"
    assert whole["stablePatterns"] == ORIGINAL["stablePatterns"]
    assert (whole["lastUpdated"], whole["lastConsolidation"]) == (day(0), day(0))
    assert whole["memoryConfig"] == ORIGINAL["memoryConfig"]
    # The run knows where it promoted to; a new session need not be told.
    assert graph.undone(graph.open())
    assert core.read_text() == data


def test_beliefs_of_the_original_form_can_be_read(graph):
    told = CoreFile(core_of(graph, json.dumps(ORIGINAL)), FileHistory(graph.folder)).statements()
    assert told == (("earlyReturns", "Return early"), ("namedExports", "Name exports"), ("theme", "dark"))


def test_what_a_person_had_in_the_core_memory_is_not_demoted(graph):
    core = core_of(graph, '{"stablePatterns": {"testsFirst": "My own words"}}')
    opened = graph.open(*proven_lines()[:1], core=core)
    apply(opened)
    core.write_text('{"stablePatterns": {"testsFirst": "My own words"}, "identity": "changed since"}')
    opened.undo(now=NOW)
    assert json.loads(core.read_text())["stablePatterns"] == {"testsFirst": "My own words"}


def test_limits_that_were_given_come_before_those_of_the_core_memory(graph):
    core = core_of(graph, json.dumps(ORIGINAL))
    limits = kind_of(graph.open(core=core, forget_uses=7)).graph
    assert (limits.forget_uses, limits.keep_above) == (7, 3)
    core.write_text("{")
    assert kind_of(graph.open(core=core)).graph == LIMITS


@pytest.mark.parametrize("damaged", ["{", "[]", '{"preferences": 3}', '{"stablePatterns": [{"nam": "x"}]}'])
def test_a_damaged_core_memory_is_left_alone(graph, damaged):
    core = core_of(graph, damaged)
    result = apply(graph.open(*proven_lines(), core=core))
    assert len(result.moved) == 2
    assert "core memory" in result.moved[0][1]
    assert core.read_text() == damaged
    assert graph.same()


def test_a_promoted_memory_is_not_promoted_twice(tmp_path):
    core = CoreFile(tmp_path / "core.json", FileHistory(tmp_path))
    for _ in range(2):
        core.promote("a", "pattern", ["x"], at=NOW, key="run a")
    assert core.statements() == (("a", "x"),)


UNUSED = ("Grunt builds", "Applied in shop", f"Discovered: {day(400)}")


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


def test_dangling_and_orphans():
    edges = [("a", "b", "uses"), ("a", "gone", "uses")]
    assert dangling(["a", "b", "c"], edges) == (("a", "gone", "uses"),)
    assert orphans(["a", "b", "c"], edges) == ("c",)


def related(graph, *lines, edges=()):
    """The memories of these lines, and the new relations between those that have these."""
    found, opened = nodes(graph, *lines)
    kind = kind_of(opened)
    kind._relate = True
    propose(opened)
    return found, proposed({node.id: node for node in found}, edges, kind.present())


POSTGRES = entity("PostgreSQL", "15", kind="stack")


def test_relations_are_proposed_from_evidence_and_bounded(graph):
    said = "Fill the table of prices again after midnight, shard"
    found, edges = related(
        graph,
        entity("retry", "With PostgreSQL, retry on deadlocks"),
        POSTGRES,
        entity("warm start", "Warm the image cache of the shop before the sale", kind="design"),
        entity("sale checklist", "Before the sale warm the cache of the shop and tell the team", kind="note"),
        *(entity(f"cache-{i}", f"{said}{i}", kind="design") for i in range(8)),
    )
    assert ("retry", "PostgreSQL", "applies_to") in edges
    # Shards of one template are siblings and say nothing about each other.
    assert [edge for edge in edges if edge[2] == "related_to"] == [
        ("sale checklist", "warm start", "related_to")
    ]
    assert max(sum(node.id in edge[:2] for edge in edges) for node in found) <= LIMITS.max_relations


@pytest.mark.parametrize(
    ("lines", "edges", "expected"),
    [
        (
            [
                entity("roadmap", "Needs AuthGateway, and a shop"),
                entity("AuthGateway", "signs tokens", kind="service"),
                entity("shop", "sells tools", kind="project"),
            ],
            [],
            [("roadmap", "AuthGateway", "related_to")],
        ),
        (
            [entity("retry", "With PostgreSQL, retry"), POSTGRES],
            [("PostgreSQL", "retry", "mentioned_in")],
            [],
        ),
        (
            [entity("b", "x", "Merged from: a, c on 2026-01-01"), entity("a", "completely different")],
            [],
            [("b", "a", "derived_from")],
        ),
    ],
    ids=["a name that is no mere word", "what has a relation", "a source that came back"],
)
def test_what_is_evidence_of_a_relation(graph, lines, edges, expected):
    assert related(graph, *lines, edges=edges)[1] == expected


def health(found, **more):
    settings = more.pop("settings", LIMITS)
    lines = [GraphLine.of(relation(node.id, node.id)) for node in found]
    return graph_state(found, GraphDocument(tuple(lines)), settings, NOW, 0, **more)


def test_health_counts_and_warns(graph):
    old = entity("old", "x", f"Discovered: {day(100)}", "Applied in a - NOT HELPFUL")
    new = entity("new", "y", f"Discovered: {day(10)}", "Applied in a - HELPFUL", kind="mistake")
    state = health(nodes(graph, old, new)[0])
    assert state.by_type == dict.fromkeys(TYPES, 0) | {"pattern": 1, "mistake": 1}
    assert (state.total, state.age, state.effectiveness) == (2, 55, 0.5)
    assert [item.name for item in state.indicators if item.status == "WARN"] == ["stale", "low effectiveness"]
    assert len(state.recommendations) == 2
    assert state.to_json()["status"] == "WARN"
    assert "  WARN stale (unused > 90 d): 1 (limit 0)" in health_lines(state)


def test_research_is_counted_by_the_end_of_its_type(graph):
    kinds = {"a": "market-research", "b": "Research", "c": "note"}
    state = health(nodes(graph, *(entity(name, name * 2, kind=kind) for name, kind in kinds.items()))[0])
    assert (state.by_type["research"], state.by_type["note"]) == (2, 1)


def test_an_empty_memory_is_healthy():
    state = health(())
    assert state.ok
    assert (state.age, state.effectiveness) == (None, None)


def test_what_could_not_be_read_is_not_healthy():
    state = health((), gaps=("line 4 is broken",))
    assert not state.ok
    assert state.to_json()["gaps"] == ["line 4 is broken"]
    assert health_lines(state)[-1] == "Read-only: line 4 is broken"


@pytest.mark.parametrize("most", [1, 2])
def test_too_many_memories_warn(graph, most):
    found, _ = nodes(graph, entity("a", "x"), entity("b", "y"))
    assert health(found, settings=GraphSettings(max_memories=most)).ok is (most == 2)


SAID = "Warm the image cache before the sale starts"


def score(graph, *lines, core=(), settings=LIMITS, **learning):
    found, opened = nodes(graph, *(lines or [entity("other", "Nothing of the kind")]))
    asked = Learning(**({"name": "warm-cache", "observations": [SAID]} | learning))
    known, encoder = opened.known(ScopeFilter(), now=NOW), opened.models.encoder
    return relevance(asked, found, core, known=known, encoder=encoder, settings=settings, now=NOW)


@pytest.mark.parametrize(
    ("learning", "points"),
    [
        ({}, 0),
        ({"contexts": 2}, 2),
        ({"contexts": ["a", "b", "c"]}, 3),
        ({"severity": "critical"}, 5),
        ({"severity": "high"}, 3),
        ({"severity": "medium"}, 2),
        ({"severity": "low"}, 1),
        ({"source": "a mistake in production"}, 2),
        ({"source": "test failure"}, 2),
        ({"userFeedback": True}, 3),
        ({"aligned": True}, 1),
        ({"common": True}, 2),
        ({"appliesTo": ["a", "b", "c"]}, 3),
        ({"source": "explicit_user_feedback"}, 3),
        ({"frequencyHint": "common"}, 2),
        ({"frequencyHint": "rare"}, 0),
        ({"summary": "Warm it", "observations": []}, 0),
    ],
)
def test_each_reason_has_its_points(graph, learning, points):
    found = score(graph, **learning)
    assert found.score == points
    assert found.save is (points >= 5)


def test_points_are_settings(graph):
    answer = score(graph, name="x", severity="critical", settings=GraphSettings(points={"critical": 4}))
    assert (answer.score, answer.save, answer.nearest) == (4, False, None)


def test_what_is_known_is_never_saved(graph):
    found = score(graph, entity("cache-warm", SAID), severity="critical", userFeedback=True)
    assert (found.save, found.nearest, found.entity) == (False, "cache-warm", None)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Sessions of the shop expire after 15 minutes", "Sessions of the shop expire after 60 minutes"),
        ("Retry failed payments of the shop", "Do not retry failed payments of the shop"),
    ],
)
def test_a_correction_is_not_known_already(graph, known, said):
    found = score(graph, entity("warm-cache", known), observations=[said], severity="critical")
    assert found.save
    assert any("contradicts warm-cache" in reason for reason in found.reasons)


def test_a_copy_under_another_name_is_known(graph):
    copy = entity("zebra", SAID + ".", "And after it")
    found = score(graph, copy, name="quite another name", severity="critical")
    assert (found.save, found.nearest, found.similarity) == (False, "zebra", 1.0)


def test_what_is_similar_loses_points(graph):
    near = entity("cache", "The image cache is warm while a sale runs")
    found = score(graph, near, severity="critical")
    assert 0.6 < found.similarity <= 0.85
    assert (found.score, found.save) == (3, False)


def test_agreement_with_the_core_memory_is_found(graph):
    assert score(graph, core=[("c", "Warm the image cache always")]).score == 1


@pytest.mark.parametrize(
    ("learning", "said", "points", "source"),
    [
        ({"summary": "Warm it early"}, ["Warm it early", SAID], 5, "implementation"),
        ({"source": "mistake"}, [SAID], 7, "mistake"),
    ],
)
def test_a_saved_learning_carries_its_metadata(graph, learning, said, points, source):
    told = score(graph, severity="critical", **learning).entity["observations"]
    assert told == [*said, f"Discovered: {day(0)}", f"Relevance score: {points}", f"Source: {source}"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '{"name": "x", "observations": ["a"], "contexts": -1}',
        '{"name": "x"}',
        '{"name": "x", "observations": ["a"], "severty": "high"}',
    ],
)
def test_a_wrong_learning_is_an_error(tmp_path, text):
    (tmp_path / "l.json").write_text(text)
    with pytest.raises(UsageError):
        load_learning(str(tmp_path / "l.json"))


LAST = LastRun(NOW - timedelta(days=2), {"a": (1, 0.5), "b": (1, 1.0)})


@pytest.mark.parametrize(
    ("count", "last", "due"),
    [
        (2, None, True),
        (2, LAST, False),
        (2, replace(LAST, at=NOW - timedelta(days=7)), True),
        (12, replace(LAST, memories={}), True),
        (201, replace(LAST, memories={f"m{i}": (0, None) for i in range(201)}), True),
    ],
)
def test_due_or_not_says_why(count, last, due):
    known = LastPass(last.at, last.memories) if last else None
    limits = {"after": LIMITS.due_after, "new": LIMITS.due_new, "most": LIMITS.max_memories}
    answer, why = due_reason([f"m{i}" for i in range(count)], known, now=NOW, **limits)
    assert answer is due
    assert why


def test_what_is_remembered_reads_back(tmp_path):
    notes = GraphNotes(tmp_path, "g")
    assert notes.last is None
    notes.remember(LAST)
    assert notes.last == LAST


def test_reflection_names_what_moved(graph):
    uses = {"a": ["Applied in a - HELPFUL"], "b": ["Applied in a - NOT HELPFUL"], "c": []}
    found, _ = nodes(graph, *(entity(name, name * 2, *lines) for name, lines in uses.items()))
    looked = look_back(found, LAST, merged=["d -> a"], forgotten=["e"])
    lines = look_back_lines(looked)
    assert "  a: 50% -> 100%, +0 uses" in lines[lines.index("What worked:") :]
    assert "  b: 100% -> 0%, +0 uses" in lines[lines.index("What did not:") :]
    assert {"  + c", "  ~ d -> a", "  - e"} <= set(lines)
    assert looked["worked"] == [{"name": "a", "was": 0.5, "now": 1.0, "uses": 0}]
    assert look_back_lines(look_back(found, None)) == ["No run to look back to; consolidate first."]
    assert [row["name"] for row in ranking(found)["memories"]] == ["a", "b"]


def test_what_is_judged_for_the_first_time_moved(graph):
    helped = [f"Applied in {name} - HELPFUL" for name in "ab"]
    uses = {"first": ["Applied in a - NOT HELPFUL"], "again": helped, "idle": helped[:1]}
    found, _ = nodes(graph, *(entity(name, name * 2, *lines) for name, lines in uses.items()))
    looked = look_back(found, LastRun(NOW, {"first": (0, None), "again": (1, 1.0), "idle": (1, 1.0)}))
    moved = [[(move["name"], move["uses"]) for move in looked[side]] for side in ("worked", "did_not")]
    assert moved == [[("again", 1)], [("first", 1)]]


def test_this_week_is_seven_days(graph):
    old = entity("old", "y", f"Discovered: {day(9)}", f"Applied in a ({day(1)})")
    found, _ = nodes(graph, entity("new", "x", f"Discovered: {day(6)}"), old)
    lines = this_week_lines(this_week(found, NOW))
    assert "  + new" in lines
    assert "  + old" not in lines
    assert any("old" in line and line.startswith("  *") for line in lines)


def test_a_contradicted_belief_is_flagged(graph):
    rule = "Use tabs for Go code"
    said = {"rule": rule, "doubt": "Do not use tabs for Go code", "same": f"{rule}."}
    found, opened = nodes(graph, *(entity(name, text) for name, text in said.items()))
    told = beliefs([("rule", rule)], found, models(opened))
    assert told["beliefs"] == [
        {
            "name": "rule",
            "for": [{"memory": "same", "observation": "Use tabs for Go code."}],
            "against": [{"memory": "doubt", "observation": "Do not use tabs for Go code"}],
            "contradicted": True,
        }
    ]
    assert belief_lines(told)[-2:] == [
        "    for: same - Use tabs for Go code.",
        "    against: doubt - Do not use tabs for Go code",
    ]


def used(ago, *, helpful=True):
    return [f"Applied in shop{' - HELPFUL' * helpful} ({day(ago)})", f"Discovered: {day(300)}"]


HOT = (
    *(entity(f"payment-{i}", f"Fact {i}", *used(5)) for i in range(3)),
    entity("payment-old", "Rarely", *used(120, helpful=False)),
    entity("garden", "Roses", f"Discovered: {day(300)}"),
)
"""Four memories about payments, three of them in use, and two that may be forgotten."""


def test_a_hot_topic_protects_and_a_focus_does(graph):
    found, opened = nodes(graph, *HOT)
    weights = weights_of(found, now=NOW, settings=LIMITS)
    assert weights["payment-old"] >= LIMITS.attention_floor
    assert weights["garden"] == 0.0
    assert {p.members[0].id for p in propose(opened).prunes} == {"garden"}
    opened.store.notes.focus = "roses"
    assert propose(opened).prunes == ()
    opened.store.notes.focus = None
    assert len(propose(opened).prunes) == 1


def test_topics_are_weighted_by_use(graph):
    first = topics(nodes(graph, *HOT)[0], now=NOW, settings=LIMITS)[0]
    assert (first.name, first.weight, len(first.memories)) == ("payment", 1.0, 4)


def test_a_type_in_front_of_names_is_no_topic(graph):
    lines = [entity(f"pattern:{word}", f"About {word}", *used(5)) for word in ("tea", "rain", "iron")]
    found, opened = nodes(graph, *lines, entity("pattern:moss", "About moss", *used(120, helpful=False)))
    assert weights_of(found, now=NOW, settings=LIMITS, focus="pattern")["pattern:moss"] == 0.0
    assert [p.members[0].id for p in propose(opened).prunes] == ["pattern:moss"]
    assert len(topics(found, now=NOW, settings=LIMITS)) == 4


def test_attention_protects_a_share_alone(graph):
    cold = [entity(f"payment-old-{i:02}", "Then", *used(100 + i)) for i in range(40)]
    found, opened = nodes(graph, *(entity(f"payment-{i}", "Now", *used(5)) for i in range(3)), *cold)
    weights = weights_of(found, now=NOW, settings=GraphSettings(attention_floor=0.1))
    assert [i for i in range(40) if weights[f"payment-old-{i:02}"] > 0] == list(range(10))
    apply(opened)
    assert propose(opened).prunes == ()


@pytest.mark.parametrize("kind", ["cron", "systemd", "launchd"])
def test_a_schedule_names_its_time_zone(kind):
    text = schedule_text(kind, ["mem0-dream", "--file", "/a b/100%.jsonl"], zone="Europe/Berlin")
    assert "Europe/Berlin" in text
    assert "a b" in text


def test_an_unknown_time_zone_is_an_error():
    with pytest.raises(UsageError):
        schedule_text("cron", ["x"], zone="Mars/Olympus")


def test_a_core_memory_is_needed_to_promote(graph):
    opened = graph.open(*proven_lines()[:1])
    assert propose(opened).actions == ()
    mark = "Promoted to core memory: 2026-11-21"
    with pytest.raises(RefusedChangeError):
        opened.store.write(Update("tests-first", f"tests-first\n- {mark}", observations=(mark,)))


def always(duplicate, contradiction, *, context=False):
    """A scorer that thinks the same of every pair."""
    scorer = FakeScorer(default=lambda _a, _b: (duplicate, contradiction, 1.0 - duplicate - contradiction))
    scorer.reads_context = context
    return scorer


def test_only_observations_of_the_same_words_are_judged(graph):
    build = entity(
        "build", "Use make for builds", "Never use make for builds", *(f"Fact {i}" for i in range(2000))
    )
    scorer = always(0.0, 1.0)
    with graph.judged(scorer, build) as opened:
        plan = propose(opened)
    assert len(scorer.asked) == 1
    assert [sorted(member.text for member in item.members) for item in plan.conflicts] == [
        ["Never use make for builds", "Use make for builds"]
    ]


def test_a_drafted_memory_is_judged_as_a_second_pass_would(graph):
    said = {"a": "one", "b": "two", "near": "one three", "far": "one four"}
    places = ([0.3, 0.95], [0.3, 0.95], [0.8, 0.6], [0.6, 0.8])
    text, scorer = "a: one two.", FakeScorer()
    encoder = FakeEncoder(
        {text: [1, 0]} | {f"{name}: {said[name]}.": at for name, at in zip(said, places, strict=True)}
    )
    with graph.judged(scorer, *(entity(*each) for each in said.items()), encoder=encoder) as opened:
        found = {node.id: node for node in nodes_of(opened.read(ScopeFilter()).memories)}
        judge = GraphJudge(found, models(opened))
        living = [replace(node.memory, text=node.statement) for node in found.values()]
        judge.sources[text] = frozenset({"a", "b"})
        judge.drafted([replace(living[0], id="drafted", text=text)], living)
    others = {({pair.a, pair.b} - {text}).pop() for pair in scorer.asked}
    assert others == {"a: one.", "b: two.", "near: one three."}


class CountingEncoder(FakeEncoder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def encode(self, texts):
        self.asked += texts
        return super().encode(texts)


def test_only_what_may_be_one_is_embedded(graph):
    said = "Runs as a container behind the gateway and writes its logs to the central collector"
    more = {"mail queue": ", and holds letters", "letters": ", the queue of all mail"}
    texts = dict.fromkeys(("billing", "search", "upload"), said) | {
        name: said + end for name, end in more.items()
    }
    encoder = CountingEncoder()
    lines = [entity(name, text, kind="service") for name, text in texts.items()]
    with graph.judged(FakeScorer(), *lines, encoder=encoder) as opened:
        propose(opened)
    assert sorted(text.partition(":")[0] for text in encoder.asked if ": " in text) == [
        "letters",
        "mail queue",
    ]


def test_the_floor_changes_no_plan_of_a_big_graph(graph):
    plans = []
    for floor in (-1.0, Settings().floor):
        store = graph.open(*big_graph()).store
        limits = Settings(scorer="keywords", floor=floor)
        with Session(store, settings=limits, state_dir=graph.state) as opened:
            plans.append(propose(opened))
    assert plans[0] == plans[1]
    assert (len(plans[0].merges), len(plans[0].conflicts)) == (20, 1)


NEAR = ("The main database is PostgreSQL 16", "Uses PostgreSQL 16 as the main database")


def asked_about(graph, *observations, probabilities=(1.0, 0.0)):
    """The questions about observations of one memory, and the pairs that the scorer saw."""
    scorer = always(*probabilities, context=True)
    with graph.judged(scorer, entity("api", *observations, kind="service")) as opened:
        plan = propose(opened)
    assert plan.actions == ()
    return [tuple(sorted(member.text for member in item.members)) for item in plan.unsure], scorer.asked


def test_observations_that_may_say_the_same_are_a_question(graph):
    found, judged = asked_about(graph, *NEAR, "Deployed with Helm", "Owned by the payments team")
    assert found == [NEAR]
    assert len(judged) == 1


@pytest.mark.parametrize(
    ("observations", "probabilities"),
    [
        (NEAR, (0.2, 0.0)),
        (NEAR, (0.5, 0.1)),
        (("Retries failed jobs", "Retries failed mails and sends alerts"), (1.0, 0.0)),
        (("Docker image of the server 計画", "Docker image of the server 完了"), (1.0, 0.0)),
    ],
    ids=[
        "judged distinct",
        "no likelier right than wrong",
        "half of the words",
        "letters that no model reads",
    ],
)
def test_observations_that_differ_are_no_question(graph, observations, probabilities):
    assert asked_about(graph, *observations, probabilities=probabilities)[0] == []


@pytest.mark.parametrize("entailment", [(0.5, 0.97), (0.97, 0.5)])
def test_an_item_more_stays_whatever_a_network_reads(entailment):
    texts = (
        "Sub-commands: list, sync, reset, remove",
        "Added an interface with sub-commands: list, sync, remove",
    )
    a, b = (
        Statement(Memory(name, text, Scope({})), text, text) for name, text in zip("ab", texts, strict=True)
    )
    verdict = Verdict(Candidate("a", "b", 0.8), Label.DUPLICATE, False, (0.9, 0.0, 0.1), entailment)
    assert question(Finding(a, b, verdict, (0.8, 0.8), sure=False)).text == texts[0]


@pytest.mark.parametrize(("more", "expected"), [(["Drawn by a worker", "Tested each night"], 0), ([], 1)])
def test_a_general_word_more_asks_alone_where_little_is_said(graph, more, expected):
    route = entity("TradeRoute", "Runs on port 80", "Written in Go", "Owned by Ada")
    system = entity("TradeRouteSystem", "Moves goods between islands", *more)
    with graph.judged(always(0.0, 0.0), route, system) as opened:
        assert len(propose(opened).unsure) == expected


def test_observations_that_are_united_are_judged_where_they_stand(graph):
    api = entity("api", f"{NEAR[0]} since May", "Deployed with Helm")
    scorer = always(0.0, 0.0, context=True)
    with graph.judged(scorer, api, entity("api two", *NEAR)) as opened:
        united(nodes_of(opened.read(ScopeFilter()).memories), models(opened))
    assert scorer.asked
    assert all(pair.cosine > 0 and pair.context is not None for pair in scorer.asked)


def test_an_accepted_question_leaves_one_observation_and_can_be_undone(graph):
    with graph.judged(always(1.0, 0.0), entity("api", *NEAR, "Deployed with Helm", kind="service")) as opened:
        plan = propose(opened)
        review = Review(graph.state, plan, unites=False)
        review.answer(plan.unsure[0].id, "yes", now=NOW)
        yes = review.planned(opened)
        shown = opened.reporter(yes, explain=True).lines()
        assert all(any(text in line for line in shown) for text in NEAR)
        apply(opened, yes)
        left = graph.entities()["api"]
        assert (len(left), len(set(left) & set(NEAR))) == (2, 1)
        assert graph.undone(opened)
        assert propose(opened).unsure == ()
