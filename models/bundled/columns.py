"""The signals of a pair, seen as (short, long) whichever was called a, as one row for the calibrator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import nan
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import guards
from ..scorer import PLACE_NAMES, PairInput, numbers_of
from ..text.tables import pattern, table_words
from ..text.words import CACHED_TEXTS

Floats = NDArray[np.float64]
Item = TypeVar("Item")

_WORD = pattern("statistics_word")
ENTAILS, NEUTRAL, CONTRADICTS = 0, 1, 2
DISTINCT = 2  # column of the memory head
SURE_DISTINCT = 0.99  # of one reading: decisions came out as with all readings (decision 19)
DECIMALS = 4  # rounding hides differences of floating point between batch sizes from the decision trees
LONGEST_COMPARED = 1_000  # characters; beyond them word statistics say nothing new
MOST_PARTS = 24
_MODEL_NAMES, TEXT_NAMES, GUARD_NAMES, CONTEXT_NAMES = (
    table_words("columns", key) for key in ("network", "words", "guards", "context")
)


class PairSignals(NamedTuple):
    """What the network says of one pair, float64; row 0 long -> short, row 1 short -> long."""

    short: str  # the shorter memory
    long: str
    entailment: Floats  # [2, 3] entails, neutral, contradicts
    memory: Floats  # [2, 3] duplicate, contradiction, distinct


def sure_distinct(memory: Floats) -> bool:
    """Whether one reading, [3] duplicate, contradiction, distinct, is so sure that no other is needed."""
    return bool(np.round(memory[DISTINCT], DECIMALS) >= SURE_DISTINCT)


def read_once(short: str, long: str, entailment: Floats, memory: Floats) -> PairSignals:
    """The signals of a pair of which one reading, [3] each, is known, long first; the other would agree."""
    unread = np.array([0.0, 1.0, 0.0])
    return PairSignals(short, long, np.stack([entailment, unread]), np.stack([memory, memory]))


def short_long(a: str, b: str) -> tuple[str, str]:
    """The two texts as (short, long), the same whichever comes first."""
    first, second = sorted((a, b), key=lambda text: (len(text.split()), text))
    return first, second


def own_columns(signals: Sequence[PairSignals]) -> Floats:
    """The first of `FEATURE_NAMES`: what the texts alone say, without cosine and place."""
    rows = []
    for s in signals:
        both = s.short[:LONGEST_COMPARED], s.long[:LONGEST_COMPARED]
        rows.append([*_model_row(s), *text_row(*both), *guard_row(*both)])
    return np.round(np.asarray(rows, dtype=np.float64).reshape(len(rows), len(_OWN_NAMES)), DECIMALS)


def placed(own: Floats, inputs: Sequence[PairInput]) -> Floats:
    """float64 [n, len(FEATURE_NAMES)], rounded, of `own_columns` in whatever precision these were kept."""
    table = own.astype(np.float64)
    table[:, 0] = [pair.cosine if np.isfinite(pair.cosine) else 0.0 for pair in inputs]
    joined: Floats = np.hstack([table, context_columns(inputs)])
    return np.round(joined, DECIMALS)


def _model_row(s: PairSignals) -> list[float]:
    """What the network says; the cosine is filled in by `placed`, which alone knows it."""
    memory, gap = s.memory.mean(axis=0), float(np.max(np.ptp(s.memory, axis=0)))
    entails, contradicts = s.entailment[:, ENTAILS].tolist(), s.entailment[:, CONTRADICTS].tolist()
    told = [*entails, min(entails), max(contradicts), min(contradicts)]
    return [0.0, float(memory[0]), float(memory[1]), gap, *told]


_UNCOUNTED = frozenset({"rival", "actor", "denial", "progress"})  # vetoes that are no column


def guard_row(short: str, long: str) -> list[float]:
    """How many details speak against one fact, of how many kinds, and how many kinds do so less surely."""
    evidence = guards.described(short, long)[1]
    vetoes = [item.kind for item in evidence if item.veto and item.kind not in _UNCOUNTED]
    soft = {item.kind for item in evidence if not item.veto} - {"order"}
    return [float(len(vetoes)), float(len(set(vetoes))), float(len(soft))]


_NEGATIONS, _UPDATE_WORDS, _STOP = (
    frozenset(table_words("statistics", key)) for key in ("negations", "updates", "stop")
)


def text_row(short: str, long: str) -> list[float]:
    """What two texts share in words, numbers and names, in the order of `TEXT_NAMES`."""
    s, t = text_statistics(short), text_statistics(long)
    # capitalised words inside sentences, and those at a start that the other text also has
    s_names, l_names = (
        (one.inside | (one.capitalised & other.distinct)) - _STOP for one, other in ((s, t), (t, s))
    )
    shared = s.content & t.content
    best = max(t.parts, key=lambda part: _share(part & s.content, part | s.content), default=frozenset[str]())
    there = best & s.content
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
        _share(there, s.content), _share(there, best | s.content), float(len(best - there)),
    ]  # fmt: skip


class TextStatistics(NamedTuple):
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
    parts: tuple[frozenset[str], ...]  # the content of each clause, and of each two and three in a row


@lru_cache(maxsize=CACHED_TEXTS)
def text_statistics(text: str) -> TextStatistics:
    """The statistics of one text."""
    words = tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))
    plain = " ".join(words)
    clauses = [
        frozenset(_stem(word) for word in _WORD.findall(piece) if word not in _STOP)
        for piece in pattern("statistics_part").split(text.lower())[:MOST_PARTS]
    ]
    clauses = [clause for clause in clauses if clause]
    joined = (
        frozenset().union(*clauses[at : at + n]) for n in (1, 2, 3) for at in range(len(clauses) - n + 1)
    )
    return TextStatistics(
        words=words,
        distinct=frozenset(words),
        content=frozenset(_stem(word) for word in words if word not in _STOP),
        numbers=frozenset(pattern("statistics_number").findall(text)),
        capitalised=frozenset(word.lower() for word in pattern("capitalised").findall(text)),
        inside=frozenset(name.lower() for name in pattern("capitalised_inside").findall(text)),
        updates=frozenset(_UPDATE_WORDS.intersection(words)),
        negations=sum(word in _NEGATIONS for word in words),
        trigrams=frozenset(plain[i : i + 3] for i in range(len(plain) - 2)),
        neighbours=frozenset(pairwise(words)),
        parts=tuple(dict.fromkeys(joined)),
    )


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _share(part: frozenset[Item], whole: frozenset[Item]) -> float:
    return len(part) / len(whole) if whole else 0.0


_NOWHERE = (nan,) * len(PLACE_NAMES)
_TWO_SIDED = [at for at, name in enumerate(PLACE_NAMES) if name.endswith("_a")]


def around(places: Floats) -> Floats:
    """Places, [n, fields] of which the lower of each two-sided number comes before the higher."""
    sorted_ = places.copy()
    for at in _TWO_SIDED:
        sorted_[:, at : at + 2] = np.sort(places[:, at : at + 2], axis=1)
    return sorted_


def context_columns(pairs: Sequence[PairInput]) -> Floats:
    """The columns of `CONTEXT_NAMES`, float64 [n, columns]: places among other memories, and dates.

    How crowded and large the place is and how many days lie between the dates stays out (decision 20). Of the
    dates there is whether the newer and the older statement speak of a change; on one day, whether any does.
    """
    known = [numbers_of(pair.context) if pair.context and pair.placed else _NOWHERE for pair in pairs]
    places = around(np.array(known, dtype=np.float64).reshape(-1, len(PLACE_NAMES)))
    dates = np.array(list(map(_updating, pairs)), dtype=np.float64).reshape(-1, 2)
    return np.hstack([places[:, :4], places[:, 8:], dates])


def _updating(pair: PairInput) -> tuple[float, float]:
    """Whether the newer and the older text speak of a change; NaN where that is not known."""
    if pair.a_date is None or pair.b_date is None:
        return nan, nan
    days = (pair.b_date - pair.a_date).total_seconds() / 86_400
    a, b = (float(bool(pattern("updating").search(text[:LONGEST_COMPARED]))) for text in (pair.a, pair.b))
    return (max(a, b), max(a, b)) if abs(days) < 1 else (b, a) if days > 0 else (a, b)


_OWN_NAMES = (*_MODEL_NAMES, *TEXT_NAMES, *GUARD_NAMES)
FEATURE_NAMES = (*_OWN_NAMES, *CONTEXT_NAMES)  # place and dates come last, NaN where unknown
