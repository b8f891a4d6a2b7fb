"""Typed details of short texts: numbers, dates, names, negations: what must not be lost or confused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from ..text.tables import table_set
from ..text.vocabulary import content_stems
from ..text.words import CACHED_TEXTS, Word, stem, words
from . import calendar, literals
from .calendar import Clock, Day, Frequency, Relative, Weekday
from .details import Detail, Page, read
from .literals import Identifier, Link, Path, Quote, Version, quotes, versions
from .names import Name, names
from .numbers import Number, numbers
from .values import Negation, Trait, Value, negations, traits, values

__all__ = [
    "Clock", "Day", "Detail", "Facts", "Frequency", "Identifier", "Link", "Name",
    "Negation", "Number", "Path", "Quote", "Relative", "Trait", "Version", "Weekday", "Word", "extract",
]  # fmt: skip


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


_READERS: Mapping[str, Callable[[Page], tuple[Any, ...]]] = {
    "quotes": quotes,
    "links": partial(read, rows=literals.LINKS_READ, cut=True),
    "paths": partial(read, rows=literals.PATHS_READ, cut=True),
    "days": partial(read, rows=calendar.DAYS_READ),
    "relatives": partial(read, rows=calendar.RELATIVES_READ),
    "weekdays": partial(read, rows=calendar.WEEKDAYS_READ),
    "frequencies": calendar.frequencies,
    "clocks": partial(read, rows=calendar.CLOCKS_READ),
    "identifiers": partial(read, rows=literals.IDENTIFIERS_READ),
    "versions": versions,
    "numbers": numbers,
    "names": names,
    "negations": negations,
    "traits": traits,
    "values": values,
}
"""In this order: a URL is not a path, a date is not a number, and "14:30" is not 14 and 30."""
VALUED = ("days", "weekdays", "frequencies", "clocks", "identifiers", "versions", "numbers", "names")
"""Fields of the details that are values."""
_UPDATES = frozenset(map(stem, table_set("values", "updates")))


@lru_cache(maxsize=CACHED_TEXTS)
def extract(text: str) -> Facts:
    """Read the details of a text; the same text is read once.

    >>> facts = extract("Takes 75 mcg of levothyroxine at 7 am since March 2024")
    >>> facts.numbers[0].value, facts.clocks[0].minute, facts.days[0].month
    (75.0, 420, 3)
    """
    page = Page(text)
    bag = content_stems(page.words)
    details = {name: reader(page) for name, reader in _READERS.items()}
    valued = {word.stem for kind in VALUED for each in details[kind] for word in words(each.text)}
    return Facts(
        text=page.text,
        marks=tuple(page.marks),
        words=page.words,
        vocabulary=frozenset(word.folded for word in page.words),
        stems=frozenset(word.stem for word in page.words),
        initials="".join(word.folded[:1] for word in page.words),
        bag=tuple(sorted(bag)),
        content=frozenset(bag),
        frame=frozenset(bag) - valued - _UPDATES,
        **details,
    )
