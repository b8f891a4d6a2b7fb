"""MEMORY.md: what a pass adds, takes out and shortens, and nothing else.

Authors' hooks, sections, order and status words stay. A line is added for a file that the index does
not name, taken out where its file is gone, and shortened where it says more than a pointer should.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from ....models.words import significant_words
from .index_lines import IndexLine, index_lines, joined, mentioned, parted, retargeted, separator

LINE_LENGTH = 150
"""A pointer that we write stays below this many characters (origin: "under 150 characters")."""
LONG_LINE = 200
"""A pointer above this many characters holds memory content, which belongs into the file."""
VERBOSE_LINE = 300
"""Above this it is worth a proposal by itself; below, only where the index is too large, or asked for. Of 79
pointers above 200 characters in nine public directories 5 are above 300: to cut the others would take a
clause of its author from an index that fits several times into what is loaded."""
MAX_LINES = 200
"""What an agent loads of its index."""
GOAL_LINES = 190
"""Up to so many lines pointers are added: the author keeps room for some of their own."""
MAX_BYTES = 25_000
GOAL_BYTES = MAX_BYTES * GOAL_LINES // MAX_LINES
_STATUS = re.compile(
    r"\b(?:DONE|SUPERSEDED|DEPRECATED|HISTORICAL|OBSOLETE|NEVER|ALWAYS|MUST|NOT|DON'?T|DO|TODO|WIP|BLOCKED|PENDING"
    r"|OPEN|CLOSED|SHIPPED|MERGED|FIXED|LIVE|RETIRED|REMOVED|REVERTED|RESOLVED|STALE|MANDATORY|CRITICAL|WARNING"
    r"|IMPORTANT|RULE|NEXT|ACTIVE|PAUSED|COMPLETED?|PROGRESS|CURRENT|FORBIDDEN|ONLY|REQUIRED|NO|FAILED|PARTIAL)\b"
    r"|[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
)
_LEAST = 25
"""Characters of a hook that still says something."""
_RETIRED = re.compile(
    r"\b(?:deprecated|retired|superseded|obsolete|archived|no longer|moved to|do not (?:edit|add))\b",
    re.IGNORECASE,
)
_OPENING_LINES = 6
_FEW = 3
"""So many pointers may lead nowhere in any index."""
_DEPENDENT = re.compile(
    r"(?:^|[.;:!?—–]\s+|-- )\s*"
    r"(?:when(?:ever)?|if|while|because|since|before|after|once|unless|until|where|al?though)\b[^.;:!?—–]*$",
    re.IGNORECASE,
)
"""A clause that says nothing without the one behind its comma."""
_CLAUSE = re.compile(r"(?:[.;!?]|,| [—–]| --)(?=\s)")


@dataclass(frozen=True, slots=True)
class TopicFile:
    """A Markdown file of memories that the index points to.

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
class IndexDraft:
    """An index as it should be.

    Attributes:
        text: The whole file.
        removed: Entries taken out, as they stood.
        remaining: Files that it points to.
        demoted: What moves from a pointer into its file, by file.
        warnings: What a person should look at.
    """

    text: str
    removed: tuple[str, ...] = ()
    remaining: int = 0
    demoted: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Draft:
    """The lines so far, None where one was taken out."""

    lines: list[IndexLine | None]
    removed: list[str] = field(default_factory=list)
    demoted: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All lines that are left."""
        return "\n".join(line.text for line in self.lines if line is not None)


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
) -> IndexDraft:
    """Bring the index of a directory up to date.

    Args:
        current: The index as it stands, LF between the lines; empty if there is none.
        topics: The files that stay.
        title: Name of the directory, for the title line of a new index.
        gone: Files that this pass removes, with the file that took each in, if one did.
        stands: Whether a file that is no topic exists all the same.
        dropped: Whether a pointer to a file that is not there may go.
        longest: What a pointer above so many characters says moves into its file; None leaves them all.
        adopt: Begin a list of pointers in a text that has none.
    """
    by_file = {topic.file: topic for topic in sorted(topics, key=lambda item: item.file)}
    draft = _Draft([*index_lines(current)] if current.strip() else [])
    _take_out(draft, by_file, gone or {}, stands, dropped)
    if longest is not None:
        _shorten(draft, by_file, longest)
    if by_file and not draft.lines:
        draft.lines = [IndexLine(f"# {title} Memory"), IndexLine("")]
    if not current.strip() or _is_index(current, adopt=adopt):
        named = mentioned(draft.text)
        _add(draft, [topic for file, topic in by_file.items() if file not in named])
    text = draft.text if draft.lines else current
    return IndexDraft(
        text=text,
        removed=tuple(draft.removed),
        remaining=len(set(by_file) & mentioned(text)),
        demoted=draft.demoted,
        warnings=(*draft.warnings, *_warnings(text, current)),
    )


def _is_index(text: str, *, adopt: bool) -> bool:
    """Whether a text is, or may become, a list of pointers: its author has not retired it."""
    if any(line.pointer for line in index_lines(text)):
        return True
    opening = "\n".join(text.strip().split("\n")[:_OPENING_LINES])
    own = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return not own or (adopt and not _RETIRED.search(opening))


def _take_out(
    draft: _Draft,
    by_file: Mapping[str, TopicFile],
    gone: Mapping[str, str | None],
    stands: Callable[[str], bool],
    dropped: Callable[[str], bool],
) -> None:
    """Take out pointers that lead nowhere; a pointer to a file that moved into another follows it.

    Where more files are missing than are here, they are rather somewhere else than gone. Pointers are not
    counted: this very pass adds some.
    """
    pointers = {line.pointer for line in draft.lines if line is not None and line.pointer}
    dead = [file for file in pointers if not (file in by_file or file in gone or stands(file))]
    many = len(dead) > max(_FEW, len(by_file))
    left: list[str] = []
    for number, line in enumerate(draft.lines):
        if line is None:
            continue
        if line.pointer is None:
            _take_out_pieces(draft, number, line, gone)
            continue
        file = line.pointer
        if file in by_file or (file not in gone and stands(file)):
            continue
        heir = gone.get(file)
        if heir is not None and heir not in mentioned(draft.text):
            text = retargeted(line.text, file, quote(heir, safe=_SAFE))
            draft.lines[number] = IndexLine(text, heir, line.said, line.wrapped, line.heading)
        elif line.wrapped or not (file in gone or (not many and dropped(file))):
            left.append(file)
        else:
            draft.removed.append(line.text)
            draft.lines[number] = None
    if left:
        shown = ", ".join(left[:_FEW]) + (" …" if len(left) > _FEW else "")
        draft.warnings.append(
            f"has {len(left)} pointers to files that are not here, left as they are ({shown})"
        )


def _take_out_pieces(draft: _Draft, number: int, line: IndexLine, gone: Mapping[str, str | None]) -> None:
    """In a line of several pointers, take out those to files that this very pass removes."""
    pieces = parted(line.text)
    if pieces is None or not any(file in gone for _, file in pieces):
        return
    kept = [piece for piece, file in pieces if file not in gone]
    draft.removed += [piece for piece, file in pieces if file in gone]
    draft.lines[number] = IndexLine(joined(line.text, kept), heading=line.heading) if kept else None


def _shorten(draft: _Draft, by_file: Mapping[str, TopicFile], longest: int) -> None:
    """Cut pointers above the limit at a clause; what they say moves into the file, unless it is there."""
    for number, line in enumerate(draft.lines):
        topic = by_file.get(line.pointer or "") if line is not None else None
        if line is None or topic is None or line.wrapped or len(line.text) <= longest:
            continue
        short = _cut(line.text, max(line.text.rfind(line.said), 0))
        known = significant_words(f"{topic.text} {topic.description} {topic.name}")
        news = not significant_words(line.said) <= known
        if short is None or (news and not topic.open):
            continue
        draft.lines[number] = IndexLine(short, line.pointer, line.said, line.wrapped, line.heading)
        if news:
            held = draft.demoted.get(topic.file)
            draft.demoted[topic.file] = f"{held}\n\n{line.said}" if held else line.said


def _cut(line: str, hook: int) -> str | None:
    """The line within the limit, cut between clauses; None if that would cost a status word or the hook.

    It keeps as many of its author's words as the limit allows, not only as many as a line of ours would have.
    """
    room = LONG_LINE - 1
    ends = [match.start() for match in _CLAUSE.finditer(line, hook, room)]
    said = [(end, line[hook:end]) for end in ends if end - hook >= _LEAST]
    ends = [
        end for end, text in said if _balanced(text) and not (line[end] == "," and _DEPENDENT.search(text))
    ]
    if not ends or _STATUS.search(line, ends[-1]):
        return None
    return line[: ends[-1]].rstrip(" ,;:.-—–") + "…"


def _balanced(text: str) -> bool:
    """Whether no bracket, code span or emphasis would be torn apart."""
    pairs = all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))
    return pairs and not any(text.count(mark) % 2 for mark in ("`", '"', "**"))


def _add(draft: _Draft, missing: Sequence[TopicFile]) -> None:
    """Add a pointer for each file that is not named, as long as the index stays within what is loaded."""
    mark = separator([line for line in draft.lines if line is not None])
    lines, size = draft.text.count("\n") + 1, len(draft.text.encode("utf-8"))
    for number, topic in enumerate(missing):
        line = _pointer(topic, mark)
        size += len(line.encode("utf-8")) + 1
        lines += 1
        if lines > GOAL_LINES or size > GOAL_BYTES:
            left = ", ".join(item.file for item in itertools.islice(missing, number, number + 3))
            draft.warnings.append(f"is full: {len(missing) - number} files have no pointer ({left} …)")
            return
        _insert(draft, topic.file, line)


def _insert(draft: _Draft, file: str, text: str) -> None:
    """Put a pointer into the list of its like: in order if that list is in order, else at its end."""
    draft.lines = [line for line in draft.lines if line is not None]
    runs = _runs(draft.lines)
    if not runs:
        end = len(draft.lines)
        while end and draft.lines[end - 1] is not None and not draft.lines[end - 1].text.strip():  # type: ignore[union-attr]
            end -= 1
        own = [IndexLine(""), IndexLine(text, file)]
        draft.lines[end:] = [*own, *(draft.lines[end:] or [IndexLine("")])]
        return
    like = re.split(r"[_\W]", file)[0].casefold()
    run = max(runs, key=lambda rows: (sum(_is_like(draft.lines[row], like) for row in rows), len(rows)))
    names = [str(draft.lines[row].pointer) for row in run]  # type: ignore[union-attr]
    later = [row for row, name in zip(run, names, strict=True) if name > file]
    if len(run) > 1 and names == sorted(names) and later:
        place = later[0]
    else:
        place = run[-1] + 1
        while place < len(draft.lines) and _continues(draft.lines[place]):
            place += 1
    heading = draft.lines[run[0]].heading  # type: ignore[union-attr]
    draft.lines.insert(place, IndexLine(text, file, heading=heading))


def _runs(lines: Sequence[IndexLine | None]) -> list[list[int]]:
    """Rows of pointers under one heading each."""
    rows = [number for number, line in enumerate(lines) if line is not None and line.pointer]
    groups = itertools.groupby(rows, key=lambda row: lines[row].heading)  # type: ignore[union-attr]
    return [list(group) for _, group in groups]


def _is_like(line: IndexLine | None, like: str) -> bool:
    return line is not None and re.split(r"[_\W]", line.pointer or "")[0].casefold() == like


def _continues(line: IndexLine | None) -> bool:
    return line is not None and line.text.startswith(("  ", "\t")) and bool(line.text.strip())


_SAFE = "/-_.~äöüÄÖÜß"


def _pointer(topic: TopicFile, mark: str) -> str:
    """A new line for a file, below the limit, cut at a word."""
    stem = topic.file.removesuffix(".md")
    name = " ".join((topic.name or stem).replace("[", "(").replace("]", ")").split())
    head = f"- [{name}]({quote(topic.file, safe=_SAFE)})"
    if len(head) >= LINE_LENGTH:
        spare = max(LINE_LENGTH - 2 - len(f"- []({quote(topic.file, safe=_SAFE)})"), 1)
        return f"- [{name[:spare]}…]({quote(topic.file, safe=_SAFE)})"
    described = " ".join(topic.description.split())
    line = f"{head}{mark}{described}" if described else head
    if len(line) < LINE_LENGTH:
        return line
    room = LINE_LENGTH - 2 - len(head) - len(mark)
    short = described[: max(room, 0)].rsplit(" ", 1)[0].rstrip(" ,;:-")
    return f"{head}{mark}{short}…" if short else head


def _warnings(text: str, before: str) -> Iterable[str]:
    """What an agent will not load of this index."""
    count, size = len(text.rstrip("\n").split("\n")), len(text.encode("utf-8"))
    after = "after the rebuild" if text != before else "already"
    if count > MAX_LINES:
        yield f"has {count} lines {after}, more than the {MAX_LINES} that are loaded"
    if size > MAX_BYTES:
        yield f"has {size} bytes {after}, more than the {MAX_BYTES} that are loaded"
    long = sum(bool(line.pointer) and len(line.text) > LONG_LINE for line in index_lines(text))
    if long:
        yield f"has {long} pointers of more than {LONG_LINE} characters"
