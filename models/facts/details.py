"""What every extracted detail has in common, and pages whose spans are read only once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from ..text.tables import pattern, table_set
from ..text.words import normalise, words

TAKEN = "\x00"
D = TypeVar("D", bound="Detail")
_WITH_DIGIT = table_set("patterns", "with_digit")


@dataclass(frozen=True, slots=True)
class Detail:
    """One load-bearing piece of a text; `text` is as it stands there, for printing and the literal test."""

    kind: ClassVar[str] = "detail"
    text: str

    def agrees(self, other: Detail) -> bool:
        """Whether both may state the same value; symmetric."""
        return isinstance(other, type(self)) and self._same(other)

    def covers(self, other: Detail) -> bool:
        """Whether keeping only this one loses nothing of the other."""
        return isinstance(other, type(self)) and self._holds(other)

    def rivals(self, other: Detail) -> bool:
        """Whether both could fill the same slot, so that not agreeing is a conflict; symmetric."""
        return isinstance(other, type(self)) and self._excludes(other)

    def _same(self, other: Self, /) -> bool:
        return self == other

    def _holds(self, other: Self, /) -> bool:
        return self._same(other)

    def _excludes(self, _other: Self, /) -> bool:
        return True


class Page:
    """A normalised text whose spans are taken one reader after another: "14:30" is not also 14 and 30."""

    __slots__ = ("digits", "marks", "rest", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = normalise(text)
        self.rest = self.text
        self.words = tuple(words(self.text))
        self.marks: list[tuple[int, int]] = []
        self.digits = any(char in self.text for char in "0123456789")

    def find(self, name: str) -> list[re.Match[str]]:
        """Return the matches of a pattern in the part that no reader took, without taking them."""
        if not self.digits and name in _WITH_DIGIT:
            return []
        return list(pattern(name).finditer(self.rest))

    def mark(self, start: int, end: int) -> None:
        """Take one span."""
        self.marks.append((start, end))
        self.rest = self.rest[:start] + TAKEN * (end - start) + self.rest[end:]


Row = tuple[str, Callable[["re.Match[str]"], Iterable[D]]]


def read(page: Page, rows: Iterable[Row[D]], *, cut: bool = False) -> tuple[D, ...]:
    """Take what rows of a pattern and its meaning make of a page, row by row, or the text of the detail only.

    A match of which a row makes nothing is left to the next.
    """
    found: list[D] = []
    for name, parse in rows:
        for match in page.find(name):
            details = tuple(parse(match))
            if details:
                page.mark(match.start(), match.start() + len(details[0].text) if cut else match.end())
                found.extend(details)
    return tuple(found)
