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
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.keywords import NEVER
from mem0_dream.models.scorer import DISTINCT, DUPLICATE, PairInput, PairScorer, PairScores, Thresholds
from mem0_dream.pipeline.judging.judge import decide, pair_input
from mem0_dream.records import Candidate, Memory, Verdict

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


class SemHashScorer:
    """Duplicate if and only if SemHash, given the two texts, would drop one of them.

    Its documented use is `self_deduplicate()` over a whole collection, where the answer for one pair would
    depend on which other texts are in the file, so each pair is a collection of its own: two records,
    threshold as it comes (0.9). Yes or no is written as probability 1 or 0, and it knows no contradictions.
    """

    thresholds = Thresholds(auto=1.0, duplicate=1.0, contradiction=NEVER)

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._class = encoder, load_semhash()
        self.name = f"semhash-{metadata.version('semhash')}"

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Run SemHash once for each pair; each text is encoded once."""
        texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
        vectors = dict(zip(texts, self._encoder.encode(texts), strict=True))
        same = np.zeros(len(pairs), dtype=np.float32)
        for at, (a, b) in enumerate((pair.a, pair.b) for pair in pairs):
            both = self._class.from_embeddings(np.stack([vectors[a], vectors[b]]), [a, b], model=None)
            same[at] = bool(both.self_deduplicate().filtered)
        probabilities = np.zeros((len(pairs), 3), dtype=np.float32)
        probabilities[:, DUPLICATE], probabilities[:, DISTINCT] = same, 1 - same
        return PairScores(probabilities, np.repeat(same[:, None], 2, axis=1))


def judge_alone(
    candidates: Sequence[Candidate], memories: Mapping[str, Memory], scorer: PairScorer
) -> tuple[Verdict, ...]:
    """Verdicts by a scorer's probabilities and thresholds alone: no guards, no exact copies of ours."""
    scores = scorer.score([pair_input(pair, memories) for pair in candidates])
    verdicts = []
    for pair, row, ways in zip(
        candidates, scores.probabilities.tolist(), scores.entailment.tolist(), strict=True
    ):
        label, auto = decide(row, (), scorer.thresholds)
        said = {"probabilities": tuple(row), "entailment": tuple(ways)}
        verdicts.append(Verdict(pair, label, auto=auto, **said))
    return tuple(verdicts)
