"""Pairs that the original skill would report and the scorer calls distinct: they become questions.

Such a pair is neither merged nor reported as a conflict: a person is asked about it, with the rule named.
"""

from __future__ import annotations

from ...models.keywords import CONTRADICTION_OVERLAP, opposed
from ...models.text.words import overlap, tokens
from ...records import Evidence

RULE = "rule"
"""Kind of the evidence that names a rule of the original."""
CLOSE = 0.65
"""Cosine of two preferences about one thing. On 18 pairs written for it, pairs about one thing had 0.69
and more, pairs about two things 0.61 and less."""
CLOSE_IN_WORDS = 0.25
"""The same where an encoder only counts words: one word of four in common."""

_TASTE = frozenset(
    {
        "prefer",
        "lik",
        "lov",
        "enjoy",
        "favor",
        "favour",
        "favourit",
        "favorit",
        "hat",
        "dislik",
        "better",
        "rather",
        "fond",
    }
)
_RANKING = frozenset({"prefer", "favor", "favour", "favourit", "favorit", "better", "rather"})


def suspected(a: str, b: str, *, cosine: float, close: float = CLOSE) -> Evidence | None:
    """The rule by which two statements of one category would be reported, if any.

    Args:
        a: One text.
        b: The other.
        cosine: How similar they are.
        close: Cosine from which two preferences are about one thing.

    >>> suspected("Prefers tea", "Prefers coffee", cosine=0.7).detail
    'turned against each other, with 50% of their words in common'
    >>> suspected("Prefers dark mode", "Likes hiking", cosine=0.2) is None
    True
    """
    shared = overlap(a, b)
    if shared >= CONTRADICTION_OVERLAP and opposed(a, b):
        return Evidence(RULE, f"turned against each other, with {shared:.0%} of their words in common")
    if cosine < close:
        return None
    first, second = _stems(a), _stems(b)
    if first & _TASTE and second & _TASTE and (first | second) & _RANKING:
        return Evidence(RULE, "two preferences about one thing, at least one of which ranks it")
    return None


def close_for(encoder: str) -> float:
    """The cosine that fits an encoder, by its name."""
    return CLOSE_IN_WORDS if encoder.startswith("words-") else CLOSE


def _stems(text: str) -> frozenset[str]:
    return frozenset(token.stem for token in tokens(text))
