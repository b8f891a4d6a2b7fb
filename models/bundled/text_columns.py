"""Word statistics of a pair: what two texts share in words, numbers and names, as columns of the calibrator.

What belongs to one text is computed once for all its pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from ..facts.extraction import REMEMBERED_TEXTS
from ..text.tables import table_words

Item = TypeVar("Item")

MOST_PARTS = 24
LONGEST_COMPARED = 1_000  # characters; beyond them word statistics say nothing new

_WORD = re.compile(r"[^\W_]+(?:[.:/'’-][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED = re.compile(r"\b[A-Z][\w-]+")
_NAME = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][\w-]+")
_PART = re.compile(r"[.;:!?]\s|,\s|[\n()–—]|\b(?:and|but|while|with|which|who|because|so that)\b")
_NEGATIONS = frozenset(table_words("statistics", "negations"))
_UPDATES = frozenset(table_words("statistics", "updates"))
_STOP = frozenset(table_words("statistics", "stop"))

TEXT_NAMES = (
    "short_contained", "long_contained", "overlap", "short_words", "long_words", "length_ratio",
    "short_only_words", "long_only_words", "trigram_overlap", "order_agreement",
    "numbers_short_only", "numbers_long_only", "numbers_shared",
    "names_short_only", "names_long_only", "names_shared",
    "negation_differs", "updates_short_only", "updates_long_only", "same_start",
    "clause_contains", "clause_overlap", "clause_adds",
)  # fmt: skip


def text_row(short: str, long: str) -> list[float]:
    """Word statistics of a pair, in the order of the last names of `feature_names`."""
    s, t = text_statistics(short[:LONGEST_COMPARED]), text_statistics(long[:LONGEST_COMPARED])
    s_names, l_names = _names(s, t), _names(t, s)
    shared = s.content & t.content
    return [
        share(shared, s.content), share(shared, t.content), share(shared, s.content | t.content),
        float(len(s.words)), float(len(t.words)), len(s.words) / max(1, len(t.words)),
        float(len(s.content - t.content)), float(len(t.content - s.content)),
        share(s.trigrams & t.trigrams, s.trigrams), share(s.neighbours & t.neighbours, s.neighbours),
        float(len(s.numbers - t.numbers)), float(len(t.numbers - s.numbers)),
        float(len(s.numbers & t.numbers)),
        float(len(s_names - l_names)), float(len(l_names - s_names)), float(len(s_names & l_names)),
        float(s.negations % 2 != t.negations % 2),
        float(len(s.updates - t.updates)), float(len(t.updates - s.updates)),
        float(s.words[:2] == t.words[:2]), *_nearest_clause(s, t),
    ]  # fmt: skip


def _nearest_clause(short: TextStatistics, long: TextStatistics) -> tuple[float, float, float]:
    """How much of the short text the part of the long one says that shares most of its words with it.

    The share of the short text's content there, the words of both by the words of either, and how many
    words of content the part has more.
    """
    best = max(long.parts, key=lambda part: share(part & short.content, part | short.content), default=None)
    if best is None:
        return 0.0, 0.0, 0.0
    shared = best & short.content
    return share(shared, short.content), share(shared, best | short.content), float(len(best - shared))


@dataclass(frozen=True, slots=True)
class TextStatistics:
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
    parts: tuple[frozenset[str], ...]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def text_statistics(text: str) -> TextStatistics:
    """The statistics of one text."""
    words = tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))
    plain = " ".join(words)
    return TextStatistics(
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
        parts=_parts(text),
    )


def _parts(text: str) -> tuple[frozenset[str], ...]:
    """The content of each clause of a text, and of each two and three that stand together."""
    clauses = [
        frozenset(_stem(word) for word in _WORD.findall(piece) if word not in _STOP)
        for piece in _PART.split(text.lower())[:MOST_PARTS]
    ]
    clauses = [clause for clause in clauses if clause]
    joined = (
        frozenset().union(*clauses[at : at + n]) for n in (1, 2, 3) for at in range(len(clauses) - n + 1)
    )
    return tuple(dict.fromkeys(joined))


def _names(text: TextStatistics, other: TextStatistics) -> frozenset[str]:
    """Capitalised words inside sentences, and those at a start that the other text also has."""
    return (text.inside | (text.capitalised & other.distinct)) - _STOP


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def share(part: frozenset[Item], whole: frozenset[Item]) -> float:
    """How much of `whole` the `part` makes up; 0 of nothing."""
    return len(part) / len(whole) if whole else 0.0
