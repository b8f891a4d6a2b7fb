"""The signals that the bundled scorer's calibrator reads, as one fixed row of numbers per pair.

Each pair is seen as (short, long), ordered by number of words and then by text, so a row does not depend on
which memory was called a. Model answers come in as arrays; this module loads no model and reads no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import guards
from ..bindings import BINDING_NAMES, binding_row
from ..facts.contrast import CONTRAST_NAMES, contrast
from ..scorer import PairInput
from .context import CONTEXT_NAMES, context_columns
from .text_columns import LONGEST_COMPARED, TEXT_NAMES, share, text_row, text_statistics

Floats = NDArray[np.float64]

ENTAILS, NEUTRAL, CONTRADICTS = 0, 1, 2
DISTINCT = 2  # column of the memory head
SURE_DISTINCT = 0.99  # of one reading: decisions came out as with all readings (decision 19)
DECIMALS = 4  # rounding hides differences of floating point between batch sizes from the decision trees


@dataclass(frozen=True, slots=True)
class PairSignals:
    """What the network says of one pair; every array is float64.

    Attributes:
        short: the shorter memory. `long`: the other.
        whole_entailment: [2, 3] entails, neutral, contradicts; row 0 long -> short, row 1 short -> long.
        whole_memory: [2, 3] duplicate, contradiction, distinct; row 0 reads long first, row 1 short first.
        short_parts: [n, 3] long -> each statement of short.
        long_parts: [m, 3] short -> each statement of long.
        short_memory: [n, 3] memory head on (long, statement of short). `long_memory`: [m, 3] the mirror.
        clauses: [k, 3] memory head on (statement of long, statement of short) where the two share words most;
            the whole texts where one of them is one statement.
    """

    short: str
    long: str
    whole_entailment: Floats
    whole_memory: Floats
    short_parts: Floats
    long_parts: Floats
    short_memory: Floats
    long_memory: Floats
    clauses: Floats


def sure_distinct(memory: Floats) -> bool:
    """Whether one reading, [3] duplicate, contradiction, distinct, is so sure that no other is needed."""
    return bool(np.round(memory[DISTINCT], DECIMALS) >= SURE_DISTINCT)


def read_once(short: str, long: str, *, entailment: Floats, memory: Floats) -> PairSignals:
    """The signals of a pair of which one reading is known, long first; the others are assumed to agree.

    `entailment` and `memory` are the [3] answers of that reading.
    """
    unread = np.array([[0.0, 1.0, 0.0]])
    read, said = entailment[np.newaxis], memory[np.newaxis]
    return PairSignals(
        short, long, whole_entailment=np.concatenate([read, unread]),
        whole_memory=np.concatenate([said, said]), short_parts=read, long_parts=unread, short_memory=said,
        long_memory=said, clauses=said,
    )  # fmt: skip


def screened(signals: PairSignals) -> PairSignals:
    """What the scorer would have read of a pair that was read in full: one reading, if that is sure."""
    memory = signals.whole_memory[0]
    if not sure_distinct(memory):
        return signals
    return read_once(signals.short, signals.long, entailment=signals.whole_entailment[0], memory=memory)


def short_long(a: str, b: str) -> tuple[str, str]:
    """The two texts as (short, long), the same whichever comes first."""
    first, second = sorted((a, b), key=lambda text: (len(text.split()), text))
    return first, second


def feature_names() -> tuple[str, ...]:
    """Names of the columns of `features`; those of a pair's place and dates come last."""
    own = (*_MODEL_NAMES, *TEXT_NAMES, *_GUARD_NAMES, *_CLAUSE_NAMES, *CONTRAST_NAMES, *BINDING_NAMES)
    return (*own, *CONTEXT_NAMES)


def features(signals: Sequence[PairSignals], inputs: Sequence[PairInput]) -> Floats:
    """float64 [n, len(feature_names())], rounded to `DECIMALS`.

    Args:
        signals: What the network says of each pair.
        inputs: The pairs themselves, in the same order; what they do not know is missing (NaN).
    """
    return placed(own_columns(signals), inputs)


def own_columns(signals: Sequence[PairSignals]) -> Floats:
    """The first of `feature_names()`: what the texts alone say, without cosine and place."""
    rows = [
        [
            *_model_row(s),
            *text_row(s.short, s.long),
            *guard_row(s.short, s.long),
            *_clause_row(s),
            *contrast_row(s.short, s.long),
            *binding_row(s.short[:LONGEST_COMPARED], s.long[:LONGEST_COMPARED]),
        ]
        for s in signals
    ]
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), len(feature_names()) - len(CONTEXT_NAMES))
    return np.round(table, DECIMALS)


def placed(own: Floats, inputs: Sequence[PairInput]) -> Floats:
    """The whole table of `features` out of `own_columns`, in whatever precision these were kept."""
    table = own.astype(np.float64)
    table[:, _COSINE] = [pair.cosine if np.isfinite(pair.cosine) else 0.0 for pair in inputs]
    around = np.asarray([context_columns(pair) for pair in inputs], dtype=np.float64)
    joined: Floats = np.hstack([table, around.reshape(len(inputs), len(CONTEXT_NAMES))])
    return np.round(joined, DECIMALS)


_COSINE = 0  # where the model's names have it; only `placed` knows it
_MODEL_NAMES = (
    "cosine", "memory_duplicate", "memory_contradiction", "memory_gap",
    "long_entails_short", "short_entails_long", "entails_low", "contradicts_high", "contradicts_low",
    "short_covered_low", "short_covered_mean", "long_covered_low", "long_covered_mean", "long_covered_high",
    "part_contradicts_high", "part_contradicts_mean",
    "short_part_duplicate_low", "short_part_duplicate_mean", "long_part_duplicate_high",
    "long_part_duplicate_mean",
    "part_memory_contradiction_high", "short_statements", "long_statements",
)  # fmt: skip


def _model_row(s: PairSignals) -> list[float]:
    memory, gap = s.whole_memory.mean(axis=0), float(np.max(np.ptp(s.whole_memory, axis=0)))
    entails, contradicts = s.whole_entailment[:, ENTAILS], s.whole_entailment[:, CONTRADICTS]
    short, long = s.short_parts[:, ENTAILS], s.long_parts[:, ENTAILS]
    against = np.concatenate([s.short_parts[:, CONTRADICTS], s.long_parts[:, CONTRADICTS]])
    conflict = np.concatenate([s.short_memory[:, 1], s.long_memory[:, 1]])
    return [
        0.0, float(memory[0]), float(memory[1]), gap,
        float(entails[0]), float(entails[1]), float(np.min(entails)), float(np.max(contradicts)),
        float(np.min(contradicts)),
        float(np.min(short)), float(short.mean()),
        float(np.min(long)), float(long.mean()), float(np.max(long)),
        float(np.max(against)), float(against.mean()),
        float(np.min(s.short_memory[:, 0])), float(s.short_memory[:, 0].mean()),
        float(np.max(s.long_memory[:, 0])), float(s.long_memory[:, 0].mean()),
        float(np.max(conflict)), float(len(short)), float(len(long)),
    ]  # fmt: skip


_CLAUSE_NAMES = ("clause_contradiction_high", "clause_duplicate_low", "clause_duplicate_high")


def _clause_row(s: PairSignals) -> list[float]:
    duplicate, contradiction = s.clauses[:, 0], s.clauses[:, 1]
    return [float(np.max(contradiction)), float(np.min(duplicate)), float(np.max(duplicate))]


def aligned(short: Sequence[str], long: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(statement of long, statement of short): each statement beside the one that shares most of its words.

    Statements that share no word with any other are left out. A text of one statement is read against each
    statement of the other anyway.

    >>> aligned(["Has finished the Rust book", "Has a cat"], ["Owns a dog", "Is reading the Rust book"])
    (('Is reading the Rust book', 'Has finished the Rust book'),)
    """
    if min(len(short), len(long)) < 2:
        return ()
    words = {text: text_statistics(text).content for text in (*short, *long)}

    def nearest(text: str, others: Sequence[str]) -> str | None:
        """The other statement that shares most words; None if none shares any."""
        near = [(share(words[text] & words[other], words[text] | words[other]), other) for other in others]
        best = max(near, key=lambda pair: pair[0])
        return best[1] if best[0] > 0 else None

    pairs = [(other, text) for text in short if (other := nearest(text, long))]
    pairs += [(text, other) for text in long if (other := nearest(text, short))]
    return tuple(dict.fromkeys(pairs))


_GUARD_KINDS = (
    "number", "date", "weekday", "time", "frequency", "name", "identifier", "version", "environment",
    "kinship",
    "quantifier", "negation", "trait",
)  # fmt: skip
_GUARD_NAMES = (
    "vetoes", "veto_kinds", "soft_kinds", "order", "swap", "exception", "only_fewer", "only_more", "equal",
    *(f"{kind}_conflict" for kind in _GUARD_KINDS), *(f"{kind}_only_min" for kind in _GUARD_KINDS),
    *(f"{kind}_only_max" for kind in _GUARD_KINDS),
)  # fmt: skip


_FEWER, _MORE, _EQUAL = (
    tuple(name for name in guards.FEATURE_NAMES if name.endswith(ending))
    for ending in ("_only_min", "_only_max", "_equal")
)


def guard_row(short: str, long: str) -> list[float]:
    """What the typed comparison of details says of a pair, in the order of the names' last section."""
    short, long = short[:LONGEST_COMPARED], long[:LONGEST_COMPARED]
    known, evidence = guards.described(short, long)
    vetoes = {item.kind for item in evidence if item.veto} - guards.UNCOUNTED
    soft = {item.kind for item in evidence if not item.veto} - {"order"}
    columns = {
        **known,
        "veto_kinds": float(len(vetoes)),
        "soft_kinds": float(len(soft)),
        "swap": float("swap" in vetoes),
        "only_fewer": sum(known[name] for name in _FEWER),
        "only_more": sum(known[name] for name in _MORE),
        "equal": sum(known[name] for name in _EQUAL),
    }
    return [float(columns.get(name, 0.0)) for name in _GUARD_NAMES]


def contrast_row(short: str, long: str) -> list[float]:
    """How the frames of a pair stand to each other, in the order of `CONTRAST_NAMES`."""
    return contrast(short[:LONGEST_COMPARED], long[:LONGEST_COMPARED])
