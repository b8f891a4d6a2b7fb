"""Where a pair stands: exact numbers on a small plane, symmetric, and the same in every order."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream.models.bundled.columns import CONTEXT_NAMES, context_columns
from mem0_dream.models.scorer import PairContext, PairInput
from mem0_dream.pipeline.judging import candidates
from mem0_dream.pipeline.judging.candidates import Near, contexts_of, find_candidates
from mem0_dream.pipeline.judging.judge import judge, pair_input
from mem0_dream.records import Memory, Scope
from mem0_dream.testing import FakeEncoder, FakeScorer

SCOPE = Scope.of(user_id="ann")
ANGLES = (0, 10, 40, 90)
WORDS = ["tea", "dog", "tram", "choir"]
"""Four memories on a circle: cosines are those of the differences, in degrees."""


def on_circle(angles) -> np.ndarray:
    turned = np.radians(np.array(angles, dtype=np.float64))
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def numbers(contexts) -> np.ndarray:
    return np.array([[getattr(each, name) for name in PairContext.__slots__] for each in contexts])


def test_ranks_margins_crowds_and_bridge_are_those_of_the_plane() -> None:
    (context,) = contexts_of(on_circle(ANGLES), WORDS, np.array([[1, 2]]))
    assert (context.rank_a, context.rank_b) == (1, 0)
    assert context.margin_a == pytest.approx(cos(30) - cos(10), abs=1e-6)
    assert context.margin_b == pytest.approx(cos(30) - cos(40), abs=1e-6)
    assert context.crowd_a == pytest.approx((cos(10) + cos(80)) / 2, abs=1e-6)
    assert context.crowd_b == pytest.approx((cos(40) + cos(50)) / 2, abs=1e-6)
    assert context.bridge == pytest.approx(max(min(cos(10), cos(40)), min(cos(80), cos(50))), abs=1e-6)
    assert context.size == 2.0
    (alone,) = contexts_of(on_circle((0, 60)), ["tea", "dog"], np.array([[0, 1]]))
    assert alone == PairContext(0, 0, 0.5, 0.5, 0, 0, 0, 1)


def said(count: int) -> list[str]:
    words = ("tea", "dog", "tram", "choir", "garden")
    return [f"{words[at % 5]} {words[at % 3]} {words[at % 2]}" for at in range(count)]


def test_shared_words_are_ranked_like_cosines() -> None:
    """Of the red dog: the dog shares what only the two have, the tea shares nothing."""
    texts = ["red dog barks", "dog barks loudly", "likes red wine", "green tea"]
    vectors = on_circle((0, 10, 20, 30))
    dog, wine = contexts_of(vectors, texts, np.array([[0, 1], [0, 2]]))
    assert (dog.shared_rank_a, dog.shared_rank_b, wine.shared_rank_a, wine.shared_rank_b) == (0, 0, 1, 0)
    rare, shared = round(100 * math.log(5 / 1.5)), round(100 * math.log(5 / 2.5))
    of_dog, of_barks, of_wine = 3 * shared, 2 * shared + rare, shared + rare
    assert dog.shared == pytest.approx(2 * shared / math.sqrt(of_dog * of_barks), abs=1e-6)
    assert wine.shared == pytest.approx(shared / math.sqrt(of_dog * (of_wine + rare)), abs=1e-6)
    assert dog.shared_margin_a == pytest.approx(dog.shared - wine.shared, abs=1e-6)
    assert wine.shared_margin_b == wine.shared


vectors_strategy = st.lists(
    st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), min_size=2, max_size=12
).map(lambda rows: np.array(rows, dtype=np.float32))


@given(vectors_strategy, st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_order_of_memories_and_of_the_pair_plays_no_part(vectors, random) -> None:
    order = random.sample(range(len(vectors)), len(vectors))
    place = np.argsort(order)
    pairs = np.array([[i, j] for i in range(len(vectors)) for j in range(i)])
    texts = said(len(vectors))
    straight = list(contexts_of(vectors, texts, pairs))
    turned = contexts_of(vectors[order], [texts[row] for row in order], place[pairs])
    assert list(turned) == straight
    assert list(contexts_of(vectors, texts, pairs[:, ::-1])) == [context.swapped() for context in straight]


@given(vectors_strategy)
@settings(max_examples=40, deadline=None)
def test_the_neighbours_of_a_large_store_say_the_same(vectors) -> None:
    """Above the limit the index's neighbours stand for all memories; here they are all memories."""
    pairs = np.array([[i, j] for i in range(len(vectors)) for j in range(i)])
    texts = said(len(vectors))
    straight = numbers(contexts_of(vectors, texts, pairs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "EXACT_LIMIT", 0)
        assert numbers(contexts_of(vectors, texts, pairs)) == pytest.approx(straight, abs=2e-6)


def test_columns_are_the_same_for_the_mirrored_pair() -> None:
    context = PairContext(1, 0, -0.2, 0.1, 0.4, 0.5, 0.3, 5)
    dates = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
    pair = PairInput("Lives in Oslo.", "No longer lives in Oslo.", 0.8, None, *dates, context)
    told, turned = context_columns([pair, pair.swapped()]).tolist()
    assert told == turned
    row = dict(zip(CONTEXT_NAMES, told, strict=True))
    assert (row["rank_low"], row["rank_high"], row["margin_low"]) == (0, 1, -0.2)
    assert (row["newer_updates"], row["older_updates"]) == (1, 0)


def test_a_place_among_a_few_says_nothing() -> None:
    """In a group of eight everything is near: its pairs are judged by their texts, like pairs of no store."""
    few = PairInput("a", "b", 0.5, context=PairContext(0, 0, 0.4, 0.4, 0.1, 0.1, 0.1, 3))
    many = PairInput("a", "b", 0.5, context=PairContext(0, 0, 0.4, 0.4, 0.1, 0.1, 0.1, 4))
    assert (few.placed, many.placed) == (False, True)
    *unknown, known = context_columns([few, PairInput("a", "b", 0.5), many]).tolist()
    assert all(math.isnan(value) for row in unknown for value in row)
    assert known[:2] == [0, 0]


class ReadingScorer(FakeScorer):
    reads_context = True


def test_the_scorer_is_told_where_a_candidate_stands_and_the_verdict_is_plain() -> None:
    memories = [Memory(f"m{i}", text, SCOPE) for i, text in enumerate(("red tea", "red tea pot", "a dog"))]
    vectors = FakeEncoder().encode([memory.text for memory in memories])
    candidates = find_candidates(memories, vectors, floor=-1, neighbours=9, contexts=True)
    by_id = {memory.id: memory for memory in memories}
    scorer = ReadingScorer()
    verdicts = judge(candidates, by_id, scorer)
    assert [read.context for read in scorer.asked] == [
        pair.context for pair in candidates if isinstance(pair, Near)
    ]
    context = pair_input(candidates[0], by_id).context
    assert context is not None
    assert context.rank_a == 0
    assert {type(verdict.pair).__name__ for verdict in verdicts} == {"Candidate"}
