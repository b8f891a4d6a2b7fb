"""Plans of graphs: whatever they hold, nothing dangles, nothing is lost, and undo gives the bytes back."""

import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from graph_world import NOW, STRICT, Graph, apply, entity, propose, relation, repair, twins
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream import errors
from mem0_dream.errors import RefusedChangeError, StoreError
from mem0_dream.models.text.words import exact_key
from mem0_dream.pipeline.reporting.graph import changes_of_run
from mem0_dream.pipeline.stores.base import Delete, Restore, ScopeFilter, Update
from mem0_dream.pipeline.stores.graph.entities import MERGED_MARK, usage

LONG = "typescript-strict-mode"
OLD = "Discovered: 2025-01-01"
USE, AVOID = "Use tabs for Go code", "Do not use tabs for Go code"
EDGES = (relation("shop", "kubectl"), relation("ghost", "blog"), relation("blog", "shop"))
ASKED = ("Ask before deploying", "Ask before deploying.")


def test_a_merge_keeps_the_more_descriptive_name_all_statistics_and_each_relation_once(graph):
    opened = graph.open(*twins())
    plan = propose(opened).only("merge")
    told = [
        f"~ blog --uses--> strict-mode  ->  blog --uses--> {LONG}",
        "- strict-mode --uses--> shop",
        f"- {LONG} --uses--> strict-mode",
    ]
    assert opened.reporter(plan).relation_lines()[1:] == told
    result, held = apply(opened, plan), graph.entities()
    assert result.merged == 1
    assert "strict-mode" not in held
    assert held[LONG][0] == STRICT + "."
    assert f"{MERGED_MARK}strict-mode on 2026-11-21" in held[LONG]
    used = usage(held[LONG])
    assert (used.uses, used.helpful, used.unhelpful) == (3, 2, 1)
    assert used.discovered.isoformat()[:10] == "2026-01-02"
    assert graph.relations() == [(LONG, "shop", "uses"), ("blog", LONG, "uses")]
    assert changes_of_run(result.run, opened.journal, opened.store).lines == told
    counts = opened.kind.relations(opened.journal, result.run).counts
    assert counts == "0 relations added, 1 moved, 2 removed"


def test_fields_of_the_loser_go_to_the_survivor_and_undo_gives_the_bytes_back(graph):
    first = entity("strict-mode", STRICT, "Discovered: 2026-01-02", tags=["a"], origin="chat")
    opened = graph.open(first, "", '{"type":"note","text":"of another tool"}', *twins()[1:], end="\n")
    apply(opened)
    rows = [json.loads(line) for line in graph.path.read_text().splitlines() if line]
    kept = next(row for row in rows if row.get("name") == LONG)
    assert (kept["tags"], kept["origin"]) == (["a"], "import")
    assert graph.undone(opened)


@pytest.mark.parametrize(("choice", "kept"), [("a", [USE]), ("b", [AVOID]), (None, [USE, AVOID])])
def test_a_contradiction_inside_an_entity_is_settled_by_a_person_alone(graph, choice, kept):
    opened = graph.open(entity("tabs", USE, "Likes mornings", AVOID, kind="preference"))
    plan = propose(opened)
    assert [conflict.newer for conflict in plan.conflicts] == ["b"]
    apply(opened, plan, choices={plan.conflicts[0].id: choice} if choice else {})
    assert sorted(graph.entities()["tabs"]) == sorted([*kept, "Likes mornings"])
    assert graph.undone(opened) if choice else graph.same()


def test_what_stands_in_two_lines_is_settled_by_the_next_pass(graph):
    opened = graph.open(entity("tabs", USE), entity("tabs", USE, AVOID))
    for settled in (False, True):
        plan = propose(opened)
        (conflict,) = plan.conflicts
        texts = {member.id: member.text for member in conflict.members}
        choice = "a" if texts[conflict.a[0]] == AVOID else "b"
        result = apply(opened, plan, choices={conflict.id: choice})
        assert (result.resolved, len(result.moved)) == ((1, 0) if settled else (0, 1))
    assert graph.entities() == {"tabs": [AVOID]}
    opened.undo(now=NOW)
    assert graph.undone(opened)


def test_a_settled_contradiction_between_entities_leaves_supersedes(graph):
    said = "the web shop from the release branch on Fridays"
    opened = graph.open(
        entity("deploy-friday", f"Deploy {said}"), entity("deploy-rule", f"Do not deploy {said}")
    )
    plan = propose(opened).only("resolve")
    winner, loser = (side[0].partition("::")[0] for side in (plan.conflicts[0].a, plan.conflicts[0].b))
    apply(opened, plan, choices={plan.conflicts[0].id: "a"})
    assert (winner, loser, "supersedes") in graph.relations()
    assert graph.undone(opened)


@pytest.mark.parametrize("broken", [b'{"type":"entity","name":', b"\xff\xfe no text", b'{"type":"relation"}'])
def test_a_broken_line_makes_the_graph_read_only_until_a_repair_that_undo_brings_back(graph, broken):
    lines = [line.encode() for line in twins()]
    graph.before = b"\n".join([*lines[:3], broken, *lines[3:], broken, b""])
    graph.path.write_bytes(graph.before)
    opened = graph.open()
    plan = propose(opened)
    assert "line" in plan.gaps[0]
    with pytest.raises(errors.IncompleteListingError):
        apply(opened, plan)
    assert graph.same()
    assert repair(opened).run
    assert [line["number"] for line in graph.archived("broken")[0]["lines"]] == [4, 10]
    apply(opened)
    opened.undo(now=NOW)
    assert graph.path.read_bytes() == b"\n".join([*lines, b""])
    assert graph.undone(opened)
    assert repair(opened).run
    assert repair(opened) is None


def test_relations_to_names_without_a_line_are_facts(graph):
    opened = graph.open(*twins()[2:4], *EDGES)
    once, plan = graph.before, propose(opened)
    assert plan.actions == ()
    assert opened.reporter(plan).open_lines()[1:] == ["  ghost --uses--> blog", "  shop --uses--> kubectl"]
    graph.write(*twins()[2:4], *EDGES, EDGES[2])
    # The second of two equal ones is offered alone, to a person.
    plan = propose(opened)
    assert [item.reason for item in plan.actions] == ["remove what stands twice"]
    assert propose(opened, unattended=True).actions == ()
    apply(opened, plan)
    assert graph.path.read_bytes() == once
    assert graph.undone(opened)


def test_relations_are_repaired_on_request_alone(graph):
    opened = graph.open(*twins()[2:4], *EDGES, EDGES[2], repair_relations=True)
    plan = propose(opened)
    gone = ["- blog --uses--> shop", "- ghost --uses--> blog", "- shop --uses--> kubectl"]
    assert sorted(opened.reporter(plan).relation_lines()[1:]) == gone
    run = apply(opened, plan).run
    assert graph.relations() == [("blog", "shop", "uses")]
    assert sorted(changes_of_run(run, opened.journal, opened.store).lines) == gone
    assert graph.undone(opened)


NINE = [relation("shop", f"part {number}") for number in range(9)]
TAB = [text for n in range(4) for text in (f"Use tab {n} in tests", f"Never use tab {n} in tests")]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((*twins()[2:4], *NINE, relation("shop", "blog")), "9 of 10 relations of graph=m.jsonl (90%"),
        ((entity("Billing", *TAB, *(f"Has part {c * 3}" for c in "abcdefgh")),), "4 of 16 observations of graph=m.jsonl (25%"),
    ],
    ids=["relations", "observations"],
)  # fmt: skip
def test_what_goes_is_counted_against_the_budget_in_its_own_unit(graph, lines, told):
    opened = graph.open(*lines, repair_relations=True)
    opened.settings = opened.settings.model_copy(update={"max_delete": 0.2, "min_delete": 0})
    plan = propose(opened)
    answered = plan.with_choices({conflict.id: "a" for conflict in plan.conflicts})
    assert str(opened.overdraft(answered)).startswith(told)
    with pytest.raises(errors.BudgetExceededError):
        opened.apply(answered, now=NOW)
    assert graph.same()


def test_an_open_conflict_blocks_no_question_about_names(graph):
    opened = graph.open(
        entity("Data Service", "Use make for builds", "Never use make for builds", kind="Service"),
        entity("DataService", "Keeps the titles of all films", kind="Component"),
        entity("Billing", "Use tabs in tests", kind="Service"),
        entity("Billing Component", "Never use tabs in tests", kind="Service"),
    )
    plan = propose(opened)
    assert (len(plan.conflicts), len(plan.unsure)) == (2, 2)
    shown = "\n".join(opened.reporter(plan).lines())
    for part in ("Data Service", "DataService", "one name in two spellings", "titles of all films"):
        assert part in shown


def test_a_merge_that_a_person_edited_says_what_was_written(graph):
    opened = graph.open(*twins())
    plan = propose(opened)
    (merge,) = plan.merges
    edited = replace(merge, text=f"{merge.text}\n- Also in libraries")
    result = apply(opened, opened.completed(replace(plan, actions=(edited,))))
    assert (result.merged, result.moved) == (1, ())
    assert graph.entities()[merge.survivor][-1] == "Also in libraries"
    assert graph.undone(opened)


def test_an_undo_leaves_what_the_agent_wrote_since(graph):
    opened = graph.open(entity("tabs", USE, AVOID), *twins())
    plan = propose(opened)
    apply(opened, plan, choices={plan.conflicts[0].id: "b"})
    left = [line for line in graph.path.read_text().splitlines() if '"tabs"' not in line]
    graph.write(entity("tabs", AVOID, "Came later"), *left, entity("new", "x"))
    assert opened.undo(now=NOW).kept == ()
    held = graph.entities()
    assert (held["tabs"], held["new"]) == ([USE, AVOID, "Came later"], ["x"])
    assert "strict-mode" in held


@pytest.mark.parametrize("said", [ASKED, ["Ask before\u2028deploying\x85 on Fridays"] * 2])
def test_an_entity_of_a_type_named_relation_is_changed_as_any_other(graph, said):
    """And a separator that JSON does not escape ends no line of a plan."""
    opened = graph.open(entity("uses", *said, kind="relation"))
    plan = propose(opened)
    assert "[graph:uses] — 1 observation stands twice" in opened.reporter(plan).lines()
    apply(opened, plan)
    assert graph.entities()["uses"] == [said[0]]
    assert graph.undone(opened)


def test_only_where_use_is_recorded_is_anything_forgotten_and_unattended_only_learnings(graph):
    lines = [entity("ana", "Is allergic to nuts", OLD, kind="person"), entity("old", "Try grunt", OLD)]
    opened = graph.open(*lines)
    assert propose(opened).prunes == ()
    graph.write(*lines, entity("used", "Try make", "Applied in shop - HELPFUL"))
    used = entity("used", "Try make", "Applied in shop - HELPFUL")
    graph.write(*lines, entity("older", "Try gulp", OLD), used)
    assert [item.members[0].id for item in propose(opened).prunes] == ["old", "older"]
    graph.write(*lines[1:], entity("older", "Try gulp", OLD), used)
    most = propose(opened)
    assert (most.actions, most.unsure) == ((), ())
    assert most.notes[0].startswith("2 memories may be forgotten, but are most of the graph")
    rules = [
        entity("rule", "Prefer a clean break, no deprecated wrappers", OLD),
        entity("rules", "Never push on Fridays", OLD),
    ]
    graph.write(*rules, used, entity("new", "Try tool 3"))
    assert (propose(opened).actions, propose(opened).unsure) == ((), ())
    graph.write(*lines, entity("bo", "Plays chess", OLD, kind="person"), used, entity("new", "Try tool 3"))
    attended = propose(opened)
    assert [item.members[0].id for item in attended.prunes] == ["old"]
    assert [item.members[0].id for item in attended.unsure] == ["bo"]
    alone = propose(opened, unattended=True)
    assert ([item.members[0].id for item in alone.prunes], alone.unsure) == (["old"], ())
    assert alone.notes == ("1 memory may be forgotten; a person decides.",)
    with pytest.raises(RefusedChangeError, match="would go without a reason"):  # for the archive
        opened.store.write(Delete("old"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"entities": [{"name": "a"}], "relations": []}', 'one JSON object with "entities" and "relations"'),
        ('{\n "entities": [],\n "relations": []\n}', 'one JSON object with "entities" and "relations"'),
        ('[{"type": "entity"}]', "one JSON list"),
        ('{"lessons": [], "count": 2}', 'one JSON object with the keys "lessons", "count"'),
        ('{"name": "a", "entityType": "b", "observations": ["c"]}\n' * 3, 'its entities have no "type"'),
        (entity("a").replace("[]", '[{"text": "b"}]') + "\n", "its observations are no texts"),
        ('{"id": 1, "content": "b"}\n' * 9, 'have the keys "id", "content"'),
        ('{"type": "episodic", "content": "b"}\n' * 9, 'have the keys "type", "content"'),
        ("# Notes\n\nThe sky is blue.\n", "0 of its 2 lines"),
        (entity("a", "x") + "\n{\n{\n", "1 of its 3 lines"),
        ('{"\\u001b[31m": 1, "content": 2}\n' * 2, '"\\u001b[31m"'),
    ],
)
def test_a_foreign_file_is_refused_whole(graph, text, reason):
    graph.path.write_text(text)
    for attempt in (propose, repair):
        with pytest.raises(StoreError, match="no graph of a memory server") as caught:
            attempt(graph.open())
        assert reason in str(caught.value)
    assert graph.path.read_text() == text


@pytest.mark.parametrize(
    "text", ["", "\n\n", relation("a", "b"), entity("a") + '\n{"type":"marker"}\n{"type":"x"}']
)
def test_an_empty_graph_and_other_kinds_of_lines_are_no_foreign_file(graph, text):
    assert propose(graph.open(text)).actions == ()


@pytest.mark.parametrize(
    ("first", "second", "one"),
    [
        ({"origin": "chat"}, {"tags": ["x"], "origin": "import"}, {"origin": "chat", "tags": ["x"]}),
        ({"createdAt": "2025-03-24"}, {"createdAt": "2025-03-24"}, {"createdAt": "2025-03-24"}),
    ],
)
def test_doubled_lines_become_one_and_keep_unknown_fields(graph, first, second, one):
    said, other = ("one", "two"), entity("b", "other")
    opened = graph.open(entity("a", *said, **first), other, entity("a", *said, **second), end="\n")
    assert apply(opened).moved == ()
    assert graph.path.read_text() == "\n".join([entity("a", *said, **one), other, ""])
    assert propose(opened).actions == ()
    assert graph.undone(opened)


def test_two_lines_of_one_name_are_one_memory(graph):
    store = graph.open(entity("a", "one"), entity("b", "two"), entity("a", "three")).store
    snapshot = store.fetch(["a"])["a"]
    assert store.parse(snapshot).text == "a\n- one\n- three"
    store.write(Update("a", "a\n- one\n- three\n- four", observations=("one", "three", "four")))
    assert graph.entities()["a"] == ["one", "three", "four"]
    store.write(Restore(snapshot))
    assert graph.same()


def test_a_deletion_twice_changes_nothing_more(graph):
    opened = graph.open(*twins())
    (merge,) = propose(opened).merges
    delete = Delete("strict-mode", into=LONG, observations=merge.observations)
    opened.store.write(Update(LONG, merge.text, observations=merge.observations))
    opened.store.write(delete)
    once = graph.path.read_bytes()
    opened.store.write(delete)
    assert graph.path.read_bytes() == once


NAMES = ["strict-mode", LONG, "strict mode on", "shop", "old", "tabs::relations", "ä\nb"]
SAYINGS = [
    STRICT, STRICT + ".", USE, AVOID, "Costs 20 euros", "Costs 40 euros", "Applied in shop - HELPFUL (2026-11-02)",
    "Applied in blog - NOT HELPFUL (2026-01-02)", "Discovered: 2026-01-02", "Discovered: 2025-01-02", "critical: true",
    "two\nlines", "",
]  # fmt: skip
ends_of_relations = st.sampled_from([*NAMES, "gone"])
lines_of_graphs = st.one_of(
    st.builds(
        lambda name, said, kind: entity(name, *said, kind=kind),
        st.sampled_from(NAMES), st.lists(st.sampled_from(SAYINGS), max_size=5), st.sampled_from(["pattern", "preference"]),
    ),
    st.builds(relation, ends_of_relations, ends_of_relations, st.sampled_from(["uses", "has"])),
    st.sampled_from(["", '{"type":"other","x":1.0}']),
)  # fmt: skip
graphs = (
    st.lists(lines_of_graphs, min_size=1, max_size=16)
    .filter(lambda lines: any('"from"' in line or '"entity"' in line for line in lines))
    .flatmap(lambda lines: st.sampled_from([lines, [*lines, *lines[:3]]]))
)
ends = st.sampled_from(["", "\n"])
sides = st.sampled_from(["a", "b", None])
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def drawn(lines, end=""):
    home = Path(tempfile.mkdtemp())
    made = Graph(home, home)
    made.write(*lines, end=end)
    return made


@settings(quick, max_examples=150)
@given(lines=graphs, end=ends, side=sides, repairs=st.booleans())
def test_a_run_does_to_relations_what_it_tells_is_all_that_is_to_do_and_can_be_undone(
    lines, end, side, repairs
):
    graph = drawn(lines, end)
    before, names = Counter(graph.relations()), set(graph.entities())
    with graph.open(core=graph.folder / "core.json", repair_relations=repairs) as opened:
        plan = propose(opened)
        run = apply(opened, plan, choices={conflict.id: side for conflict in plan.conflicts}).run
        told = changes_of_run(run, opened.journal, opened.store)
        held, found = set(graph.entities()), graph.relations()
        foretold = before - Counter(told.removed) - Counter(old for old, _ in told.moved)
        assert foretold + Counter(told.added) + Counter(new for _, new in told.moved) == Counter(found)
        assert not any((names - held) & set(edge[:2]) for edge in found)
        assert not repairs or all(held.issuperset(edge[:2]) for edge in found)
        assert not repairs or len(set(found)) == len(found)
        if side is None:
            assert told.added == ()
            again = propose(opened)
            assert again.actions == again.conflicts
        if run:
            assert opened.undo(now=NOW).kept == ()
    assert graph.same()
    assert not (graph.folder / "core.json").exists()


@quick
@given(lines=graphs, end=ends)
def test_what_a_person_accepts_leaves_nothing_dangling_and_can_be_undone(lines, end):
    graph = drawn(lines, end)
    with graph.open(merge_above=1.0) as opened:
        plan = propose(opened)
        proposal = opened.look(ScopeFilter(), now=NOW)
        asked = plan.accept([merge.id for merge in plan.unsure], {})
        result = apply(opened, opened.kind.follow(asked.with_choices({}), proposal.present))
        assert result.moved == ()
        if result.run:
            assert opened.undo(now=NOW).kept == ()
    assert graph.same()


@quick
@given(lines=graphs, end=ends)
def test_a_merge_keeps_every_distinct_observation(lines, end):
    graph = drawn(lines, end)
    with graph.open() as opened:
        plan = propose(opened).only("merge")
        apply(opened, plan)
        members = [member.id for merge in plan.merges for member in merge.members]
        stored = [opened.journal.snapshot(opened.journal.runs()[0].id, member) for member in members]
        said = {
            exact_key(text) for each in stored for text in opened.store.parse(each).metadata["observations"]
        }
    assert said <= {exact_key(text) for texts in graph.entities().values() for text in texts}


@quick
@given(lines=graphs, seed=st.randoms())
def test_order_of_lines_changes_no_plan(lines, seed):
    names = [json.loads(line)["name"] for line in lines if '"entity"' in line]
    if len(set(names)) < len(names):
        return
    shuffled, plans = list(lines), []
    seed.shuffle(shuffled)
    for each in (lines, shuffled):
        with drawn(each).open() as opened:
            plan = propose(opened)
            plans.append([(m.members, m.text) for m in plan.merges] + [p.members for p in plan.prunes])
    assert plans[0] == plans[1]
