"""The default scorer: our own small cross-encoder and a calibrator over all its signals.

It reads both memories as wholes and statement by statement, adds word statistics and typed facts, and lets
calibrated decision trees turn that into probabilities. It abstains rather than guesses: between its
thresholds a pair is left to a person. Nothing heavy is imported before the first pair is scored, and nothing
is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..encoder import encodable
from ..guards import FACTS_VERSION
from ..scorer import PairInput, PairScores, Remember, Thresholds, distinct, forgetful
from .checksums import check_sums, sums_digest
from .config import base_folder, check_features, read_thresholds
from .features import ENTAILS, feature_names, own_columns, placed, short_long, sure_distinct
from .screen import SCREEN_FILE, Screen
from .turns import read_in_turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .calibrator import Calibrator
    from .reader import PairReader

FOLDER = Path(__file__).parent / "memory_nli"
CALIBRATOR_FILE = "calibrator.npz"


DECIMALS = 4
"""Of what it says, so that a pair reads the same in any company, on one thread or eight."""


class BundledScorer:
    """Judges pairs with the weights of a folder, loaded and checked at the first call of `score`.

    Args:
        folder: the weights; the shipped ones by default.
        base: folder of the base model; the one that the weights name by default.
        screen: leave out pairs that their store shows to be distinct; off, every pair is read.

    Raises:
        ModelError: the folder has no list of checksums or no readable configuration.
    """

    def __init__(self, folder: Path = FOLDER, *, base: Path | None = None, screen: bool = True) -> None:
        self._folder = folder
        self._base = base
        self._thresholds = read_thresholds(folder)
        self._alone = read_thresholds(folder, "thresholds_alone")
        self._name = f"bundled@{sums_digest(folder)[:16]}.{FACTS_VERSION}{'' if screen else '.all'}"
        self._screens = screen and (folder / SCREEN_FILE).exists()
        self._parts: tuple[PairReader, Calibrator] | None = None
        self._screen: Screen | None = None

    @property
    def name(self) -> str:
        """Identity for plans and caches: changes with every byte of the weights, and with the guards."""
        return self._name

    @property
    def thresholds(self) -> Thresholds:
        """Thresholds for pairs inside a store, fitted for the precision that the model card states."""
        return self._thresholds

    @property
    def thresholds_alone(self) -> Thresholds:
        """Thresholds for pairs of which no store is known."""
        return self._alone

    @property
    def english_only(self) -> bool:
        """Whether it has no say about other languages: it learnt English alone."""
        return True

    @property
    def reads_context(self) -> bool:
        """Whether the scorer uses the place of a pair inside its store."""
        return True

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Probabilities and entailment of each pair; swapping a and b swaps the entailment columns only.

        Raises:
            ModelError: the weights are missing, damaged or do not fit the base model.
        """
        return self.score_with(pairs, forgetful)

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        """Score as `score` does, with stage results taken from a cache.

        Raises:
            ModelError: the weights are missing, damaged or do not fit the base model.
        """
        scores = distinct(len(pairs))
        worth = self._worth(pairs, remember)
        rows = np.flatnonzero(worth > 0).tolist()

        def read(numbers: list[int], *, brief: bool = True) -> list[bool]:
            """Read and score pairs by number; whether one reading was sure that they are distinct."""
            chosen = [pairs[at] for at in numbers]
            stage, compute = ("judge", self._glance) if brief else ("judge alone", self._read)
            said = remember(stage, chosen, compute)
            answers = self._conclude(chosen, said)
            scores.probabilities[numbers], scores.entailment[numbers] = (
                answers.probabilities,
                answers.entailment,
            )
            return [bool(sure) for sure in np.isnan(said[:, 0])]

        placed_among = [at for at in rows if pairs[at].placed]
        alone = [at for at in rows if not pairs[at].placed]
        if placed_among and self._screens:
            some = [pairs[at] for at in placed_among]
            read_in_turns(
                some, worth[placed_among].tolist(), lambda turn: read([placed_among[at] for at in turn])
            )
        elif placed_among:
            read(placed_among)
        if alone:
            read(alone, brief=False)
        return scores

    def _worth(self, pairs: Sequence[PairInput], remember: Remember) -> NDArray[np.float64]:
        """How much speaks for reading each pair, float64 [n]; 0 where its store shows it to be distinct."""
        if not self._screens or all(pair.context is None for pair in pairs):
            return np.ones(len(pairs))
        if self._screen is None:
            check_sums(self._folder)
            self._screen = Screen.load(self._folder / SCREEN_FILE)
        return self._screen.worth(pairs, remember)

    def _glance(self, pairs: Sequence[PairInput]) -> NDArray[np.float32]:
        """Read as `_read` does; a pair that one reading is sure to be distinct gets no columns (NaN)."""
        return self._read(pairs, brief=True)

    def _read(self, pairs: Sequence[PairInput], *, brief: bool = False) -> NDArray[np.float32]:
        """What the texts of each pair say: their columns, and the entailments from and to the longer one."""
        reader, _ = self._load()
        signals = reader.signals([(encodable(pair.a), encodable(pair.b)) for pair in pairs])
        told = [at for at, s in enumerate(signals) if not (brief and sure_distinct(s.whole_memory[0]))]
        columns = own_columns([signals[at] for at in told])
        rows = np.full((len(pairs), columns.shape[1] + 2), np.nan, dtype=np.float32)
        rows[told, :-2] = columns
        rows[:, -2:] = [[row[ENTAILS] for row in signal.whole_entailment] for signal in signals]
        return rows

    def _conclude(self, pairs: Sequence[PairInput], readings: NDArray[np.float32]) -> PairScores:
        """Scores of pairs that were read, by their cosine, their dates and their place in the store, too."""
        _, calibrator = self._load()
        told = np.flatnonzero(~np.isnan(readings[:, 0]))
        probabilities = distinct(len(pairs)).probabilities
        rows = placed(readings[told, :-2].astype(np.float64), [pairs[at] for at in told.tolist()])
        probabilities[told, :2] = calibrator.probabilities(rows)[:, :2].round(DECIMALS)
        probabilities[told, 2] = np.clip(1 - probabilities[told, :2].sum(axis=1), 0, 1)
        long_first = np.array(
            [short_long(encodable(p.a), encodable(p.b))[1] == encodable(p.a) for p in pairs]
        )
        down, up = readings[:, -2], readings[:, -1]
        forward, backward = np.where(long_first, down, up), np.where(long_first, up, down)
        entailment = np.stack([forward, backward], axis=1).astype(np.float32)
        return PairScores(probabilities, entailment.round(DECIMALS))

    def _load(self) -> tuple[PairReader, Calibrator]:
        if self._parts is None:
            check_sums(self._folder)
            check_features(self._folder, feature_names(), facts=FACTS_VERSION)
            from .calibrator import Calibrator
            from .reader import PairReader
            from .weights import load_network

            network, tokenizer = load_network(self._folder, self._base or base_folder(self._folder))
            self._parts = PairReader(network, tokenizer), Calibrator.load(self._folder / CALIBRATOR_FILE)
        return self._parts
