"""Whether two sentences cannot both hold: one denies the other, gives another value, or tells of a change.

A model alone is not enough for that: two true sentences about one thing look alike to it. Only the words
count here, and sentences that could be two cases, two steps or two members of a list are no rivals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....models.facts.tokens import listed
from ....models.keywords import opposed
from ....models.words import Token, overlap, significant_words, tokens

SENTENCE_OVERLAP = 0.6
"""Share of words that a denial has in common with what it denies; 40% is chance too often."""
MIN_SHARED = 3
"""And at least so many: "Never run it" and "run tests" are about nothing in common."""
LONGEST = 40
"""Words of the longest sentence that is compared: a longer one says several things."""
_VALUE = 3
"""Most words of a value."""
_CASES = re.compile(
    r"\b(?:if|when|whenever|unless|except|until|without|instead|rather|but|while|during|either|optional\w*|(?-i:may)|might|can"
    r"|could|sometimes|first|second|then|also|both|former|latter|e\.g|for example)\b",
    re.IGNORECASE,
)
_OPPOSING = frozenset({"avoid", "stop", "quit", "alway", "never", "do", "us", "longer", "pleas", "ever"})
_REMOVING = significant_words(
    "remove delete drop purge discard eliminate strip forbid ban prohibit prevent exclude"
)
_ABSENT = re.compile(r"\bno\b|\bnone\b|\bzero\b", re.IGNORECASE)
_DENYING = re.compile(r"\b(?:not|never|cannot|nor)\b|n['\u2019]t\b", re.IGNORECASE)
_ROUGHLY = re.compile(
    r"[~\u2248\u00b1]\s*\d|\b(?:about|around|approximately|approx\.?|roughly|circa|nearly|almost|some)\s+\d",
    re.IGNORECASE,
)
_LABELS = frozenset(
    listed(
        "phase step rule plan issue pr ticket sprint wave week day chapter section level stage part "
        "task item number no option case example test round batch slice iteration milestone epic story "
        "adr rfc bug commit line page layer tier question finding fix attempt run session figure table "
        "appendix group team room floor lesson pattern gotcha q"
    )
)
_MONTHS = frozenset(
    listed(
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec"
    )
)
_STATES = frozenset({"is", "are", "was", "called", "named", "equals", "=", ":"})
_DATE = re.compile(r"^\d{4}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$|^(?:19|20)\d\d$")
_CHANGED = (
    re.compile(
        r"^(?P<who>[^.;:]{2,60}?)\s+(?:(?:was|were|is|has|have|been|being)\s+)*(?:moved|migrated|switched|changed|went)"
        r"\s+(?:over\s+)?from\s+(?P<old>[\w.+#/-]+(?:\s[A-Z0-9][\w.+-]*)?)\s+to\s+(?P<new>[\w.+#/-]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<who>[^.;:]{2,60}?)\s+(?:no\s+longer|stopped)\s+(?:uses?|using|runs?\s+on|running\s+on|lives?\s+in|relies\s+on)"
        r"\s+(?P<old>[\w.+#/-]+)(?P<new>)",
        re.IGNORECASE,
    ),
)
_PAST = re.compile(
    r"\b(?:was|were|moved|migrated|switched|changed|used to|formerly|previously|before|old|legacy|until"
    r"|from|not|never|no)\b|n't",
    re.IGNORECASE,
)
_MORE = 3
"""Words that a sentence about the old state may have besides who and what."""


def exclusion(a: str, b: str) -> str | None:
    """Why two sentences cannot both hold: "negation", "value", "change"; None if they may.

    >>> exclusion("Staging runs on port 5432.", "Staging runs on port 5433.")
    'value'
    >>> exclusion("Phase 2 of the import is done.", "Phase 3 of the import is done.") is None
    True
    """
    first, second = tokens(a), tokens(b)
    if max(len(first), len(second)) > LONGEST or _CASES.search(a) or _CASES.search(b):
        return None
    if _denied(a, b):
        return "negation"
    precise = not (_ROUGHLY.search(a) or _ROUGHLY.search(b))
    if precise and framed(a, b) is not None and _values(first, second):
        return "value"
    return "change" if _superseding(a, b) or _superseding(b, a) else None


def framed(a: str, b: str) -> tuple[str, ...] | None:
    """What two sentences share around the one place in which they differ; None if they differ elsewhere too.

    Where three or more sentences share a frame they are members of a list, and none excludes another.
    """
    first, second = tokens(a), tokens(b)
    head, tail = _shared(first, second)
    if not _fits(first, head, tail) or not _fits(second, head, tail):
        return None
    words = [token.stem for token in (*first[:head], *first[len(first) - tail :])]
    return (*words[:head], "…", *words[head:])


def _denied(a: str, b: str) -> bool:
    one, other = significant_words(a) - _OPPOSING, significant_words(b) - _OPPOSING
    near = one <= other or other <= one or "prefer" in one & other
    shared = len(significant_words(a) & significant_words(b))
    if _both_against(a, b) or _both_against(b, a):
        return False
    return near and shared >= MIN_SHARED and overlap(a, b) >= SENTENCE_OVERLAP and opposed(a, b)


def _both_against(absent: str, removing: str) -> bool:
    """Whether one sentence wants none of what the other takes away: "no tests for" and "delete tests for"."""
    mute = _ABSENT.search(absent) and not _DENYING.search(absent)
    return bool(mute and _REMOVING & significant_words(removing)) and not _DENYING.search(removing)


def _values(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Whether the place in which two sentences differ holds rival values of one attribute."""
    head, tail = _shared(first, second)
    named = [token.stem for token in first[:head] if not token.is_stop]
    frame = named + [token.stem for token in first[len(first) - tail :] if not token.is_stop]
    if len(frame) < MIN_SHARED - 1 or len(named) < 2 or not head:
        return False
    spans = [row[head : len(row) - tail] for row in (first, second)]
    before = first[head - 1].text.casefold()
    dated = before in _MONTHS or before.isdigit()
    if dated or before in _LABELS or any(_DATE.match(token.text) for span in spans for token in span):
        return False
    if all(any(char.isdigit() for char in span[0].text) for span in spans):
        return all(len(span) == 1 for span in spans)
    proper = all(len(span) == 1 and span[0].text[:1].isupper() for span in spans)
    return proper and before in _STATES and len(first) - tail == head + 1 and tail == 0


def _superseding(change: str, state: str) -> bool:
    """Whether one sentence tells that what the other states has changed."""
    match = next((hit for pattern in _CHANGED if (hit := pattern.search(change.strip()))), None)
    if match is None or _PAST.search(state):
        return False
    old, who = significant_words(match["old"]), significant_words(match["who"])
    said = significant_words(state)
    new = significant_words(match["new"])
    if not old or not who or not old | who <= said or (new and new & said):
        return False
    return len(said - old - who) <= _MORE


def _shared(first: Sequence[Token], second: Sequence[Token]) -> tuple[int, int]:
    """How many words two sentences share at the beginning, and how many at the end."""
    limit = min(len(first), len(second))
    head = next((n for n in range(limit) if first[n].stem != second[n].stem), limit)
    rest = limit - head
    tail = next((n for n in range(rest) if first[-1 - n].stem != second[-1 - n].stem), rest)
    return head, tail


def _fits(row: Sequence[Token], head: int, tail: int) -> bool:
    return 1 <= len(row) - head - tail <= _VALUE
