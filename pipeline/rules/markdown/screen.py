"""Which pairs of Markdown memories are scored at all.

A file says many things, and reading two files sentence by sentence takes seconds. Two files that share less
than the original's rule asks for are no duplicates, and conflicts are found by sentences anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....models.scorer import PairInput, PairScores, Wrapped, distinct
from ....models.words import significant_words, tokens

LONG = 25
"""Significant words from which a text is one of several sentences."""
SHARED = 0.5
"""Part of the shorter text's words that both say, if one is long (origin: the original's 60%)."""
LIKE = 0.2
NEAR = 0.6
"""Two short texts share this part of their words, or are this near for the encoder."""


_LABEL = re.compile(r"^[\s*_]*([^:`\n]{2,40}?)[*_]*:(?=\s|\*)")
_CODE = re.compile(r"`([^`\n]+)`")
_WEIGHTLESS = frozenset({"a", "an", "the", "all", "is", "are", "of", "to", "in", "for", "on", "and", "that"})


class Screened(Wrapped):
    """A scorer that is asked only about pairs that can be duplicates; the others are distinct."""

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Scores of all pairs."""
        asked = [number for number, pair in enumerate(pairs) if worth_judging(pair)]
        result = distinct(len(pairs))
        if asked:
            scores = self._scorer.score([pairs[number] for number in asked])
            result.probabilities[asked], result.entailment[asked] = scores.probabilities, scores.entailment
        return result


def worth_judging(pair: PairInput) -> bool:
    """Whether two texts can say the same at all."""
    first, second = significant_words(pair.a), significant_words(pair.b)
    fewer, more = sorted((len(first), len(second)))
    shared = len(first & second)
    if more >= LONG:
        return fewer > 0 and shared >= SHARED * fewer
    if _apart(pair.a, pair.b):
        return False
    return pair.cosine >= NEAR or (more > 0 and shared >= LIKE * more) or fewer == 0


def same_statement(a: str, b: str) -> bool:
    """Whether two texts say the same in the same words, so that no model and no person has to judge.

    >>> same_statement("Use tabs in Go files.", "use tabs in all the Go files")
    True
    >>> same_statement("Use tabs in Go files.", "Never use tabs in Go files.")
    False
    """
    return _told(a) == _told(b) and _CODE.findall(a) == _CODE.findall(b)


def _told(text: str) -> list[str]:
    """The words that carry meaning, in order, negations and quantities included."""
    return [
        token.stem for token in tokens(text) if not token.is_stop or token.text.casefold() not in _WEIGHTLESS
    ]


def _apart(a: str, b: str) -> bool:
    """Whether two short texts are about different things by their labels or by the code they name."""
    labels = [match[1] if (match := _LABEL.match(text)) else "" for text in (a, b)]
    if all(labels) and significant_words(labels[0]) != significant_words(labels[1]):
        return True
    first, second = set(_CODE.findall(a)), set(_CODE.findall(b))
    return bool(first and second) and not (first <= second or second <= first)
