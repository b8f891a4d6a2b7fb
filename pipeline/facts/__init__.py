"""Typed details of one short text: numbers, dates, names, negations and all that must not be lost or confused.

`extract` reads a text once and remembers it; `Facts` holds tuples in the order of the text. Nothing here compares
two texts: see `guards`. No model, no network, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

from .clocks import Clock, Frequency, clocks, frequencies
from .dates import Day, Relative, Weekday, dates, relatives, weekdays
from .detail import Detail
from .literals import Identifier, Link, Path, Quote, Version, identifiers, links, paths, quotes, versions
from .names import Name, names
from .numbers import Number, numbers
from .polarity import Negation, negations
from .tokens import Page, Word, words
from .traits import Trait, traits

__all__ = [
    "Clock",
    "Day",
    "Detail",
    "Facts",
    "Frequency",
    "Identifier",
    "Link",
    "Name",
    "Negation",
    "Number",
    "Path",
    "Quote",
    "Relative",
    "Trait",
    "Version",
    "Weekday",
    "Word",
    "extract",
]
REMEMBERED_TEXTS = 65536


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything extracted from one text.

    Attributes:
        text: The normalised text.
        words: All its words, for literal tests.
    """

    text: str
    words: tuple[Word, ...]
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

    def details(self) -> tuple[Detail, ...]:
        """All details of all kinds, kind by kind."""
        return tuple(detail for each in fields(self)[2:] for detail in getattr(self, each.name))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def extract(text: str) -> Facts:
    """Read the details of a text.

    >>> facts = extract("Takes 75 mcg of levothyroxine at 7 am since March 2024")
    >>> facts.numbers[0].value, facts.clocks[0].minute, facts.days[0].month
    (75.0, 420, 3)
    """
    page = Page(text)
    spelled = tuple(words(page.text))
    quoted = quotes(page)
    link, path, day = links(page), paths(page), dates(page)
    relative, weekday, frequency, clock = relatives(page), weekdays(page), frequencies(page), clocks(page)
    identifier, version = identifiers(page), versions(page)
    number = numbers(page)
    name = names(page, spelled)
    return Facts(
        text=page.text,
        words=spelled,
        links=link,
        quotes=quoted,
        paths=path,
        days=day,
        relatives=relative,
        weekdays=weekday,
        frequencies=frequency,
        clocks=clock,
        identifiers=identifier,
        versions=version,
        numbers=number,
        names=name,
        negations=negations(page),
        traits=traits(page),
    )
