"""The screen before the network: which pairs of a store are so plainly distinct that nothing need be read.

Two steps, each a few boosted trees. The first sees where the pair stands and which words it shares; the
second compares every token of one text with every token of the other (late interaction: Khattab and Zaharia
2020), over vectors computed once per text. Two texts alone say too little: without a store all is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..encoder import TokenVectors, encodable
from ..scorer import PairInput, Remember, forgetful
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


class _Text(NamedTuple):
    ids: tuple[int, ...]
    tokens: frozenset[int]
    mass: int
    trigrams: frozenset[str]
    numbers: frozenset[str]
    words: int


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

    def worth(self, pairs: Sequence[PairInput], remember: Remember = forgetful) -> Floats:
        """How much speaks for reading each pair, float64 [n]: 0 if nothing does, 1 without a store."""
        worth = np.ones(len(pairs))
        placed = np.flatnonzero([pair.context is not None for pair in pairs])
        if not len(placed):
            return worth
        chosen = [pairs[at] for at in placed.tolist()]
        texts = self.texts(chosen)
        words = self.word_rows(chosen, texts)
        kept = np.flatnonzero(self.words.probabilities(words)[:, 0] >= self.limits.words)
        worth[placed] = 0.0
        if len(kept):
            left = [chosen[at] for at in kept]
            late = remember("screen", left, lambda some: self.late_rows(some, texts, remember))
            rows = np.hstack([words[kept], np.round(late.astype(np.float64), DECIMALS)])
            said = self.late.probabilities(rows)[:, 0]
            worth[placed[kept]] = np.where(said >= self.limits.late, said, 0.0)
        return worth

    def texts(self, pairs: Sequence[PairInput]) -> dict[str, _Text]:
        """What is known of each text of the pairs."""
        texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
        known = {}
        for text, ids in zip(texts, TokenVectors().ids([encodable(text) for text in texts]), strict=True):
            tokens, read = frozenset(ids), text[:LONGEST_COMPARED]
            plain = " ".join(re.findall(r"\w+", read.lower()))
            trigrams = frozenset(plain[at : at + 3] for at in range(len(plain) - 2))
            mass, numbers = int(self.token_weight[list(tokens)].sum()), frozenset(_NUMBER.findall(read))
            known[text] = _Text(ids, tokens, mass, trigrams, numbers, len(read.split()))
        return known

    def word_rows(self, pairs: Sequence[PairInput], texts: dict[str, _Text]) -> Floats:
        """float64 [n, columns]: where a pair stands, and what its texts share literally."""
        weight, rows = self.token_weight.tolist(), []
        for pair in pairs:
            a, b = texts[pair.a], texts[pair.b]
            shared = sum(weight[token] for token in a.tokens & b.tokens)
            few, many = sorted((a.mass, b.mass))
            same = len(a.trigrams & b.trigrams)
            least, most = sorted((len(a.trigrams), len(b.trigrams)))
            only = sorted((len(a.numbers - b.numbers), len(b.numbers - a.numbers)))
            rows.append([
                pair.cosine, *around(pair.context),
                shared / 100, shared / max(many, 1), shared / max(few, 1),
                same / max(least, 1), same / max(least + most - same, 1), *sorted((a.words, b.words)),
                len(a.numbers & b.numbers), *only,
            ])  # fmt: skip
        return _table(rows, WORD_NAMES)

    def late_rows(
        self, pairs: Sequence[PairInput], texts: dict[str, _Text], remember: Remember = forgetful
    ) -> Vectors:
        """float32 [n, columns]: how much of each text is said by the other, token by token."""
        read = {text: texts[text].ids for pair in pairs for text in (pair.a, pair.b)}
        vectors = TokenVectors().of(read, remember)
        weights = {text: self.token_weight[list(ids)] / 100 for text, ids in read.items()}
        rows = []
        for a, b in (sorted((pair.a, pair.b)) for pair in pairs):
            sides: tuple[tuple[float, ...], ...] = ((0.0,) * (len(LATE_NAMES) // 2),) * 2
            if read[a] and read[b]:
                cosine = vectors[a] @ vectors[b].T
                sides = _said(cosine.max(axis=1), weights[a]), _said(cosine.max(axis=0), weights[b])
            rows.append([value for both in zip(*sides, strict=True) for value in sorted(both)])
        return _table(rows, LATE_NAMES).astype(np.float32)

    @classmethod
    def load(cls, path: Path) -> Screen:
        """Read what `scripts/train/screen.py` wrote; ValueError or KeyError for anything else."""
        with np.load(path, allow_pickle=False) as arrays:
            if str(arrays["columns"]) != COLUMNS:
                raise ValueError(f"{path} was fitted on other columns")
            words, late = (Calibrator.of(arrays, prefix) for prefix in ("words_", "late_"))
            limits = Limits(*map(float, arrays["limits"]))
            return cls(arrays["token_weight"].astype(np.int64), words, late, limits)


def _table(rows: Sequence[Sequence[float]], names: Sequence[str]) -> Floats:
    return np.round(np.asarray(rows, dtype=np.float64).reshape(len(rows), len(names)), DECIMALS)


def _said(best: NDArray[np.float32], weight: Floats) -> tuple[float, ...]:
    """How well tokens are matched: by weight, plainly, weight that is not and that is, the most telling."""
    telling = weight * weight
    return (
        float(best @ weight / max(weight.sum(), 0.01)), float(best.mean()),
        float(weight[best < UNMATCHED].sum()), float(weight[best > MATCHED].sum()),
        float(best @ telling / max(telling.sum(), 0.01)),
    )  # fmt: skip
