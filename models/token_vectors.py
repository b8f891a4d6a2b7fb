"""One vector for each token of a text, from the packaged encoder: computed once, compared many times.

The encoder makes these vectors anyway before it averages them; what was made lately is kept, so that a text
costs one pass however many others it is compared with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .encoder import equal_length_batches, loading, packaged_model_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST = 128
"""Tokens of a text that are compared; what a long memory says is said by then, or is found by its words."""

KEPT_BYTES = 64 << 20

BATCH_SIZE = 16


class TokenVectors:
    """Gives the unit vectors of the tokens of texts, without the marks that open and close a text.

    The vectors of a text do not depend on which texts come along: batches hold texts of one length and
    have one size.
    """

    def __init__(self) -> None:
        self._loaded: tuple[Any, Any] | None = None
        self._kept: OrderedDict[tuple[int, ...], Floats] = OrderedDict()
        self._bytes = 0

    @property
    def vocabulary(self) -> int:
        """How many different tokens there are."""
        return len(self._model()[0])

    def ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The tokens of each text, at most `LONGEST`."""
        if not texts:
            return []
        tokenizer, _ = self._model()
        found = tokenizer(list(texts), truncation=True, max_length=LONGEST + 2)["input_ids"]
        return [tuple(row[1:-1]) for row in found]

    def of(self, texts: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Floats]:
        """float32 [tokens, d] unit rows of each text given by its tokens; a text without any has none."""
        wanted = sorted({ids for ids in texts if ids})
        found = {ids: self._kept[ids] for ids in wanted if ids in self._kept}
        missing = [ids for ids in wanted if ids not in found]
        for rows in equal_length_batches([len(ids) for ids in missing], size=BATCH_SIZE):
            part = [missing[row] for row in rows]
            for ids, vectors in zip(part, self._forward(part), strict=False):
                found[ids] = vectors
                self._keep(ids, vectors)
        return found

    def _keep(self, ids: tuple[int, ...], vectors: Floats) -> None:
        self._kept[ids] = vectors
        self._bytes += vectors.nbytes
        while self._bytes > KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.nbytes

    def _forward(self, texts: Sequence[tuple[int, ...]]) -> Floats:
        """float32 [n, tokens, d] unit rows of texts with equally many tokens."""
        import torch

        tokenizer, model = self._model()
        filled = (list(texts) * BATCH_SIZE)[:BATCH_SIZE]
        rows = [[tokenizer.cls_token_id, *ids, tokenizer.sep_token_id] for ids in filled]
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor(rows)).last_hidden_state[:, 1:-1]
            units = torch.nn.functional.normalize(hidden.float(), dim=-1)
        found: Floats = units.numpy()
        return found

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            with loading("The packaged encoder"):
                from transformers import AutoModel, AutoTokenizer

                folder = packaged_model_path()
                model = AutoModel.from_pretrained(folder, attn_implementation="sdpa")
                self._loaded = AutoTokenizer.from_pretrained(folder), model.eval()
        return self._loaded
