"""How many words two memories share, weighted by rarity, and compared with what each shares with others.

The more memories of the group have a word, the less it weighs. Weights are whole hundredths, summed exactly,
so that the order of the memories does not matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.text.words import significant_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DECIMALS = 6
_CELLS_AT_ONCE = 1 << 21


class SharedWords:
    """Shares of words between the memories of one scope and category.

    A share is the weight of the words in both texts by the geometric mean of that of the words in each.

    Args:
        texts: The memories, copies left out.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from scipy.sparse import csr_matrix

        words = [sorted(significant_words(text)) for text in texts]
        count = Counter(word for row in words for word in row)
        column = {word: at for at, word in enumerate(sorted(count))}
        counts = np.array([count[word] for word in sorted(count)], dtype=np.float64)
        weight = np.round(100 * np.log((len(texts) + 1) / (counts + 0.5))).astype(np.int64)
        columns = np.array([column[word] for row in words for word in row], dtype=np.int64)
        starts = np.cumsum([0, *(len(row) for row in words)])
        shape = (len(texts), len(column))
        ones = np.ones(len(columns), dtype=np.int64)
        self._weighed: Any = csr_matrix((weight[columns], columns, starts), shape=shape)
        self._plain: Any = csr_matrix((ones, columns, starts), shape=shape)
        mass = np.asarray(self._weighed.sum(axis=1)).ravel()
        self._root = np.sqrt(np.maximum(mass, 1).astype(np.float64))

    def of_pairs(self, first: Ints, second: Ints) -> Floats:
        """The share of each pair of rows: float64 [m]."""
        shared = np.asarray(self._weighed[first].multiply(self._plain[second]).sum(axis=1)).ravel()
        cosines: Floats = np.round(shared / (self._root[first] * self._root[second]), DECIMALS)
        return cosines

    def nearest(self, rows: Ints, width: int) -> tuple[Floats, Ints]:
        """Shares and rows [n, at most width] of those that share most with each row, itself among them."""
        width = min(width, len(self._root))
        values, ids = np.zeros((len(rows), width)), np.zeros((len(rows), width), dtype=np.int64)
        step = max(1, _CELLS_AT_ONCE // len(self._root))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            shared = (self._weighed[rows[part]] @ self._plain.T).toarray()
            shares = np.round(shared / (self._root[rows[part], None] * self._root[None]), DECIMALS)
            ids[part] = np.argpartition(-shares, width - 1, axis=1)[:, :width]
            values[part] = np.take_along_axis(shares, ids[part], axis=1)
        return values, ids


def shared_words(texts: Sequence[str], *, most: int) -> Counter[tuple[int, int]]:
    """How many significant words each two texts share, by their rows in order; pairs with none are left out.

    Args:
        texts: What is compared.
        most: A word that more texts have is no reason to compare two of them.
    """
    holders: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        for word in significant_words(text):
            holders[word].append(row)
    shared: Counter[tuple[int, int]] = Counter()
    for rows in holders.values():
        if len(rows) <= most:
            shared.update((i, j) for at, i in enumerate(rows) for j in rows[at + 1 :])
    return shared
