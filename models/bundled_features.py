"""The signals that the bundled scorer's calibrator reads, as one fixed row of numbers per pair.

Each pair is seen as (short, long), ordered by number of words and then by text, so a row does not depend on
which
memory was called a. Model answers come in as arrays; this module reads no model and no clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..pipeline import guards
from ..pipeline.facts.extraction import REMEMBERED_TEXTS
from .context import CONTEXT_NAMES, context_columns
from .scorer import PairInput

Item = TypeVar("Item")
Floats = NDArray[np.float64]

ENTAILS, NEUTRAL, CONTRADICTS = 0, 1, 2
DISTINCT = 2  # column of the memory head
SURE_DISTINCT = 0.99  # of one reading: decisions came out as with all readings (decision 0108)
DECIMALS = 4  # rounding hides differences of floating point between batch sizes from the decision trees
LONGEST_COMPARED = 1_000  # characters; beyond them word statistics say nothing new

_WORD = re.compile(r"[^\W_]+(?:[.:/'’-][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED = re.compile(r"\b[A-Z][\w-]+")
_NAME = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][\w-]+")
_NEGATIONS = frozenset(
    [
        "no",
        "not",
        "never",
        "none",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "without",
        "cannot",
        "can't",
        "don't",
        "doesn't",
        "didn't",
        "isn't",
        "aren't",
        "wasn't",
        "won't",
        "wouldn't",
        "shouldn't",
        "hasn't",
        "haven't",
        "dislikes",
        "hates",
        "avoids",
        "refuses",
        "stopped",
        "quit",
    ]
)
_UPDATES = frozenset(
    [
        "now",
        "anymore",
        "longer",
        "switched",
        "moved",
        "changed",
        "replaced",
        "instead",
        "cancelled",
        "dropped",
        "abandoned",
        "left",
        "former",
        "formerly",
        "previously",
        "since",
        "already",
        "finally",
        "became",
        "joined",
        "postponed",
        "delayed",
        "reverted",
        "retired",
        "stopped",
    ]
)
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "and",
        "or",
        "but",
        "with",
        "by",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "user",
        "user's",
        "users",
        "i",
        "my",
        "me",
        "we",
        "our",
        "she",
        "he",
        "her",
        "his",
        "him",
        "they",
        "their",
        "it",
        "its",
        "that",
        "this",
        "these",
        "those",
        "which",
        "who",
        "will",
        "would",
        "can",
        "could",
        "should",
        "also",
        "very",
        "so",
        "than",
        "then",
        "there",
        "when",
        "while",
        "about",
        "into",
        "over",
        "per",
    ]
)


@dataclass(frozen=True, slots=True)
class PairSignals:
    """What the network says of one pair; every array is float64.

    Attributes:
        short: the shorter memory. `long`: the other.
        cosine: similarity of the two embeddings.
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
    cosine: float
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


def read_once(short: str, long: str, cosine: float, *, entailment: Floats, memory: Floats) -> PairSignals:
    """The signals of a pair of which one reading is known, long first; the rest is taken as saying the same.

    `entailment` and `memory` are the [3] answers of that reading.
    """
    unread = np.array([[0.0, 1.0, 0.0]])
    read, said = entailment[np.newaxis], memory[np.newaxis]
    return PairSignals(
        short, long, cosine, whole_entailment=np.concatenate([read, unread]),
        whole_memory=np.concatenate([said, said]), short_parts=read, long_parts=unread, short_memory=said,
        long_memory=said, clauses=said,
    )  # fmt: skip


def screened(signals: PairSignals) -> PairSignals:
    """What the scorer would have read of a pair that was read in full: one reading, if that is sure."""
    memory = signals.whole_memory[0]
    if not sure_distinct(memory):
        return signals
    return read_once(
        signals.short, signals.long, signals.cosine, entailment=signals.whole_entailment[0], memory=memory
    )


def short_long(a: str, b: str) -> tuple[str, str]:
    """The two texts as (short, long), the same whichever comes first."""
    first, second = sorted((a, b), key=lambda text: (len(text.split()), text))
    return first, second


def feature_names(columns: int = 1) -> tuple[str, ...]:
    """Names of the columns of `features`: 1 what the pair's own texts say, 2 also where and when they stand.

    The configuration of weights says which of the two their calibrator was fitted on.
    """
    own = (*_MODEL_NAMES, *_TEXT_NAMES, *_GUARD_NAMES)
    return own if columns == 1 else (*own, *_CLAUSE_NAMES, *CONTEXT_NAMES)


def features(signals: Sequence[PairSignals], inputs: Sequence[PairInput] | None = None) -> Floats:
    """float64 [n, columns], rounded to `DECIMALS`: those of `feature_names(2)` where `inputs` are given.

    Args:
        signals: What the network says of each pair.
        inputs: The pairs themselves, in the same order; what they do not know is missing (NaN).
    """
    rows = [[*_model_row(s), *text_row(s.short, s.long), *guard_row(s.short, s.long)] for s in signals]
    if inputs is not None:
        pairs = zip(rows, signals, inputs, strict=True)
        rows = [[*row, *_clause_row(s), *context_columns(pair)] for row, s, pair in pairs]
    columns = len(feature_names(1 if inputs is None else 2))
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), columns)
    return np.round(table, DECIMALS)


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
    memory, gap = s.whole_memory.mean(axis=0), float(np.ptp(s.whole_memory, axis=0).max())
    entails, contradicts = s.whole_entailment[:, ENTAILS], s.whole_entailment[:, CONTRADICTS]
    short, long = s.short_parts[:, ENTAILS], s.long_parts[:, ENTAILS]
    against = np.concatenate([s.short_parts[:, CONTRADICTS], s.long_parts[:, CONTRADICTS]])
    conflict = np.concatenate([s.short_memory[:, 1], s.long_memory[:, 1]])
    return [
        s.cosine, float(memory[0]), float(memory[1]), gap,
        float(entails[0]), float(entails[1]), float(entails.min()), float(contradicts.max()),
        float(contradicts.min()),
        float(short.min()), float(short.mean()), float(long.min()), float(long.mean()), float(long.max()),
        float(against.max()), float(against.mean()),
        float(s.short_memory[:, 0].min()), float(s.short_memory[:, 0].mean()),
        float(s.long_memory[:, 0].max()), float(s.long_memory[:, 0].mean()),
        float(conflict.max()), float(len(short)), float(len(long)),
    ]  # fmt: skip


_CLAUSE_NAMES = ("clause_contradiction_high", "clause_duplicate_low", "clause_duplicate_high")


def _clause_row(s: PairSignals) -> list[float]:
    duplicate, contradiction = s.clauses[:, 0], s.clauses[:, 1]
    return [float(contradiction.max()), float(duplicate.min()), float(duplicate.max())]


def aligned(short: Sequence[str], long: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(statement of long, statement of short): each statement beside the one that shares most of its words.

    Statements that share no word with any other are left out. A text of one statement is read against each
    statement of the other anyway.

    >>> aligned(["Has finished the Rust book", "Has a cat"], ["Owns a dog", "Is reading the Rust book"])
    (('Is reading the Rust book', 'Has finished the Rust book'),)
    """
    if min(len(short), len(long)) < 2:
        return ()
    words = {text: _statistics(text).content for text in (*short, *long)}

    def nearest(text: str, others: Sequence[str]) -> str | None:
        near = [(_share(words[text] & words[other], words[text] | words[other]), other) for other in others]
        best = max(near, key=lambda pair: pair[0])
        return best[1] if best[0] > 0 else None

    found = [(other, text) for text in short if (other := nearest(text, long))]
    found += [(text, other) for text in long if (other := nearest(text, short))]
    return tuple(dict.fromkeys(found))


_TEXT_NAMES = (
    "short_contained", "long_contained", "overlap", "short_words", "long_words", "length_ratio",
    "short_only_words", "long_only_words", "trigram_overlap", "order_agreement",
    "numbers_short_only", "numbers_long_only", "numbers_shared",
    "names_short_only", "names_long_only", "names_shared",
    "negation_differs", "updates_short_only", "updates_long_only", "same_start",
)  # fmt: skip


def text_row(short: str, long: str) -> list[float]:
    """Word statistics of a pair, in the order of the last names of `feature_names`."""
    s, t = _statistics(short[:LONGEST_COMPARED]), _statistics(long[:LONGEST_COMPARED])
    s_names, l_names = _names(s, t), _names(t, s)
    shared = s.content & t.content
    return [
        _share(shared, s.content), _share(shared, t.content), _share(shared, s.content | t.content),
        float(len(s.words)), float(len(t.words)), len(s.words) / max(1, len(t.words)),
        float(len(s.content - t.content)), float(len(t.content - s.content)),
        _share(s.trigrams & t.trigrams, s.trigrams), _share(s.neighbours & t.neighbours, s.neighbours),
        float(len(s.numbers - t.numbers)), float(len(t.numbers - s.numbers)),
        float(len(s.numbers & t.numbers)),
        float(len(s_names - l_names)), float(len(l_names - s_names)), float(len(s_names & l_names)),
        float(s.negations % 2 != t.negations % 2),
        float(len(s.updates - t.updates)), float(len(t.updates - s.updates)),
        float(s.words[:2] == t.words[:2]),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Statistics:
    """What `text_row` needs of one text, computed once for all its pairs."""

    words: tuple[str, ...]
    distinct: frozenset[str]
    content: frozenset[str]
    numbers: frozenset[str]
    capitalised: frozenset[str]
    inside: frozenset[str]
    updates: frozenset[str]
    negations: int
    trigrams: frozenset[str]
    neighbours: frozenset[tuple[str, str]]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _statistics(text: str) -> _Statistics:
    words = tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))
    plain = " ".join(words)
    return _Statistics(
        words=words,
        distinct=frozenset(words),
        content=frozenset(_stem(word) for word in words if word not in _STOP),
        numbers=frozenset(_NUMBER.findall(text)),
        capitalised=frozenset(word.lower() for word in _CAPITALISED.findall(text)),
        inside=frozenset(name.lower() for name in _NAME.findall(text)),
        updates=frozenset(_UPDATES.intersection(words)),
        negations=sum(word in _NEGATIONS for word in words),
        trigrams=frozenset(plain[i : i + 3] for i in range(len(plain) - 2)),
        neighbours=frozenset(pairwise(words)),
    )


def _names(text: _Statistics, other: _Statistics) -> frozenset[str]:
    """Capitalised words inside sentences, and those at a start that the other text also has."""
    return (text.inside | (text.capitalised & other.distinct)) - _STOP


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
    vetoes = {item.kind for item in evidence if item.veto} - {"rival"}
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


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _share(part: frozenset[Item], whole: frozenset[Item]) -> float:
    return len(part) / len(whole) if whole else 0.0
