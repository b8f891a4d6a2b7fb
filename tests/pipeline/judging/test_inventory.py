"""Judging for a plan: what stands otherwise after a merge is judged again, as the second pass would."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from builders import memory, plan_of
from mem0_dream import indexes
from mem0_dream.models.scorer import PairInput, PairScores, PairTable
from mem0_dream.pipeline.judging.cache import Cache, CachedScorer
from mem0_dream.pipeline.judging.inventory import Judging
from mem0_dream.pipeline.planning.merges import fused
from mem0_dream.records import Memory
from mem0_dream.settings import Settings
from mem0_dream.testing import FakeEncoder, FakeScorer, InMemoryStore

SHORT, MIDDLE, LONG = "Has a dog.", "Has a dog named Rex.", "Has a dog named Rex from Leeds."
OTHER = "Likes tea."
ANGLES = {SHORT: 0, MIDDLE: 12, LONG: 20, OTHER: 80}


class PlacedScorer(FakeScorer):
    """Calls two dogs one fact where nothing else is nearer to both, and leaves them to a person elsewhere."""

    reads_context = True

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """By the ranks alone; without a place, all dogs are one."""
        self.asked.extend(pairs)
        rows = [self._placed(pair) for pair in pairs]
        probabilities = np.asarray(rows, dtype=np.float32).reshape(len(rows), 3)
        return PairScores(probabilities, np.ones((len(rows), 2), np.float32))

    def _placed(self, pair: PairInput) -> tuple[float, float, float]:
        if "dog" not in pair.a or "dog" not in pair.b:
            return (0.0, 0.0, 1.0)
        near = pair.context is None or min(pair.context.rank_a, pair.context.rank_b) == 0
        far = pair.context is not None and max(pair.context.rank_a, pair.context.rank_b) > 0
        return (0.97, 0.0, 0.03) if near and not far else (0.7, 0.0, 0.3)


def encoder() -> FakeEncoder:
    turned = {text: np.radians(angle) for text, angle in ANGLES.items()}
    return FakeEncoder({text: (float(np.cos(at)), float(np.sin(at))) for text, at in turned.items()})


def planned(memories: Sequence[Memory], scorer: PlacedScorer | None = None):
    return plan_of(InMemoryStore(memories), scorer or PlacedScorer(), encoder=encoder())


@pytest.fixture
def memories() -> list[Memory]:
    return [memory(f"m{at}", text) for at, text in enumerate((SHORT, MIDDLE, LONG, OTHER))]


def test_what_a_merge_makes_nearest_is_merged_in_the_same_pass(memories: list[Memory]) -> None:
    """MIDDLE and LONG are each other's nearest; once they are one, SHORT and that one are."""
    plan = planned(memories)
    assert [sorted(member.id for member in merge.members) for merge in plan.merges] == [["m0", "m1", "m2"]]
    gone = {memory_id for action in plan.actions for memory_id in action.removes}
    assert planned([item for item in memories if item.id not in gone]).merges == ()


def test_what_is_surely_something_else_is_not_judged_again(memories: list[Memory]) -> None:
    """Each merge moves all the others to other ranks; tea stays tea, and only the dogs are read anew."""
    scorer = PlacedScorer()
    planned(memories, scorer)
    asked = Counter(frozenset((pair.a, pair.b)) for pair in scorer.asked)
    assert {asked[frozenset((OTHER, dog))] for dog in (SHORT, MIDDLE, LONG)} == {1}
    assert asked[frozenset((SHORT, LONG))] > 1


def test_a_draft_is_judged_against_its_sources_by_the_texts_alone(memories: list[Memory]) -> None:
    scorer = PlacedScorer()
    judging = Judging(encoder(), scorer, Settings(floor=-1.0), {})
    sources = memories[:2]
    draft = fused(sources, LONG)
    judging.drafted([draft], sources)
    assert [pair.context for pair in scorer.asked] == [None, None]
    scorer.asked.clear()
    judging.drafted([draft], memories[3:])
    assert [pair.context is None for pair in scorer.asked] == [False]


def test_nothing_is_judged_twice(memories: list[Memory]) -> None:
    judging = Judging(encoder(), scorer := PlacedScorer(), Settings(floor=-1.0), {})
    assert judging.all_pairs(memories) == judging.moved(memories)
    assert len(scorer.asked) == 6


def test_what_a_scorer_screens_out_is_not_read_and_gets_no_verdict(memories: list[Memory], tmp_path) -> None:
    class Screening(PlacedScorer):
        def worth(self, table: PairTable, _remember: object) -> np.ndarray:
            return np.array(
                [float(OTHER not in map(table.texts.__getitem__, row)) for row in table.rows.tolist()]
            )

        def score_with(self, pairs: Sequence[PairInput], _remember: object) -> PairScores:
            return self.score(pairs)

    scorer = Screening()
    judging = Judging(encoder(), CachedScorer(scorer, Cache(tmp_path)), Settings(floor=-1.0), {})
    told = judging.all_pairs(memories)
    assert [(item.pair.a, item.pair.b) for item in told] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    assert [(item.pair.a, item.pair.b) for item in judging.moved([memories[0], memories[3]])] == []
    assert len(scorer.asked) == 3


def test_how_pairs_were_found_is_a_note_of_the_plan(monkeypatch, memories):
    assert planned(memories).notes == ()
    monkeypatch.setattr(indexes, "FLAT_LIMIT", 0)
    (note,) = planned(memories).notes
    assert note == "Approximate search among 4 texts found 100.00% of the near pairs of a sample."
