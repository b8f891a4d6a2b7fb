"""Columns of the calibrator about where and when: a pair's place among other memories, and its two dates.

They may shift what the pair's own texts say and are never enough alone. All are missing (NaN) where nothing
is known, which decision trees read as a third answer. Each row is the same whichever memory was called a.
"""

from __future__ import annotations

import re
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..scorer import PairContext, PairInput

_PLACE_NAMES = (
    "rank_low", "rank_high", "margin_low", "margin_high", "shared", "shared_rank_low", "shared_rank_high",
    "shared_margin_low", "shared_margin_high",
)  # fmt: skip
_DATE_NAMES = ("newer_updates", "older_updates")
CONTEXT_NAMES = (*_PLACE_NAMES, *_DATE_NAMES)
"""Names of the columns of `context_columns`."""

_CONTEXT_WIDTH = 8
LONGEST_READ = 1_000  # characters, as for word statistics
_SECONDS_PER_DAY = 86_400.0
_UPDATES = re.compile(
    r"\b(?:now|nowadays|since|no longer|(?:not )?any ?more|switched|moved|changed|changes to|replaced|"
    r"replaces|instead|cancell?ed|dropped|abandoned|gave up|left|former|formerly|previously|used to|already|"
    r"finally|became|joined|postponed|delayed|reverted|retired|stopped|quit|back to|new|updated|"
    r"from now on|as of|currently|these days|until|sold|ended|upgraded|migrated|renamed)\b",
    re.IGNORECASE,
)


def context_columns(pair: PairInput) -> list[float]:
    """All columns of a pair, in the order of `CONTEXT_NAMES`."""
    return [*place_row(pair), *date_row(pair)]


def place_row(pair: PairInput) -> list[float]:
    """How near the two are beside their neighbours, in meaning and in words; NaN where that says nothing.

    How crowded and how large the place is stays out: it told one labelled store from another (decision 20).
    """
    context = pair.context
    if context is None or not pair.placed:
        return [nan] * len(_PLACE_NAMES)
    ranks = sorted((context.rank_a, context.rank_b))
    margins = sorted((context.margin_a, context.margin_b))
    shared_ranks = sorted((context.shared_rank_a, context.shared_rank_b))
    shared_margins = sorted((context.shared_margin_a, context.shared_margin_b))
    return [*ranks, *margins, context.shared, *shared_ranks, *shared_margins]


def context_row(context: PairContext | None) -> list[float]:
    """The lower and the higher of each two-sided number, then bridge and size; NaN without a context."""
    if context is None:
        return [nan] * _CONTEXT_WIDTH
    two_sided = (
        (context.rank_a, context.rank_b),
        (context.margin_a, context.margin_b),
        (context.crowd_a, context.crowd_b),
    )
    sides = [side for both in two_sided for side in (min(both), max(both))]
    return [*sides, context.bridge, context.size]


def date_row(pair: PairInput) -> list[float]:
    """Whether the newer and the older statement speak of a change; on one day, whether any of the two does.

    How many days lie between them stays out: writers of labelled data have habits (decision 20).
    """
    if pair.a_date is None or pair.b_date is None:
        return [nan] * len(_DATE_NAMES)
    days = (pair.b_date - pair.a_date).total_seconds() / _SECONDS_PER_DAY
    a, b = (float(bool(_UPDATES.search(text[:LONGEST_READ]))) for text in (pair.a, pair.b))
    newer, older = (max(a, b), max(a, b)) if abs(days) < 1 else (b, a) if days > 0 else (a, b)
    return [newer, older]
