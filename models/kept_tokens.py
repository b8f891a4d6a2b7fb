"""The vectors of the tokens of texts, in a byte a number, and those of the texts that were read last.

A vector is kept as whole numbers of 1/127 of its largest part: a cosine of two tokens moves by about 0.001,
and a text takes a quarter of the room, on disk and in memory.
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

DIMENSION = 384
KEPT_BYTES = 32 << 20
_STEPS = 127


def packed(vectors: Floats) -> bytes:
    """Unit rows, float32 [tokens, 384], as a scale and 384 whole numbers each."""
    scales = np.abs(vectors).max(axis=1, keepdims=True) / _STEPS
    steps = np.rint(vectors / scales).astype(np.int8)
    return b"".join((scales.astype("<f4").tobytes(), steps.tobytes()))


def unpacked(data: bytes) -> Floats:
    """What `packed` was given, nearly: float32 [tokens, 384]."""
    count = len(data) // (DIMENSION + 4)
    scales = np.frombuffer(data, "<f4", count)
    numbers = np.frombuffer(data, np.int8, offset=4 * count).reshape(count, DIMENSION)
    return np.asarray(numbers * scales[:, None], dtype=np.float32)


class TokenCache:
    """Packed vectors of the tokens of recently read texts; the oldest texts are dropped first."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[int, ...], bytes] = OrderedDict()
        self._bytes = 0

    def get(self, ids: tuple[int, ...]) -> bytes | None:
        """The vectors of a text given by its tokens, if they are still known."""
        return self._rows.get(ids)

    def add(self, ids: tuple[int, ...], vectors: bytes) -> None:
        """Keep the vectors of a text."""
        if ids not in self._rows:
            self._rows[ids] = vectors
            self._bytes += len(vectors)
        while self._bytes > KEPT_BYTES:
            _, oldest = self._rows.popitem(last=False)
            self._bytes -= len(oldest)

    def add_batch(self, ids: Tensor, hidden: Tensor) -> None:
        """Add a batch of texts of equally many tokens: ids [n, t] and the encoder's vectors [n, t, d]."""
        import torch

        units = torch.nn.functional.normalize(hidden[:, 1:-1].float(), dim=-1).numpy()
        for row, vectors in zip(ids[:, 1:-1].tolist(), units, strict=True):
            if 0 < len(row) <= LONGEST:
                self.add(tuple(row), packed(vectors))


KEPT = TokenCache()
"""The cache of this process: filled by the packaged encoder, read by `token_vectors`."""
