"""Exact copies: one stands for all, and all come back in the plan."""

from __future__ import annotations

from builders import ALICE, BOB, memory
from hypothesis import given, strategies as st
from mem0_dream.pipeline.judging.judge import EXACT
from mem0_dream.pipeline.planning.merges import Consolidated, collapse, expand
from mem0_dream.records import Candidate, Label, Verdict, rejection_key

TEA = "Likes tea."


def test_equal_texts_are_collapsed() -> None:
    standing, copies = collapse([memory("a", TEA), memory("b", "likes  tea"), memory("c", "Has a dog.")])
    assert [item.id for item in standing] == ["a", "c"]
    assert {key: [copy.id for copy in value] for key, value in copies.items()} == {"a": ["b"]}


def test_scope_and_category_tell_copies_apart() -> None:
    memories = [memory("a", TEA), memory("b", TEA, scope=BOB), memory("c", TEA, category=None)]
    assert collapse(memories) == (tuple(memories), {})


def test_the_best_spelt_and_latest_stands() -> None:
    spelt, _ = collapse([memory("a", "likes tea", days=1), memory("b", TEA, days=9)])
    assert [item.id for item in spelt] == ["b"]
    latest, _ = collapse([memory("a", TEA, days=9), memory("b", TEA, days=1)])
    assert [item.id for item in latest] == ["b"]


def test_a_refused_copy_stands_for_itself() -> None:
    a, b, c = memory("a", TEA, days=1), memory("b", "likes tea"), memory("c", "Likes  tea")
    standing, copies = collapse([a, b, c], rejected=frozenset({rejection_key(a, b)}))
    assert [item.id for item in standing] == ["a", "b"]
    assert [copy.id for copy in copies["a"]] == ["c"]


def test_copies_of_nobody_become_a_merge_of_their_own() -> None:
    standing, copies = collapse([memory("a", TEA), memory("b", TEA), memory("c", TEA)])
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
    standing, copies = collapse(memories)
    found = [item.id for item in standing] + [copy.id for group in copies.values() for copy in group]
    assert sorted(found) == sorted(item.id for item in memories)
    shuffled = list(memories)
    random.shuffle(shuffled)
    assert collapse(shuffled) == (standing, copies)
    merged = [item.id for merge in expand([], standing, copies) for item in merge.members]
    assert len(merged) == len(set(merged))
