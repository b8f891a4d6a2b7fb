"""Which pairs of Markdown memories are worth the scorer's time.

A file says many things, and reading two files sentence by sentence takes seconds. Two files that share less
than the original's rule asks for are no duplicates, and conflicts are found by sentences anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...models.scorer import PairInput, PairScorer, PairScores, Thresholds
from ..words import significant_words

LONG = 25
"""Significant words from which a text is one of several sentences."""
SHARED = 0.5
"""Part of the shorter text's words that both say, if one is long (origin: the original's 60%)."""
LIKE = 0.2
NEAR = 0.6
"""Two short texts share this part of their words, or are this near for the encoder."""


class Screened:
    """A scorer that is asked only about pairs that can be duplicates; the others are distinct."""

    def __init__(self, scorer: PairScorer) -> None:
        """Wrap a scorer."""
        self._scorer = scorer

    @property
    def name(self) -> str:
        """Identity of the scorer inside."""
        return self._scorer.name

    @property
    def thresholds(self) -> Thresholds:
        """Thresholds of the scorer inside."""
        return self._scorer.thresholds

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Scores of all pairs."""
        asked = [number for number, pair in enumerate(pairs) if worth_judging(pair)]
        probabilities = np.tile(np.array([0, 0, 1], dtype=np.float32), (len(pairs), 1))
        entailment = np.zeros((len(pairs), 2), dtype=np.float32)
        if asked:
            scores = self._scorer.score([pairs[number] for number in asked])
            probabilities[asked], entailment[asked] = scores.probabilities, scores.entailment
        return PairScores(probabilities, entailment)


def worth_judging(pair: PairInput) -> bool:
    """Whether two texts can say the same at all."""
    first, second = significant_words(pair.a), significant_words(pair.b)
    fewer, more = sorted((len(first), len(second)))
    shared = len(first & second)
    if more >= LONG:
        return fewer > 0 and shared >= SHARED * fewer
    return pair.cosine >= NEAR or (more > 0 and shared >= LIKE * more) or fewer == 0
