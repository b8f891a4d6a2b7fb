"""An encoder that needs no model: which significant words a text holds.

It finds candidates for the keyword scorer. For sets of words the cosine is never below the share of
common words in the larger set, so a floor under the keyword rule's own limit loses no pair; a hash
collision can only add candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .text.words import significant_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 2048
"""Wide enough that two words of a short memory seldom share a column."""


class LexicalEncoder:
    """Encodes a text as the set of its significant words, hashed into columns."""

    name = f"words-1-{DIMENSIONS}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts: float32 [n, 2048], rows of length one (zero for a text without words)."""
        import numpy as np

        matrix = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            columns = [_column(word) for word in significant_words(text)]
            matrix[row, columns] = 1.0
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.ascontiguousarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def _column(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % DIMENSIONS
