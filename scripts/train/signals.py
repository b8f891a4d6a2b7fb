"""Signals of the labelled development pairs under a checkpoint, cached in the work folder."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import ENTAILS, PairSignals, features, screened, short_long
from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.bundled.scorer import FOLDER, BundledScorer, PairReader
from ...models.bundled.screen import SCREEN_FILE, Screen
from ...models.scorer import PairInput, Thresholds
from ...pipeline.judging.judge import decide, differences
from ..evaluate.labelled import LabelledPair
from .labelled import Encode

log = logging.getLogger(__name__)

CHUNK = 400
ALL_MERGED = Thresholds(auto=0.0, duplicate=0.0, contradiction=1.0)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """Signals [n, columns] of labelled pairs with what the calibrator is fitted and judged on."""

    rows: Floats
    label: NDArray[np.int64]
    weight: Floats
    origin: NDArray[np.str_]
    group: NDArray[np.str_]
    placed: NDArray[np.bool_]
    """Whether a pair stands inside a store that tells something; the others are judged by their texts."""
    refused: NDArray[np.bool_]
    """Whether evidence keeps a pair from being merged by itself, whatever the calibrator says."""


def as_scored(pairs: Sequence[LabelledPair], encode: Encode) -> list[PairInput]:
    """The pairs as the scorer is given them; the cosine of those that bring none is reckoned."""
    alone = sorted({text for pair in pairs if pair.cosine is None for text in (pair.a, pair.b)})
    at = dict(zip(alone, encode(alone), strict=True)) if alone else {}
    return [one.scored(float(at[one.a] @ at[one.b]) if one.cosine is None else one.cosine) for one in pairs]


def needed(inputs: Sequence[PairInput]) -> NDArray[np.bool_]:
    """Which pairs the shipped screen lets through, bool [n]; all of them where no screen is shipped."""
    if not (FOLDER / SCREEN_FILE).is_file():
        return np.ones(len(inputs), dtype=bool)
    return Screen.load(FOLDER / SCREEN_FILE).needed(inputs)


def read_signals(
    network: PairNetwork, tokenizer: PairTokenizer, inputs: Sequence[PairInput], cache: Path
) -> list[PairSignals]:
    """Signals of every pair; two texts are read once however often they stand together, and kept."""
    known: dict[tuple[str, str], PairSignals] = {}
    if cache.is_file():
        known = pickle.loads(cache.read_bytes())  # noqa: S301 - our own cache, never a shipped file
    once = {short_long(pair.a, pair.b): (pair.a, pair.b) for pair in inputs}
    missing = [key for key in once if key not in known]
    reader = PairReader(network, tokenizer)
    cache.parent.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        known.update(zip(chunk, reader.signals([once[key] for key in chunk]), strict=True))
        cache.write_bytes(pickle.dumps(known))
        log.info("read %d of %d labelled pairs", start + len(chunk), len(missing))
    return [known[short_long(pair.a, pair.b)] for pair in inputs]


def table(
    pairs: Sequence[LabelledPair], inputs: Sequence[PairInput], signals: Sequence[PairSignals]
) -> Table:
    """The signals as numbers beside labels, weights and origins; sure pairs as the scorer will see them."""

    def refused(pair: PairInput, read: PairSignals) -> bool:
        entailment = read.whole_entailment[:, ENTAILS].tolist()
        found = differences(pair, entailment=entailment)
        return not decide((1.0, 0.0, 0.0), found, ALL_MERGED, entailment=entailment)[1]

    return Table(
        rows=features([screened(one) for one in signals], inputs),
        label=np.array([pair.label for pair in pairs]),
        weight=np.array([pair.weight for pair in pairs]),
        origin=np.array([pair.source for pair in pairs]),
        group=np.array([pair.group for pair in pairs]),
        placed=np.array([pair.placed for pair in inputs], dtype=bool),
        refused=np.array([refused(pair, s) for pair, s in zip(inputs, signals, strict=True)], dtype=bool),
    )


class FoldScorer(BundledScorer):
    """The scorer of a weights folder with the calibrator of one fold, under a name of its own."""

    def __init__(self, folder: Path, number: int, calibrator: Calibrator) -> None:
        super().__init__(folder)
        self._parts = self._load()[0], calibrator
        self.name += f".fold{number}"
