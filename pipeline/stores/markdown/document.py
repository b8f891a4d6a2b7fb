"""A Markdown file of memories: text that goes back to the same bytes, and entries of a list.

A file is one memory, unless its body is nothing but headings and bullets: then each bullet with all that is
nested in it is one. An edit keeps every line that it does not change.
"""

from __future__ import annotations

import codecs
import difflib
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ....models.markdown_blocks import bullets, frontmatter, markdown_lines, split_lines
from ....models.text.tables import expression
from ..files import digest

BOM = codecs.BOM_UTF8
ENTRIES = 2  # fewest bullets of a file of lists
DESCRIBED_ENTRIES = 4  # the same where the frontmatter describes it: a few are the parts of one memory
WHOLE = "whole-file"  # in the place of an entry's name: all of a file, also of one that does not exist yet
INDEX_CATEGORY = "index"
_STRAY = {0xDC00 + byte: 0xF700 + byte for byte in range(0x80, 0x100)}
"""A byte that is no UTF-8 becomes the private character U+F700 + byte: unlike a surrogate it can be
kept in JSON and SQLite."""
_BYTES = {kept: surrogate for surrogate, kept in _STRAY.items()}
_BULLET = re.compile(r"[ ]{0,3}[-*+](?:[ \t]+|$)")
_PART = expression("markdown", "part")
_POINTS = re.compile(r"[^\w\[]*(?:\[[^\]\n]*\]\([^)\n]*\.md|\[\[)", re.IGNORECASE)
_LEADING_BLANKS = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


class Line(NamedTuple):
    """A line of a memory: what it says, what stands in the file (bullet, indentation), and its ending."""

    content: str
    raw: str
    ending: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One bullet of a file of lists."""

    id: str  # its name inside the file
    text: str  # what it says, without bullet and indentation
    heading: str  # the nearest heading below the title, in lower case
    start: int  # where its first line begins
    end: int  # where its last line with any content ends, line ending excluded
    lines: tuple[Line, ...]

    @property
    def bullet(self) -> str:
        """Bullet and white space before the text."""
        return self.lines[0].raw.removesuffix(self.lines[0].content)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed Markdown file."""

    source: str  # its whole text
    bom: bool  # whether a byte order mark stands before it
    faithful: bool  # whether its bytes can be given back exactly; else it is never edited
    newline: str  # its usual line ending
    frontmatter: Mapping[str, Any] = field(hash=False)  # what the frontmatter says; empty without one
    start: int  # where the body's text begins
    end: int  # where it ends
    entries: tuple[Entry, ...] = ()  # its memories if it is a file of lists
    mixed: bool = False  # its bullets are memories whatever stands around them

    @property
    def body(self) -> str:
        """Text of the body, without blank lines around it."""
        return plain(self.source[self.start : self.end])

    @property
    def title(self) -> str:
        """The heading of the first level in front of everything else; empty if there is none."""
        first = self.body.partition("\n")[0]
        return first.removeprefix("# ").strip() if first.startswith("# ") else ""

    @property
    def is_bare(self) -> bool:
        """Whether there are headings and nothing below them, as where every entry of a list was taken out."""
        return {line.kind for line in markdown_lines(self.body)} - {"blank"} == {"heading"}

    def entry(self, name: str) -> Entry | None:
        """The entry of a name."""
        return next((entry for entry in self.entries if entry.id == name), None)

    def value(self, *names: str) -> Any:  # noqa: ANN401  (frontmatter may hold anything)
        """The first of these keys the frontmatter has, at the top or under `metadata`."""
        nested = self.frontmatter.get("metadata")
        places = (self.frontmatter, nested if isinstance(nested, Mapping) else {})
        found = (place.get(name) for place in places for name in names)
        return next((value for value in found if value is not None), None)

    def with_whole(self, text: str) -> bytes:
        """Bytes of the file with another text."""
        return encode(edit_lines(lines_of(self.source), text, newline=self.newline), bom=self.bom)

    def with_body(self, text: str) -> bytes | None:
        """Bytes of the file with another body; None if it would not read back as that."""
        span = self.source[self.start : self.end]
        data = self._replaced(self.start, self.end, edit_lines(lines_of(span), text, newline=self.newline))
        return data if parse(data).body == text else None

    def with_entry(self, entry: Entry, text: str | None) -> bytes | None:
        """Bytes with another text of an entry, or without it; None if the list would fall apart."""
        if text is None:
            data = self._replaced(entry.start, entry.end + len(entry.lines[-1].ending), "")
        else:
            new = edit_lines(entry.lines, text, newline=self.newline, bullet=entry.bullet)
            data = self._replaced(entry.start, entry.end, new)
        left = [each for each in self.entries if text is not None or each is not entry]
        expected = [text if each is entry else each.text for each in left]
        found = parse(data, ids=[each.id for each in left], mixed=self.mixed).entries
        return data if [each.text for each in found] == expected else None

    def _replaced(self, start: int, end: int, text: str) -> bytes:
        return encode(self.source[:start] + text + self.source[end:], bom=self.bom)


def parse(data: bytes, *, ids: Sequence[str] | None = None, mixed: bool = False) -> Document:
    """Find the memories of a file.

    `ids` are names of its entries where an earlier change of ours fixed them; they also say that it is a file
    of lists, however few of its bullets are left. `mixed` takes the bullets, whatever stands around them,
    without pointers to files.
    """
    source = decode(data)
    rows = split_lines(source)
    values, header = frontmatter(source)
    offset = sum(len(row) + len(ending) for row, ending in rows[:header])
    start = offset + len(_LEADING_BLANKS.match(source[offset:])[0])  # type: ignore[index]  # always matches
    found = _entries(source[offset:], offset, mixed=mixed)
    wanted = DESCRIBED_ENTRIES if values.get("description") else ENTRIES
    if ids is None and not mixed and (len(found) < wanted or any(_PART.match(entry.text) for entry in found)):
        found = []
    # From what they say, so that a change of a neighbour changes none of them.
    said, own = Counter[str](), [digest(each.text.encode("utf-8", "surrogatepass"))[:10] for each in found]
    for place, name in enumerate(own):
        said[name] += 1
        own[place] += f".{said[name]}" if said[name] > 1 else ""
    names = ids if ids is not None and len(ids) == len(found) else own
    endings = Counter(ending for _, ending in rows if ending)
    return Document(
        source=source,
        bom=data.startswith(BOM),
        faithful=encode(source, bom=data.startswith(BOM)) == data,
        newline=max(endings, key=lambda ending: (endings[ending], ending)) if endings else "\n",
        frontmatter=values,
        start=start,
        end=max(start, len(source.rstrip())),
        entries=tuple(replace(entry, id=name) for name, entry in zip(names, found, strict=True)),
        mixed=mixed,
    )


def decode(data: bytes) -> str:
    """Text of a file, without its byte order mark."""
    return data.removeprefix(BOM).decode("utf-8", "surrogateescape").translate(_STRAY)


def encode(text: str, *, bom: bool) -> bytes:
    """Bytes of a text, stray bytes put back."""
    return (BOM if bom else b"") + text.translate(_BYTES).encode("utf-8", "surrogateescape")


def plain(text: str) -> str:
    """The text with every line ending as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(text: str) -> list[Line]:
    """The lines of a text that stands in a file as it is."""
    return [Line(row, row, ending) for row, ending in split_lines(text)]


def edit_lines(old: Sequence[Line], new: str, *, newline: str, bullet: str = "") -> str:
    """Write a new text (LF between its lines) over some lines, and keep the bytes of each line that stays.

    New lines end with `newline`; a new first one stands behind the bullet, the others are indented under it.
    """
    contents = new.split("\n")
    kept: dict[int, Line] = {}
    matcher = difflib.SequenceMatcher(None, [line.content for line in old], contents, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        # A first line carries the bullet, so it may stay only where it was.
        kept |= {b + n: old[a + n] for n in range(size) if (a + n == 0) == (b + n == 0)}
    pieces: list[str] = []
    for number, content in enumerate(contents):
        line = kept.get(number)
        indent = bullet if number == 0 else " " * len(bullet) if content else ""
        pieces += [line.raw if line else indent + content, (line.ending if line else "") or newline]
    return "".join(pieces[:-1])


def _entries(body: str, offset: int, *, mixed: bool) -> list[Entry]:
    pure, found = bullets(body)
    if not (pure or mixed):
        return []
    rows, entries = split_lines(body), []
    starts = [*itertools.accumulate((len(row) + len(ending) for row, ending in rows), initial=offset)]
    for item in found:
        first = rows[item.first][0]
        bullet = _BULLET.match(first)
        if bullet is None or "\t" in bullet[0] or not first[bullet.end() :].strip():
            if not mixed:
                return []
            continue
        own = [Line(first[bullet.end() :], *rows[item.first])]
        for row, ending in rows[item.first + 1 : item.last]:
            indent = min(bullet.end(), len(row) - len(row.lstrip(" ")))
            own.append(Line(row[indent:], row, ending))
        text = "\n".join(line.content for line in own)
        if not (mixed and (_PART.match(text) or _POINTS.match(text))):
            end = starts[item.last - 1] + len(rows[item.last - 1][0])
            entries.append(Entry("", text, item.heading, starts[item.first], end, tuple(own)))
    return entries


def file_of(memory_id: str) -> str:
    """The file in which a memory stands."""
    return split_id(memory_id)[0]


def split_id(memory_id: str) -> tuple[str, str]:
    """File and part of an id; the part is empty for the text of a whole file. A name may hold `#`, too."""
    head, _, tail = memory_id.rpartition("#")
    is_part = head.endswith(".md") and len(tail) >= 10 and "/" not in tail and "#" not in head
    return (head, tail) if is_part else (memory_id, "")


def whole_id(file: str) -> str:
    """The id of a file with everything in it."""
    return f"{file}#{WHOLE}"
