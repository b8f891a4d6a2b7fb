"""The plan: what is proposed, what is left alone, and that it depends on nothing else."""

from __future__ import annotations

from dataclasses import replace

from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, MAYBE, NOW, duplicates, memory, plan_of
from hypothesis import given, settings
from hypothesis import strategies as st
from mem0_dream.pipeline.actions import net_removals
from mem0_dream.pipeline.planning.drafts import united_metadata
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.records import Label, rejection_key
from mem0_dream.testing import FakeScorer, InMemoryStore
from messy import moody_scorer, stores

TEA, TEA_LONG, COFFEE = "Likes tea.", "Likes green tea.", "Never drinks tea."


def test_the_member_that_says_it_all_survives_untouched():
    plan = plan_of(InMemoryStore([memory("a", TEA), memory("b", TEA_LONG)]), duplicates([TEA, TEA_LONG]))
    (merge,) = plan.merges
    assert (merge.survivor, merge.text, merge.removes, merge.adds) == ("b", TEA_LONG, ("a",), False)


def test_exact_copies_need_no_scorer():
    scorer = FakeScorer()
    plan = plan_of(InMemoryStore([memory("a", "Likes tea."), memory("b", "likes  tea")]), scorer)
    assert len(plan.merges) == 1
    assert scorer.asked == []
    assert net_removals(plan.merges[0]) == 0


def test_nothing_crosses_a_scope_or_a_category():
    for other in (
        memory("b", TEA, scope=BOB),
        memory("b", TEA, category="rule"),
        memory("b", TEA, category=None),
    ):
        assert plan_of(InMemoryStore([memory("a", TEA), other]), duplicates()).actions == ()


def test_pinned_memories_are_never_part_of_anything():
    store = InMemoryStore(
        [
            memory("a", "[PINNED] Likes tea.", pinned=True, days=900),
            memory("b", TEA_LONG, pinned=True),
            memory("c", TEA),
        ]
    )
    scorer = FakeScorer(default=lambda _a, _b: DUPLICATE)
    assert plan_of(store, scorer).actions == ()


def test_retired_memories_are_not_read_again():
    expired = memory("b", TEA, days=900, expires_on=NOW.date().replace(year=2025))
    assert plan_of(InMemoryStore([memory("a", TEA), expired]), duplicates()).actions == ()


def test_a_doubtful_pair_is_shown_and_left_alone():
    plan = plan_of(
        InMemoryStore([memory("a", TEA), memory("b", TEA_LONG)]), FakeScorer({(TEA, TEA_LONG): MAYBE})
    )
    assert plan.actions == ()
    assert [[member.id for member in doubt.members] for doubt in plan.unsure] == [["a", "b"]]


def test_a_differing_number_vetoes_a_merge():
    texts = ["Takes 20 mg of lisinopril daily.", "Lisinopril: 40 mg, prescribed by Dr Wu."]
    plan = plan_of(InMemoryStore([memory("a", texts[0]), memory("b", texts[1])]), duplicates(texts))
    assert plan.merges == ()
    (doubt,) = plan.unsure
    assert doubt.verdicts[0].label is Label.UNSURE
    assert any(item.veto for item in doubt.verdicts[0].evidence)


def test_a_conflict_names_the_newer_side_and_keeps_both_until_chosen():
    store = InMemoryStore([memory("new", COFFEE, days=1), memory("old", TEA, days=90)])
    (conflict,) = plan_of(store, FakeScorer({(TEA, COFFEE): CONTRADICTION})).conflicts
    assert (conflict.a, conflict.b, conflict.newer, conflict.removes) == (("old",), ("new",), "b", ())
    assert conflict.choose("b").removes == ("old",)
    assert conflict.choose("a").removes == ("new",)


def test_unknown_dates_propose_no_winner():
    store = InMemoryStore([memory("new", COFFEE, days=1), memory("old", TEA, days=None)])
    (conflict,) = plan_of(store, FakeScorer({(TEA, COFFEE): CONTRADICTION})).conflicts
    assert conflict.newer is None


def test_a_conflict_speaks_for_whole_clusters():
    """Two duplicates against one: one conflict, and choosing the one removes both."""
    store = InMemoryStore([memory("a", TEA), memory("b", TEA_LONG), memory("c", COFFEE, days=1)])
    scorer = duplicates([TEA, TEA_LONG])
    scorer._pairs["Likes tea.", "Never drinks tea."] = CONTRADICTION
    plan = plan_of(store, scorer)
    assert [len(plan.merges), len(plan.conflicts)] == [1, 1]
    answered = plan.with_choices({"c1": "b"})
    assert set(answered.conflicts[0].removes) == {"a", "b"}
    assert answered.merges == ()
    kept = plan.with_choices({"c1": "a"})
    assert len(kept.merges) == 1


def test_nothing_but_what_says_the_same_goes_with_an_answer():
    """The middle one is merged with both others, which are not duplicates of each other: only it goes along."""
    texts = ["Likes tea.", "Likes green tea.", "Likes green tea from Kyoto in the morning."]
    store = InMemoryStore([memory(name, text) for name, text in zip("abc", texts, strict=True)])
    store.rows |= InMemoryStore([memory("d", COFFEE, days=1)]).rows
    scorer = FakeScorer({(texts[0], texts[2]): DUPLICATE, (texts[1], texts[2]): DUPLICATE})
    scorer._pairs[texts[0], COFFEE] = CONTRADICTION
    plan = plan_of(store, scorer)
    assert [len(merge.members) for merge in plan.merges] == [3]
    (conflict,) = plan.conflicts
    assert (conflict.a, conflict.b) == (("a", "c"), ("d",))
    assert {member.id for member in conflict.members} == {"a", "c", "d"}


def test_the_newer_side_is_newer_by_what_it_says():
    texts = ["Likes tea.", "Likes green tea.", "Likes green tea from Kyoto in the morning."]
    days = dict(zip(texts, (90, 1, 80), strict=True))
    store = InMemoryStore(
        [memory(name, text, days=days[text]) for name, text in zip("abc", texts, strict=True)]
    )
    store.rows |= InMemoryStore([memory("d", COFFEE, days=30)]).rows
    scorer = FakeScorer({(texts[0], texts[2]): DUPLICATE, (texts[1], texts[2]): DUPLICATE})
    scorer._pairs[texts[0], COFFEE] = CONTRADICTION
    (conflict,) = plan_of(store, scorer).conflicts
    assert (conflict.b, conflict.newer) == (("d",), "b")


def test_a_loser_cannot_win_another_conflict():
    texts = ["Lives in Leeds.", "Lives in York.", "Lives in Bath."]
    store = InMemoryStore(
        [memory(name, text, days=10 - i) for i, (name, text) in enumerate(zip("abc", texts, strict=True))]
    )
    scorer = FakeScorer({(x, y): CONTRADICTION for x in texts for y in texts if x < y})
    plan = plan_of(store, scorer)
    pairs = {conflict.id: (conflict.a[0], conflict.b[0]) for conflict in plan.conflicts}
    assert sorted(pairs.values()) == [("a", "b"), ("a", "c"), ("b", "c")]
    choices = {name: "b" if pair == ("a", "b") else "a" for name, pair in pairs.items()}
    answered = plan.with_choices(choices)
    removed = [memory_id for conflict in answered.conflicts for memory_id in conflict.removes]
    assert set(removed) < {"a", "b", "c"}


def test_contradicting_duplicates_of_one_memory_are_not_merged():
    texts = ["Has a dog.", "Has one big dog.", "Has one small dog."]
    scorer = duplicates([texts[0], texts[1]], [texts[0], texts[2]])
    scorer._pairs[texts[1], texts[2]] = CONTRADICTION
    plan = plan_of(InMemoryStore([memory(f"m{i}", text) for i, text in enumerate(texts)]), scorer)
    assert plan.merges == ()
    assert len(plan.conflicts) == 1


def test_duplicates_that_are_all_stale_are_pruned_and_not_merged():
    """A merge would only make the next pass prune its result."""
    store = InMemoryStore([memory("a", TEA, days=300), memory("b", TEA_LONG, days=400)])
    plan = plan_of(store, duplicates([TEA, TEA_LONG]))
    assert plan.merges == ()
    assert [prune.members[0].id for prune in plan.prunes] == ["a", "b"]


def test_a_stale_copy_of_a_fresh_memory_is_merged_and_not_pruned():
    store = InMemoryStore([memory("a", TEA, days=300), memory("b", TEA_LONG, days=4)])
    plan = plan_of(store, duplicates([TEA, TEA_LONG]))
    assert len(plan.merges) == 1
    assert plan.prunes == ()


def test_a_rejected_pair_is_not_proposed_until_a_text_changes():
    a, b = memory("a", TEA), memory("b", TEA_LONG)
    scorer = duplicates([TEA, TEA_LONG, "Likes black tea."])
    rejected = frozenset({rejection_key(a, b)})
    assert plan_of(InMemoryStore([a, b]), scorer, rejected=rejected).actions == ()
    changed = replace(a, text="Likes black tea.")
    plan = plan_of(InMemoryStore([changed, b]), scorer, rejected=rejected)
    assert plan.unsure or plan.merges


def test_united_metadata_keeps_every_key_and_both_lists():
    united = united_metadata(
        [
            memory("a", TEA, days=9, metadata={"source": "chat", "tags": ["x"], "only": 1}),
            memory("b", TEA, days=2, metadata={"source": "mail", "tags": ["x", "y"], "merged_from": ["z"]}),
        ]
    )
    assert united["source"] == "mail"
    assert united["tags"] == ["x", "y"]
    assert united["only"] == 1
    assert united["merged_from"] == ["a", "b", "z"]
    assert united["last_stated_at"] == memory("b", TEA, days=2).created_at.isoformat()


def test_totals_count_living_memories_per_scope():
    store = InMemoryStore([memory("a", TEA), memory("b", COFFEE, scope=BOB), memory("c", "x y z", scope=BOB)])
    assert [(t.scope, t.memories) for t in plan_of(store, FakeScorer()).totals] == [(ALICE, 1), (BOB, 2)]


@settings(max_examples=80, deadline=None)
@given(store=stores(), seed=st.integers(0, 50), random=st.randoms())
def test_permuting_the_input_gives_a_byte_equal_plan(store, seed, random):
    scorer = moody_scorer(seed)
    first = dump_plan(plan_of(store, scorer))
    rows = list(store.rows.items())
    random.shuffle(rows)
    store.rows = dict(rows)
    assert dump_plan(plan_of(store, scorer)) == first


@settings(max_examples=80, deadline=None)
@given(store=stores(), seed=st.integers(0, 50))
def test_every_plan_keeps_the_rules(store, seed):
    plan = plan_of(store, moody_scorer(seed))
    seen = []
    for merge in plan.merges:
        ids = [member.id for member in merge.members]
        seen += ids
        judged = {(verdict.pair.a, verdict.pair.b) for verdict in merge.verdicts if verdict.auto}
        keeper = merge.survivor
        for removed in merge.removes:
            direct = any(removed in pair and (keeper is None or keeper in pair) for pair in judged)
            assert direct, f"{removed} was never judged a duplicate of what stays"
        assert (keeper in ids) or merge.adds
    seen += [prune.members[0].id for prune in plan.prunes]
    assert len(seen) == len(set(seen))
    for action in plan.actions:
        for member in action.members:
            row = store.rows[member.id]
            assert not row["pinned"]
            assert tuple(map(tuple, row["scope"])) == action.scope.ids
            assert row["category"] == action.category
