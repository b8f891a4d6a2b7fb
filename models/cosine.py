"""The plainest baseline: duplicate if and only if the cosine of the embeddings is high enough.

It cannot see a contradiction: opposite statements about one thing have nearly the same embedding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .scorer import DISTINCT, DUPLICATE, PairInput, PairScores, Thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

DUPLICATE_COSINE = 0.9
"""Cosine from which this baseline calls a pair duplicate; the customary value of memory layers."""

NEVER = 1.0
"""Contradiction threshold that is never met, because contradiction gets no probability here."""


def ramp(value: float, half: float) -> float:
    """Map [0, 1] onto [0, 1], rising, with `half` at exactly 0.5, so that a limit becomes a probability.

    >>> [ramp(value, 0.6) for value in (0.0, 0.3, 0.6, 1.0)]
    [0.0, 0.25, 0.5, 1.0]
    """
    if value <= half:
        return value / (2 * half)
    return 0.5 + 0.5 * (value - half) / (1 - half)


class CosineScorer:
    """Duplicate iff cosine >= 0.9, never a contradiction.

    A cosine of 0.9 gets the duplicate probability 0.5, one of 0.95 gets 0.75; what is not a number
    counts as 0.
    """

    @property
    def name(self) -> str:
        """Identity of this rule and its version."""
        return "cosine-1"

    @property
    def thresholds(self) -> Thresholds:
        """Half the probability is where the cosine limit lies."""
        return Thresholds(auto=0.5, duplicate=0.5, contradiction=NEVER)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs by their cosine alone; each direction of entailment is the cosine itself."""
        cosines = [_bounded(pair.cosine) for pair in pairs]
        probabilities = np.zeros((len(pairs), 3), dtype=np.float32)
        probabilities[:, DUPLICATE] = [ramp(cosine, DUPLICATE_COSINE) for cosine in cosines]
        probabilities[:, DISTINCT] = 1 - probabilities[:, DUPLICATE]
        entailment = np.repeat(np.asarray(cosines, dtype=np.float32)[:, None], 2, axis=1)
        return PairScores(probabilities=probabilities, entailment=entailment)


def _bounded(cosine: float) -> float:
    return 0.0 if math.isnan(cosine) else min(1.0, max(0.0, cosine))
