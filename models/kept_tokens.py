"""What the packaged encoder made of the tokens of texts lately.

It makes these vectors anyway before it averages them; whoever compares tokens looks here first.
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
"""Tokens of a text that are compared; what a long memory says is said by then, or is found by its words."""

KEPT_BYTES = 64 << 20


class Kept:
    """Unit vectors of the tokens of texts that were read lately, the oldest forgotten first."""

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

    def overhear(self, ids: Tensor, hidden: Tensor) -> None:
        """Keep what the packaged encoder made of texts with equally many tokens: [n, t] and [n, t, d]."""
        import torch

        units = torch.nn.functional.normalize(hidden[:, 1:-1].float(), dim=-1).numpy()
        for row, vectors in zip(ids[:, 1:-1].tolist(), units, strict=True):
            if len(row) <= LONGEST:
                self.add(tuple(row), vectors.copy())


KEPT = Kept()
"""Of this process: whoever embeds with the packaged encoder fills it, whoever compares tokens looks here."""
