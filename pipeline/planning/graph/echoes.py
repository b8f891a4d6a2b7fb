"""Observations of one memory that may say the same thing twice: a person is asked, nothing is merged unasked.

Observations are many facts about one thing, and alike for that reason alone. So only pairs that share nearly
all of their words are judged, and only those that are judged duplicates are worth a question.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING
from unicodedata import name

from ....models.guards import missing
from ....models.words import exact_key, significant_words
from ....records import Label, Memory, Verdict, rejection_key
from ...actions import Member, Merge
from ...rules.graph.conflicts import observations_of
from ...rules.graph.nodes import Node
from ...rules.graph.rival_words import INTENDED

if TYPE_CHECKING:
    from .merging import GraphJudging

SHARED = 0.6
"""Share of all words of two observations that both have, from which the two are judged."""

LIKELY = 0.5
"""Probability of a duplicate above which a person is asked: more likely right than wrong."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(r"[\w-]+(?:(?:[./_]|::|->)[\w-]+)+")
"""Paths, dotted names, and names with an underscore."""

_FINISHED = re.compile(r"[✅☑✔]|\[x\]|\b(?:completed|done)\b", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|\"([^\"]+)\"")

Pair = tuple[str, str]


def echoes(nodes: Iterable[Node], judging: GraphJudging, *, apart: Collection[frozenset[str]]) -> list[Merge]:
    """Questions whether one observation says all that another one of its memory says.

    Args:
        nodes: The memories.
        judging: Models and limits.
        apart: Pairs of observations, by id, that contradict each other.
    """
    repeated: list[Merge] = []
    for node in nodes:
        if node.memory.pinned:
            continue
        parts = {part.id: part for part in observations_of(node)}
        worth = [
            pair
            for pair in _alike(list(parts.values()))
            if frozenset(pair) not in apart
            and comparable(parts[pair[0]].text, parts[pair[1]].text)
            and rejection_key(parts[pair[0]], parts[pair[1]]) not in judging.rejected
        ]
        repeated += [
            merge
            for verdict in judging.side_by_side(parts, worth)
            if (merge := _question(parts, verdict)) is not None
        ]
    return repeated


def _question(parts: dict[str, Memory], verdict: Verdict) -> Merge | None:
    """The question behind a verdict; None if there is none, or each says what the other does not."""
    if verdict.label is not Label.DUPLICATE or verdict.probabilities[0] <= LIKELY:
        return None
    a, b = (parts[end] for end in (verdict.pair.a, verdict.pair.b))
    forth, back = verdict.entailment
    order = [a, b] if (forth, len(a.text), b.id) >= (back, len(b.text), a.id) else [b, a]
    for stays, goes in (order, order[::-1]):
        if not missing([goes.text], stays.text):
            return Merge(
                id="",
                scope=a.scope,
                category=a.category,
                members=(Member.of(a), Member.of(b)),
                survivor=stays.id,
                text=stays.text,
                verdicts=(verdict,),
            )
    return None


def comparable(a: str, b: str) -> bool:
    """Whether two texts that share their words can say the same at all.

    Not in other than Latin letters, which neither the encoder nor the scorer reads; not where one alone
    speaks of what is to be done, or is done; not where each has numbers, or names of code, that the other has
    not, or has elsewhere: "step 1: A acts in round 2" and "step 2: A acts in round 3" are two rows of a list.
    """
    if not all("LATIN" in name(char, "") for char in a + b if char.isalpha()):
        return False
    if any(bool(rule.search(a)) != bool(rule.search(b)) for rule in (INTENDED, _FINISHED)):
        return False
    first, second = (_NUMBER.findall(text) for text in (a, b))
    if not (_in_order(first, second) or _in_order(second, first)):
        return False
    return _among(_names(a), b) or _among(_names(b), a)


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(number in rest for number in few)


def _names(text: str) -> list[str]:
    """Names of code, and what stands in quotes: a command, a message."""
    quoted = [max(quotation) for quotation in _QUOTED.findall(text.casefold())]
    return [*quoted, *_CODE.findall(text.casefold())]


def _among(names: Iterable[str], text: str) -> bool:
    """Whether a text holds all of these names, or all behind the first part ("github.com/a/b": "a/b")."""
    held = text.casefold()
    return all(each in held or each.partition("/")[2] in _CODE.findall(held) for each in names)


def _alike(parts: Sequence[Memory]) -> list[Pair]:
    """Pairs that share nearly all of their words, in order.

    Two sets of words that are so alike have one of their rarest words in common, so that only the lists of
    those are looked through.
    """
    said = {part.id: significant_words(part.text) for part in parts}
    keys = {part.id: exact_key(part.text) for part in parts}
    count = Counter(word for words in said.values() for word in words)
    holding: dict[str, list[str]] = defaultdict(list)
    pairs: set[Pair] = set()
    for own, words in sorted(said.items()):
        rarest = sorted(words, key=lambda word: (count[word], word))
        for word in rarest[: len(words) - math.ceil(SHARED * len(words)) + 1]:
            for other in holding[word]:
                both = len(words & said[other])
                if both >= SHARED * len(words | said[other]) and keys[own] != keys[other]:
                    pairs.add((other, own))
            holding[word].append(own)
    return sorted(pairs)
