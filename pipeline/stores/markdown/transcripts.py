"""Evidence from session transcripts of many megabytes: narrow terms, newest lines first."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SHOWN = 3
"""Lines of a memory's terms that are shown, the newest."""
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
    narrow = {name: [term for term in chosen if len(term) >= _MIN_TERM] for name, chosen in terms.items()}
    found: dict[str, tuple[Quotation, ...]] = {}
    for name, file, line, term in _hits(folder, narrow, most=SHOWN):
        found[name] = (*found.get(name, ()), Quotation(file, _said(line, term)))
    return found


def used_lately(folder: Path, terms: Mapping[str, Sequence[str]], *, since: float) -> frozenset[str]:
    """Memories of which a term stands in a transcript that was written to since this second of the epoch."""
    return frozenset(name for name, *_ in _hits(folder, terms, most=1, since=since))


def _hits(
    folder: Path, terms: Mapping[str, Sequence[str]], *, most: int, since: float = 0.0
) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Memory, file, line and term of each line that holds one; no more is read than is asked for."""
    left = {name: [term.encode() for term in chosen] for name, chosen in terms.items() if chosen}
    counts = dict.fromkeys(left, 0)
    for file, line in _lines(folder, since=since) if left else ():
        for name in [name for name, count in counts.items() if count < most]:
            term = next((term for term in left[name] if term in line), None)
            if term is not None:
                counts[name] += 1
                yield name, file, line, term
        if min(counts.values()) >= most:
            return


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
