"""Plans of graphs: whatever they hold, nothing dangles, nothing is lost, and undo gives the bytes back."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from graph_world import NOW, STRICT, entities, entity, relation, relations, repair, session, twins, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mem0_dream.errors import BudgetExceededError, IncompleteListingError, RefusedChangeError, StoreError
from mem0_dream.models.text.words import exact_key
from mem0_dream.pipeline.reporting.graph.report import changes_of_run
from mem0_dream.pipeline.stores.base import Delete, ScopeFilter, Update
from mem0_dream.pipeline.stores.graph.usage import MERGED_MARK, is_bookkeeping, usage
from mem0_dream.pipeline.writing.journal import RunState
from mem0_dream.settings import Settings

EVERYTHING = ScopeFilter()


def propose(opened):
    return opened.propose(EVERYTHING, now=NOW)


def apply(opened, plan, **more):
    return opened.apply(plan, now=NOW, within_budget=False, **more)


def test_a_merge_keeps_the_more_descriptive_name(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    result = apply(opened, propose(opened))
    held = entities(tmp_path / "m.jsonl")
    assert result.merged == 1
    assert "strict-mode" not in held
    assert held["typescript-strict-mode"][0] == STRICT + "."
    assert f"{MERGED_MARK}strict-mode on 2026-11-21" in held["typescript-strict-mode"]


def test_a_merge_adds_the_statistics_up(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    used = usage(entities(tmp_path / "m.jsonl")["typescript-strict-mode"])
    assert (used.uses, used.helpful, used.unhelpful) == (3, 2, 1)
    assert used.discovered.isoformat()[:10] == "2026-01-02"


def test_a_merge_points_relations_to_the_survivor_once(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened).only("merge"))
    assert relations(tmp_path / "m.jsonl") == [
        ("typescript-strict-mode", "shop", "uses"),
        ("blog", "typescript-strict-mode", "uses"),
    ]


def test_undo_gives_the_bytes_back(tmp_path, own_state):
    lines = [*twins()[:3], "", '{"type":"note","text":"of another tool"}', *twins()[3:]]
    before = write(tmp_path / "m.jsonl", lines, end="\n")
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    assert (tmp_path / "m.jsonl").read_bytes() != before
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_fields_of_the_loser_go_to_the_survivor(tmp_path, own_state):
    lines = twins()
    lines[0] = entity("strict-mode", STRICT, "Discovered: 2026-01-02", tags=["a"], origin="chat")
    write(tmp_path / "m.jsonl", lines)
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    kept = next(row for row in rows if row.get("name") == "typescript-strict-mode")
    assert (kept["tags"], kept["origin"]) == (["a"], "import")


@pytest.mark.parametrize(
    ("choice", "kept"), [("a", ["Use tabs for Go code"]), ("b", ["Do not use tabs for Go code"])]
)
def test_a_contradiction_inside_an_entity_is_settled_by_a_person(tmp_path, own_state, choice, kept):
    line = entity(
        "tabs", "Use tabs for Go code", "Likes mornings", "Do not use tabs for Go code", kind="preference"
    )
    before = write(tmp_path / "m.jsonl", [line])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert [conflict.newer for conflict in plan.conflicts] == ["b"]
    apply(opened, plan, choices={plan.conflicts[0].id: choice})
    assert sorted(entities(tmp_path / "m.jsonl")["tabs"]) == sorted([*kept, "Likes mornings"])
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_what_stands_in_two_lines_is_settled_by_the_next_pass(tmp_path, own_state):
    use, avoid = "Use tabs for Go code", "Do not use tabs for Go code"
    before = write(tmp_path / "m.jsonl", [entity("tabs", use), entity("tabs", use, avoid)])
    opened = session(tmp_path / "m.jsonl", own_state)
    for settled in (False, True):
        plan = propose(opened)
        (conflict,) = plan.conflicts
        texts = {member.id: member.text for member in conflict.members}
        choice = "a" if texts[conflict.a[0]] == avoid else "b"
        result = apply(opened, plan, choices={conflict.id: choice})
        assert (result.resolved, len(result.moved)) == ((1, 0) if settled else (0, 1))
    assert entities(tmp_path / "m.jsonl") == {"tabs": [avoid]}
    opened.undo(now=NOW)
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_nobody_settles_a_contradiction_unasked(tmp_path, own_state):
    before = write(
        tmp_path / "m.jsonl", [entity("tabs", "Use tabs for Go code", "Do not use tabs for Go code")]
    )
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_settled_contradiction_between_entities_leaves_supersedes(tmp_path, own_state):
    said = "Deploy the web shop from the release branch on Fridays"
    against = "Do not deploy the web shop from the release branch on Fridays"
    before = write(tmp_path / "m.jsonl", [entity("deploy-friday", said), entity("deploy-rule", against)])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened).only("resolve")
    winner = plan.conflicts[0].a[0].partition("::")[0]
    loser = plan.conflicts[0].b[0].partition("::")[0]
    apply(opened, plan, choices={plan.conflicts[0].id: "a"})
    assert (winner, loser, "supersedes") in relations(tmp_path / "m.jsonl")
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_broken_line_makes_the_graph_read_only(tmp_path, own_state):
    before = write(tmp_path / "m.jsonl", [*twins(), '{"type":"entity","name":'])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert "line 9" in plan.gaps[0]
    with pytest.raises(IncompleteListingError):
        apply(opened, plan)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_repair_moves_broken_lines_to_the_archive(tmp_path, own_state):
    broken = '{"type":"entity","name":'
    write(tmp_path / "m.jsonl", [*twins()[:2], broken, *twins()[2:]])
    opened = session(tmp_path / "m.jsonl", own_state)
    assert repair(opened).run
    assert (tmp_path / "m.jsonl").read_text() == "\n".join(twins())
    archived = json.loads((tmp_path / "archive" / "2026-11-21-broken.json").read_text())
    assert archived[0]["lines"] == [{"number": 3, "raw": broken}]


@pytest.mark.parametrize("broken", [b'{"type":"entity","name":', b"\xff\xfe no text", b'{"type":"relation"}'])
def test_a_repair_is_a_run_that_undo_brings_back(tmp_path, own_state, broken):
    lines = [line.encode() for line in twins()]
    before = b"\n".join([*lines[:3], broken, *lines[3:], broken, b""])
    (tmp_path / "m.jsonl").write_bytes(before)
    opened = session(tmp_path / "m.jsonl", own_state)
    assert repair(opened).run
    apply(opened, propose(opened))
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == b"\n".join([*lines, b""])
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before
    assert repair(opened).run
    assert repair(opened) is None


def test_relations_to_names_without_a_line_are_facts(tmp_path, own_state):
    edges = [relation("shop", "kubectl"), relation("ghost", "blog"), relation("blog", "shop")]
    before = write(tmp_path / "m.jsonl", [*twins()[2:4], *edges])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert plan.actions == ()
    assert opened.reporter(plan).open_lines()[1:] == ["  ghost --uses--> blog", "  shop --uses--> kubectl"]
    twice = write(tmp_path / "m.jsonl", [*twins()[2:4], *edges, edges[2]])
    # The second of two equal ones is offered alone, to a person.
    plan = propose(opened)
    assert [item.reason for item in plan.actions] == ["remove what stands twice"]
    assert opened.propose(ScopeFilter(), now=NOW, unattended=True).actions == ()
    apply(opened, plan)
    assert (tmp_path / "m.jsonl").read_bytes() == before
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == twice


def test_relations_are_repaired_on_request_alone(tmp_path, own_state):
    edges = [relation("shop", "kubectl"), relation("ghost", "blog"), relation("blog", "shop")]
    before = write(tmp_path / "m.jsonl", [*twins()[2:4], *edges, edges[2]])
    opened = session(tmp_path / "m.jsonl", own_state, repair_relations=True)
    plan = propose(opened)
    gone = ["- blog --uses--> shop", "- ghost --uses--> blog", "- shop --uses--> kubectl"]
    assert sorted(opened.reporter(plan).relation_lines()[1:]) == gone
    run = apply(opened, plan).run
    assert relations(tmp_path / "m.jsonl") == [("blog", "shop", "uses")]
    assert sorted(changes_of_run(run, opened.journal, opened.store).lines) == gone
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_relations_are_counted_against_the_budget_in_their_own_unit(tmp_path, own_state):
    edges = [relation("shop", f"part {number}") for number in range(9)]
    before = write(tmp_path / "m.jsonl", [*twins()[2:4], *edges, relation("shop", "blog")])
    opened = session(tmp_path / "m.jsonl", own_state, repair_relations=True)
    opened.settings = opened.settings.model_copy(update={"max_delete": 0.3})
    plan = propose(opened)
    assert str(opened.overdraft(plan)).startswith("9 of 10 relations of graph=m.jsonl (90%")
    with pytest.raises(BudgetExceededError):
        opened.apply(plan, now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_an_open_conflict_blocks_no_question_about_names(tmp_path, own_state):
    lines = [
        entity("Data Service", "Use make for builds", "Never use make for builds", kind="Service"),
        entity("DataService", "Keeps the titles of all films", kind="Component"),
    ]
    write(tmp_path / "m.jsonl", lines)
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert (len(plan.conflicts), len(plan.unsure)) == (1, 1)
    shown = "\n".join(opened.reporter(plan).lines())
    for part in ("Data Service", "DataService", "one name in two spellings", "titles of all films"):
        assert part in shown


def test_a_merge_that_a_person_edited_says_what_was_written(tmp_path, own_state):
    before = write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    (merge,) = plan.merges
    edited = replace(merge, text=f"{merge.text}\n- Also in libraries")
    result = apply(opened, opened.completed(replace(plan, actions=(edited,))))
    assert (result.merged, result.moved) == (1, ())
    assert entities(tmp_path / "m.jsonl")[merge.survivor][-1] == "Also in libraries"
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_what_the_agent_said_since_stays_when_an_observation_comes_back(tmp_path, own_state):
    write(tmp_path / "m.jsonl", [entity("tabs", "Use tabs for Go", "Do not use tabs for Go")])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    apply(opened, plan, choices={plan.conflicts[0].id: "b"})
    write(tmp_path / "m.jsonl", [entity("tabs", "Do not use tabs for Go", "Came later"), entity("new", "x")])
    assert opened.undo(now=NOW).kept == ()
    held = entities(tmp_path / "m.jsonl")
    assert held == {"tabs": ["Use tabs for Go", "Do not use tabs for Go", "Came later"], "new": ["x"]}


def test_every_relation_that_a_merge_touches_is_told(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    told = [
        "~ blog --uses--> strict-mode  ->  blog --uses--> typescript-strict-mode",
        "- strict-mode --uses--> shop",
        "- typescript-strict-mode --uses--> strict-mode",
    ]
    assert opened.reporter(plan).relation_lines()[1:] == told
    run = apply(opened, plan).run
    assert changes_of_run(run, opened.journal, opened.store).lines == told
    assert (
        opened.kind.remark(opened.journal, opened.journal.run(run))
        == ", 0 relations added, 1 moved, 2 removed"
    )


def test_what_an_undo_took_back_is_not_done_again(tmp_path, own_state):
    twice = entity("twice", "Ask before deploying", "Ask before deploying.", kind="preference")
    lines = [*twins(), entity("old", "Try the grunt runner", "Discovered: 2025-01-01"), twice]
    write(tmp_path / "m.jsonl", lines)
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert (len(plan.merges), len(plan.prunes), len(plan.rewrites)) == (1, 1, 1)
    apply(opened, plan)
    opened.undo(now=NOW)
    assert propose(opened).actions == ()
    lines[-2] = entity("old", "Try the gulp runner", "Discovered: 2025-01-01")
    write(tmp_path / "m.jsonl", lines)
    assert [prune.members[0].id for prune in propose(opened).prunes] == ["old"]


def test_an_entity_of_a_type_named_relation_is_changed_as_any_other(tmp_path, own_state):
    twice = entity("uses", "Ask before deploying", "Ask before deploying.", kind="relation")
    write(tmp_path / "m.jsonl", [twice])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert "[graph:uses] — 1 observations stand twice" in opened.reporter(plan).lines()
    apply(opened, plan)
    assert entities(tmp_path / "m.jsonl")["uses"] == ["Ask before deploying"]


def test_nothing_is_forgotten_without_a_reason_for_the_archive(tmp_path, own_state):
    from mem0_dream import consolidate
    from mem0_dream.errors import UsageError

    lines = [*twins(), entity("old", "Try the grunt runner", "Discovered: 2025-01-01")]
    write(tmp_path / "m.jsonl", lines)
    store = session(tmp_path / "m.jsonl", own_state).store
    with pytest.raises(RefusedChangeError, match="would go without a reason"):
        store.write(Delete("old"))
    with pytest.raises(UsageError, match="has no users"):
        consolidate(store, user_id="alice", state_dir=own_state)
    limits = Settings(scorer="keywords", max_delete=1.0)
    done = consolidate(store, all_scopes=True, apply=True, settings=limits, state_dir=own_state, now=NOW)
    assert done.result.pruned == 1
    assert json.loads((tmp_path / "archive" / "2026-11-21-forgotten.json").read_text())[0]["name"] == "old"


def test_only_where_use_is_recorded_is_anything_forgotten_and_unattended_only_learnings(tmp_path, own_state):
    old = "Discovered: 2025-01-01"
    lines = [entity("ana", "Is allergic to nuts", old, kind="person"), entity("old", "Try grunt", old)]
    write(tmp_path / "m.jsonl", lines)
    opened = session(tmp_path / "m.jsonl", own_state)
    assert propose(opened).prunes == ()
    write(tmp_path / "m.jsonl", [*lines, entity("used", "Try make", "Applied in shop - HELPFUL")])
    plan = propose(opened)
    assert [item.members[0].id for item in plan.prunes] == ["ana", "old"]
    alone = opened.propose(ScopeFilter(), now=NOW, unattended=True)
    assert [item.members[0].id for item in alone.prunes] == ["old"]
    assert alone.notes == ("1 memories may be forgotten; a person decides.",)


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
def test_a_foreign_file_is_refused_whole(tmp_path, own_state, text, reason):
    path = tmp_path / "m.jsonl"
    path.write_text(text)
    opened = session(path, own_state)
    for attempt in (lambda: propose(opened), lambda: repair(opened)):
        with pytest.raises(StoreError, match="no graph of a memory server") as caught:
            attempt()
        assert reason in str(caught.value)
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text", ["", "\n\n", relation("a", "b"), entity("a") + '\n{"type":"marker"}\n{"type":"x"}']
)
def test_an_empty_graph_and_other_kinds_of_lines_are_no_foreign_file(tmp_path, own_state, text):
    (tmp_path / "m.jsonl").write_text(text)
    assert propose(session(tmp_path / "m.jsonl", own_state)).actions == ()


def test_doubled_lines_keep_unknown_fields(tmp_path, own_state):
    first, second = entity("a", "one", origin="chat"), entity("a", "one", "two", tags=["x"], origin="import")
    before = write(tmp_path / "m.jsonl", [first, second])
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    (row,) = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert (row["origin"], row["tags"], row["observations"]) == ("chat", ["x"], ["one", "two"])
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_separator_that_json_does_not_escape_ends_no_line_of_a_plan(tmp_path, own_state):
    said = "Ask before\u2028deploying\x85 on Fridays"
    before = write(tmp_path / "m.jsonl", [entity("a", said, said)])
    opened = session(tmp_path / "m.jsonl", own_state)
    assert apply(opened, propose(opened)).run
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_plan_skips_what_the_server_changed(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened).only("merge")
    lines = twins()
    lines[0] = entity("strict-mode", STRICT, "Now also for tests")
    write(tmp_path / "m.jsonl", lines)
    result = apply(opened, plan)
    assert (result.merged, result.skipped) == (0, 1)
    assert "Now also for tests" in entities(tmp_path / "m.jsonl")["strict-mode"]


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_killed_run_is_finished_with_the_same_end(tmp_path, own_state, step, after):
    lines = [
        *twins(),
        entity("old", "Try the grunt runner", "Discovered: 2025-01-01"),
        relation("old", "gone"),
    ]
    write(tmp_path / "m.jsonl", lines)
    write(tmp_path / "whole.jsonl", lines)
    whole = session(tmp_path / "whole.jsonl", own_state)
    apply(whole, propose(whole))
    opened = session(tmp_path / "m.jsonl", own_state)
    real, counter = opened.store.write, itertools.count(1)

    def dying(change):
        number = next(counter)
        if number == step and not after:
            raise Killed
        answer = real(change)
        if number == step:
            raise Killed
        return answer

    opened.store.write = dying
    try:
        apply(opened, propose(opened))
    except Killed:
        again = session(tmp_path / "m.jsonl", own_state)
        again.resume(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_an_undo_that_was_killed_is_finished(tmp_path, own_state):
    before = write(tmp_path / "m.jsonl", [*twins(), relation("blog", "gone")])
    opened = session(tmp_path / "m.jsonl", own_state)
    run = apply(opened, propose(opened)).run
    real, counter = opened.store.write, itertools.count(1)

    def dying(change):
        if next(counter) == 2:
            raise Killed
        return real(change)

    opened.store.write = dying
    with pytest.raises(Killed):
        opened.undo(run, now=NOW)
    again = session(tmp_path / "m.jsonl", own_state)
    again.resume(run, now=NOW)
    assert again.journal.run(run).state is RunState.UNDONE
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_an_undo_leaves_what_the_agent_wrote_since(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins(), end="\n")
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    with (tmp_path / "m.jsonl").open("a") as file:
        file.write(entity("later", "Came after the run") + "\n")
    opened.undo(now=NOW)
    assert {"strict-mode", "later"} <= set(entities(tmp_path / "m.jsonl"))


def test_two_lines_of_one_name_are_one_memory(tmp_path, own_state):
    before = write(tmp_path / "m.jsonl", [entity("a", "one"), entity("b", "two"), entity("a", "three")])
    opened = session(tmp_path / "m.jsonl", own_state)
    store = opened.store
    snapshot = store.fetch(["a"])["a"]
    assert store.parse(snapshot).text == "a\n- one\n- three"
    store.write(Update("a", "a\n- one\n- three\n- four", observations=("one", "three", "four")))
    assert entities(tmp_path / "m.jsonl")["a"] == ["one", "three", "four"]
    from mem0_dream.pipeline.stores.base import Restore

    store.write(Restore(snapshot))
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_equal_lines_become_one(tmp_path, own_state):
    line = entity("a", "one", "two", createdAt="2025-03-24")
    before = write(tmp_path / "m.jsonl", [line, entity("b", "other"), line], end="\n")
    opened = session(tmp_path / "m.jsonl", own_state)
    result = apply(opened, propose(opened))
    assert result.moved == ()
    assert (tmp_path / "m.jsonl").read_text() == "\n".join([line, entity("b", "other"), ""])
    assert propose(opened).actions == ()
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_deletion_twice_changes_nothing_more(tmp_path, own_state):
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    (merge,) = propose(opened).merges
    survivor, said = "typescript-strict-mode", merge.observations
    opened.store.write(Update(survivor, merge.text, observations=said))
    opened.store.write(Delete("strict-mode", into=survivor, text=merge.text, observations=said))
    once = (tmp_path / "m.jsonl").read_bytes()
    opened.store.write(Delete("strict-mode", into=survivor, text=merge.text, observations=said))
    assert (tmp_path / "m.jsonl").read_bytes() == once


NAMES = ["strict-mode", "typescript-strict-mode", "strict mode on", "shop", "old", "tabs::relations", "ä\nb"]
SAYINGS = [
    STRICT,
    STRICT + ".",
    "Use tabs for Go code",
    "Do not use tabs for Go code",
    "Costs 20 euros",
    "Costs 40 euros",
    "Applied in shop - HELPFUL (2026-11-02)",
    "Applied in blog - NOT HELPFUL (2026-01-02)",
    "Discovered: 2026-01-02",
    "Discovered: 2025-01-02",
    "critical: true",
    "two\nlines",
    "",
]
lines_of_graphs = st.one_of(
    st.builds(
        lambda name, said, kind: entity(name, *said, kind=kind),
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(SAYINGS), max_size=5),
        st.sampled_from(["pattern", "preference"]),
    ),
    st.builds(
        relation,
        st.sampled_from([*NAMES, "gone"]),
        st.sampled_from([*NAMES, "gone"]),
        st.sampled_from(["uses", "has"]),
    ),
    st.sampled_from(["", '{"type":"other","x":1.0}']),
)
graphs = (
    st.lists(lines_of_graphs, min_size=1, max_size=16)
    .filter(lambda lines: any('"from"' in line or '"entity"' in line for line in lines))
    .flatmap(lambda lines: st.sampled_from([lines, [*lines, *lines[:3]]]))
)
ends = st.sampled_from(["", "\n"])
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def folder() -> Path:
    return Path(tempfile.mkdtemp())


@quick
@given(lines=graphs, end=ends, side=st.sampled_from(["a", "b", None]))
def test_apply_then_undo_gives_the_bytes_back(lines, end, side):
    home = folder()
    before = write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home, core=home / "core.json") as opened:
        plan = propose(opened)
        if not apply(opened, plan, choices={conflict.id: side for conflict in plan.conflicts}).run:
            return
        result = opened.undo(now=NOW)
        assert result.kept == ()
    assert (home / "m.jsonl").read_bytes() == before
    assert not (home / "core.json").exists()


@quick
@given(lines=graphs, end=ends, side=st.sampled_from(["a", "b", None]))
def test_relations_never_dangle_after_a_repair(lines, end, side):
    home = folder()
    write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home, repair_relations=True) as opened:
        plan = propose(opened)
        apply(opened, plan, choices={conflict.id: side for conflict in plan.conflicts})
    held = entities(home / "m.jsonl")
    found = relations(home / "m.jsonl")
    assert all(a in held and b in held for a, b, _ in found)
    assert len(set(found)) == len(found)


@quick
@given(lines=graphs, end=ends, side=st.sampled_from(["a", "b", None]))
def test_what_a_plan_tells_of_relations_is_what_it_does(lines, end, side):
    home = folder()
    write(home / "m.jsonl", lines, end=end)
    before, names = Counter(relations(home / "m.jsonl")), set(entities(home / "m.jsonl"))
    with session(home / "m.jsonl", home) as opened:
        plan = propose(opened)
        choices = {conflict.id: side for conflict in plan.conflicts}
        run = apply(opened, plan, choices=choices).run
        told = changes_of_run(run, opened.journal, opened.store)
    after = Counter(relations(home / "m.jsonl"))
    foretold = before - Counter(told.removed) - Counter(old for old, _ in told.moved)
    assert foretold + Counter(told.added) + Counter(new for _, new in told.moved) == after
    gone = names - set(entities(home / "m.jsonl"))
    assert not any(gone & set(edge[:2]) for edge in after)
    if side is None:
        assert told.added == ()


@quick
@given(lines=graphs, end=ends)
def test_what_a_person_accepts_leaves_nothing_dangling_and_can_be_undone(lines, end):
    home = folder()
    before = write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home, merge_above=1.0) as opened:
        plan = propose(opened)
        proposal = opened.look(ScopeFilter(), now=NOW)
        asked = plan.accept([merge.id for merge in plan.unsure], {})
        result = apply(opened, opened.kind.follow(asked.with_choices({}), proposal.present))
        assert result.moved == ()
        if result.run:
            assert opened.undo(now=NOW).kept == ()
    assert (home / "m.jsonl").read_bytes() == before


@quick
@given(lines=graphs, end=ends)
def test_a_merge_keeps_every_distinct_observation(lines, end):
    home = folder()
    write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home) as opened:
        plan = propose(opened).only("merge")
        apply(opened, plan)
        said = {
            exact_key(text)
            for merge in plan.merges
            for member in merge.members
            for text in opened.store.parse(
                opened.journal.snapshot(opened.journal.runs()[0].id, member.id)
            ).metadata["observations"]
        }
    kept = {exact_key(text) for texts in entities(home / "m.jsonl").values() for text in texts}
    assert said <= kept


@quick
@given(lines=graphs, end=ends)
def test_a_second_pass_proposes_nothing(lines, end):
    home = folder()
    write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home) as opened:
        apply(opened, propose(opened))
        again = propose(opened)
    assert again.actions == again.conflicts


@quick
@given(lines=graphs, seed=st.randoms())
def test_order_of_lines_changes_no_plan(lines, seed):
    names = [json.loads(line)["name"] for line in lines if '"entity"' in line]
    if len(set(names)) < len(names):
        return
    home = folder()
    write(home / "a.jsonl", lines)
    shuffled = list(lines)
    seed.shuffle(shuffled)
    write(home / "b.jsonl", shuffled)
    plans = []
    for name in ("a.jsonl", "b.jsonl"):
        with session(home / name, home) as opened:
            plan = propose(opened)
            plans.append([(m.members, m.text) for m in plan.merges] + [p.members for p in plan.prunes])
    assert plans[0] == plans[1]


def test_bookkeeping_is_no_content():
    assert is_bookkeeping("Discovered: 2026-01-02")
    assert not is_bookkeeping("Discovered a bug in the parser")
