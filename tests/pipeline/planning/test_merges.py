"""Merges that hold: stars, proven drafts, nothing in dispute, nothing left for a second pass; and copies."""

import itertools
from collections.abc import Sequence
from random import Random

import pytest
from builders import ALICE, BOB, CONTRADICTION, DUPLICATE, NOW, duplicates, memory
from hypothesis import example, given, settings, strategies as st
from mem0_dream.pipeline.judging.judge import EXACT, judge
from mem0_dream.pipeline.planning import merges as module
from mem0_dream.pipeline.planning.merges import Consolidated, collapse, draft_merges, expand, fused, stars
from mem0_dream.records import Candidate, Label, Memory, Verdict, rejection_key
from mem0_dream.testing import FakeScorer
from messy import BOTH, DOG, DOG_LONG, DOG_NAME, SAILOR_A, SAILOR_B, moody_scorer


def judged(new: Sequence[Memory], others: Sequence[Memory], scorer: FakeScorer) -> tuple[Verdict, ...]:
    known = {item.id: item for item in [*others, *new]}
    fresh = {item.id for item in new}
    pairs = [Candidate(a, b, 0.9) for a, b in itertools.combinations(sorted(known), 2) if {a, b} & fresh]
    return judge(pairs, known, scorer)


AGREEING = FakeScorer(default=lambda _a, _b: DUPLICATE)


def drafted(
    memories: Sequence[Memory], scorer: FakeScorer = AGREEING, verdicts: Sequence[Verdict] | None = None
) -> tuple[Consolidated, ...]:
    """The merges after these verdicts, or those of the scorer, which judges whatever is drafted."""
    given = judged(memories, (), scorer) if verdicts is None else verdicts
    return draft_merges(memories, given, keys={}, judge_new=lambda new, others: judged(new, others, scorer))


def verdict(ids: str, duplicate: float, entailment: tuple[float, float], *, auto: bool = True) -> Verdict:
    label, said = Label.DUPLICATE if auto else Label.UNSURE, (duplicate, 0.0, 1 - duplicate)
    return Verdict(
        Candidate(ids[0], ids[1], 0.9), label, auto=auto, probabilities=said, entailment=entailment
    )


def shape(merges: Sequence[Consolidated]) -> list[tuple[str | None, list[str]]]:
    return [(merge.survivor, [item.id for item in merge.members]) for merge in merges]


def test_the_most_complete_member_survives() -> None:
    (merge,) = drafted(
        [memory("a", DOG), memory("b", DOG_LONG), memory("c", DOG_NAME)],
        duplicates([DOG, DOG_NAME, DOG_LONG]),
    )
    assert (merge.survivor, merge.text) == ("b", DOG_LONG)
    assert {(item.pair.a, item.pair.b) for item in merge.verdicts} == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("seem_one", [0.2, 0.6])
def test_what_says_a_third_and_more_takes_it_in_alone(seem_one: float) -> None:
    texts = "Helps at a shelter.", "Helps at a shelter and started aerial yoga.", "Helps at a shelter, tired."
    verdicts = [verdict("ab", 0.98, (0.0, 0.99)), verdict("ac", 0.97, (0.0, 0.99))]
    verdicts.append(verdict("bc", seem_one, (0.1, 0.1), auto=False))
    memories = [memory(name, text) for name, text in zip("abc", texts, strict=True)]
    (merge,) = drafted(memories, verdicts=verdicts)
    assert [each.id for each in merge.members] == ["a", "b"]


@pytest.mark.parametrize(
    ("entailment", "stays"),
    [
        ((0.85, 0.82), "b"),  # each says the other: the newest wording
        ((0.65, 0.62), "b"),
        ((0.95, 0.3), "a"),
        ((0.3, 0.85), "b"),
        ((0.7, 0.5), None),  # who says the other is not clear: a question, never one after the other
    ],
)
def test_one_fact_in_two_wordings_is_never_told_twice(entailment, stays):
    texts = (("a", "There are hives behind her house.", 9), ("b", "Keeps bees at home.", 2))
    memories = [memory(name, text, days=days) for name, text, days in texts]
    found = drafted(memories, verdicts=[verdict("ab", 0.97, entailment)])
    assert [merge.survivor for merge in found] == ([stays] if stays else [])


def test_a_draft_must_be_judged_a_duplicate_of_each_source() -> None:
    memories = [memory("a", SAILOR_A), memory("b", SAILOR_B)]
    (merge,) = drafted(memories, duplicates([SAILOR_A, SAILOR_B, *BOTH]))
    assert merge.survivor is None
    assert merge.text in BOTH
    assert drafted(memories, duplicates([SAILOR_A, SAILOR_B])) == ()
    half = duplicates([SAILOR_A, SAILOR_B], [SAILOR_A, *BOTH])
    assert drafted(memories, half) == ()


def test_what_contradicts_is_not_merged() -> None:
    red, blue, car = "Drives a red car.", "Drives a blue car.", "Drives a car."
    scorer = FakeScorer({(car, red): DUPLICATE, (car, blue): DUPLICATE, (blue, red): CONTRADICTION})
    assert drafted([memory("a", red), memory("b", blue), memory("c", car)], scorer) == ()


def test_a_draft_that_would_raise_a_new_contradiction_is_dropped() -> None:
    """Two fine memories must not become one that disputes a third."""
    third = "Dad never went to sea at all."
    scorer = duplicates([SAILOR_A, SAILOR_B, *BOTH])
    for text in BOTH:
        scorer._pairs[tuple(sorted((text, third)))] = CONTRADICTION
    memories = [memory("a", SAILOR_A), memory("b", SAILOR_B), memory("c", third)]
    assert drafted(memories, scorer) == ()
    assert len(drafted(memories[:2], scorer)) == 1


def test_a_draft_that_would_be_merged_again_is_dropped() -> None:
    third = "Dad was a sailor."
    scorer = duplicates([SAILOR_A, SAILOR_B, *BOTH], [third, *BOTH])
    memories = [memory("a", SAILOR_A), memory("b", SAILOR_B), memory("c", third)]
    assert drafted(after(memories, drafted(memories, scorer)), scorer) == ()


def after(memories: Sequence[Memory], merges: Sequence[Consolidated]) -> list[Memory]:
    gone = {item for merge in merges for item in merge.ids - {merge.survivor}}
    new = [fused(merge.members, merge.text) for merge in merges if merge.survivor is None]
    return [*(item for item in memories if item.id not in gone), *new]


def test_a_fused_memory_has_the_oldest_date_and_the_newest_statement() -> None:
    members = (memory("a", SAILOR_A, days=100), memory("b", SAILOR_B, days=3), memory("c", DOG, days=None))
    new = fused(members, "x")
    assert (new.created_at, new.updated_at) == (members[0].created_at, members[1].created_at)
    assert new.id > max(item.id for item in members)
    assert fused(members, "y").id == new.id


@pytest.mark.parametrize(
    ("noted", "counts"),
    [(NOW.isoformat(), True), ("2026-11-21T12:00:00", True), ("no date", False), (7, False), (None, False)],
)
def test_an_earlier_merge_left_a_date(noted: object, counts: bool) -> None:
    item = memory("a", DOG, days=30, metadata={"last_stated_at": noted})
    assert module.last_stated(item) == (NOW if counts else item.created_at)
    assert module.last_stated(memory("b", DOG, days=None)) is None


words = st.lists(st.sampled_from(["tea", "dog", "Rex", "run", "blue", "car"]), min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(
    texts=st.lists(words.map(" ".join), max_size=7, unique=True),
    seed=st.integers(0, 60),
    shuffle=st.randoms(),
)
@example(texts=["tea", "Rex", "tea tea tea", "Rex dog"], seed=0, shuffle=Random(0))  # noqa: S311  (a fixed order)
def test_whatever_the_judge_says_the_rules_hold(texts: list[str], seed: int, shuffle: Random) -> None:
    memories = [memory(f"m{number}", text) for number, text in enumerate(texts)]
    scorer = moody_scorer(seed)
    merges = drafted(memories, scorer)
    seen = [item.id for merge in merges for item in merge.members]
    assert len(seen) == len(set(seen))
    for merge in merges:
        assert len(merge.members) >= 2
        goes = {item.id for item in merge.members} - {merge.survivor}
        sure = [v for v in merge.verdicts if v.auto and (merge.survivor in (None, v.pair.a, v.pair.b))]
        assert goes == {i for v in sure for i in (v.pair.a, v.pair.b)} & goes
    assert shape(drafted(shuffle.sample(memories, len(memories)), scorer)) == shape(merges)
    assert drafted(after(memories, merges), scorer) == ()


def graph(pairs):
    edges = {}
    for a, b in pairs:
        if a != b:
            edges.setdefault(a, set()).add(b)
            edges.setdefault(b, set()).add(a)
    return edges


@pytest.mark.parametrize("chain", ["abc", "abcd"])
def test_a_chain_is_one_star_around_its_second_and_never_joins_its_ends(chain):
    """In A~B~C~D D does not touch B, so it stays with nobody once C is claimed."""
    assert stars(graph(itertools.pairwise(chain)), rank={}) == (("b", ("a", "c")),)


def test_ties_go_to_the_higher_rank_then_the_smaller_id():
    edges = graph([("a", "b")])
    assert stars(edges, rank={"b": (2.0,), "a": (1.0,)}) == (("b", ("a",)),)
    assert stars(edges, rank={}) == (("a", ("b",)),)


nodes = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(nodes, nodes)), st.randoms())
def test_stars_are_disjoint_and_direct_and_complete_whatever_the_order_of_edges(pairs, random):
    edges = graph(pairs)
    found = stars(edges, rank={})
    assert stars(graph(random.sample(pairs, len(pairs))), rank={}) == found
    members = [member for centre, others in found for member in (centre, *others)]
    assert len(members) == len(set(members))
    assert all(other in edges[centre] for centre, others in found for other in others)
    free = set(edges) - set(members)
    assert not any(other in free for node in free for other in edges[node])


TEA = "Likes tea."


def test_equal_texts_of_one_scope_and_category_are_collapsed() -> None:
    standing, copies, _ = collapse(
        [memory("a", TEA), memory("b", "likes  tea"), memory("c", "Has a dog.")], keys={}
    )
    assert [item.id for item in standing] == ["a", "c"]
    assert {key: [copy.id for copy in value] for key, value in copies.items()} == {"a": ["b"]}
    memories = [memory("a", TEA), memory("b", TEA, scope=BOB), memory("c", TEA, category=None)]
    assert collapse(memories, keys={}) == (tuple(memories), {}, ())


def test_the_best_spelt_and_latest_stands() -> None:
    spelt, *_ = collapse([memory("a", "likes tea", days=1), memory("b", TEA, days=9)], keys={})
    assert [item.id for item in spelt] == ["b"]
    latest, *_ = collapse([memory("a", TEA, days=9), memory("b", TEA, days=1)], keys={})
    assert [item.id for item in latest] == ["b"]


def test_a_refused_copy_stands_for_itself() -> None:
    a, b, c = memory("a", TEA, days=1), memory("b", "likes tea"), memory("c", "Likes  tea")
    standing, copies, _ = collapse([a, b, c], keys={}, rejected=frozenset({rejection_key(a, b)}))
    assert [item.id for item in standing] == ["a", "b"]
    assert [copy.id for copy in copies["a"]] == ["c"]


def test_copies_of_nobody_become_a_merge_of_their_own() -> None:
    standing, copies, _ = collapse([memory("a", TEA), memory("b", TEA), memory("c", TEA)], keys={})
    (merge,) = expand([], standing, copies)
    assert [item.id for item in merge.members] == ["a", "b", "c"]
    assert merge.survivor == standing[0].id
    assert all(verdict.auto and verdict.evidence == (EXACT,) for verdict in merge.verdicts)
    assert {name for verdict in merge.verdicts for name in (verdict.pair.a, verdict.pair.b)} == set("abc")


def test_copies_join_the_merge_of_their_representative() -> None:
    """A copy of a member that goes shares that member's verdict, with the directions the right way round."""
    stays, goes, copy = memory("m", "Likes green tea."), memory("b", TEA), memory("z", TEA)
    pair, sure = Candidate("b", "m", 0.8), (0.95, 0.0, 0.05)
    verdict = Verdict(pair, Label.DUPLICATE, auto=True, probabilities=sure, entailment=(0.1, 0.9))
    merge = Consolidated((goes, stays), "m", stays.text, (verdict,))
    (whole,) = expand([merge], [goes, stays], {"b": (copy,)})
    assert [item.id for item in whole.members] == ["b", "m", "z"]
    shared = next(item for item in whole.verdicts if item.pair.b == "z")
    assert (shared.pair.a, shared.pair.cosine, shared.pair.exact) == ("m", 0.8, False)
    assert shared.entailment == (0.9, 0.1)
    assert shared.evidence == (EXACT,)


names = st.lists(
    st.sampled_from(["Likes tea.", "likes tea", "Has a dog.", "LIKES TEA", "Owns a car"]), max_size=9
)


@given(names, st.randoms())
def test_nothing_is_lost_or_doubled(texts: list[str], random) -> None:
    memories = [memory(f"m{number}", text, scope=ALICE) for number, text in enumerate(texts)]
    standing, copies, _ = collapse(memories, keys={})
    found = [item.id for item in standing] + [copy.id for group in copies.values() for copy in group]
    assert sorted(found) == sorted(item.id for item in memories)
    assert collapse(random.sample(memories, len(memories)), keys={}) == (standing, copies, ())
    merged = [item.id for merge in expand([], standing, copies) for item in merge.members]
    assert len(merged) == len(set(merged))
