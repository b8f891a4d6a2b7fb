"""What the lines of a MEMORY.md are: pointers to files, and free text.

Only a list item that begins with one link to a file of memories is a pointer; a line that links to
several, a table row, or a sentence with a link in it says something of its own and is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

_ITEM = re.compile(r"^\s{0,3}(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"\[(?P<name>(?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?(?P<target>[^)>\s]+?\.md)(?:#[^)>]*)?>?\)")
_WIKI = re.compile(r"\[\[(?P<target>[^\]|#]+)(?:[|#][^\]]*)?\]\]")
_BARE = re.compile(r"(?<![\w/.-])(?P<target>[\w.-]+(?:/[\w.-]+)*\.md)\b")
_OPENING = re.compile(r"^[^\w\[]*(?=\[)")
"""Marks before the link: bold, an emoji, an arrow; no word."""
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_SEPARATOR = re.compile(r"^[\s*_`]*(?:--|—|–|-|:|→)?\s*")
_HEADING = re.compile(r"^#{1,6}\s")


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One line of an index.

    Attributes:
        text: As it stands.
        pointer: The file it points to, if that is all it does.
        said: What a pointer says about its file.
        wrapped: More lines belong to it, so that it cannot go alone.
        heading: Number of the heading it stands under.
    """

    text: str
    pointer: str | None = None
    said: str = ""
    wrapped: bool = False
    heading: int = 0


def index_lines(text: str) -> list[IndexLine]:
    r"""Read an index line by line.

    >>> [line.pointer for line in index_lines("Rules: [a](a.md)\n- [B](b.md) — DONE")]
    [None, 'b.md']
    """
    lines = text.split("\n")
    read: list[IndexLine] = []
    fence = ""
    heading = 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _fence_after(fence, line, mark)
            read.append(IndexLine(line, heading=heading))
            continue
        heading += bool(_HEADING.match(line))
        target, said = _pointed(line)
        after = lines[number + 1] if number + 1 < len(lines) else ""
        wrapped = bool(target) and after.startswith(("  ", "\t")) and bool(after.strip())
        read.append(IndexLine(line, target, said, wrapped, heading))
    return read


def mentioned(text: str) -> set[str]:
    """Every file that an index names in whatever way: it needs no pointer any more."""
    names = {unquote(match["target"]) for match in _LINK.finditer(text)}
    names |= {match["target"].strip().removesuffix(".md") + ".md" for match in _WIKI.finditer(text)}
    names |= {match["target"] for match in _BARE.finditer(text)}
    return {name.removeprefix("./") for name in names}


def retargeted(line: str, old: str, new: str) -> str:
    """A line with its link leading to another file; what it says stays."""
    for match in _LINK.finditer(line):
        if _local(match["target"]) == old:
            start, end = match.span("target")
            return line[:start] + new + line[end:]
    return line


def parted(line: str) -> list[tuple[str, str]] | None:
    """Pieces of a line of several pointers joined by " · ", each with its file; None for any other line."""
    item = _ITEM.match(line)
    pieces = line[item.end() :].split(" · ") if item else []
    if item is None or len(pieces) < 2:
        return None
    files = [[_local(match["target"]) for match in _LINK.finditer(piece)] for piece in pieces]
    if not all(len(names) == 1 and names[0] for names in files):
        return None
    return [(piece, str(names[0])) for piece, names in zip(pieces, files, strict=True)]


def joined(line: str, pieces: Sequence[str]) -> str:
    """The line of several pointers with only some of its pieces."""
    item = _ITEM.match(line)
    return (item[0] if item else "") + " · ".join(pieces)


def separator(lines: Sequence[IndexLine]) -> str:
    """What this author writes between name and description; the original's dashes where there is none yet."""
    for mark in ("—", "--", "–", ":", "-"):
        if any(_after_link(line.text).startswith((f" {mark} ", f"{mark} ")) for line in lines if line.said):
            return f"{mark} " if mark == ":" else f" {mark} "
    return " -- "


def _fence_after(fence: str, line: str, mark: re.Match[str] | None) -> str:
    if not fence:
        return mark[1] if mark else ""
    closes = line.strip().startswith(fence) and not line.strip().strip("`~")
    return "" if closes else fence


def _pointed(line: str) -> tuple[str | None, str]:
    """The file a line points to and what it says about it; nothing for any other line."""
    item = _ITEM.match(line)
    if item is None:
        return None, ""
    rest = line[item.end() :]
    opening = _OPENING.match(rest)
    links = [*_LINK.finditer(rest)]
    wiki = [*_WIKI.finditer(rest)]
    if opening is None or len(links) + len(wiki) != 1:
        return None, ""
    match = (links or wiki)[0]
    if match.start() != opening.end():
        return None, ""
    target = match["target"] if links else match["target"].strip().removesuffix(".md") + ".md"
    local = _local(target)
    return local, _SEPARATOR.sub("", rest[match.end() :]).strip() if local else ""


def _local(target: str) -> str | None:
    """The target as a file of this directory could be named; None for addresses and ways out."""
    name = unquote(target).removeprefix("./")
    return None if ":" in name or name.startswith(("/", "../", "~")) or "/../" in name else name


def _after_link(line: str) -> str:
    match = _LINK.search(line) or _WIKI.search(line)
    return line[match.end() :].lstrip("*_`") if match else ""
