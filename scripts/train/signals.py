"""Signals of the labelled development pairs under a checkpoint, cached in the work folder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...models.bundled.features import PairSignals, feature_names, features, screened, short_long
from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.bundled.reader import PairReader
from ...models.bundled.scorer import FOLDER
from ...models.bundled.screen import SCREEN_FILE, Screen
from ...models.guards import compare
from ...models.scorer import PairInput
from .labelled import Encode, LabelledPair

log = logging.getLogger(__name__)

CHUNK = 400
Known = dict[tuple[str, str], PairSignals]


@dataclass(frozen=True, slots=True)
class Table:
    """Signals [n, columns] of labelled pairs with what the calibrator is fitted and judged on."""

    rows: NDArray[np.float64]
    label: NDArray[np.int64]
    weight: NDArray[np.float64]
    origin: NDArray[np.str_]
    group: NDArray[np.str_]
    names: tuple[str, ...]
    placed: NDArray[np.bool_]
    """Whether a pair stands inside a store that tells something; the others are judged by their texts."""
    refused: NDArray[np.bool_]
    """Whether a guard forbids to merge a pair, whatever the calibrator says."""


def encoder(folder: str) -> Encode:
    """Embeds texts with the sentence encoder in `folder`, each text once."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    known: dict[str, NDArray[np.float32]] = {}

    def encode(texts: list[str]) -> NDArray[np.float32]:
        """Vectors of the texts, in their order."""
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            vectors = model.encode(new, normalize_embeddings=True, batch_size=64, show_progress_bar=False)
            known.update(zip(new, vectors, strict=True))
        return np.stack([known[text] for text in texts])

    return encode


def as_scored(pairs: Sequence[LabelledPair], encode: Encode) -> list[PairInput]:
    """The pairs as the scorer is given them."""
    alone = sorted({text for pair in pairs if pair.cosine is None for text in (pair.a, pair.b)})
    at = dict(zip(alone, encode(alone), strict=True)) if alone else {}
    return [
        pair.scored(float(at[pair.a] @ at[pair.b]) if pair.cosine is None else pair.cosine) for pair in pairs
    ]


def needed(inputs: Sequence[PairInput]) -> NDArray[np.bool_]:
    """Which pairs the shipped screen lets through, bool [n]; all of them where no screen is shipped."""
    if not (FOLDER / SCREEN_FILE).is_file():
        return np.ones(len(inputs), dtype=bool)
    return Screen.load(FOLDER / SCREEN_FILE).needed(inputs)


def read_signals(
    network: PairNetwork, tokenizer: PairTokenizer, inputs: Sequence[PairInput], cache: Path
) -> list[PairSignals]:
    """Signals of every pair; two texts are read once however often they stand together, and kept."""
    known = load(cache)
    once = {short_long(pair.a, pair.b): (pair.a, pair.b) for pair in inputs}
    missing = [key for key in once if key not in known]
    reader = PairReader(network, tokenizer)
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        known.update(zip(chunk, reader.signals([once[key] for key in chunk]), strict=True))
        _save(known, cache)
        log.info("read %d of %d labelled pairs", start + len(chunk), len(missing))
    return [known[short_long(pair.a, pair.b)] for pair in inputs]


def table(
    pairs: Sequence[LabelledPair], inputs: Sequence[PairInput], signals: Sequence[PairSignals]
) -> Table:
    """The signals as numbers beside labels, weights and origins; sure pairs as the scorer will see them."""
    return Table(
        rows=features([screened(one) for one in signals], inputs),
        label=np.array([pair.label for pair in pairs]),
        weight=np.array([pair.weight for pair in pairs]),
        origin=np.array([pair.origin for pair in pairs]),
        group=np.array([pair.group for pair in pairs]),
        names=feature_names(),
        placed=np.array([pair.placed for pair in inputs], dtype=bool),
        refused=np.array([_refused(pair) for pair in inputs], dtype=bool),
    )


def _refused(pair: PairInput) -> bool:
    return any(item.veto for item in compare(pair.a, pair.b, a_date=pair.a_date, b_date=pair.b_date))


def _save(signals: Known, path: Path) -> None:
    import pickle

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(signals))


def load(path: Path) -> Known:
    """Signals that `_save` wrote in this work folder; a local cache, never a shipped file."""
    import pickle

    if not path.is_file():
        return {}
    known: Known = pickle.loads(path.read_bytes())  # noqa: S301 - our own cache
    return known
