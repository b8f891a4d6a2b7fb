"""Phase 2: durable facts in daily logs and session notes, that no memory states yet.

What counts is decided by plain words and points, so that the same log gives the same facts. Most lines
of a log say what happened that day; those are left where they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from ...models.guards import Contradicting, contradicting
from ...models.keywords import opposed
from ...models.markdown_blocks import PROSE, markdown_lines
from ...models.text.tables import expression, pattern, table_lines
from ...models.text.words import exact_key, overlap, significant_words
from ...records import Memory, noted_moment
from ..stores.markdown.directories import GATHERED, INDEX, MemoryDirectory
from ..stores.markdown.document import decode, file_of, parse, plain
from .markdown_dates import absolute

RECENT = timedelta(days=30)  # logs older than this were read by earlier passes
RELEVANT = 5  # points from which a line is worth keeping (origin: the relevance filter's threshold)
KNOWN_OVERLAP = 0.6
"""A fact that shares more of its words with a memory is no news (origin: the duplicate rule)."""
MIN_WORDS = 4
MIN_SHARED = 3  # a fact shares so many words with the file it belongs to,
BELONGS = 0.5  # and this part of its own,
NAMED = 1 / 3  # or this part, if two words name the file
HEADER = """---
name: Facts from daily logs
description: Durable facts found in daily logs and session notes
type: project
---

"""
_RULE = expression("markdown", "rule")
_POINTS = (
    (3, _RULE),
    *(
        (int(points), re.compile(pattern, re.IGNORECASE))
        for points, pattern in (line.split(" ", 1) for line in table_lines("markdown", "points"))
    ),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a log that states something durable."""

    text: str  # what it says, dates absolute
    source: str  # the log, relative to its directory
    day: datetime  # the day of the log


def relevance(line: str) -> int:
    """Points of a line: how likely it states something that holds beyond its day."""
    return sum(points for points, pattern in _POINTS if pattern.search(line))


def gather(directory: MemoryDirectory, known: Iterable[str], *, now: datetime) -> list[Fact]:
    """Durable facts of the recent logs that none of the texts states yet, oldest first."""
    logs = _recent_logs(directory, now=now)
    facts: list[Fact] = []
    held: dict[str, set[str]] = defaultdict(set)

    def hold(text: str) -> None:
        for word in significant_words(text):
            held[word].add(text)

    for line in dict.fromkeys(line for text in known for line in (text, *text.split("\n")) if logs):
        hold(line)
    for day, log, line in ((day, path, line) for day, path in logs for line in _statements(path)):
        text = absolute(line, day)
        words = significant_words(text)
        near = {other for word in words for other in held[word]}
        if len(words) < MIN_WORDS or relevance(text) < RELEVANT or any(_says(each, text) for each in near):
            continue
        facts.append(Fact(text, directory.relative(log), day))
        hold(text)
    return facts


def _says(known: str, text: str) -> bool:
    """Whether a line says what another one says, and nothing against it."""
    same = exact_key(text) == exact_key(known) or overlap(text, known) > KNOWN_OVERLAP
    if not same and not significant_words(text) <= significant_words(known):
        return False
    return not (contradicting(text, known) is Contradicting.SURE or opposed(text, known))


def _recent_logs(directory: MemoryDirectory, *, now: datetime) -> list[tuple[datetime, Path]]:
    paths = [*directory.path.glob("logs/*/*/*.md"), *directory.path.glob("sessions/**/*.md")]
    named = (
        (noted_moment(match[0]), path) for path in paths if (match := pattern("day_of_log").search(path.name))
    )
    return sorted(
        (day, path)
        for day, path in named
        if day and now - RECENT <= day <= now and not path.is_symlink() and directory.refusal(path) is None
    )


def homes(
    facts: Sequence[Fact], memories: Sequence[Memory], *, certain: bool
) -> dict[tuple[str, str | None], list[Fact]]:
    """The facts of each place: a memory (a whole file), or a file of entries and one of its headings.

    A file, or a section of a list of entries, is the place of a fact if its name or description and most of
    what the fact says meet there, and in no other file as well. The others are under ("", None), as are rules
    where no person looks on: a rule in the wrong file is worse than one in no file.
    """
    placed: dict[tuple[str, str | None], list[Fact]] = defaultdict(list)
    rows = list(_places(memories))
    for fact in facts:
        words = significant_words(fact.text)
        scored = []
        for place, heading, about, said in rows:
            named, shared = len(words & about), len(words & (about | said))
            most = (named and shared >= BELONGS * len(words)) or (named > 1 and shared >= NAMED * len(words))
            if shared >= MIN_SHARED and most:
                scored.append((shared, named, place, heading))
        scored.sort(reverse=True)
        tie = any(other[0] == scored[0][0] and other[2] != scored[0][2] for other in scored)
        nowhere = not scored or tie or (certain and _RULE.search(fact.text))
        placed[("", None) if nowhere else scored[0][2:]].append(fact)
    return placed


def _places(memories: Iterable[Memory]) -> Iterator[tuple[str, str | None, frozenset[str], frozenset[str]]]:
    """Where facts may go: file, heading of a section of a list, what it is about, what it says.

    MEMORY.md is no topic file, whatever it lists.
    """
    entries: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in (memory for memory in memories if not memory.pinned):
        file = file_of(memory.id)
        if "#" not in memory.id and not memory.id.endswith(GATHERED):
            yield memory.id, None, _named(memory), significant_words(memory.text)
        if file != memory.id and PurePosixPath(file).name not in (INDEX, GATHERED):
            entries[file, str(memory.metadata.get("heading") or "")].append(memory)
    for (file, heading), members in entries.items():
        about = f"{re.sub(r'[_-]', ' ', PurePosixPath(file).stem)} {heading}"
        said = frozenset(word for memory in members for word in significant_words(memory.text))
        yield file, heading, significant_words(about) | _named(members[0]), said


def _named(memory: Memory) -> frozenset[str]:
    return significant_words(" ".join(str(memory.metadata.get(key) or "") for key in ("name", "description")))


def with_bullets(text: str, facts: Iterable[Fact]) -> str:
    """A text with new facts as bullets at its end."""
    gap = "\n" if markdown_lines(text)[-1:] and markdown_lines(text)[-1].kind == "item" else "\n\n"
    return text.rstrip("\n") + gap + "\n".join(f"- {fact.text}" for fact in facts)


def with_entries(current: str, facts: Mapping[str, Sequence[Fact]]) -> str:
    """A file of entries with new ones at the end of their sections."""
    document = parse(current.encode())
    last = {entry.heading: entry for entry in document.entries}
    text = document.source
    for heading, entry in sorted(last.items(), key=lambda item: -item[1].end):
        new = "".join(f"\n{entry.bullet}{fact.text}" for fact in facts.get(heading, ()))
        text = text[: entry.end] + new + text[entry.end :]
    return text


def reason(facts: Iterable[Fact]) -> str:
    """How many facts are new, and from where."""
    facts = list(facts)
    return f"{len(facts)} new from {', '.join(dict.fromkeys(fact.source for fact in facts))}"


def _statements(path: Path) -> Iterator[str]:
    try:
        text = plain(decode(path.read_bytes()))
    except OSError:
        return
    for line in markdown_lines(text):
        if line.kind in PROSE:
            yield pattern("clock_in_front").sub("", line.text[line.said :]).strip()
