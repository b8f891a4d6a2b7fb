"""Evidence from session transcripts: narrow terms, newest lines first, never a file as a whole.

Transcripts are JSON Lines of many megabytes. They are read backwards in blocks, and reading stops as
soon as there are enough lines that hold a term.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MATCHES = 50
"""Lines of a term that are looked at, newest first."""
SHOWN = 3
"""Of these, so many are shown."""
_BLOCK = 1 << 18
_MIN_TERM = 4
"""Shorter terms are not narrow."""
_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Quotation:
    """A line of a transcript that holds a term.

    Attributes:
        file: Name of the transcript.
        text: What was said around the term, on one line.
    """

    file: str
    text: str


def evidence(
    folder: Path, terms: Mapping[str, Sequence[str]], *, shown: int = SHOWN
) -> dict[str, tuple[Quotation, ...]]:
    """Search the transcripts of a folder for the terms of each suspected memory.

    Args:
        folder: Holds *.jsonl files, opened read-only.
        terms: Narrow terms by memory.
        shown: How many lines to give for each memory.

    Returns:
        The newest lines of each memory that has any.
    """
    wanted = {
        memory: tuple(term.encode() for term in chosen if len(term) >= _MIN_TERM)
        for memory, chosen in terms.items()
    }
    counts = dict.fromkeys((memory for memory, chosen in wanted.items() if chosen), 0)
    quotations: dict[str, list[Quotation]] = {memory: [] for memory in counts}
    for path in _transcripts(folder):
        for line in lines_backwards(path):
            for memory in [name for name, count in counts.items() if count < MATCHES]:
                term = next((term for term in wanted[memory] if term in line), None)
                if term is None:
                    continue
                counts[memory] += 1
                if len(quotations[memory]) < shown:
                    quotations[memory].append(Quotation(path.name, _said(line, term)))
            if all(count >= MATCHES for count in counts.values()):
                return _some(quotations)
    return _some(quotations)


def used_lately(folder: Path, terms: Mapping[str, Sequence[str]], *, since: float) -> frozenset[str]:
    """Memories of which a term stands in a transcript that was written to after a moment.

    Args:
        folder: Holds *.jsonl files.
        terms: Narrow terms by memory.
        since: Seconds of the epoch.
    """
    left = {memory: tuple(term.encode() for term in chosen) for memory, chosen in terms.items() if chosen}
    used: set[str] = set()
    for path in _transcripts(folder):
        if -_newest_first(path)[0] < since * 1e9:
            break
        for line in lines_backwards(path):
            used |= {memory for memory, chosen in left.items() if any(term in line for term in chosen)}
            left = {memory: chosen for memory, chosen in left.items() if memory not in used}
            if not left:
                return frozenset(used)
    return frozenset(used)


def _transcripts(folder: Path) -> list[Path]:
    """Regular files of a folder, newest first."""
    return sorted((path for path in folder.rglob("*.jsonl") if path.is_file()), key=_newest_first)


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Lines of a file from its end, a block at a time."""
    try:
        with path.open("rb") as file:
            position = file.seek(0, 2)
            rest = b""
            while position > 0:
                size = min(_BLOCK, position)
                position -= size
                file.seek(position)
                first, *lines = (file.read(size) + rest).split(b"\n")
                yield from (line for line in reversed(lines) if line.strip())
                rest = first
            if rest.strip():
                yield rest
    except OSError:
        return


def _newest_first(path: Path) -> tuple[int, str]:
    try:
        return (-path.stat().st_mtime_ns, path.name)
    except OSError:
        return (0, path.name)


def _some(quotations: Mapping[str, Sequence[Quotation]]) -> dict[str, tuple[Quotation, ...]]:
    return {memory: tuple(lines) for memory, lines in quotations.items() if lines}


def _said(line: bytes, term: bytes) -> str:
    """The words around a term, out of the record's own text where it is JSON."""
    text, wanted = line.decode("utf-8", "replace"), term.decode("utf-8", "replace")
    try:
        texts = list(_strings(json.loads(text)))
    except (json.JSONDecodeError, RecursionError):
        texts = [text]
    whole = next((item for item in texts if wanted in item), text)
    flat = " ".join(whole.split())
    at = max(flat.find(wanted), 0)
    start = max(0, at - _WIDTH // 2)
    return ("…" if start else "") + flat[start : start + _WIDTH] + ("…" if len(flat) > start + _WIDTH else "")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
