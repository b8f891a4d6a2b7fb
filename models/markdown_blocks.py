"""Markdown as lines that know what they are, by markdown-it; a line keeps its text to the letter."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from .text.reading import from_yaml

LineKind = Literal["blank", "heading", "fence", "code", "quote", "table", "html", "rule", "item", "text"]
PROSE = ("item", "text")  # lines that state something; others are structure, code or a quotation
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r)|([^\r\n]+)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_DASHES = re.compile(r"---[ \t]*$")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]{0,100}:(?:[ \t]+((?![ \t]).*))?$")
_BLOCKS: dict[str, LineKind] = {
    "fence": "fence", "code_block": "code", "heading_open": "heading", "html_block": "html", "hr": "rule",
    "blockquote_open": "quote",
}  # fmt: skip
_LIST_TOKENS = {"heading_open", "bullet_list_open", "hr", "html_block"}


class MarkdownLine(NamedTuple):
    """One line."""

    text: str  # what stands there, without its ending
    ending: str  # LF, CRLF, CR, or nothing at the end of the text
    kind: LineKind  # what it is; a line inside a quotation or a fence is nothing else
    level: int = 0  # of a heading, 1 to 6; else 0
    follows: bool = False  # whether it goes on with the paragraph of the line before
    said: int = 0  # where its words begin: behind indentation, bullet, number and box


class Bullet(NamedTuple):
    """A bullet of the outermost list, with all that is nested in it."""

    first: int  # number of its first line, from 0
    last: int  # number of the line behind it
    heading: str  # the nearest heading below the title, in lower case


def split_lines(text: str) -> list[tuple[str, str]]:
    """Lines as Markdown counts them, each with its ending: LF, CRLF or CR, and nothing else ends a line."""
    return [(match[1] or match[3] or "", match[2] or "") for match in _LINE.finditer(text)]


@functools.lru_cache(maxsize=4096)
def markdown_lines(text: str) -> tuple[MarkdownLine, ...]:
    """All lines of a text."""
    rows = split_lines(text)
    kinds: list[LineKind] = ["text" if row.strip() else "blank" for row, _ in rows]
    levels, follows = [0] * len(rows), [False] * len(rows)
    quoted = 0
    for token in _parser()(text):
        if token.map is None or token.nesting < 0 or token.map[0] < quoted:
            continue
        first, last = token.map[0], min(token.map[1], len(rows))
        kind = _BLOCKS.get(token.type)
        for number in range(first, last):
            if kind == "fence" or (kind and kinds[number] != "blank"):
                kinds[number] = kind
        if kind == "heading":
            levels[first] = int(token.tag[1])
        elif kind == "quote":
            quoted = last
        elif token.type == "list_item_open":
            kinds[first] = "item"
        elif token.type == "paragraph_open":
            follows[first + 1 : last] = [True] * (last - first - 1)
    lines = []
    for (row, ending), kind, level, follow in zip(rows, kinds, levels, follows, strict=True):
        item = _ITEM.match(row) if kind == "item" else None
        bar = kind == "text" and row.lstrip().startswith("|")  # a row, however its table is written
        said = item.end() if item else len(row) - len(row.lstrip())
        lines.append(MarkdownLine(row, ending, "table" if bar else kind, level, follow, said))
    return tuple(lines)


def bullets(text: str) -> tuple[bool, tuple[Bullet, ...]]:
    """The outermost bullets, and whether there is nothing beside them but headings, rules and comments."""
    tokens, rows = _parser()(text), split_lines(text)
    found: list[Bullet] = []
    heading, outermost = "", ""
    for token, after in itertools.pairwise(tokens):
        if token.level == 0 and token.type.endswith("list_open"):
            outermost = token.type
        if token.type == "heading_open" and token.level == 0 and token.tag != "h1":
            heading = " ".join(after.content.casefold().split())
        if token.type == "list_item_open" and token.level == 1 and outermost == "bullet_list_open":
            first, last = token.map
            last = min(last, len(rows))
            while last > first + 1 and not rows[last - 1][0].strip():
                last -= 1
            found.append(Bullet(first, last, heading))
    pure = not {token.type for token in tokens if token.level == 0 and token.nesting >= 0} - _LIST_TOKENS
    return pure, tuple(found)


def frontmatter(text: str) -> tuple[dict[str, Any], int]:
    """What the frontmatter says, and its number of lines with both fences; nothing and 0 without one.

    A block that is no YAML (a bare colon in a text) is read line by line.
    """
    lines = [row for row, _ in split_lines(text)]
    if not lines or not _DASHES.match(lines[0]):
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:], 2) if _DASHES.match(line)), 0)
    if not end:
        return {}, 0
    import yaml

    try:
        loaded = from_yaml("\n".join(lines[1 : end - 1]), quick=True)
    except yaml.YAMLError:
        pairs = filter(None, map(_KEY.match, lines[1 : end - 1]))
        return {pair[1]: (pair[2] or "").strip().strip("\"'") for pair in pairs}, end
    return {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else {}, end


@functools.cache
def _parser() -> Callable[[str], list[Any]]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])  # nothing inline
    return parser.parse
