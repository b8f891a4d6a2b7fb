"""What the lines of a MEMORY.md are: pointers to files, and free text.

Only a list item that begins with one link to a file of memories is a pointer; a line that links to
several, a table row, or a sentence with a link in it says something of its own and is never changed.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from ....models.markdown_blocks import markdown_lines

_LINK = re.compile(r"\[(?P<name>(?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?(?P<target>[^)>\s]+?\.md)(?:#[^)>]*)?>?\)")
_WIKI = re.compile(r"\[\[(?P<target>[^\]|#]+)(?:[|#][^\]]*)?\]\]")
_BARE = re.compile(r"(?<![\w/.*-])(?P<target>[\w.-]+(?:/[\w.-]+)*\.md)\b")
_SPAN = re.compile(r"`([^`\n]+)`")
_GLOB = re.compile(r"(?<![\w*])(?:[\w./-]+\*+[\w.*/-]*|\*+[\w./-]+[\w.*/-]*)(?![\w*])")
_OPENING = re.compile(r"[^\w\[]*(?=\[)")
"""Marks before the link: bold, an emoji, an arrow; no word."""
_SEPARATOR = re.compile(r"[\s*_`]*(?:--|—|–|-|:|→)?\s*")


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One line of an index."""

    text: str  # as it stands
    pointer: str | None = None  # the file it points to, if that is all it does
    said: str = ""  # what a pointer says about its file
    wrapped: bool = False  # more lines belong to it, so that it cannot go alone
    heading: int = 0  # number of the heading it stands under


def index_lines(text: str) -> list[IndexLine]:
    r"""Read an index line by line.

    >>> [line.pointer for line in index_lines("Rules: [a](a.md)\n- [B](b.md) — DONE")]
    [None, 'b.md']
    """
    read: list[IndexLine] = []
    heading = 0
    lines = markdown_lines(text)
    for number, line in enumerate(lines):
        heading += line.kind == "heading" and line.level > 0
        target, said = _pointed(line.text[line.said :]) if line.kind == "item" else (None, "")
        after = lines[number + 1].text if number + 1 < len(lines) else ""
        wrapped = bool(target) and after.startswith(("  ", "\t")) and bool(after.strip())
        read.append(IndexLine(line.text, target, said, wrapped, heading))
    return [*read, IndexLine("", heading=heading)] if text.endswith("\n") or not read else read


def mentioned(text: str, files: Collection[str] = ()) -> set[str]:
    """Every file that an index names in whatever way: it needs no pointer any more.

    Args:
        text: The index.
        files: Those that may be named without their ending: by stem in backticks or double brackets, or by
            a pattern such as `feedback_*`.
    """
    names = {unquote(match["target"]) for match in _LINK.finditer(text)}
    names |= {match["target"].strip().removesuffix(".md") + ".md" for match in _WIKI.finditer(text)}
    names |= {match["target"] for match in _BARE.finditer(text)}
    names = {name.removeprefix("./") for name in names}
    spans = {span.strip().removesuffix(".md") for span in _SPAN.findall(text)} | {name[:-3] for name in names}
    globs = [glob for glob in _GLOB.findall(text) if glob.strip("*./-_")]
    for file in files:
        stem = file.removesuffix(".md")
        own = {stem, stem.rpartition("/")[2]}
        patterns = (glob.removesuffix(".md") for glob in globs)
        if own & spans or any(fnmatch.fnmatchcase(name, glob) for glob in patterns for name in own):
            names.add(file)
    return names


def retargeted(line: str, old: str, new: str) -> str:
    """A line with its link leading to another file; what it says stays."""
    for match in _LINK.finditer(line):
        if _local(match["target"]) == old:
            start, end = match.span("target")
            return line[:start] + new + line[end:]
    return line


def parted(line: str) -> tuple[str, list[tuple[str, str]]] | None:
    """Bullet and pieces of a line of several pointers joined by " · ", each with its file; else None."""
    read = markdown_lines(line)
    if not read or read[0].kind != "item":
        return None
    bullet, pieces = line[: read[0].said], line[read[0].said :].split(" · ")
    files = [[_local(match["target"]) for match in _LINK.finditer(piece)] for piece in pieces]
    if len(pieces) < 2 or not all(len(names) == 1 and names[0] for names in files):
        return None
    return bullet, [(piece, str(names[0])) for piece, names in zip(pieces, files, strict=True)]


def separator(lines: Sequence[IndexLine]) -> str:
    """What this author writes between name and description; the original's dashes where there is none yet."""
    links = ((line.text, _LINK.search(line.text) or _WIKI.search(line.text)) for line in lines if line.said)
    behind = [text[match.end() :].lstrip("*_`") for text, match in links if match]
    for mark in ("—", "--", "–", ":", "-"):
        if any(text.startswith((f" {mark} ", f"{mark} ")) for text in behind):
            return f"{mark} " if mark == ":" else f" {mark} "
    return " -- "


def _pointed(said: str) -> tuple[str | None, str]:
    """The file that an item points to and what it says about it; nothing for any other item."""
    opening = _OPENING.match(said)
    links = [*_LINK.finditer(said)]
    wiki = [*_WIKI.finditer(said)]
    if opening is None or len(links) + len(wiki) != 1:
        return None, ""
    match = (links or wiki)[0]
    if match.start() != opening.end():
        return None, ""
    target = match["target"] if links else match["target"].strip().removesuffix(".md") + ".md"
    local = _local(target)
    return local, _SEPARATOR.sub("", said[match.end() :], count=1).strip() if local else ""


def _local(target: str) -> str | None:
    """The target as a file of this directory could be named; None for addresses and ways out."""
    name = unquote(target).removeprefix("./")
    return None if ":" in name or name.startswith(("/", "../", "~")) or "/../" in name else name
