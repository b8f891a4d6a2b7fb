"""What a report is made of: sections of entries, for every kind of store and every reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...records import Scope
from .differences import Marked
from .text import visible


@dataclass(frozen=True, slots=True)
class Entry:
    """One proposal, change or finding.

    Attributes:
        line: What stands for it.
        below: What is always shown under it, such as a text that goes.
        why: What is shown under it with --explain.
    """

    line: str
    below: Sequence[str] = ()
    why: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Entries under a title; one without entries is not shown.

    Attributes:
        title: What they are, without a number.
        entries: In order.
        scope: Whose they are; None stands behind those of all scopes.
        note: A few words behind the title.
        count: The number in the title, where it is not that of the entries.
    """

    title: str
    entries: Sequence[Entry]
    scope: Scope | None = None
    note: str = ""
    count: int | None = None

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """The section as lines; foreign controls in them are escaped, marks are kept."""
        if self.entries:
            count = len(self.entries) if self.count is None else self.count
            yield safe(f"{self.title} ({count}):{self.note and ' '}{self.note}")
        for entry in self.entries:
            for line in (entry.line, *entry.below, *(entry.why if explain else ())):
                yield safe(line)


def safe(line: str) -> str:
    """A line without foreign controls; one with marks is made of such text, and keeps them."""
    return line if isinstance(line, Marked) else visible(line)
