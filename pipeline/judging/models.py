"""The encoder and the scorer of a session: loaded on first use, with a cache in front."""

from __future__ import annotations

from pathlib import Path

from ...models.encoder import Encoder
from ...models.scorer import PairScorer, Thresholds
from ...settings import Settings
from .cache import Cache, CachedEncoder, CachedScorer, OnStage
from .calibration import load_thresholds


class Models:
    """Loads what the settings name, so that another process can, too (`named`), or uses what is given."""

    def __init__(
        self,
        settings: Settings,
        directory: Path,
        *,
        encoder: Encoder | None = None,
        scorer: PairScorer | None = None,
    ) -> None:
        self._settings = settings
        self._directory = directory
        self.cache = Cache(directory)
        self.named = encoder is None and scorer is None
        self._encoder = encoder
        self._scorer = scorer

    def take(self, other: Models) -> None:
        """Use what another one has loaded, if it was told to load the same."""
        ours, theirs = self._settings, other._settings
        if (ours.scorer, ours.encoder) == (theirs.scorer, theirs.encoder):
            self._encoder, self._scorer = self._encoder or other._encoder, self._scorer or other._scorer

    @property
    def encoder(self) -> Encoder:
        """The encoder itself."""
        if self._encoder is None:
            from ...models.registry import load_encoder

            self._encoder = load_encoder(self._settings.encoder, scorer=self._settings.scorer)
        return self._encoder

    @property
    def scorer(self) -> PairScorer:
        """The pair scorer itself."""
        if self._scorer is None:
            from ...models.registry import load_scorer

            self._scorer = load_scorer(self._settings.scorer)
        return self._scorer

    def read(self, *, on_stage: OnStage | None = None) -> CachedEncoder:
        """The encoder behind the cache, as a pass uses it."""
        return CachedEncoder(self.encoder, self.cache, on_stage=on_stage)

    def asked(self, *, on_stage: OnStage | None = None) -> CachedScorer:
        """The scorer behind the cache, as a pass uses it."""
        return CachedScorer(self.scorer, self.cache, on_stage=on_stage)

    @property
    def thresholds(self) -> Thresholds:
        """Where the scorer's probabilities become decisions: a person's calibration, else its own."""
        return self.calibrated or self.scorer.thresholds

    @property
    def calibrated(self) -> Thresholds | None:
        """The thresholds of a person's own calibration for this scorer, if there is one."""
        return load_thresholds(self._directory, self.scorer.name)
