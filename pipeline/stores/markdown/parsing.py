"""Where the memories of a Markdown file stand: frontmatter, body, and the entries of a list.

Parsing finds spans and changes nothing. A file is one memory, unless its body is nothing but
headings and bullets: then each bullet with all that is nested in it is one.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .raw_text import BOM, Line, decode, encode, is_faithful, newline_of, plain, split_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

ENTRIES = 2
"""Fewest bullets of a file of lists."""
DESCRIBED_ENTRIES = 4
"""Fewest bullets where the frontmatter describes the file: a few bullets are the parts of one memory."""
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"^---[ \t]*$")
_KEY = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BULLET = re.compile(r"^[ ]{0,3}[-*+](?:[ \t]+|$)")
_PART = re.compile(
    r"^\**(?:why|how to apply|how|when|example|context|reason|note)\b[^:\n]{0,30}:", re.IGNORECASE
)
_POINTS = re.compile(r"^[^\w\[]*(?:\[[^\]\n]*\]\([^)\n]*\.md|\[\[)", re.IGNORECASE)
_LEADING_BLANKS = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_LIST_TOKENS = frozenset({"heading_open", "bullet_list_open", "hr", "html_block"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One bullet of a file of lists.

    Attributes:
        id: Its name inside the file.
        text: What it says, without bullet and indentation.
        heading: The nearest heading below the title, in lower case; the subject it belongs to.
        start: Where its first line begins.
        end: Where its last line with any content ends, line ending excluded.
        lines: Its lines.
    """

    id: str
    text: str
    heading: str
    start: int
    end: int
    lines: tuple[Line, ...]

    @property
    def bullet(self) -> str:
        """Bullet and white space before the text."""
        raw = self.lines[0].raw
        return raw[: len(raw) - len(self.lines[0].content)]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed Markdown file.

    Attributes:
        source: Its whole text.
        bom: Whether a byte order mark stands before it.
        faithful: Whether its bytes can be given back exactly; else it is never edited.
        newline: Its usual line ending.
        frontmatter: What the frontmatter says; empty without one.
        start: Where the body's text begins.
        end: Where it ends.
        entries: Its memories if it is a file of lists.
        mixed: Its bullets are memories whatever stands around them.
    """

    source: str
    bom: bool
    faithful: bool
    newline: str
    frontmatter: Mapping[str, Any] = field(hash=False)
    start: int
    end: int
    entries: tuple[Entry, ...] = ()
    mixed: bool = False

    @property
    def body(self) -> str:
        """Text of the body, without blank lines around it."""
        return plain(self.source[self.start : self.end])

    @property
    def is_bare(self) -> bool:
        """Whether there are headings and nothing below them, as where every entry of a list was taken out."""
        said = [line for line in self.body.split("\n") if line.strip()]
        return bool(said) and all(_HEADING.match(line) for line in said)

    def value(self, *names: str) -> Any:  # noqa: ANN401  (frontmatter may hold anything)
        """The first of these keys the frontmatter has, at the top or under `metadata`."""
        nested = self.frontmatter.get("metadata")
        for place in (self.frontmatter, nested if isinstance(nested, Mapping) else {}):
            for name in names:
                if place.get(name) is not None:
                    return place[name]
        return None

    def replaced(self, start: int, end: int, text: str) -> bytes:
        """Bytes of the file with one span replaced."""
        return encode(self.source[:start] + text + self.source[end:], bom=self.bom)


def parse(data: bytes, *, ids: Sequence[str] | None = None, mixed: bool = False) -> Document:
    """Find the memories of a file.

    Args:
        data: The whole file.
        ids: Names of its entries where an earlier change of ours fixed them; they also say that it is
            a file of lists, however few of its bullets are left.
        mixed: Take the bullets, whatever stands around them; pointers to files are left out.
    """
    source = decode(data)
    lines = split_lines(source)
    header = _frontmatter_end(lines)
    offset = sum(len(line.raw) + len(line.ending) for line in lines[:header])
    values = _frontmatter(lines[1 : header - 1]) if header else {}
    start = offset + len(_LEADING_BLANKS.match(source[offset:])[0])  # type: ignore[index]  # always matches
    end = max(start, len(source.rstrip()))
    entries = _entries(lines[header:], offset, mixed=mixed)
    wanted = DESCRIBED_ENTRIES if values.get("description") else ENTRIES
    if (
        ids is None
        and not mixed
        and (len(entries) < wanted or any(_PART.match(entry.text) for entry in entries))
    ):
        entries = ()
    names = ids if ids is not None and len(ids) == len(entries) else entry_ids([e.text for e in entries])
    return Document(
        source=source,
        bom=data.startswith(BOM),
        faithful=is_faithful(data),
        newline=newline_of(source),
        frontmatter=values,
        start=start,
        end=end,
        entries=tuple(
            Entry(name, item.text, item.heading, item.start, item.end, item.lines)
            for name, item in zip(names, entries, strict=True)
        ),
        mixed=mixed,
    )


def entry_ids(texts: Sequence[str]) -> tuple[str, ...]:
    """Names of entries from what they say, so that a change of a neighbour changes none of them."""
    seen: Counter[str] = Counter()
    names = []
    for text in texts:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        seen[digest] += 1
        names.append(digest if seen[digest] == 1 else f"{digest}.{seen[digest]}")
    return tuple(names)


def block_tokens(text: str) -> list[Any]:
    """Blocks of a Markdown text with their line ranges; nothing inline is parsed."""
    return list(_parser().parse(text))


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _frontmatter_end(lines: Sequence[Line]) -> int:
    """Number of lines of the frontmatter, both fences included; 0 without one."""
    if not lines or not _FENCE.match(lines[0].raw):
        return 0
    closing = (number for number, line in enumerate(lines[1:], 2) if _FENCE.match(line.raw))
    return next(closing, 0)


def _frontmatter(lines: Sequence[Line]) -> dict[str, Any]:
    """Values of a frontmatter; one that is no YAML (a bare colon in a text) is read line by line."""
    import yaml

    try:
        # libyaml where it is there: the pure reader takes most of the time over thousands of files.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        loaded = yaml.load("\n".join(line.raw for line in lines), Loader=loader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        pairs = (_KEY.match(line.raw) for line in lines)
        return {pair[1]: (pair[2] or "").strip().strip("\"'") for pair in pairs if pair}
    return {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else {}


def _entries(lines: Sequence[Line], offset: int, *, mixed: bool) -> tuple[Entry, ...]:
    """All bullets, if the text holds nothing but headings and bullets, or if that does not matter."""
    tokens = block_tokens("\n".join(line.raw for line in lines))
    if (
        not mixed
        and {token.type for token in tokens if token.level == 0 and token.nesting >= 0} - _LIST_TOKENS
    ):
        return ()
    starts = [offset]
    for line in lines:
        starts.append(starts[-1] + len(line.raw) + len(line.ending))
    entries: list[Entry] = []
    heading = ""
    for token, after in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.tag != "h1":
            heading = " ".join(after.content.casefold().split())
        if token.type == "list_item_open" and token.level == 1:
            entry = _entry(lines, token.map, starts, heading)
            if entry is None and not mixed:
                return ()
            if entry is not None and not (mixed and (_PART.match(entry.text) or _POINTS.match(entry.text))):
                entries.append(entry)
    return tuple(entries)


def _entry(lines: Sequence[Line], span: Sequence[int], starts: Sequence[int], heading: str) -> Entry | None:
    first, last = span
    while last > first + 1 and not lines[last - 1].raw.strip():
        last -= 1
    bullet = _BULLET.match(lines[first].raw)
    if bullet is None or "\t" in bullet[0] or not lines[first].raw[bullet.end() :].strip():
        return None
    width = bullet.end()
    own = [Line(lines[first].raw[width:], lines[first].raw, lines[first].ending)]
    for line in lines[first + 1 : last]:
        indent = min(width, len(line.raw) - len(line.raw.lstrip(" ")))
        own.append(Line(line.raw[indent:], line.raw, line.ending))
    end = starts[last - 1] + len(lines[last - 1].raw)
    text = "\n".join(line.content for line in own)
    return Entry("", text, heading, starts[first], end, tuple(own))
