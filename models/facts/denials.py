"""Whether one text denies what another affirms: "uses tabs" and "does not use tabs".

Careful on purpose, because paraphrases often swap polarity ("not open" for "closed"): the other text
must hold the verb and most of what is denied, and must not deny anything like it, not even by a prefix or
a limit.
"""

from __future__ import annotations

import re
from collections import Counter

from .extraction import Facts
from .polarity import Negation, is_light
from .tokens import Expression, rough_stem

# Ways of denying that are no negation word: where one stands, a denial may be a paraphrase.
_HIDDEN = Expression(
    r"\b(?:non-?|un(?!i|der|til|less)|i[nmr]\w+ble\b|\w+less\b|\w+[- ]free\b|only\b|sole|earliest\b|"
    r"latest\b|away\b|frozen\b|blocked\b|trouble\b|yet to\b|still need|turn(?:s|ed)? down|"
    r"keep\w* \w+(?: \w+)? out\b|at most\b|up to\b|max\b|until\b|end(?:s|ed)\b|limited\b|"
    r"closed?\b|finish|complet|done\b|empty\b|freeze\b|(?:is|are) out\b)",
    re.IGNORECASE,
)
_REACH_SHARE = 0.6  # of the denied words that the other text must hold; fitted on development pairs


def denied(denying: Facts, other: Facts) -> list[Negation]:
    """Return the negations of one text whose reach the other affirms.

    >>> from .extraction import extract
    >>> [each.cue for each in denied(extract("Does not use tabs"), extract("Uses tabs"))]
    ['not']
    >>> denied(extract("Does not use tabs"), extract("Avoids tabs"))
    []
    """
    hard = [each for each in denying.negations if each.hard and each.reach]
    if not hard or _HIDDEN.search(other.text):
        return []
    affirmed = _affirmed(denying)
    return [
        each
        for each in hard
        if _affirms(each.reach, other.stems)
        and not _doubled(each, denying, other)
        and not any(_same_denial(each, theirs) for theirs in other.negations)
        and affirmed.isdisjoint(each.objects & other.stems)
    ]


def _affirms(reach: tuple[str, ...], present: frozenset[str]) -> bool:
    """Whether a text has most of what a negation reaches, its verb included; or all of its objects."""
    if reach[0] in present:
        return sum(word in present for word in reach) >= _REACH_SHARE * len(reach)
    return len(reach) > 2 and not is_light(reach[0]) and all(word in present for word in reach[1:])


def _doubled(negation: Negation, denying: Facts, other: Facts) -> bool:
    """Whether a denying verb is itself denied ("does not exclude") and missing in the other text."""
    verb = negation.reach[0]
    return verb not in other.stems and any(verb == _verb(each) for each in denying.negations if not each.hard)


def _verb(negation: Negation) -> str:
    """Stem of the denying verb."""
    return rough_stem(negation.cue.split(" ")[0])


def _same_denial(mine: Negation, theirs: Negation) -> bool:
    """Whether two negations deny a common thing; "not allergic" does not repeat the denial in "allergic"."""
    if not theirs.hard and _verb(theirs) in mine.reach:
        return False
    if mine.agrees(theirs):
        return True
    return not (mine.heavy and theirs.heavy) and bool(set(mine.reach) & set(theirs.reach))


def _affirmed(facts: Facts) -> frozenset[str]:
    """Stems that a text has outside the reach of its negations, so that it does not simply deny them."""
    counts = Counter(rough_stem(word.folded) for word in facts.words)
    for each in facts.negations:
        counts.subtract(each.reach)
    return frozenset(word for word, count in counts.items() if count > 0)
