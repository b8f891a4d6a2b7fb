"""Scorers and an encoder that need no model: the rule of the original skill, and the plain cosine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .scorer import DISTINCT, DUPLICATE, PairInput, PairScores, Thresholds
from .text.tables import table_set
from .text.words import Word, exact_key, overlap, significant_words, tokens

DUPLICATE_OVERLAP = 0.6  # more than this share of words in common is a duplicate (the skill's "60%")
CONTRADICTION_OVERLAP = 0.4  # from here on opposite polarity is a contradiction (the skill's "0.4-0.6")
INCOMPLETE = 0.8  # highest entailment while a word is missing; below every limit from which text is dropped
STRICTLY_ABOVE_HALF = float(np.nextafter(np.float32(0.5), np.float32(1)))  # exactly 60% is no duplicate
_NEGATORS, _AVOIDING, _HELPERS = (table_set("denials", key) for key in ("negators", "avoiding", "between"))


class KeywordScorer:
    """More than 60% of significant words shared: duplicate; opposite polarity from 40% on: contradiction.

    Opposite polarity is do X / do not X, use X / avoid X, always X / never X, prefer X / prefer Y and the
    like. The skill looks for it up to 60% overlap only, and would merge "Always squash" with "Never squash".
    """

    name = "keywords-1"
    thresholds = Thresholds(auto=STRICTLY_ABOVE_HALF, duplicate=STRICTLY_ABOVE_HALF, contradiction=0.5)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs; entailment a -> b is the share of b's significant words that a has.

        While a word is missing it stays at or below 80%: among ten words the missing one may be the fact.
        """
        probabilities = [_probabilities(pair.a, pair.b) for pair in pairs]
        entailment = [(coverage(pair.a, pair.b), coverage(pair.b, pair.a)) for pair in pairs]
        both = (probabilities, 3), (entailment, 2)
        return PairScores(*(np.asarray(rows, dtype=np.float32).reshape(-1, width) for rows, width in both))


def ramp(value: float, half: float) -> float:
    """Map [0, 1] onto [0, 1], rising, with `half` at exactly 0.5, so that a limit becomes a probability."""
    return value / (2 * half) if value <= half else 0.5 + 0.5 * (value - half) / (1 - half)


def coverage(premise: str, hypothesis: str) -> float:
    """Share of the hypothesis' significant words that the premise has; at most 80% while one is missing."""
    wanted = significant_words(hypothesis)
    held = wanted & significant_words(premise)
    return min(len(held) / max(1, len(wanted)), 1.0 if wanted == held else INCOMPLETE)


def opposed(a: str, b: str) -> bool:
    """Whether one text turns against a word that the other states, or both prefer something else."""
    first, second = tokens(a), tokens(b)
    denied, other_denied = _negated(first), _negated(second)
    stated, other_stated = ({token.stem for token in each if not token.is_stop} for each in (first, second))
    if denied & (other_stated - other_denied) or other_denied & (stated - denied):
        return True
    mine, yours = _preferred(first), _preferred(second)
    return bool(mine and yours) and mine not in other_stated and yours not in stated


def _probabilities(a: str, b: str) -> tuple[float, float, float]:
    if exact_key(a) == exact_key(b):
        return 1.0, 0.0, 0.0
    against = opposed(a, b)
    sure = ramp(overlap(a, b), CONTRADICTION_OVERLAP if against else DUPLICATE_OVERLAP)
    return (0.0, sure, 1 - sure) if against else (sure, 0.0, 1 - sure)


def _negated(words: tuple[Word, ...]) -> set[str]:
    """Stems of the words that a negation turns against: the next one, and its object after "use"."""
    stems: set[str] = set()
    pending = False
    for token in words:
        if token.folded in _NEGATORS or token.folded.endswith("n't") or token.stem in _AVOIDING:
            pending = True
        elif pending and not token.is_stop:
            stems.add(token.stem)
            pending = token.stem in _HELPERS
    return stems


def _preferred(words: tuple[Word, ...]) -> str | None:
    significant = [token.stem for token in words if not token.is_stop]
    at = significant.index("prefer") + 1 if "prefer" in significant else len(significant)
    return significant[at] if at < len(significant) else None


DUPLICATE_COSINE = 0.9  # from which the plainest baseline calls a pair duplicate; customary in memory layers
NEVER = 1.0  # contradiction threshold that is never met, because contradiction gets no probability


class CosineScorer:
    """Duplicate iff cosine >= 0.9 (probability 0.5), never a contradiction: opposites embed alike."""

    name = "cosine-1"
    thresholds = Thresholds(auto=0.5, duplicate=0.5, contradiction=NEVER)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs by their cosine alone."""
        cosines = [0.0 if math.isnan(pair.cosine) else min(1.0, max(0.0, pair.cosine)) for pair in pairs]
        probabilities = np.zeros((len(pairs), 3), dtype=np.float32)
        probabilities[:, DUPLICATE] = [ramp(cosine, DUPLICATE_COSINE) for cosine in cosines]
        probabilities[:, DISTINCT] = 1 - probabilities[:, DUPLICATE]
        return PairScores(probabilities, np.repeat(np.asarray(cosines, dtype=np.float32)[:, None], 2, axis=1))


DIMENSIONS = 2048  # wide enough that two words of a short memory seldom share a column


class LexicalEncoder:
    """Encodes a text as the set of its significant words, hashed into columns.

    The cosine of two sets is never below the share of common words in the larger one, so a floor under the
    keyword rule's own limit loses no pair; a hash collision can only add candidates.
    """

    name = f"words-1-{DIMENSIONS}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts: float32 [n, 2048], rows of length one (zero for a text without words)."""
        matrix = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            spelled = (word.encode("utf-8", "surrogatepass") for word in significant_words(text))
            digests = (hashlib.blake2b(word, digest_size=4).digest() for word in spelled)
            matrix[row, [int.from_bytes(digest, "big") % DIMENSIONS for digest in digests]] = 1.0
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.ascontiguousarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)
