"""The screen before the network: which pairs of a store are so plainly distinct that nothing need be read.

Two steps, each a few boosted trees. The first sees where the pair stands and which words it shares; the
second compares every token of one text with every token of the other (late interaction: Khattab and Zaharia
2020), over vectors computed once per text. Two texts alone say too little: without a store all is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..encoder import TokenVectors, encodable
from ..scorer import PairInput, PairTable, Remember, forgetful
from ..text.tables import table_words
from .calibrator import Calibrator
from .columns import DECIMALS, LONGEST_COMPARED, around

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]

SCREEN_FILE = "screen.npz"
MATCHED, UNMATCHED = 0.75, 0.6  # cosine of tokens from which one says the other, and below which it does not

WORD_NAMES, LATE_NAMES = (table_words("columns", key) for key in ("screen_words", "screen_late"))
COLUMNS = "\n".join(",".join(names) for names in (WORD_NAMES, LATE_NAMES))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class _Texts(NamedTuple):
    """What is known of texts, a row each; ones where a text has a token, three letters, or a number."""

    tokens: Any
    trigrams: Any
    numbers: Any
    words: Ints  # int64 [n], how many


@lru_cache(maxsize=1)
def _read(texts: tuple[str, ...]) -> _Texts:
    """The same texts are asked for with some thousand pairs after the other."""
    tokens, read = TokenVectors(), [text[:LONGEST_COMPARED] for text in texts]
    ids = tokens.ids([encodable(text) for text in texts])
    plain = (" ".join(re.findall(r"\w+", text.lower())) for text in read)
    return _Texts(
        _ones((frozenset(row) for row in ids), range(tokens.vocabulary)),
        _ones({text[at : at + 3] for at in range(len(text) - 2)} for text in plain),
        _ones(map(frozenset, map(_NUMBER.findall, read))),
        np.array([len(text.split()) for text in read], dtype=np.int64),
    )


def _ones(rows: Iterable[Iterable[Any]], names: Iterable[Any] = ()) -> Any:  # noqa: ANN401  (scipy is untyped)
    """A sparse matrix, int64, with a column for each item that a row has."""
    from scipy.sparse import csr_matrix

    column = {name: at for at, name in enumerate(names)}
    columns = [[column.setdefault(item, len(column)) for item in row] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.array([at for row in columns for at in row], dtype=np.int64)
    return csr_matrix((np.ones(len(flat), np.int64), flat, starts), shape=(len(columns), len(column)))


def _both(matrix: Any, rows: Ints, weight: Ints | None = None) -> Ints:  # noqa: ANN401
    """How many columns both rows of each pair have, or what these weigh: int64 [m]."""
    shared = matrix[rows[:, 0]].multiply(matrix[rows[:, 1]])
    told: Ints = np.asarray(shared.sum(axis=1)).ravel() if weight is None else shared @ weight
    return told


class Limits(NamedTuple):
    """Scores below which a pair is left out, by step."""

    words: float
    late: float


@dataclass(frozen=True, slots=True)
class Screen:
    """Says which pairs must be read, by trees over `WORD_NAMES`, and over `LATE_NAMES`, too."""

    token_weight: Ints  # int64 [vocabulary], how much a token says, in hundredths; frequent ones say little
    words: Calibrator
    late: Calibrator
    limits: Limits

    def worth(self, pairs: PairTable, remember: Remember = forgetful) -> Floats:
        """How much speaks for reading each pair, float64 [n]: 0 if nothing does."""
        words = self.word_rows(pairs)
        kept = np.flatnonzero(self.words.probabilities(words)[:, 0] >= self.limits.words)
        worth = np.zeros(len(words))
        if len(kept):
            ends = ((pairs.texts[i], pairs.texts[j]) for i, j in pairs.rows[kept].tolist())
            late = remember(
                "screen", [PairInput(*both, 0.0) for both in ends], partial(self.late_rows, remember=remember)
            )
            rows = np.hstack([words[kept], np.round(late.astype(np.float64), DECIMALS)])
            said = self.late.probabilities(rows)[:, 0]
            worth[kept] = np.where(said >= self.limits.late, said, 0.0)
        return worth

    def word_rows(self, pairs: PairTable) -> Floats:
        """float64 [n, columns]: where a pair stands, and what its texts share literally."""
        known, rows, weight = _read(pairs.texts), pairs.rows, self.token_weight
        shared, same, both = (
            _both(known.tokens, rows, weight),
            _both(known.trigrams, rows),
            _both(known.numbers, rows),
        )
        few, many = _sides(known.tokens @ weight, rows)
        least, most = _sides(np.diff(known.trigrams.indptr), rows)
        columns = [
            shared / 100, shared / np.maximum(many, 1), shared / np.maximum(few, 1),
            same / np.maximum(least, 1), same / np.maximum(least + most - same, 1),
            *_sides(known.words, rows), both, *_sides(np.diff(known.numbers.indptr), rows) - both,
        ]  # fmt: skip
        return np.round(np.column_stack([pairs.cosines, around(pairs.places), *columns]), DECIMALS)

    def late_rows(self, pairs: Sequence[PairInput], *, remember: Remember = forgetful) -> Vectors:
        """float32 [n, columns]: how much of each text is said by the other, token by token."""
        texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
        read = dict(zip(texts, TokenVectors().ids(list(map(encodable, texts))), strict=True))
        vectors = TokenVectors().of(read, remember)
        weights = {text: self.token_weight[list(ids)] / 100 for text, ids in read.items()}
        best, weight = list[Vectors](), list[Floats]()
        for a, b in (sorted((pair.a, pair.b)) for pair in pairs):
            cosine = vectors[a] @ vectors[b].T if read[a] and read[b] else _NOTHING
            best += [cosine.max(axis=1), cosine.max(axis=0)]
            weight += [weights[a], weights[b]] if cosine is not _NOTHING else [_NOTHING[0]] * 2
        said = _said(best, weight).reshape(len(pairs), 2, -1)
        table = np.sort(said, axis=1).transpose(0, 2, 1).reshape(len(pairs), len(LATE_NAMES))
        return np.round(table, DECIMALS).astype(np.float32)

    @classmethod
    def load(cls, path: Path) -> Screen:
        """Read what `scripts/train/screen.py` wrote; ValueError or KeyError for anything else."""
        with np.load(path, allow_pickle=False) as arrays:
            if str(arrays["columns"]) != COLUMNS:
                raise ValueError(f"{path} was fitted on other columns")
            words, late = (Calibrator.of(arrays, prefix) for prefix in ("words_", "late_"))
            limits = Limits(*map(float, arrays["limits"]))
            return cls(arrays["token_weight"].astype(np.int64), words, late, limits)


def _sides(values: Ints, rows: Ints) -> Ints:
    """The lower and the higher value of each pair, int64 [2, m]."""
    return np.sort(values[rows.T], axis=0)


_NOTHING = np.zeros((1, 1), dtype=np.float32)  # of a text without tokens


def _said(best: Sequence[Vectors], weight: Sequence[Floats]) -> Floats:
    """How well tokens are matched, float64 [n, 5], of the best cosine and the weight of each, text by text.

    By weight, plainly, weight that is not matched and that is, and by the most telling.
    """
    if not best:
        return np.zeros((0, 5))
    starts = np.cumsum([0, *map(len, best[:-1])])
    flat, weights = np.concatenate(best).astype(np.float64), np.concatenate(weight)

    def summed(of_tokens: Floats) -> Floats:
        whole: Floats = np.add.reduceat(of_tokens, starts)
        return whole

    telling = weights * weights
    return np.stack([
        summed(flat * weights) / np.maximum(summed(weights), 0.01),
        summed(flat) / summed(np.ones(len(flat))),
        summed(weights * (flat < UNMATCHED)), summed(weights * (flat > MATCHED)),
        summed(flat * telling) / np.maximum(summed(telling), 0.01),
    ], axis=1)  # fmt: skip
