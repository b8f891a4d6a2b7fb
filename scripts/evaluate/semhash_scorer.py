"""SemHash (PyPI) as one more row of the quality tables; the product never uses it.

It judges as it does by itself: no guards of ours, no calibration, and its own idea of an exact copy.
Its own default encoder comes from a model hub; what is measured here are its rule and its default
threshold over the encoder that everything else in a table uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from mem0_dream.errors import MissingExtraError
from mem0_dream.models.cosine import NEVER
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.scorer import DISTINCT, DUPLICATE, PairInput, PairScorer, PairScores, Thresholds
from mem0_dream.pipeline.judging.judge import decide, pair_input
from mem0_dream.records import Candidate, Memory, Verdict
from numpy.typing import NDArray

SEMHASH = "semhash"


def load_semhash() -> Any:  # noqa: ANN401  (a class of an optional package)
    """Its class, or a MissingExtraError."""
    try:
        from semhash import SemHash
    except ImportError as error:
        raise MissingExtraError(
            "SemHash is not installed; install it with: pip install 'mem0-dream[semhash]'"
        ) from error
    return SemHash


class RememberingEncoder:
    """Encodes each text once, because SemHash asks anew for every pair."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self.name = encoder, encoder.name
        self._known: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed all texts: float32 [n, d], rows of length 1."""
        new = sorted(set(texts) - self._known.keys())
        if not texts:
            return self._encoder.encode(new)
        if new:
            self._known |= dict(zip(new, self._encoder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


class SemHashScorer:
    """Duplicate if and only if SemHash, given the two texts, would drop one of them.

    Its documented use is `SemHash.from_records(texts).self_deduplicate()` over a whole collection. Over
    all texts at once the answer for one pair would depend on which other texts happen to be in the file,
    so each pair is a collection of its own: two records, threshold as it comes (0.9). It says yes or no,
    which is written as probability 1 or 0, and it knows no contradictions.
    """

    thresholds = Thresholds(auto=1.0, duplicate=1.0, contradiction=NEVER)

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._class = encoder, load_semhash()
        self.name = f"semhash-{metadata.version('semhash')}"

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Run SemHash once for each pair."""
        self._encoder.encode(sorted({text for pair in pairs for text in (pair.a, pair.b)}))
        found = (self._class.from_records([pair.a, pair.b], model=self._encoder) for pair in pairs)
        same = np.array([bool(one.self_deduplicate().filtered) for one in found], dtype=np.float32)
        probabilities = np.zeros((len(pairs), 3), dtype=np.float32)
        probabilities[:, DUPLICATE], probabilities[:, DISTINCT] = same, 1 - same
        return PairScores(probabilities, np.repeat(same[:, None], 2, axis=1))


def judge_alone(
    candidates: Sequence[Candidate], memories: Mapping[str, Memory], scorer: PairScorer
) -> tuple[Verdict, ...]:
    """Verdicts by a scorer's probabilities and thresholds alone: no guards, no exact copies of ours."""
    scores = scorer.score([pair_input(pair, memories) for pair in candidates])
    verdicts = []
    for pair, row, directions in zip(candidates, scores.probabilities, scores.entailment, strict=True):
        probabilities = (float(row[0]), float(row[1]), float(row[2]))
        label, auto = decide(probabilities, (), scorer.thresholds)
        entailment = (float(directions[0]), float(directions[1]))
        verdicts.append(Verdict(pair, label, auto=auto, probabilities=probabilities, entailment=entailment))
    return tuple(verdicts)
