"""The default scorer: our own small cross-encoder and a calibrator over all its signals.

It reads both memories as wholes and statement by statement, adds word statistics and typed facts, and lets
calibrated decision trees turn that into probabilities. It abstains rather than guesses: between its
thresholds a pair
is for a person. Nothing heavy is imported before the first pair is scored, and nothing is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..pipeline.guards import FACTS_VERSION
from .bundled_config import base_folder, check_features, read_columns, read_thresholds
from .bundled_features import ENTAILS, feature_names, features
from .checksums import check_sums, sums_digest
from .encoder import encodable
from .scorer import PairInput, PairScores, Thresholds

if TYPE_CHECKING:
    from .calibrator import Calibrator
    from .pair_reader import PairReader

FOLDER = Path(__file__).parent / "memory_nli"
CALIBRATOR_FILE = "calibrator.npz"


class BundledScorer:
    """Judges pairs with the weights of a folder, loaded and checked at the first call of `score`.

    Args:
        folder: the weights; the shipped ones by default.
        base: folder of the base model; the one that the weights name by default.

    Raises:
        ModelError: the folder has no list of checksums or no readable configuration.
    """

    def __init__(self, folder: Path = FOLDER, *, base: Path | None = None) -> None:
        self._folder = folder
        self._base = base
        self._thresholds = read_thresholds(folder)
        self._columns = read_columns(folder)
        self._name = f"bundled@{sums_digest(folder)[:16]}.{FACTS_VERSION}"
        self._parts: tuple[PairReader, Calibrator] | None = None

    @property
    def name(self) -> str:
        """Identity for plans and caches: changes with every byte of the weights, and with the guards."""
        return self._name

    @property
    def thresholds(self) -> Thresholds:
        """Thresholds fitted on the development pairs for the precision that the model card states."""
        return self._thresholds

    @property
    def reads_context(self) -> bool:
        """Whether these weights make use of where a pair stands inside its store."""
        return self._columns > 1

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Probabilities and entailment of each pair; swapping a and b swaps the entailment columns only.

        Raises:
            ModelError: the weights are missing, damaged or do not fit the base model.
        """
        if not pairs:
            return PairScores(np.zeros((0, 3), np.float32), np.zeros((0, 2), np.float32))
        reader, calibrator = self._load()
        texts = [(encodable(pair.a), encodable(pair.b), _finite(pair.cosine)) for pair in pairs]
        signals = reader.signals(texts)
        rows = features(signals, pairs if self._columns > 1 else None)
        probabilities = calibrator.probabilities(rows).astype(np.float32)
        down, up = (np.array([s.whole_entailment[row, ENTAILS] for s in signals]) for row in (0, 1))
        long_first = np.array([signal.long == a for signal, (a, _, _) in zip(signals, texts, strict=True)])
        forward, backward = np.where(long_first, down, up), np.where(long_first, up, down)
        return PairScores(probabilities, np.stack([forward, backward], axis=1).astype(np.float32))

    def _load(self) -> tuple[PairReader, Calibrator]:
        if self._parts is None:
            check_sums(self._folder)
            check_features(self._folder, feature_names(self._columns))
            from .bundled_weights import load_network
            from .calibrator import Calibrator
            from .pair_reader import PairReader

            network, tokenizer = load_network(self._folder, self._base or base_folder(self._folder))
            self._parts = PairReader(network, tokenizer), Calibrator.load(self._folder / CALIBRATOR_FILE)
        return self._parts


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else 0.0
