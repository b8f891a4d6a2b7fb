"""MEMORY.md: what its lines are; what a pass adds, takes out and shortens, and nothing else.

Only a list item that begins with one link to a file of memories is a pointer; whatever else names a file says
something of its own and is never changed. Authors' hooks, sections, order and status words stay.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote

from ...models.markdown_blocks import markdown_lines
from ...models.text.statements import sentences
from ...models.text.tables import expression, pattern
from ...models.text.words import counted, significant_words
from ..stores.markdown.directories import MAX_LINES
from .markdown_prose import says_more

_WIKI = pattern("index_wiki_link")
_LINK = pattern("index_link")
LINE_LENGTH = 150  # a pointer that we write stays below this many characters (origin: "under 150 characters")
LONG_LINE = 200  # a pointer above this many characters holds memory content, which belongs into the file
VERBOSE_LINE = 300
"""Above this it is worth a proposal by itself; below, only where the index is too large, or asked for. Of 79
pointers above 200 characters in nine public directories 5 are above 300: to cut the others would take a
clause of its author from an index that fits several times into what is loaded."""
GOAL_LINES = 190  # up to so many lines pointers are added: the author keeps room for some of their own
MAX_BYTES = 25_000
GOAL_BYTES = MAX_BYTES * GOAL_LINES // MAX_LINES
_STATUS, _RETIRED, _GUARDED, _DEPENDENT = (
    expression("markdown", key) for key in ("status", "retired", "guarded", "dependent")
)
_LEAST = 25  # characters of a hook that still says something
_OPENING_LINES = 6
_FEW = 3  # so many pointers may lead nowhere in any index
_SAFE = "/-_.~äöüÄÖÜß"
_Refused = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One line of an index."""

    text: str  # as it stands
    pointer: str | None = None  # the file it points to, if that is all it does
    said: str = ""  # what a pointer says about its file
    wrapped: bool = False  # more lines belong to it, so that it cannot go alone
    heading: int = 0  # number of the heading it stands under


@dataclass(frozen=True, slots=True)
class TopicFile:
    """A Markdown file of memories that the index points to."""

    file: str  # its name in the directory
    name: str  # what it calls itself; empty if it does not
    description: str
    text: str
    open: bool = True  # whether something may be added to it
    retired: bool = False  # whether it says itself that it is over: then nothing begins to point to it


@dataclass(slots=True)
class IndexDraft:
    """An index as it should be."""

    lines: list[IndexLine]
    text: str = ""  # the whole file
    removed: list[str] = field(default_factory=list)  # entries taken out, as they stood
    remaining: int = 0  # files that it points to
    demoted: dict[str, str] = field(default_factory=dict)  # what moves from a pointer into its file, by file
    warnings: list[str] = field(default_factory=list)  # what a person should look at

    def joined(self) -> str:
        """All its lines."""
        return "\n".join(line.text for line in self.lines)


def index_lines(text: str) -> list[IndexLine]:
    r"""Read an index line by line.

    >>> [line.pointer for line in index_lines("Rules: [a](a.md)\n- [B](b.md) — DONE")]
    [None, 'b.md']
    """
    read: list[IndexLine] = []
    heading = 0
    lines = markdown_lines(text)
    for line, after in itertools.zip_longest(lines, lines[1:]):
        heading += line.kind == "heading" and line.level > 0
        target, said = _pointed(line.text[line.said :]) if line.kind == "item" else (None, "")
        wrapped = bool(target and after and after.text.startswith(("  ", "\t")) and after.text.strip())
        read.append(IndexLine(line.text, target, said, wrapped, heading))
    return [*read, IndexLine("", heading=heading)] if text.endswith("\n") or not read else read


def draft_index(
    current: str,
    topics: Sequence[TopicFile],
    *,
    title: str,
    gone: Mapping[str, str | None] | None = None,
    stands: Callable[[str], bool] = lambda _: False,
    dropped: Callable[[str], bool] = lambda _: True,
    longest: int | None = LONG_LINE,
    adopt: bool = True,
    refused: _Refused = lambda _: False,
) -> IndexDraft:
    """Bring the index of a directory, LF between its lines, up to date with the files that stay.

    `gone` are files that this pass removes, with the file that took each in, if one did. `stands` tells that
    a file that is no topic exists all the same, `dropped` that a pointer to one that is not there may go,
    `refused` that a person took the change of a line back ("+" or "-" and the line). What a pointer above
    `longest` characters says moves into its file. With `adopt` a text without pointers may get some.
    """
    by_file = {topic.file: topic for topic in sorted(topics, key=lambda item: item.file)}
    draft = IndexDraft(index_lines(current) if current.strip() else [])
    _take_out(draft, by_file, gone or {}, stands=stands, dropped=dropped, refused=refused)
    if longest is not None:
        _shorten(draft, by_file, longest, refused)
    if by_file and not draft.lines:
        draft.lines = [IndexLine(f"# {title} Memory"), IndexLine("")]
    # Whether a text is, or may become, a list of pointers: its author has not retired it.
    own = any(line.strip() and not line.startswith("#") for line in current.split("\n"))
    opening = "\n".join(current.strip().split("\n")[:_OPENING_LINES])
    adopted = not own or (adopt and not _RETIRED.search(opening))
    if adopted or any(line.pointer for line in index_lines(current)):
        named = _mentioned(draft.joined(), by_file)
        missing = [topic for file, topic in by_file.items() if file not in named and not topic.retired]
        _add(draft, missing, refused)
    # An index that begins with nothing to point to is none.
    pointed = current.strip() or any(line.pointer for line in draft.lines)
    draft.text = draft.joined() if draft.lines and pointed else current
    draft.remaining = len(set(by_file) & _mentioned(draft.text))
    draft.warnings += _warnings(draft.text, current)
    return draft


def too_large(index: str) -> bool:
    """Whether an agent does not load all of it."""
    return index.count("\n") > MAX_LINES or len(index.encode("utf-8")) > MAX_BYTES


def _take_out(
    draft: IndexDraft,
    by_file: Mapping[str, TopicFile],
    gone: Mapping[str, str | None],
    *,
    stands: Callable[[str], bool],
    dropped: Callable[[str], bool],
    refused: _Refused,
) -> None:
    """Take out pointers that lead nowhere; a pointer to a file that moved into another follows it.

    Where more files are missing than are here, they are rather somewhere else than gone. Pointers are not
    counted: this very pass adds some.
    """
    pointers = {line.pointer for line in draft.lines if line.pointer}
    dead = [file for file in pointers if not (file in by_file or file in gone or stands(file))]
    many = len(dead) > max(_FEW, len(by_file))
    left: list[str] = []
    lines: list[IndexLine | None] = [*draft.lines]
    for number, line in enumerate(draft.lines):
        file = line.pointer
        if refused(f"-{line.text}"):
            continue
        if file is None:
            bullet, pieces = _parted(line.text)
            kept = [piece for piece, target in pieces if target not in gone]
            if len(kept) < len(pieces):
                draft.removed += [piece for piece, target in pieces if target in gone]
                lines[number] = replace(line, text=bullet + " · ".join(kept)) if kept else None
        elif file not in by_file and (file in gone or not stands(file)):
            heir = gone.get(file)
            if heir is not None and heir not in _mentioned("\n".join(each.text for each in lines if each)):
                text = line.text
                for link in [m for m in _LINK.finditer(text) if _local(m["target"]) == file][:1]:
                    text = text[: link.start("target")] + quote(heir, safe=_SAFE) + text[link.end("target") :]
                lines[number] = replace(line, text=text, pointer=heir)
            elif line.wrapped or not (
                file in gone or (not many and dropped(file) and not _GUARDED.search(line.said))
            ):
                left.append(file)
            else:
                draft.removed.append(line.text)
                lines[number] = None
    draft.lines = [line for line in lines if line]
    if left:
        shown = ", ".join(left[:_FEW]) + (" …" if len(left) > _FEW else "")
        draft.warnings.append(
            f"has {counted(len(left), 'pointer')} to files that are not here, left as they are ({shown})"
        )


def _shorten(draft: IndexDraft, by_file: Mapping[str, TopicFile], longest: int, refused: _Refused) -> None:
    """Cut pointers above the limit at a clause; what they say moves into the file, unless it is there."""
    for number, line in enumerate(draft.lines):
        topic = by_file.get(line.pointer or "")
        if topic is None or line.wrapped or len(line.text) <= longest:
            continue
        short = _cut(line.text, max(line.text.rfind(line.said), 0))
        known = f"{topic.text}\n{topic.description}\n{topic.name}"
        # Whole sentences, and of them only those that the file does not say yet.
        new = [s for s in sentences(line.said) if not significant_words(s) <= significant_words(known)]
        news = " ".join(each for each in new if says_more(each, known))
        kept = _GUARDED.search(line.said) or refused(f"-{line.text}")
        if short is None or (news and not topic.open) or kept:
            continue
        draft.lines[number] = replace(line, text=short)
        if news:
            held = draft.demoted.get(topic.file)
            draft.demoted[topic.file] = f"{held}\n\n{news}" if held else news


def _cut(line: str, hook: int) -> str | None:
    """The line within the limit, cut between clauses; None if that would cost a status word or the hook.

    It keeps as many of its author's words as the limit allows, not only as many as a line of ours would have.
    """
    ends = []
    for match in pattern("hook_clause").finditer(line, hook, LONG_LINE - 1):
        end, text = match.start(), line[hook : match.start()]
        # No bracket, code span or emphasis is torn apart.
        whole = all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))
        whole = whole and not any(text.count(mark) % 2 for mark in ("`", '"', "**"))
        if end - hook >= _LEAST and whole and not (line[end] == "," and _DEPENDENT.search(text)):
            ends.append(end)
    if not ends or _STATUS.search(line, ends[-1]):
        return None
    return line[: ends[-1]].rstrip(" ,;:.-—–") + "…"


def _add(draft: IndexDraft, missing: Sequence[TopicFile], refused: _Refused) -> None:
    mark = _separator(draft.lines)
    pointers = [(topic.file, line) for topic in missing if not refused(f"+{(line := _pointer(topic, mark))}")]
    lines, size = draft.joined().count("\n") + 1, len(draft.joined().encode("utf-8"))
    for number, (file, line) in enumerate(pointers):
        size += len(line.encode("utf-8")) + 1
        lines += 1
        if lines > GOAL_LINES or size > GOAL_BYTES:
            left = ", ".join(name for name, _ in pointers[number : number + _FEW])
            more = counted(len(pointers) - number, "file has", "files have")
            draft.warnings.append(f"is full: {more} no pointer ({left} …)")
            return
        _insert(draft.lines, file, line)


def _insert(lines: list[IndexLine], file: str, text: str) -> None:
    rows = [number for number, line in enumerate(lines) if line.pointer]
    runs = [list(group) for _, group in itertools.groupby(rows, key=lambda row: lines[row].heading)]
    if not runs:
        end = next((row for row in range(len(lines), 0, -1) if lines[row - 1].text.strip()), 0)
        lines[end:] = [IndexLine(""), IndexLine(text, file), *(lines[end:] or [IndexLine("")])]
        return

    def alike(rows: Sequence[int]) -> tuple[int, int]:
        names = (file, *(str(lines[row].pointer) for row in rows))
        first = [re.split(r"[_\W]", name)[0].casefold() for name in names]
        return first.count(first[0]), len(rows)

    run = max(runs, key=alike)
    names = [str(lines[row].pointer) for row in run]
    later = [row for row, name in zip(run, names, strict=True) if name > file]
    if len(run) > 1 and names == sorted(names) and later:
        place = later[0]
    else:
        place = run[-1] + 1
        while place < len(lines) and lines[place].text.startswith(("  ", "\t")) and lines[place].text.strip():
            place += 1
    lines.insert(place, IndexLine(text, file, heading=lines[run[0]].heading))


def _pointer(topic: TopicFile, mark: str) -> str:
    name = " ".join(
        (topic.name or topic.file.removesuffix(".md")).replace("[", "(").replace("]", ")").split()
    )
    target = f"]({quote(topic.file, safe=_SAFE)})"
    if len(name) + len(target) + 3 >= LINE_LENGTH:
        return f"- [{name[: max(LINE_LENGTH - 5 - len(target), 1)]}…{target}"
    head, described = f"- [{name}{target}", " ".join(topic.description.split())
    line = f"{head}{mark}{described}" if described else head
    if len(line) < LINE_LENGTH:
        return line
    room = max(LINE_LENGTH - 2 - len(head) - len(mark), 0)
    short = described[:room].rsplit(" ", 1)[0].rstrip(" ,;:-")
    return f"{head}{mark}{short}…" if short else head


def _warnings(text: str, before: str) -> Iterable[str]:
    count, size = len(text.rstrip("\n").split("\n")), len(text.encode("utf-8"))
    after = "after the rebuild" if text != before else "already"
    if count > MAX_LINES:
        yield f"has {count} lines {after}, more than the {MAX_LINES} that are loaded"
    if size > MAX_BYTES:
        yield f"has {size} bytes {after}, more than the {MAX_BYTES} that are loaded"
    pointers = [line for line in index_lines(text) if line.pointer]
    long = sum(len(line.text) > LONG_LINE for line in pointers)
    if long:
        yield f"has {counted(long, 'pointer')} of more than {LONG_LINE} characters"
    for file, times in Counter(line.pointer for line in pointers).items():
        if times > 1:
            yield f"has {times} pointers to {file}"


def _mentioned(text: str, files: Collection[str] = ()) -> set[str]:
    """Every file that an index names in whatever way: it needs no pointer any more.

    Those given may be named without their ending: by stem in backticks or double brackets, or by a pattern
    such as `feedback_*`.
    """
    names = {unquote(match["target"]) for match in _LINK.finditer(text)}
    names |= {_wiki_target(match) for match in _WIKI.finditer(text)}
    names |= {match["target"] for match in pattern("bare_file").finditer(text)}
    names = {name.removeprefix("./") for name in names}
    spans = {span.strip().removesuffix(".md") for span in pattern("tick_span").findall(text)}
    spans |= {name[:-3] for name in names}
    globs = [glob.removesuffix(".md") for glob in pattern("glob").findall(text) if glob.strip("*./-_")]
    for file in files:
        stem = file.removesuffix(".md")
        own = {stem, stem.rpartition("/")[2]}
        if own & spans or any(fnmatch.fnmatchcase(name, glob) for glob in globs for name in own):
            names.add(file)
    return names


def _parted(line: str) -> tuple[str, list[tuple[str, str]]]:
    """Bullet and pieces of a line of several pointers joined by " · ", each with its file; else no pieces."""
    read = markdown_lines(line)
    if not read or read[0].kind != "item":
        return "", []
    bullet, pieces = line[: read[0].said], line[read[0].said :].split(" · ")
    files = [[_local(match["target"]) for match in _LINK.finditer(piece)] for piece in pieces]
    if len(pieces) < 2 or not all(len(names) == 1 and names[0] for names in files):
        return "", []
    return bullet, [(piece, str(names[0])) for piece, names in zip(pieces, files, strict=True)]


def _separator(lines: Sequence[IndexLine]) -> str:
    links = ((line.text, _LINK.search(line.text) or _WIKI.search(line.text)) for line in lines if line.said)
    behind = [text[match.end() :].lstrip("*_`") for text, match in links if match]
    for mark in (" — ", " -- ", " – ", ": ", " - "):
        if any(text.startswith((f" {mark.strip()} ", mark.lstrip())) for text in behind):
            return mark
    return " -- "


def _pointed(said: str) -> tuple[str | None, str]:
    """The file that an item points to and what it says about it; nothing for any other item."""
    opening = pattern("before_link").match(said)
    links, wiki = [*_LINK.finditer(said)], [*_WIKI.finditer(said)]
    if opening is None or len(links) + len(wiki) != 1 or (links or wiki)[0].start() != opening.end():
        return None, ""
    match = (links or wiki)[0]
    local = _local(match["target"] if links else _wiki_target(match))
    return local, pattern("behind_link").sub("", said[match.end() :], count=1).strip() if local else ""


def _wiki_target(match: re.Match[str]) -> str:
    return match["target"].strip().removesuffix(".md") + ".md"


def _local(target: str) -> str | None:
    """The target as a file of this directory could be named; None for addresses and ways out."""
    name = unquote(target).removeprefix("./")
    return None if ":" in name or name.startswith(("/", "../", "~")) or "/../" in name else name
