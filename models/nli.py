"""Any natural language inference cross-encoder of Hugging Face as a pair scorer, not fitted for memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from .encoder import BATCH_SIZE, encodable, equal_length_batches, folder_hash, loading_library, local_folder
from .scorer import PairInput, PairScores, Thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray


ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"

UNFITTED = Thresholds(auto=0.98, duplicate=0.5, contradiction=0.7)  # set by hand, strict

MAX_TOKENS = 512  # both texts together; a longer pair is cut at the end of its longer text
_SPECIAL_POSITIONS = 2  # positions that some models (RoBERTa) count in but cannot use


class NliScorer:
    """A cross-encoder with the labels entailment, neutral and contradiction, in any order.

    Each pair is put in one order first, so that both ways run the very same computation. The model is a
    folder, or a hub name with a commit or tag; ModelError if it cannot be loaded, or has other labels.
    """

    thresholds = UNFITTED

    def __init__(self, model: str, revision: str | None = None) -> None:
        folder = local_folder(model)
        what = f"The NLI model {model}"
        source: dict[str, Any] = {"revision": None if folder else revision, "trust_remote_code": False}
        source["local_files_only"] = folder is not None
        with loading_library(what):
            from transformers import AutoConfig

            config = AutoConfig.from_pretrained(str(folder or model), **source)
        self._columns = label_columns(config.id2label, what=what)
        positions = getattr(config, "max_position_embeddings", MAX_TOKENS)
        self._tokens = min(MAX_TOKENS, positions - _SPECIAL_POSITIONS)
        with loading_library(what):
            from sentence_transformers import CrossEncoder

            self._model: Any = CrossEncoder(
                str(folder or model), device="cpu", max_length=self._tokens, **source
            )
        version = folder_hash(folder) if folder else getattr(config, "_commit_hash", None) or "unknown"
        # with a hash of its files, such as "nli:mine@3f2a…"; a hub model has its commit instead
        self.name = f"nli:{folder.name if folder else model}@{version[:16]}"

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs in both directions; an empty sequence gives empty arrays."""
        texts = [(encodable(pair.a), encodable(pair.b)) for pair in pairs]
        asked = sorted({tuple(sorted(pair)) for pair in texts})
        directions = [(a, b) for a, b in asked] + [(b, a) for a, b in asked]
        rows = {pair: row for row, pair in enumerate(directions)}
        answers = self._answers(directions)
        forward = answers[[rows[a, b] for a, b in texts]]
        backward = answers[[rows[b, a] for a, b in texts]]
        return blend(forward, backward)

    def _answers(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Entailment, neutral, contradiction of each (premise, hypothesis): float64 [n, 3]."""
        import torch

        logits, lengths = np.zeros((len(pairs), 3), dtype=np.float64), list[int]()
        if pairs:
            first, second = map(list, zip(*pairs, strict=True))
            read = self._model.tokenizer(first, second, truncation=True, max_length=self._tokens)
            lengths = [len(row) for row in read["input_ids"]]
        how = {"batch_size": BATCH_SIZE, "activation_fn": torch.nn.Identity(), "show_progress_bar": False}
        for rows in equal_length_batches(lengths):
            filled = [pairs[row] for row in (rows * BATCH_SIZE)[:BATCH_SIZE]]
            said = self._model.predict(filled, **how)
            logits[rows] = np.asarray(said, dtype=np.float64)[: len(rows)]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))[:, self._columns]
        shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return shares


def label_columns(id2label: Mapping[int, str], *, what: str) -> list[int]:
    """Columns of entailment, neutral and contradiction; ModelError for other labels: none is guessed."""
    columns = {str(label).strip().lower(): int(column) for column, label in id2label.items()}
    if set(columns) != {ENTAILMENT, NEUTRAL, CONTRADICTION} or len(id2label) != 3:
        labels = ", ".join(str(label) for label in id2label.values())
        raise ModelError(f"{what} has the labels {labels}; entailment, neutral and contradiction are needed.")
    return [columns[ENTAILMENT], columns[NEUTRAL], columns[CONTRADICTION]]


def blend(forward: NDArray[np.float64], backward: NDArray[np.float64]) -> PairScores:
    """Both directions, float64 [n, 3], in one: a contradiction needs both, a duplicate either."""
    contradiction = (forward[:, 2] + backward[:, 2]) / 2
    duplicate = np.maximum(forward[:, 0], backward[:, 0]) * (1 - contradiction)
    rest = np.clip(1 - contradiction - duplicate, 0, 1)
    columns = (duplicate, contradiction, rest), (forward[:, 0], backward[:, 0])
    return PairScores(*(np.stack(some, axis=1).astype(np.float32) for some in columns))
