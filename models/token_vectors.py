"""One vector for each token of a text, from the packaged encoder: computed once, compared many times.

Vectors that the encoder has just computed anyway are looked up in `kept_tokens`; those of an earlier night
are remembered by whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .encoder import equal_length_batches
from .kept_tokens import KEPT, LONGEST, packed, unpacked
from .packaged import packaged_network, packaged_tokens
from .scorer import forgetful

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scorer import Remember

    Floats = NDArray[np.float32]

BATCH_SIZE = 4


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

    def of(self, texts: Mapping[str, tuple[int, ...]], remember: Remember = forgetful) -> dict[str, Floats]:
        """float32 [tokens, d], nearly unit rows, of each text that has tokens.

        Args:
            texts: Their tokens, as `ids` gives them.
            remember: Knows, or computes, the vectors of a text.
        """
        wanted = sorted(text for text, ids in texts.items() if ids)
        said = remember.texts("tokens", wanted, lambda some: self._packed([texts[text] for text in some]))
        return {text: unpacked(data) for text, data in zip(wanted, said, strict=True)}

    def _packed(self, texts: Sequence[tuple[int, ...]]) -> list[bytes]:
        known = {ids: vectors for ids in texts if (vectors := KEPT.get(ids)) is not None}
        missing = sorted({ids for ids in texts if ids not in known})
        for rows in equal_length_batches([len(ids) for ids in missing], size=BATCH_SIZE):
            part = [missing[row] for row in rows]
            known |= {ids: packed(vectors) for ids, vectors in zip(part, self._forward(part), strict=False)}
        return [known[ids] for ids in texts]

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
