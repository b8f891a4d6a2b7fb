"""Evidence from session transcripts of many megabytes: narrow terms, newest lines first."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MATCHES = 50
"""Lines of a term that are looked at, newest first."""
SHOWN = 3
"""Of these, so many are shown."""
_BLOCK = 1 << 18
_MIN_TERM = 4
"""Shorter terms are not narrow."""
_WIDTH = 160


class Quotation(NamedTuple):
    """A line of a transcript that holds a term: the file's name, and what was said around the term."""

    file: str
    text: str


def evidence(folder: Path, terms: Mapping[str, Sequence[str]]) -> dict[str, tuple[Quotation, ...]]:
    """The newest lines in a folder of transcripts about each suspected memory that has any."""
    left = {
        name: [term.encode() for term in chosen if len(term) >= _MIN_TERM] for name, chosen in terms.items()
    }
    counts = {name: 0 for name, chosen in left.items() if chosen}
    found: dict[str, tuple[Quotation, ...]] = {}
    for file, line in _lines(folder):
        for name in [name for name, count in counts.items() if count < MATCHES]:
            term = next((term for term in left[name] if term in line), None)
            if term is None:
                continue
            counts[name] += 1
            if counts[name] <= SHOWN:
                found[name] = (*found.get(name, ()), Quotation(file, _said(line, term)))
        if all(count >= MATCHES for count in counts.values()):
            break
    return found


def used_lately(folder: Path, terms: Mapping[str, Sequence[str]], *, since: float) -> frozenset[str]:
    """Memories of which a term stands in a transcript that was written to since this second of the epoch."""
    left = {memory: tuple(term.encode() for term in chosen) for memory, chosen in terms.items() if chosen}
    used: set[str] = set()
    for _, line in _lines(folder, since=since):
        used |= {memory for memory in left.keys() - used if any(term in line for term in left[memory])}
        if len(used) == len(left):
            break
    return frozenset(used)


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Lines of a file from its end, a block at a time."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        position, rest = file.seek(0, 2), b""
        while position > 0:
            start = max(0, position - _BLOCK)
            file.seek(start)
            first, *lines = (file.read(position - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line.strip())
            position, rest = start, first
        if rest.strip():
            yield rest


def _lines(folder: Path, *, since: float = 0.0) -> Iterator[tuple[str, bytes]]:
    dated = []
    for path in folder.rglob("*.jsonl"):
        with contextlib.suppress(OSError):
            dated += [(-path.stat().st_mtime_ns, path.name, path)] if path.is_file() else []
    for age, name, path in sorted(dated):
        if -age >= since * 1e9:
            yield from ((name, line) for line in lines_backwards(path))


def _said(line: bytes, term: bytes) -> str:
    text, wanted = line.decode("utf-8", "replace"), term.decode("utf-8", "replace")
    try:
        texts = list(_strings(json.loads(text)))
    except (json.JSONDecodeError, RecursionError):
        texts = []
    flat = " ".join(next((item for item in texts if wanted in item), text).split())
    start = max(0, flat.find(wanted) - _WIDTH // 2)
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
