"""Signals of the labelled development pairs under a checkpoint, cached in the work folder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..models.bundled_features import PairSignals, feature_names, features, screened
from ..models.pair_network import PairNetwork, PairTokenizer
from ..models.pair_reader import PairReader
from .train_labelled import LabelledPair

log = logging.getLogger(__name__)

CHUNK = 400


@dataclass(frozen=True, slots=True)
class Table:
    """Signals [n, columns] of labelled pairs with what the calibrator is fitted and judged on."""

    rows: NDArray[np.float64]
    label: NDArray[np.int64]
    weight: NDArray[np.float64]
    origin: NDArray[np.str_]
    group: NDArray[np.str_]
    names: tuple[str, ...]


def cosines(pairs: Sequence[LabelledPair], folder: str) -> NDArray[np.float64]:
    """Cosine of the two embeddings of each pair under the sentence encoder in `folder`."""
    from sentence_transformers import SentenceTransformer

    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    encoder = SentenceTransformer(folder, device="cpu")
    vectors = encoder.encode(texts, normalize_embeddings=True, batch_size=64, show_progress_bar=False)
    at = {text: row for row, text in enumerate(texts)}
    left, right = vectors[[at[p.a] for p in pairs]], vectors[[at[p.b] for p in pairs]]
    return np.asarray((left * right).sum(axis=1), dtype=np.float64)


def read_signals(
    network: PairNetwork, tokenizer: PairTokenizer, pairs: Sequence[LabelledPair], cosine: NDArray[np.float64]
) -> list[PairSignals]:
    """Signals of every pair, in chunks so that progress shows."""
    reader, found = PairReader(network, tokenizer), []
    for start in range(0, len(pairs), CHUNK):
        chunk = range(start, min(start + CHUNK, len(pairs)))
        found += reader.signals([(pairs[i].a, pairs[i].b, float(cosine[i])) for i in chunk], screen=False)
        log.info("read %d of %d labelled pairs", chunk.stop, len(pairs))
    return found


def table(pairs: Sequence[LabelledPair], signals: Sequence[PairSignals]) -> Table:
    """The signals as numbers beside labels, weights and origins; sure pairs as the scorer will see them."""
    return Table(
        rows=features([screened(one) for one in signals]),
        label=np.array([pair.label for pair in pairs]),
        weight=np.array([pair.weight for pair in pairs]),
        origin=np.array([pair.origin for pair in pairs]),
        group=np.array([pair.group for pair in pairs]),
        names=feature_names(),
    )


def save_signals(signals: Sequence[PairSignals], path: Path) -> None:
    """Keep signals for experiments on features; read them back with `load_signals`."""
    import pickle

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(list(signals)))


def load_signals(path: Path) -> list[PairSignals]:
    """Signals that `save_signals` wrote in this work folder; a local cache, never a shipped file."""
    import pickle

    found: list[PairSignals] = pickle.loads(path.read_bytes())  # noqa: S301 - our own cache
    return found
