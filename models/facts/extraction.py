"""Reads one text into `Facts`: every reader in its order, each taking its spans from the page.

The order matters: a URL is not a path, a date is not a number, and "14:30" is not 14 and 30.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..text.tables import listed
from ..text.vocabulary import FRAME_WORDS
from ..text.words import Word, stem, words
from .amounts import Number
from .calendar import Day, Relative, Weekday, dates, relatives, weekdays
from .details import Detail, Page
from .literals import Identifier, Link, Path, Quote, Version, identifiers, links, paths, quotes, versions
from .names import Name, names
from .numbers import numbers
from .polarity import Negation, negations
from .times import Clock, Frequency, clocks, frequencies
from .traits import Trait, traits
from .values import Value, values

REMEMBERED_TEXTS = 65536


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything extracted from one text."""

    text: str  # the normalised text
    marks: tuple[tuple[int, int], ...]  # the spans that the readers took, in the order of the readers
    words: tuple[Word, ...]  # all its words, in order
    vocabulary: frozenset[str]  # its folded words
    stems: frozenset[str]  # the stems of its words
    initials: str  # the first letters of its words, for acronyms
    bag: tuple[str, ...]  # the stems of the words that carry content, sorted
    content: frozenset[str]  # the same as a set
    frame: frozenset[str]  # those of them that stand in no typed value and tell of no change
    links: tuple[Link, ...]
    quotes: tuple[Quote, ...]
    paths: tuple[Path, ...]
    days: tuple[Day, ...]
    relatives: tuple[Relative, ...]
    weekdays: tuple[Weekday, ...]
    frequencies: tuple[Frequency, ...]
    clocks: tuple[Clock, ...]
    identifiers: tuple[Identifier, ...]
    versions: tuple[Version, ...]
    numbers: tuple[Number, ...]
    names: tuple[Name, ...]
    negations: tuple[Negation, ...]
    traits: tuple[Trait, ...]
    values: tuple[Value, ...]

    def details(self) -> tuple[Detail, ...]:
        """All details of all kinds, kind by kind; the certain ones first."""
        literal = (*self.links, *self.quotes, *self.paths, *self.identifiers, *self.versions)
        times = (*self.days, *self.relatives, *self.weekdays, *self.frequencies, *self.clocks)
        return (*literal, *times, *self.numbers, *self.names, *self.negations, *self.traits)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def extract(text: str) -> Facts:
    """Read the details of a text; the same text is read once.

    >>> facts = extract("Takes 75 mcg of levothyroxine at 7 am since March 2024")
    >>> facts.numbers[0].value, facts.clocks[0].minute, facts.days[0].month
    (75.0, 420, 3)
    """
    page = Page(text)
    spelled = tuple(words(page.text))
    content = [stem(word.folded) for word in spelled if word.folded not in FRAME_WORDS]
    details: dict[str, tuple[Any, ...]] = {
        "quotes": quotes(page),
        "links": links(page),
        "paths": paths(page),
        "days": dates(page),
        "relatives": relatives(page),
        "weekdays": weekdays(page),
        "frequencies": frequencies(page),
        "clocks": clocks(page),
        "identifiers": identifiers(page),
        "versions": versions(page),
        "numbers": numbers(page),
        "names": names(page, spelled),
    }
    return Facts(
        text=page.text,
        marks=tuple(page.marks),
        words=spelled,
        vocabulary=frozenset(word.folded for word in spelled),
        stems=frozenset(stem(word.folded) for word in spelled),
        initials="".join(word.folded[:1] for word in spelled),
        bag=tuple(sorted(content)),
        content=frozenset(content),
        frame=frozenset(content) - _valued(details) - _UPDATES,
        negations=negations(page),
        traits=traits(page),
        values=values(page.text),
        **details,
    )


_TYPED = ("days", "weekdays", "frequencies", "clocks", "identifiers", "versions", "numbers", "names")
_UPDATES = frozenset(
    stem(word)
    for word in listed(
        "now since instead anymore longer already currently today newly switched changed current still again "
        "until new"
    )
)


def _valued(details: dict[str, tuple[Any, ...]]) -> frozenset[str]:
    surfaces = {each.text for kind in _TYPED for each in details[kind]}
    return frozenset(stem(word.folded) for surface in surfaces for word in words(surface))
