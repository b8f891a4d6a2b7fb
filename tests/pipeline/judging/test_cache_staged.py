"""What texts say is read once, ever; what stands around them may change every night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from mem0_dream.models.scorer import PairContext, PairInput, PairScores, Remember, Thresholds, forgetful
from mem0_dream.pipeline.judging.cache import Cache, CachedScorer
from numpy.typing import NDArray

NEAR = PairContext(0, 0, 0.2, 0.1, 0.3, 0.3, 0.1, 5)
DAY = datetime(2026, 11, 21, tzinfo=UTC)


class TwoSteps:
    """Reads lengths of texts, and concludes from them and from the place."""

    name = "steps-1"
    thresholds = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)
    reads_context = True

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []
        self.concluded = 0

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """The steps in a row."""
        return self.score_with(pairs, forgetful)

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        self.concluded += len(pairs)
        rows = remember("judge", pairs, self._read)[:, 0]
        ranks = np.array([pair.context.rank_a + pair.context.rank_b if pair.context else 9 for pair in pairs])
        duplicate = rows / (1 + ranks)
        probabilities = np.stack([duplicate, 0 * duplicate, 1 - duplicate], axis=1).astype(np.float32)
        entailment = np.array([[len(pair.a) / 100, len(pair.b) / 100] for pair in pairs], np.float32)
        return PairScores(probabilities, entailment.reshape(-1, 2))

    def _read(self, pairs: Sequence[PairInput]) -> NDArray[np.float32]:
        self.read += [(pair.a, pair.b) for pair in pairs]
        alike = [min(len(p.a), len(p.b)) / max(len(p.a), len(p.b), 1) for p in pairs]
        return np.array(alike, np.float32).reshape(-1, 1)


PAIRS = [
    PairInput("Likes tea", "Likes green tea", 0.5, None, DAY, None, NEAR),
    PairInput("Likes green tea", "Owns a dog", 0.2, "home", None, DAY, replace(NEAR, rank_a=3)),
    PairInput("Owns a dog", "Likes tea", 0.1),
]


def equal(first: PairScores, second: PairScores) -> bool:
    return (
        first.probabilities.tobytes() == second.probabilities.tobytes()
        and first.entailment.tobytes() == second.entailment.tobytes()
    )


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def test_an_unchanged_store_is_not_even_concluded_again(cache: Cache) -> None:
    scorer = TwoSteps()
    wanted = TwoSteps().score(PAIRS)
    assert equal(CachedScorer(scorer, cache).score(PAIRS), wanted)
    assert equal(CachedScorer(scorer, cache).score(PAIRS), wanted)
    assert (len(scorer.read), scorer.concluded) == (3, 3)


@pytest.mark.parametrize(
    "change",
    [
        {"context": replace(NEAR, rank_a=1)},
        {"context": replace(NEAR, size=6)},
        {"context": None},
        {"cosine": 0.5000001},
        {"a_date": None},
        {"category": "c"},
    ],
)
def test_another_place_is_concluded_anew_and_nothing_is_read_again(cache: Cache, change) -> None:
    scorer = TwoSteps()
    CachedScorer(scorer, cache).score(PAIRS)
    moved = [replace(PAIRS[0], **change), *PAIRS[1:]]
    assert equal(CachedScorer(scorer, cache).score(moved), TwoSteps().score(moved))
    assert (len(scorer.read), scorer.concluded) == (3, 6)


def test_a_changed_text_is_read_and_the_others_are_not(cache: Cache) -> None:
    scorer = TwoSteps()
    CachedScorer(scorer, cache).score(PAIRS)
    changed = [replace(PAIRS[0], b="Likes green tea a lot"), PAIRS[1].swapped(), PAIRS[2]]
    assert equal(CachedScorer(scorer, cache).score(changed), TwoSteps().score(changed))
    assert scorer.read[3:] == [("Likes tea", "Likes green tea a lot")]


def test_a_damaged_entry_is_computed_again(cache: Cache) -> None:
    scorer = TwoSteps()
    cached = CachedScorer(scorer, cache)
    cached.score(PAIRS[:1])
    cache.path.unlink()
    assert equal(cached.score(PAIRS[:1]), TwoSteps().score(PAIRS[:1]))
    assert len(scorer.read) == 2


def test_the_stage_says_how_many_pairs_are_left(cache: Cache) -> None:
    heard: list[tuple[str, int, int]] = []
    CachedScorer(TwoSteps(), cache).score(PAIRS[:1])
    CachedScorer(TwoSteps(), cache, on_stage=lambda *now: heard.append(now)).score(PAIRS)
    assert heard[0] == ("judge", 1, 3)
    assert heard[-1] == ("judge", 3, 3)
