"""Candidates: nothing crosses a scope or category, exact groups are complete, order plays no part."""

import numpy as np
import pytest
from builders import ALICE, BOB, memory
from hypothesis import given, settings, strategies as st
from mem0_dream.models.text.words import exact_key
from mem0_dream.pipeline.judging.candidates import Parts, find_candidates
from mem0_dream.records import Candidate, Memory
from mem0_dream.testing import FakeEncoder

TEXTS = ["Likes tea", "likes tea.", "Likes  Tea", "Likes green tea", "Owns a dog", "Owns a red dog", "…"]

memories_strategy = st.lists(
    st.tuples(
        st.sampled_from(TEXTS), st.sampled_from([ALICE, BOB]), st.sampled_from(["preference", "work", None])
    ),
    max_size=25,
).map(
    lambda rows: [
        Memory(id=f"m{number:02}", text=text, scope=scope, category=category)
        for number, (text, scope, category) in enumerate(rows)
    ]
)


def candidates(memories, *, floor=0.25, neighbours=50) -> tuple[Candidate, ...]:
    vectors = FakeEncoder().encode([memory.text for memory in memories])
    return find_candidates(memories, vectors, floor=floor, neighbours=neighbours)


@given(memories_strategy, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_whatever_there_is_the_rules_hold(memories, random):
    """Nothing crosses a scope or category, order plays no part, exact groups are whole stars, each pair comes once."""
    found, by_id = candidates(memories, floor=0.4), {item.id: item for item in memories}
    assert candidates(random.sample(memories, len(memories)), floor=0.4) == found
    keys = [(pair.a, pair.b) for pair in found]
    assert keys == sorted(set(keys))
    for pair in found:
        a, b = by_id[pair.a], by_id[pair.b]
        assert (a.scope, a.category) == (b.scope, b.category)
        assert pair.a < pair.b
        assert pair.cosine >= np.float32(0.4)
    groups: dict[object, list[str]] = {}
    for item in memories:
        groups.setdefault((item.scope, item.category, exact_key(item.text)), []).append(item.id)
    wanted = {(min(ids), other) for ids in groups.values() for other in ids if other != min(ids)}
    assert {(pair.a, pair.b) for pair in found if pair.exact} == wanted


def test_a_copy_is_not_searched_for_neighbours():
    found = candidates([memory("1", "Likes tea"), memory("2", "likes tea."), memory("3", "Likes green tea")])
    assert [(pair.a, pair.b, pair.exact) for pair in found] == [("1", "2", True), ("1", "3", False)]
    assert found[0].cosine == 1.0


def test_the_same_id_in_two_scopes_is_two_memories():
    assert candidates([memory("1", "Likes tea"), memory("2", "Likes tea", scope=BOB)]) == ()


def test_vectors_must_match_the_memories():
    with pytest.raises(ValueError, match="1 memories"):
        find_candidates([memory("1", "a")], np.zeros((2, 4), np.float32), floor=0.25, neighbours=5)


def test_a_text_without_direction_still_has_its_copies():
    found = find_candidates(
        [memory("1", "!?"), memory("2", "!?"), memory("3", "Owns a dog")],
        np.array([[0, 0], [0, 0], [1, 0]], np.float32),
        floor=-1.0,
        neighbours=5,
    )
    assert [(pair.a, pair.b, pair.exact) for pair in found] == [("1", "2", True)]


def test_a_short_fact_is_near_the_statement_of_a_long_memory_that_says_it():
    long = memory("a", "Runs a bakery in Lyon with six people. Latency is 150 ms.")
    others = [memory(f"n{n}", f"Runs a bakery in Lyon with {n} people") for n in range(6)]
    members = [long, *others, memory("z", "Latency is 150 ms")]
    vectors = FakeEncoder().encode([item.text for item in members])
    said = ["Runs a bakery in Lyon with six people.", "Latency is 150 ms."]
    parts = Parts(FakeEncoder().encode(said), np.array([0, 0]))
    found = [
        {(pair.a, pair.b) for pair in find_candidates(members, vectors, floor=0.7, neighbours=3, parts=some)}
        for some in (None, parts)
    ]
    assert ("a", "z") not in found[0]
    assert found[0] < found[1]
    assert ("a", "z") in found[1]
