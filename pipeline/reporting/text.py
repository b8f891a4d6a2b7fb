"""Foreign text on its way to a person: escaped, on one line, shortened; and ids as short as they may be."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

TEXT_WIDTH = 100  # characters of a text in a line of the report
WHOLE_UP_TO = 1_000
"""Characters up to which a text is shown whole; longer ones are documents, too long for a terminal."""
ID_WIDTH = 8
NAMED = ("md", "graph")  # kinds of stores whose ids are names


def visible(text: str) -> str:
    r"""The text with an escape for each character that could forge, colour or turn round a line.

    Everything foreign that is shown to a person goes through here, whatever shows it.

    >>> visible("red \x1b[31m alert, \u202e turned")
    'red \\x1b[31m alert, \\u202e turned'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(visible, text.split("\n")))


def one_line(text: str) -> str:
    """The text with white space collapsed and every other control character as its escape."""
    return visible(" ".join(text.split()))


def clip(text: str, width: int = TEXT_WIDTH) -> str:
    """One line of at most `width` characters, with an ellipsis where it was cut."""
    flat = one_line(text)
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def whole(text: str) -> str:
    """A text in full on one line; of a document the beginning, with its length."""
    flat = one_line(text)
    return flat if len(flat) <= WHOLE_UP_TO else f"{clip(flat, WHOLE_UP_TO)} ({len(text):,} characters)"


def day(moment: datetime | None) -> str:
    """The date of a moment."""
    return moment.date().isoformat() if moment else "no date"


def spoken_ids(ids: Iterable[str], kind: str) -> dict[str, str]:
    """Ids as a person reads them; a path or a name stays whole, for cut off it would name another one."""
    return {memory_id: memory_id for memory_id in ids} if kind in NAMED else short_ids(ids)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Shorten ids to the fewest leading characters, at least eight, that tell all of them apart.

    >>> short_ids(["aaaaaaaaaa1", "aaaaaaaaaa2"])
    {'aaaaaaaaaa1': 'aaaaaaaaaa1', 'aaaaaaaaaa2': 'aaaaaaaaaa2'}
    """
    unique = sorted(set(ids))
    longest = max(map(len, unique), default=0)
    for width in range(ID_WIDTH, longest):
        if len({memory_id[:width] for memory_id in unique}) == len(unique):
            return {memory_id: memory_id[:width] for memory_id in unique}
    return {memory_id: memory_id for memory_id in unique}


def bracketed(line: str) -> str:
    """A line as plain text; where it has marks, in brackets."""
    for start, end, _ in reversed(getattr(line, "spans", ())):
        line = f"{line[:start]}[{line[start:end]}]{line[end:]}"
    return str(line)
