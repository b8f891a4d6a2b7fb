"""What every extracted detail has in common, and pages whose spans are read only once.

A detail knows when another one states the same value (`agrees`), when another one may stand in for it without
loss (`covers`), and when both answer the same question with different values (`rivals`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from ..text.words import normalise

TAKEN = "\x00"
D = TypeVar("D", bound="Detail")


@dataclass(frozen=True, slots=True)
class Detail:
    """One load-bearing piece of a text; `text` is as it stands there, for printing and the literal test."""

    kind: ClassVar[str] = "detail"
    exclusive: ClassVar[bool] = True
    text: str

    def agrees(self, other: Detail) -> bool:
        """Whether both may state the same value; symmetric."""
        return self == other

    def covers(self, other: Detail) -> bool:
        """Whether keeping only this one loses nothing of the other."""
        return self.agrees(other)

    def rivals(self, other: Detail) -> bool:
        """Whether both could fill the same slot, so that not agreeing is a conflict; symmetric."""
        return self.exclusive and type(self) is type(other)


class Expression:
    """A regular expression that is compiled when first used: a hundred of them cost a tenth of a second.

    With `digits` it cannot match a text without a digit, so that such texts are not searched.
    """

    __slots__ = ("_compiled", "_flags", "_source", "digits")

    def __init__(self, source: str, flags: int = 0, *, digits: bool = False) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self.digits = digits

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Find the first match."""
        return self.compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Match at a position."""
        return self.compiled.match(text, start)

    def all(self, text: str) -> Iterator[re.Match[str]]:
        """Find all matches."""
        return self.compiled.finditer(text)


class Page:
    """A normalised text whose spans are taken one reader after another: "14:30" is not also 14 and 30.

    >>> page = Page("at 14:30")
    >>> [m.group() for m in page.take(Expression("[0-9]+:[0-9]+"))], page.rest.replace(TAKEN, "_")
    (['14:30'], 'at _____')
    """

    __slots__ = ("digits", "marks", "rest", "text")

    def __init__(self, text: str) -> None:
        self.text = normalise(text)
        self.rest = self.text
        self.marks: list[tuple[int, int]] = []
        self.digits = any(char in self.text for char in "0123456789")

    def find(self, pattern: Expression) -> list[re.Match[str]]:
        """Return the matches in the part of the text that no reader took, without taking them."""
        return [] if pattern.digits and not self.digits else list(pattern.all(self.rest))

    def take(self, pattern: Expression) -> list[re.Match[str]]:
        """Return the matches in the part of the text that no reader took, and take them."""
        matches = self.find(pattern)
        for match in matches:
            self.mark(match.start(), match.end())
        return matches

    def mark(self, start: int, end: int) -> None:
        """Take one span."""
        self.marks.append((start, end))
        self.rest = self.rest[:start] + TAKEN * (end - start) + self.rest[end:]


Row = tuple[Expression, Callable[["re.Match[str]"], Iterable[D]]]


def read(page: Page, *rows: Row[D]) -> tuple[D, ...]:
    """Take what rows make of a page, row by row; a match of which one makes nothing is left to the next.

    >>> from .calendar import WEEK_ROWS
    >>> [day.number for day in read(Page("Fri-Sun"), *WEEK_ROWS)]
    [4, 5, 6]
    """
    found: list[D] = []
    for pattern, parse in rows:
        for match in page.find(pattern):
            details = tuple(parse(match))
            if details:
                page.mark(*match.span())
                found.extend(details)
    return tuple(found)
