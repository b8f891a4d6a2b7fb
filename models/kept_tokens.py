"""A cache of the token vectors of the texts that the packaged encoder read last.

The encoder computes these vectors anyway before it averages them; `token_vectors` looks here first.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Floats = NDArray[np.float32]

LONGEST = 128
"""Most tokens of a text that are compared; the rest of a long memory is compared by its words only."""

KEPT_BYTES = 64 << 20


class TokenCache:
    """Unit vectors of the tokens of recently read texts; the oldest texts are dropped first."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[int, ...], Floats] = OrderedDict()
        self._bytes = 0

    def get(self, ids: tuple[int, ...]) -> Floats | None:
        """The vectors of a text given by its tokens, if they are still known."""
        return self._rows.get(ids)

    def add(self, ids: tuple[int, ...], vectors: Floats) -> None:
        """Keep the vectors of a text."""
        if ids not in self._rows:
            self._rows[ids] = vectors
            self._bytes += vectors.nbytes
        while self._bytes > KEPT_BYTES:
            _, oldest = self._rows.popitem(last=False)
            self._bytes -= oldest.nbytes

    def add_batch(self, ids: Tensor, hidden: Tensor) -> None:
        """Add a batch of texts of equally many tokens: ids [n, t] and the encoder's vectors [n, t, d]."""
        import torch

        units = torch.nn.functional.normalize(hidden[:, 1:-1].float(), dim=-1).numpy()
        for row, vectors in zip(ids[:, 1:-1].tolist(), units, strict=True):
            if len(row) <= LONGEST:
                self.add(tuple(row), vectors.copy())


KEPT = TokenCache()
"""The cache of this process: filled by the packaged encoder, read by `token_vectors`."""
