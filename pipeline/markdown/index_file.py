"""MEMORY.md: one short pointer for each file of memories, and nobody's own words lost.

The list stands between two markers; what a person wrote around it stays. A pointer that says more
than a pointer should is not cut: what it says moves into its file first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from ..words import significant_words

BEGIN = "<!-- mem0-dream:index -->"
END = "<!-- /mem0-dream:index -->"
LINE_LENGTH = 150
"""A pointer stays below this many characters."""
LONG_LINE = 200
"""A pointer above this many characters holds memory content, which belongs into the file."""
MAX_LINES = 200
"""What an agent loads of its index."""
MAX_BYTES = 25_000
_POINTER = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[(?P<name>[^\]]*)\]\(<?(?P<target>[^)>]+?\.md)>?\)"
    r"|\[\[(?P<wiki>[^\]|#]+)(?:\|[^\]]*)?\]\]|[*_`]+(?P<bare>[\w./ -]+\.md)[*_`]+)(?P<rest>.*)$"
)
_SEPARATOR = re.compile(r"^[\s*_`]*(?:--|—|–|-|:)?\s*")
_HEADING = re.compile(r"^#{1,6}\s")
_FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})")
_OWN_TITLE = re.compile(r"^#\s.*\b(?:memory|memories|index|memory\.md)\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Topic:
    """A file of memories, as the index points to it.

    Attributes:
        file: Its name in the directory.
        name: What it calls itself; empty if it does not.
        description: Its own description.
        text: All it says.
        open: Whether something may be added to it.
    """

    file: str
    name: str
    description: str
    text: str
    open: bool = True


@dataclass(frozen=True, slots=True)
class Pointer:
    """One line of an index.

    Attributes:
        file: The file it points to.
        name: What it calls it.
        said: What it says about it.
        length: Characters of the whole line.
    """

    file: str
    name: str
    said: str
    length: int


@dataclass(frozen=True, slots=True)
class IndexDraft:
    """An index as it should be.

    Attributes:
        text: The whole file.
        removed: Pointers that lead nowhere any more.
        remaining: Pointers it holds.
        demoted: What moves from a pointer into its file, by file.
        warnings: What a person should look at.
    """

    text: str
    removed: int
    remaining: int
    demoted: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def draft_index(
    current: str,
    topics: Sequence[Topic],
    *,
    title: str,
    gone: Iterable[str] = (),
    folders: Iterable[str] = (),
) -> IndexDraft:
    """Write the index of a directory anew.

    Args:
        current: The index as it stands, LF between the lines; empty if there is none.
        topics: The files that stay.
        title: Name of the directory, for the title line.
        gone: Files that this pass removes.
        folders: Folders of the directory: only a pointer into it is ours to drop.
    """
    by_file = {topic.file: topic for topic in sorted(topics, key=lambda item: item.file)}
    kept, pointers, place = _split(current, {*by_file, *gone}, set(folders))
    if not by_file and not pointers:
        return IndexDraft(current, 0, 0)
    held: dict[str, Pointer] = {}
    for pointer in pointers:
        held.setdefault(pointer.file, pointer)
    demoted: dict[str, str] = {}
    lines = []
    for topic in by_file.values():
        line, detail = _entry(topic, held.get(topic.file))
        lines.append(line)
        if detail:
            demoted[topic.file] = detail
    text = _assemble(kept, place, lines, f"# {title} Memory")
    return IndexDraft(
        text=text,
        removed=len(set(held) - set(by_file)),
        remaining=len(lines),
        demoted=demoted,
        warnings=_warnings(text, lines),
    )


@dataclass(slots=True)
class _Section:
    """What stands under one heading outside the list."""

    at: int
    level: int
    pointers: bool = False
    own: bool = False


def _split(current: str, known: set[str], folders: set[str]) -> tuple[list[str], list[Pointer], int]:
    """The lines a person wrote, all pointers, and where the list stood.

    A heading under which only pointers stood goes with them; the title is looked at later.
    """
    kept: list[str] = []
    pointers: list[Pointer] = []
    sections: list[_Section] = [_Section(-1, 0)]
    place = -1
    fenced = under = listed = False
    for line in current.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        found = None if fenced and not listed else _pointer(line, known, folders)
        if found or line.strip() in (BEGIN, END):
            place = len(kept) if place < 0 or line.strip() == BEGIN else place
            listed = (listed or line.strip() == BEGIN) and line.strip() != END
            pointers += [found] if found else []
            sections[-1].pointers |= bool(found) and not listed
            under = found is not None
        elif under and line.startswith(("  ", "\t")) and line.strip():
            pointers[-1] = _continued(pointers[-1], line)
        else:
            under = False
            if _HEADING.match(line) and not fenced:
                sections.append(_Section(len(kept), len(line.split(" ")[0])))
            else:
                sections[-1].own |= bool(line.strip())
            kept.append(line)
    gone = _emptied(sections)
    remaining = [line for number, line in enumerate(kept) if number not in gone]
    return remaining, pointers, place - sum(number < place for number in gone)


def _continued(pointer: Pointer, line: str) -> Pointer:
    said = f"{pointer.said} {line.strip()}".strip()
    return Pointer(pointer.file, pointer.name, said, pointer.length + len(line))


def _emptied(sections: Sequence[_Section]) -> set[int]:
    """Headings below the title of which nothing is left, not even a section of their own."""
    gone: set[int] = set()
    for section, following in itertools.zip_longest(sections, sections[1:]):
        parent = following is not None and following.level > section.level and following.at not in gone
        if section.level > 1 and section.pointers and not section.own and not parent:
            gone.add(section.at)
    return gone


def _pointer(line: str, known: set[str], folders: set[str]) -> Pointer | None:
    match = _POINTER.match(line)
    if match is None:
        return None
    target = unquote(match["target"] or match["bare"] or match["wiki"].strip() + ".md").removeprefix("./")
    first, slash, _ = target.partition("/")
    ours = target in known or (bool(match["target"]) and (not slash or first in folders))
    if not ours or ":" in target or target.startswith(("/", "../")):
        return None
    said = _SEPARATOR.sub("", match["rest"]).strip()
    return Pointer(target, (match["name"] or "").strip(), said, len(line))


def _entry(topic: Topic, held: Pointer | None) -> tuple[str, str]:
    """The pointer to a file, and what the former pointer said that would be lost."""
    said = held.said if held else ""
    stem = topic.file.removesuffix(".md")
    named = "" if _slug(topic.name) == _slug(stem) else topic.name
    name = named or (held.name if held else "") or topic.name or stem
    name = " ".join(name.replace("[", "(").replace("]", ")").split())
    target = quote(topic.file, safe="/-_.~äöüÄÖÜß")
    known = significant_words(f"{topic.text} {topic.description} {topic.name}")
    lost = said if not significant_words(said) <= known else ""
    whole = _line(name, target, said)
    if lost and (len(whole) < LINE_LENGTH or not topic.open):
        return whole, ""
    description = topic.description or said
    if lost:
        return _clipped(name, target, description), lost
    return _clipped(name, target, description), ""


def _slug(name: str) -> str:
    """A name that merely repeats the file's is no better than what a person called it."""
    return re.sub(r"[\s_-]+", "-", name.strip().casefold())


def _line(name: str, target: str, description: str) -> str:
    described = " ".join(description.split())
    return f"- [{name}]({target}) -- {described}" if described else f"- [{name}]({target})"


def _clipped(name: str, target: str, description: str) -> str:
    line = _line(name, target, description)
    if len(line) < LINE_LENGTH:
        return line
    room = LINE_LENGTH - 2 - len(_line(name, target, "")) - len(" -- ")
    short = " ".join(description.split())[: max(room, 0)].rsplit(" ", 1)[0].rstrip(" ,;:-")
    if short:
        return _line(name, target, short + "…")
    spare = LINE_LENGTH - 2 - len(_line("", target, ""))
    return _line(name if len(name) <= spare else name[: max(spare - 1, 1)] + "…", target, "")


def _assemble(kept: Sequence[str], place: int, lines: Sequence[str], title: str) -> str:
    body = list(kept)
    at = place
    first = next((number for number, line in enumerate(body) if line.strip()), None)
    if first is not None and (body[first].strip() == title or _OWN_TITLE.match(body[first])):
        del body[: first + 1]
        at -= first + 1
    at = max(at, 0)
    parts = [[title], body[:at], [BEGIN, *lines, END], body[at:]]
    blocks = ["\n".join(_trimmed(part)) for part in parts]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Without blank lines at either end."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return list(lines[start:end])


def _warnings(text: str, lines: Sequence[str]) -> tuple[str, ...]:
    found = []
    count, size = text.count("\n"), len(text.encode("utf-8"))
    if count > MAX_LINES:
        found.append(f"has {count} lines after the rebuild, more than the {MAX_LINES} that are loaded")
    if size > MAX_BYTES:
        found.append(f"has {size} bytes after the rebuild, more than the {MAX_BYTES} that are loaded")
    long = sum(len(line) >= LINE_LENGTH for line in lines)
    if long:
        found.append(f"has {long} pointers of {LINE_LENGTH} characters and more")
    return tuple(found)
