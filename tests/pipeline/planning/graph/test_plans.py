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
from mem0_dream.errors import IncompleteListingError, RefusedChangeError, StoreError
from mem0_dream.models.words import exact_key
from mem0_dream.pipeline.reporting.graph.passing import changes_of_run
from mem0_dream.pipeline.stores.base import Delete, ScopeFilter, Update
from mem0_dream.pipeline.stores.graph.usage import MERGED_MARK, is_bookkeeping, usage
from mem0_dream.pipeline.writing.journal import RunState
from mem0_dream.settings import Settings

EVERYTHING = ScopeFilter()


def propose(opened):
    """What a pass over the whole graph proposes."""
    return opened.propose(EVERYTHING, now=NOW)


def apply(opened, plan, **more):
    """Apply a whole plan."""
    return opened.apply(plan, now=NOW, within_budget=False, **more)


def test_a_merge_keeps_the_more_descriptive_name(tmp_path, own_state):
    """The survivor has the name that says more, all observations, and a note of where they came from."""
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    result = apply(opened, propose(opened))
    held = entities(tmp_path / "m.jsonl")
    assert result.merged == 1
    assert "strict-mode" not in held
    assert held["typescript-strict-mode"][0] == STRICT + "."
    assert f"{MERGED_MARK}strict-mode on 2026-11-21" in held["typescript-strict-mode"]


def test_a_merge_adds_the_statistics_up(tmp_path, own_state):
    """Uses whose lines are equal are counted, not lost: 1 + 2 uses are 3, of which 2 helped."""
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    used = usage(entities(tmp_path / "m.jsonl")["typescript-strict-mode"])
    assert (used.uses, used.helpful, used.unhelpful) == (3, 2, 1)
    assert used.discovered.isoformat()[:10] == "2026-01-02"


def test_a_merge_points_relations_to_the_survivor_once(tmp_path, own_state):
    """Both had a relation to the shop: one is left, none leads from the survivor to itself."""
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened).only("merge"))
    assert relations(tmp_path / "m.jsonl") == [
        ("typescript-strict-mode", "shop", "uses"),
        ("blog", "typescript-strict-mode", "uses"),
    ]


def test_undo_gives_the_bytes_back(tmp_path, own_state):
    """Unknown fields, order, line ends and relations are as they were."""
    lines = [*twins()[:3], "", '{"type":"note","text":"of another tool"}', *twins()[3:]]
    before = write(tmp_path / "m.jsonl", lines, end="\n")
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    assert (tmp_path / "m.jsonl").read_bytes() != before
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_fields_of_the_loser_go_to_the_survivor(tmp_path, own_state):
    """A field the survivor does not have is taken over; one of its own stays."""
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
    """The losing observation goes, the entity and everything else in it stays; undo brings it back."""
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
    """The first makes one line of them and leaves the contradiction alone; the second asks again."""
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
    """Without a choice both observations stay."""
    before = write(
        tmp_path / "m.jsonl", [entity("tabs", "Use tabs for Go code", "Do not use tabs for Go code")]
    )
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_settled_contradiction_between_entities_leaves_supersedes(tmp_path, own_state):
    """The winner's entity supersedes the loser's; undo takes the relation away again."""
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
    """Nothing is written while a line cannot be read, and the reason names it."""
    before = write(tmp_path / "m.jsonl", [*twins(), '{"type":"entity","name":'])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert "line 9" in plan.gaps[0]
    with pytest.raises(IncompleteListingError):
        apply(opened, plan)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_repair_moves_broken_lines_to_the_archive(tmp_path, own_state):
    """All other lines stay to the letter, and the archive holds the broken one to the letter."""
    broken = '{"type":"entity","name":'
    write(tmp_path / "m.jsonl", [*twins()[:2], broken, *twins()[2:]])
    opened = session(tmp_path / "m.jsonl", own_state)
    assert repair(opened).run
    assert (tmp_path / "m.jsonl").read_text() == "\n".join(twins())
    archived = json.loads((tmp_path / "archive" / "2026-11-21-broken.json").read_text())
    assert archived[0]["lines"] == [{"number": 3, "raw": broken}]


@pytest.mark.parametrize("broken", [b'{"type":"entity","name":', b"\xff\xfe no text", b'{"type":"relation"}'])
def test_a_repair_is_a_run_that_undo_brings_back(tmp_path, own_state, broken):
    """The lines are where they were, to the byte, also after a pass over the rest and its undo."""
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
    """`provision.sh uses kubectl` stays, and so does what stands twice: the server returned both before."""
    edges = [relation("shop", "kubectl"), relation("ghost", "blog"), relation("blog", "shop")]
    lines = [*twins()[2:4], *edges, edges[2]]
    write(tmp_path / "m.jsonl", lines)
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert plan.actions == ()
    assert opened.reporter(plan).open_lines()[1:] == ["  ghost --uses--> blog", "  shop --uses--> kubectl"]


def test_relations_are_repaired_on_request_alone(tmp_path, own_state):
    """Every one that goes is in the report of it; undo brings the bytes back."""
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


def test_every_relation_that_a_merge_touches_is_told(tmp_path, own_state):
    """What moves to the survivor, and what goes because the survivor has it or would point to itself."""
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
    assert opened.remark(opened.journal.run(run)) == ", 0 relations added, 1 moved, 2 removed"


def test_what_an_undo_took_back_is_not_done_again(tmp_path, own_state):
    """Neither the merge, nor the forgetting, nor the fold; a text that changes is looked at anew."""
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
    """Its type is its owner's word, and no sign of what is done to it."""
    twice = entity("uses", "Ask before deploying", "Ask before deploying.", kind="relation")
    write(tmp_path / "m.jsonl", [twice])
    opened = session(tmp_path / "m.jsonl", own_state)
    plan = propose(opened)
    assert "[graph:uses] — 1 observations stand twice" in opened.reporter(plan).lines()
    apply(opened, plan)
    assert entities(tmp_path / "m.jsonl")["uses"] == ["Ask before deploying"]


def test_nothing_is_forgotten_without_a_reason_for_the_archive(tmp_path, own_state):
    """The public function says why; a bare delete of a memory is refused."""
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
    """Else an old date proves nothing; a fact about a person is no learning, but a person may be shown it."""
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
    """With what it looks like; nothing is read, repaired or written, so it can neither be emptied nor healthy."""
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
    """Lines that say what they are may stand beside entities."""
    (tmp_path / "m.jsonl").write_text(text)
    assert propose(session(tmp_path / "m.jsonl", own_state)).actions == ()


def test_doubled_lines_keep_unknown_fields(tmp_path, own_state):
    """Those of every line of the name are in the one that stays."""
    first, second = entity("a", "one", origin="chat"), entity("a", "one", "two", tags=["x"], origin="import")
    before = write(tmp_path / "m.jsonl", [first, second])
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    (row,) = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert (row["origin"], row["tags"], row["observations"]) == ("chat", ["x"], ["one", "two"])
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_separator_that_json_does_not_escape_ends_no_line_of_a_plan(tmp_path, own_state):
    """U+2028 and its like in a text: the journal reads its own plan back, and undo works."""
    said = "Ask before\u2028deploying\x85 on Fridays"
    before = write(tmp_path / "m.jsonl", [entity("a", said, said)])
    opened = session(tmp_path / "m.jsonl", own_state)
    assert apply(opened, propose(opened)).run
    opened.undo(now=NOW)
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_a_plan_skips_what_the_server_changed(tmp_path, own_state):
    """An observation that was added after the plan was made keeps its entity out of the merge."""
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
    """Killed before or after any single write, then resumed: the same bytes as without the kill."""
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
    """The second half of an undo needs nothing of the first."""
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
    """What came after the run stays, and what the run removed is back."""
    write(tmp_path / "m.jsonl", twins(), end="\n")
    opened = session(tmp_path / "m.jsonl", own_state)
    apply(opened, propose(opened))
    with (tmp_path / "m.jsonl").open("a") as file:
        file.write(entity("later", "Came after the run") + "\n")
    opened.undo(now=NOW)
    assert {"strict-mode", "later"} <= set(entities(tmp_path / "m.jsonl"))


def test_two_lines_of_one_name_are_one_memory(tmp_path, own_state):
    """The server finds only one of them, so an update unites them and an undo parts them again."""
    before = write(tmp_path / "m.jsonl", [entity("a", "one"), entity("b", "two"), entity("a", "three")])
    opened = session(tmp_path / "m.jsonl", own_state)
    store = opened.store
    snapshot = store.fetch(["a"])["a"]
    assert store.parse(snapshot).text == "a\n- one\n- three"
    store.write(Update("a", "a\n- one\n- three\n- four"))
    assert entities(tmp_path / "m.jsonl")["a"] == ["one", "three", "four"]
    from mem0_dream.pipeline.stores.base import Restore

    store.write(Restore(snapshot))
    assert (tmp_path / "m.jsonl").read_bytes() == before


def test_equal_lines_become_one(tmp_path, own_state):
    """An entity that stands there twice, to the letter: said once afterwards, and undone to the byte."""
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
    """What a killed run had deleted already may be deleted again."""
    write(tmp_path / "m.jsonl", twins())
    opened = session(tmp_path / "m.jsonl", own_state)
    text = propose(opened).merges[0].text
    opened.store.write(Update("typescript-strict-mode", text))
    opened.store.write(Delete("strict-mode", into="typescript-strict-mode", text=text))
    once = (tmp_path / "m.jsonl").read_bytes()
    opened.store.write(Delete("strict-mode", into="typescript-strict-mode", text=text))
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
    """A fresh folder for one example."""
    return Path(tempfile.mkdtemp())


@quick
@given(lines=graphs, end=ends, side=st.sampled_from(["a", "b", None]))
def test_apply_then_undo_gives_the_bytes_back(lines, end, side):
    """For every graph and every answer."""
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
    """Not even those that did before."""
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
    """The old ones with what it adds, moves and removes are the new ones; none newly leads nowhere."""
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
    """Every unsure merge accepted: relations hold, and the undo gives the bytes back."""
    home = folder()
    before = write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home, merge_above=1.0) as opened:
        plan = propose(opened)
        proposal = opened.look(ScopeFilter(), now=NOW)
        asked = plan.accept([merge.id for merge in plan.unsure], {})
        result = apply(opened, opened.complete(replace(proposal, asked=asked), {}, now=NOW).plan)
        assert result.moved == ()
        if result.run:
            assert opened.undo(now=NOW).kept == ()
    assert (home / "m.jsonl").read_bytes() == before


@quick
@given(lines=graphs, end=ends)
def test_a_merge_keeps_every_distinct_observation(lines, end):
    """What any member said is said afterwards, but for case, white space and final punctuation."""
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
    """Nothing but the contradictions that were left open."""
    home = folder()
    write(home / "m.jsonl", lines, end=end)
    with session(home / "m.jsonl", home) as opened:
        apply(opened, propose(opened))
        again = propose(opened)
    assert again.actions == again.conflicts


@quick
@given(lines=graphs, seed=st.randoms())
def test_order_of_lines_changes_no_plan(lines, seed):
    """Entities in another order give the same merges and prunes."""
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
    """Lines about use are not what a memory says."""
    assert is_bookkeeping("Discovered: 2026-01-02")
    assert not is_bookkeeping("Discovered a bug in the parser")
