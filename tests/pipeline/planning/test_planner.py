"""The plan: what is proposed, what is left alone, and that it depends on nothing else."""

import pytest
from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, NOW, duplicates, memory, plan_of
from hypothesis import given, settings, strategies as st
from mem0_dream.pipeline.planning.drafts import opposing_statements
from mem0_dream.pipeline.planning.plan_file import dump_plan
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeScorer, InMemoryStore
from messy import moody_scorer, stores

TEA, TEA_LONG, COFFEE = "Likes tea.", "Likes green tea.", "Never drinks tea."


def planned(*memories, scorer=None, **more):
    """The plan of these memories; nothing is one, and nothing contradicts, unless a scorer says so."""
    return plan_of(InMemoryStore(memories), scorer or FakeScorer(), **more)


def test_the_member_that_says_it_all_survives_untouched():
    plan = planned(memory("a", TEA), memory("b", TEA_LONG), scorer=duplicates([TEA, TEA_LONG]))
    (merge,) = plan.merges
    assert (merge.survivor, merge.text, merge.removes, merge.adds) == ("b", TEA_LONG, ("a",), False)


def test_a_conflict_names_the_newer_side_and_keeps_both_until_chosen():
    scorer, new = FakeScorer({(TEA, COFFEE): CONTRADICTION}), memory("new", COFFEE, days=1)
    (conflict,) = planned(new, memory("old", TEA, days=90), scorer=scorer).conflicts
    assert (conflict.a, conflict.b, conflict.newer, conflict.removes) == (("old",), ("new",), "b", ())
    assert conflict.choose("b").removes == ("old",)
    assert conflict.choose("a").removes == ("new",)
    (conflict,) = planned(new, memory("old", TEA, days=None), scorer=scorer).conflicts
    assert conflict.newer is None  # nothing is known of the older one


def test_a_conflict_speaks_for_whole_clusters():
    scorer = duplicates([TEA, TEA_LONG])
    scorer._pairs["Likes tea.", "Never drinks tea."] = CONTRADICTION
    plan = planned(memory("a", TEA), memory("b", TEA_LONG), memory("c", COFFEE, days=1), scorer=scorer)
    assert [len(plan.merges), len(plan.conflicts)] == [1, 1]
    answered = plan.with_choices({"c1": "b"})
    assert set(answered.conflicts[0].removes) == {"a", "b"}
    assert answered.merges == ()
    kept = plan.with_choices({"c1": "a"})
    assert len(kept.merges) == 1


@pytest.mark.parametrize(
    ("days", "a", "b"),
    [
        # The middle one is merged with both others, which are not duplicates of each other: only it goes along.
        ((10, 10, 10, 1), ("a", "c"), ("d",)),
        ((90, 1, 80, 30), ("a", "c"), ("d",)),  # the newer side is newer by what it says
    ],
)
def test_nothing_but_what_says_the_same_goes_with_an_answer(days, a, b):
    texts = ["Likes tea.", "Likes green tea.", "Likes green tea from Kyoto in the morning.", COFFEE]
    scorer = FakeScorer({(texts[0], texts[2]): DUPLICATE, (texts[1], texts[2]): DUPLICATE})
    scorer._pairs[texts[0], COFFEE] = CONTRADICTION
    rows = [memory(name, text, days=age) for name, text, age in zip("abcd", texts, days, strict=True)]
    plan = planned(*rows, scorer=scorer)
    assert [len(merge.members) for merge in plan.merges] == [3]
    (conflict,) = plan.conflicts
    assert (conflict.a, conflict.b, conflict.newer) == (a, b, "b")
    assert {member.id for member in conflict.members} == {"a", "c", "d"}


def test_a_loser_cannot_win_another_conflict():
    texts = ["Lives in Leeds.", "Lives in York.", "Lives in Bath."]
    scorer = FakeScorer({(x, y): CONTRADICTION for x in texts for y in texts if x < y})
    plan = planned(*(memory("abc"[i], text, days=10 - i) for i, text in enumerate(texts)), scorer=scorer)
    pairs = {conflict.id: (conflict.a[0], conflict.b[0]) for conflict in plan.conflicts}
    assert sorted(pairs.values()) == [("a", "b"), ("a", "c"), ("b", "c")]
    choices = {name: "b" if pair == ("a", "b") else "a" for name, pair in pairs.items()}
    answered = plan.with_choices(choices)
    removed = [memory_id for conflict in answered.conflicts for memory_id in conflict.removes]
    assert set(removed) < {"a", "b", "c"}


@pytest.mark.parametrize(("days", "merges", "pruned"), [(400, 0, ["a", "b"]), (4, 1, [])])
def test_a_stale_copy_is_merged_with_what_is_fresh_and_else_pruned(days, merges, pruned):
    """A merge of what is all stale would only make the next pass prune its result."""
    old = [
        memory("a", TEA, days=300),
        memory("b", TEA_LONG, days=days),
        memory("c", COFFEE),
        memory("d", "Has a cat"),
    ]
    limits = Settings(floor=-1.0, assume_unread=True)
    plan = planned(*old, scorer=duplicates([TEA, TEA_LONG]), settings=limits)
    assert (len(plan.merges), [prune.members[0].id for prune in plan.prunes]) == (merges, pruned)


def test_retired_memories_are_not_read_again_and_totals_count_the_living_of_each_scope():
    expired = memory("d", TEA, days=900, expires_on=NOW.date().replace(year=2025))
    plan = planned(
        memory("a", TEA), memory("b", COFFEE, scope=BOB), memory("c", "Shoe size 39", scope=BOB), expired
    )
    assert plan.actions == ()
    assert [(total.scope, total.memories) for total in plan.totals] == [(ALICE, 1), (BOB, 2)]


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


@pytest.mark.parametrize(
    ("older", "newer", "opposed"),
    [
        ("Lives in Porto with two cats. Is training for the Porto marathon.",
         "Works as a nurse. Has finished the Porto marathon in 4:10.",
         ("Is training for the Porto marathon.", "Has finished the Porto marathon in 4:10.")),
        ("Has a cat. Lives in Porto since May.", "has a cat. Lives in Faro since June.",
         ("Lives in Porto since May.", "Lives in Faro since June.")),
        ("Has a cat.", "Has a dog. Is old.", ("Has a cat.", "Has a dog. Is old.")),
        ("Sings tenor. Owns skis.", "Bakes bread. Reads maps.", ("Sings tenor. Owns skis.", "Bakes bread. Reads maps.")),
    ],
)  # fmt: skip
def test_of_long_memories_the_statements_that_oppose_each_other_are_named(older, newer, opposed):
    assert opposing_statements(older, newer) == opposed


@pytest.mark.parametrize("days", [(30, 2), (2, 30)])
def test_of_a_suspicion_and_a_statement_the_statement_would_stay(days) -> None:
    """A person may say that both are one fact; what is merely thought never takes its place."""
    texts = "Is allergic to penicillin.", "Thinks she may be allergic to penicillin."
    store = InMemoryStore([memory("is", texts[0], days=days[0]), memory("may", texts[1], days=days[1])])
    (doubt,) = plan_of(store, FakeScorer({texts: (0.93, 0.04, 0.03)})).unsure
    assert (doubt.kind, doubt.survivor) == ("merge", "is")


@pytest.mark.parametrize(
    "texts",
    [
        ("Pali papierosy", "Nie pali papierosów"),
        ("Reports are sent with attachments", "Reports are sent without attachments"),
    ],
)
def test_a_denial_is_never_asked_as_a_duplicate(texts) -> None:
    """However alike the scorer finds the two."""
    store = InMemoryStore([memory(name, text) for name, text in zip("ab", texts, strict=True)])
    plan = plan_of(store, FakeScorer({texts: (0.92, 0.02, 0.06)}))
    assert [each.kind for each in [*plan.actions, *plan.unsure]] == ["resolve"]
