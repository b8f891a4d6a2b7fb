"""One vector for each token of a text, from the packaged encoder: computed once, compared many times.

Vectors of recently read texts are looked up in `kept_tokens`, so that a text costs one pass however many
others it is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .encoder import equal_length_batches, loading, packaged_model_path
from .kept_tokens import KEPT, LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH_SIZE = 16


class TokenVectors:
    """Gives the unit vectors of the tokens of texts, without the marks that open and close a text.

    The vectors of a text do not depend on the other texts: batches hold texts of one length and
    have one size.
    """

    def __init__(self) -> None:
        self._tokenizer: Any = None
        self._model: Any = None

    @property
    def vocabulary(self) -> int:
        """How many different tokens there are."""
        return len(self._words())

    def ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The tokens of each text, at most `LONGEST`."""
        if not texts:
            return []
        rows = self._words()(list(texts), truncation=True, max_length=LONGEST + 2)["input_ids"]
        return [tuple(row[1:-1]) for row in rows]

    def of(self, texts: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Floats]:
        """float32 [tokens, d] unit rows of each text given by its tokens; a text without any has none."""
        wanted = sorted({ids for ids in texts if ids})
        vectors_of = {ids: known for ids in wanted if (known := KEPT.get(ids)) is not None}
        missing = [ids for ids in wanted if ids not in vectors_of]
        for rows in equal_length_batches([len(ids) for ids in missing], size=BATCH_SIZE):
            part = [missing[row] for row in rows]
            for ids, vectors in zip(part, self._forward(part), strict=False):
                vectors_of[ids] = vectors.copy()
                KEPT.add(ids, vectors_of[ids])
        return vectors_of

    def _forward(self, texts: Sequence[tuple[int, ...]]) -> Floats:
        """float32 [n, tokens, d] unit rows of texts with equally many tokens."""
        import torch

        tokenizer, model = self._words(), self._network()
        filled = (list(texts) * BATCH_SIZE)[:BATCH_SIZE]
        rows = [[tokenizer.cls_token_id, *ids, tokenizer.sep_token_id] for ids in filled]
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor(rows)).last_hidden_state[:, 1:-1]
            units = torch.nn.functional.normalize(hidden.float(), dim=-1)
        vectors: Floats = units.numpy()
        return vectors

    def _words(self) -> Any:  # noqa: ANN401  (transformers is not type-checked here)
        if self._tokenizer is None:
            with loading("The tokenizer of the packaged encoder"):
                from transformers import AutoTokenizer

                self._tokenizer = AutoTokenizer.from_pretrained(packaged_model_path())
        return self._tokenizer

    def _network(self) -> Any:  # noqa: ANN401
        if self._model is None:
            with loading("The packaged encoder"):
                from transformers import AutoModel

                folder = packaged_model_path()
                self._model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
        return self._model
