"""How the frames of two texts stand to each other, as numbers: whose, when, on what condition, how alike.

Rules need certainty, a calibrator does not: each number here is a hint that two details answer one question,
or that they belong to another subject, time or condition.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..text.vocabulary import FRAME_WORDS
from ..text.words import stem
from .amounts import Number
from .attributes import is_due, is_label, rival
from .extraction import REMEMBERED_TEXTS, Facts, extract
from .frames import stated
from .roles import rearranged

_MARKS = {
    "past": r"used to|formerly|former|previously|was|were|until|had|ex|once|no longer|gave up|quit|stopped|"
    r"left",
    "plan": r"plans?|planning|planned|wants? to|hopes?|consider\w*|thinking|intends?|going to|would like|"
    r"will|might|may|applied|waiting|looking for|should",
    "done": r"has|have|finished|passed|completed|done|got|bought|moved|became|signed|shipped|released|"
    r"started|launched|opened|received|accepted|arrived|merged|turned",
    "undone": r"cancel\w*|dropped|abandon\w*|withdr\w+|rejected|refused|turned down|called off|postponed|"
    r"lost|failed|sold|closed|retired|replaced|reverted",
    "now": r"now|currently|since|these days|at the moment|today|instead|anymore|any more|by now|already",
    "only": r"only|solely|exclusively|nobody but|nothing but|no one but|just|sole",
    "condition": r"if|unless|when|while|except|during|as long as|in case|whenever|apart from|other than",
    "general": r"always|never|every|all|each|any|nobody|none|everyone|both|no",
    "partly": r"some|most|many|half|few|sometimes|usually|mostly|often|several|almost",
    "order": r"before|after|first|then|last|until|earlier|later",
    "compared": r"more|less|better|worse|than|rather|prefers?|over|most|least",
}
_PATTERNS = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _MARKS.items()}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_VALUED = ("numbers", "clocks", "weekdays", "days", "versions", "frequencies", "names", "identifiers")

CONTRAST_NAMES = (
    "frame_overlap", "frame_shared", "frame_only_min", "frame_only_max", "same_bag", "one_word_apart",
    "rival", "rival_sure", "rival_loose", "rival_opposite", "order_maybe",
    "values_rival_kinds", "opening_name_differs", "opening_word_differs", "label_differs", "both_due",
    "years_differ", *(f"{name}_differs" for name in _MARKS), *(f"{name}_both" for name in _MARKS),
)  # fmt: skip


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _marked(text: str) -> tuple[frozenset[str], frozenset[str]]:
    marks = frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(text))
    return marks, frozenset(_YEAR.findall(text))


def contrast(a: str, b: str) -> list[float]:
    """The numbers of `CONTRAST_NAMES`; swapping the texts gives the same.

    >>> found = dict(zip(CONTRAST_NAMES, contrast("Lives in Oslo now", "Lives in Bergen"), strict=True))
    >>> found["rival_sure"], found["now_differs"], found["frame_overlap"]
    (1.0, 1.0, 1.0)
    """
    left, right = extract(a), extract(b)
    shared, union = len(left.frame & right.frame), len(left.frame | right.frame)
    only = sorted((len(left.frame - right.frame), len(right.frame - left.frame)))
    differing = rival(left, right)
    (marks, years), (others, their_years) = _marked(left.text), _marked(right.text)
    return [
        shared / union if union else 0.0, float(shared), float(only[0]), float(only[1]),
        float(left.bag == right.bag), float(len(left.content ^ right.content) <= 2),
        float(differing is not None and differing.equal), float(differing is not None and differing.sure),
        0.0 if differing is None else differing.share,
        float(differing is not None and differing.attribute == "opposite"),
        float(rearranged(left, right) is not None),
        *_openings(left, right),
        float(is_due(left) and is_due(right)),
        float(bool(years and their_years and not years & their_years)),
        *(float((name in marks) != (name in others)) for name in _MARKS),
        *(float(name in marks and name in others) for name in _MARKS),
    ]  # fmt: skip


def _openings(left: Facts, right: Facts) -> list[float]:
    """In how many kinds values are rivals, and whether those that open the texts or label things differ."""
    kinds, labels = 0, False
    for kind in _VALUED:
        mine, theirs = getattr(left, kind), getattr(right, kind)
        if not mine or not theirs:
            continue
        ours = [each for each in mine if not stated(each, theirs, right)]
        others = [each for each in theirs if not stated(each, mine, left)] if ours else []
        if any(x.rivals(y) for x in ours for y in others):
            kinds += 1
            labels = labels or any(isinstance(x, Number) and is_label(left, x) for x in ours)
            labels = labels or any(isinstance(y, Number) and is_label(right, y) for y in others)
    first, second = _opening(left), _opening(right)
    names = bool(first[0] and second[0] and first[0] != second[0])
    return [float(kinds), float(names), float(first[1] != second[1]), float(labels)]


def _opening(facts: Facts) -> tuple[str, str]:
    name = facts.names[0] if facts.names and facts.names[0].opens else None
    first = next((stem(word.folded) for word in facts.words if word.folded not in FRAME_WORDS), "")
    return (name.folded if name is not None else "", first)
