"""Whether one text denies what another affirms: "uses tabs" and "does not use tabs".

Careful on purpose, because paraphrases often swap polarity ("not open" for "closed"): the other text must
hold the verb and most of what is denied, and must not deny anything like it, not even by a prefix or a limit.
Of other languages only the negations are known: one that only one of two texts has forbids a merge.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from ..text.tables import listed, table_words
from ..text.words import stem, words
from .details import Expression
from .extraction import REMEMBERED_TEXTS, Facts
from .frames import Change
from .polarity import Negation, is_light

# Ways of denying that are no negation word: where one stands, a denial may be a paraphrase.
_HIDDEN = Expression(
    r"\b(?:non-?|un(?!i|der|til|less)|i[nmr]\w+ble\b|\w+less\b|\w+[- ]free\b|only\b|sole|earliest\b|"
    r"latest\b|away\b|frozen\b|blocked\b|trouble\b|yet to\b|still need|turn(?:s|ed)? down|"
    r"keep\w* \w+(?: \w+)? out\b|at most\b|up to\b|max\b|until\b|end(?:s|ed)\b|limited\b|"
    r"closed?\b|finish|complet|done\b|empty\b|freeze\b|(?:is|are) out\b)",
    re.IGNORECASE,
)
_REACH_SHARE = 0.6  # of the denied words that the other text must hold; fitted on development pairs


_DENYING = frozenset(
    listed("not never no nobody nothing don't doesn't didn't isn't aren't wasn't won't can't cannot")
)
_HELPING = frozenset(listed("do does did user the a an any"))
_BOUNDS = (("at least", "at most"), ("more than", "less than"), ("before", "after"), ("above", "below"))
_PORT = Expression(r"\bport[ :=]+(\d{2,5})\b", re.IGNORECASE)
_SERVING = Expression(
    r"\b(?:runs?|listens?|serves?|is|binds?|answers?|available|reachable|exposed)\b", re.IGNORECASE
)


def opposed(left: Facts, right: Facts) -> bool:
    """Whether equal sentences differ in a denial, a bound or a port alone, so that both cannot hold.

    >>> from .extraction import extract
    >>> opposed(extract("User likes cats"), extract("User doesn't like cats"))
    True
    >>> opposed(extract("The API runs on port 8080"), extract("API listens on port 9090"))
    True
    """
    mine, theirs = _heard(left.text), _heard(right.text)
    denying = {word for word in set(mine.stems) ^ set(theirs.stems) if word in _DENYING}
    if denying:
        rest = [[word for word in each.stems if word not in denying] for each in (mine, theirs)]
        return rest[0] == rest[1] and bool(denied(left, right) or denied(right, left))
    for one, other in _BOUNDS:
        for x, y in ((one, other), (other, one)):
            if x in mine.said and y in theirs.said:
                bare = [
                    re.sub(rf"\b{word}\b", "#", each.said, count=1) for word, each in ((x, mine), (y, theirs))
                ]
                if "#" in bare[0] and bare[0] == bare[1]:
                    return True
    if "" in (mine.port, theirs.port) or mine.port == theirs.port:
        return False
    return mine.serving == theirs.serving


class _Heard(NamedTuple):
    """What `opposed` needs of one text, found once for all its pairs."""

    stems: tuple[str, ...]
    said: str
    port: str
    serving: tuple[str, ...]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _heard(text: str) -> _Heard:
    heard = [word.folded for word in words(text) if word.folded not in _HELPING]
    port = _PORT.search(text)
    serving = _SERVING.compiled.sub(" ", _PORT.compiled.sub("", text.lower())).split() if port else ()
    kept = tuple(word for word in serving if word not in _HELPING)
    return _Heard(tuple(map(stem, heard)), " ".join(heard), port[1] if port else "", kept)


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
    return stem(negation.cue.split(" ")[0])


def _same_denial(mine: Negation, theirs: Negation) -> bool:
    """Whether two negations deny a common thing; "not allergic" does not repeat the denial in "allergic"."""
    if not theirs.hard and _verb(theirs) in mine.reach:
        return False
    if mine.agrees(theirs):
        return True
    return not (mine.heavy and theirs.heavy) and bool(set(mine.reach) & set(theirs.reach))


def _affirmed(facts: Facts) -> frozenset[str]:
    """Stems that a text has outside the reach of its negations, so that it does not simply deny them."""
    counts = Counter(stem(word.folded) for word in facts.words)
    for each in facts.negations:
        counts.subtract(each.reach)
    return frozenset(word for word, count in counts.items() if count > 0)


_WORDS = table_words("denials", "words")
_NEGATION = Expression(
    rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])|\bn['’](?=[aeéèêiouhy])|"
    r"[不没沒無无未]|ない|ません|않|없|안 (?=\w)",
    re.IGNORECASE,
)
_SPANISH = Expression(
    r"(?<![\w-])no (?=(?:me|te|se|le|les|nos|lo|la|los|las|es|está|hay|tiene|quiere|puede|bebe|come|vive|usa|"
    r"trabaja|fuma|habla|necesita|tengo|quiero|puedo)\b)",
    re.IGNORECASE,
)


def foreign_denial(left: Facts, right: Facts) -> Change | None:
    """Return the negations of both texts where only one of them has any.

    >>> from .extraction import extract
    >>> foreign_denial(extract("Mag keine Katzen"), extract("Mag Katzen"))
    ('keine', '-')
    >>> foreign_denial(extract("Does not like cats"), extract("Likes cats")) is None
    True
    """
    mine, theirs = _negation(left.text), _negation(right.text)
    return (mine or "-", theirs or "-") if bool(mine) != bool(theirs) else None


def _negation(text: str) -> str:
    match = _NEGATION.search(text) or _SPANISH.search(text)
    return match[0].strip() if match is not None else ""
