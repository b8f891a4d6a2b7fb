"""One vector for each token of a text, from the packaged encoder: computed once, compared many times.

Vectors of recently read texts are looked up in `kept_tokens`, so that a text costs one pass however many
others it is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .encoder import equal_length_batches
from .kept_tokens import KEPT, LONGEST
from .packaged import packaged_network, packaged_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH_SIZE = 16


class TokenVectors:
    """Gives the unit vectors of the tokens of texts, without the marks that open and close a text.

    The vectors of a text do not depend on the other texts: batches hold texts of one length and
    have one size.
    """

    @property
    def vocabulary(self) -> int:
        """How many different tokens there are."""
        return len(packaged_tokens())

    def ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The tokens of each text, at most `LONGEST`."""
        return [tuple(row) for row in packaged_tokens().ids(texts, longest=LONGEST)]

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

        tokens = packaged_tokens()
        filled = (list(texts) * BATCH_SIZE)[:BATCH_SIZE]
        rows = [[tokens.cls, *ids, tokens.sep] for ids in filled]
        with torch.inference_mode():
            hidden = packaged_network()(torch.tensor(rows)).last_hidden_state[:, 1:-1]
            units = torch.nn.functional.normalize(hidden, dim=-1)
        vectors: Floats = units.numpy()
        return vectors
