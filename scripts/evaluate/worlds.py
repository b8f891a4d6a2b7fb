"""Invented memory stores ("worlds"): labelled pairs at natural prevalence.

A world file holds many small stores. A block is one fact: `-` states it, `=` repeats it, `!` contradicts it
and every repetition, `~` only looks like it. Lines of different blocks of a world are distinct.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Literal
from zlib import crc32

DUPLICATE, CONTRADICTION, DISTINCT = 0, 1, 2
UNLABELLED = -1
Role = Literal["-", "=", "!", "~"]

PROVENANCE = frozenset({"source", "date", "time", "seq", "type", "session", "channel"})
"""Metadata keys of the worlds that say where a line came from; all others name whom it is about."""

_LINE = re.compile(r"^\s*([-=!~])\s+(?:\[([^\]]+)\]\s+)?(\d{4}-\d{2}-\d{2})\s+(.*)$")
_METADATA = re.compile(r"\s*\{([^{}]*)\}\s*$")


@dataclass(frozen=True, slots=True)
class WorldLine:
    """One memory of a world; `block` numbers the fact it belongs to."""

    role: Role
    block: int
    category: str
    stated_at: datetime
    text: str
    metadata: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def subjects(self) -> dict[str, str]:
        """Metadata that names whom the line is about."""
        return {key: value for key, value in self.metadata.items() if key not in PROVENANCE}

    @property
    def judged(self) -> str:
        """The text as a scorer reads it: subjects that the text does not name are put in front."""
        words = set(re.findall(r"\w+", self.text.lower()))
        missing = [v for v in self.subjects.values() if not set(re.findall(r"\w+", v.lower())) <= words]
        return f"{', '.join(missing)}: {self.text}" if missing else self.text


@dataclass(frozen=True, slots=True)
class World:
    """One invented store; `style` is the name of its file."""

    name: str
    style: str
    lines: tuple[WorldLine, ...]


def read_worlds(folder: Path) -> list[World]:
    """All worlds of `w*.txt` in a folder, in the order of file names and lines.

    Raises:
        ValueError: a line that is neither a heading nor a memory, naming file and line.
    """
    return [world for path in sorted(folder.glob("w*_*.txt")) for world in read_world_file(path)]


def read_world_file(path: Path) -> list[World]:
    """The worlds of one file.

    Raises:
        ValueError: a line that is neither a heading nor a memory, naming file and line.
    """
    worlds: list[tuple[str, list[WorldLine]]] = []
    block, category = 0, ""
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.match(raw)
        if raw.startswith("# "):
            worlds.append((raw[2:].split("|")[0].strip(), []))
            block = 0
        elif match is not None and worlds:
            if match[1] == "-":
                block, category = block + 1, match[2] or ""
            worlds[-1][1].append(_line(match, block, category))
        elif raw.strip():
            raise ValueError(f"{path.name}, line {number}: no heading and no memory")
    return [World(name, path.stem, tuple(lines)) for name, lines in worlds if lines]


def _line(match: re.Match[str], block: int, category: str) -> WorldLine:
    role, _, day, rest = match.groups()
    braces = _METADATA.search(rest)
    text = rest[: braces.start()] if braces else rest
    metadata = _read_metadata(braces.group(1)) if braces else {}
    stated_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return WorldLine(role, block, category, stated_at, text.strip(), metadata)  # type: ignore[arg-type]


def _read_metadata(braces: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in re.split(r"[;,]\s*(?=\w+\s*:)", braces))
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def label(a: WorldLine, b: WorldLine) -> int:
    """Label of two lines of one world, `UNLABELLED` where the world does not say.

    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> label(WorldLine("-", 1, "", day, "x"), WorldLine("!", 1, "", day, "y"))
    1
    """
    if a.block != b.block:
        return DISTINCT
    roles = {a.role, b.role}
    if roles <= {"-", "="}:
        return DUPLICATE
    if "!" in roles:
        return CONTRADICTION if roles & {"-", "="} else UNLABELLED
    return DISTINCT


def labelled_pairs(world: World) -> Iterator[tuple[int, int, int]]:
    """(row, row, label) of every labelled pair of a world, first row before second."""
    for i, j in combinations(range(len(world.lines)), 2):
        relation = label(world.lines[i], world.lines[j])
        if relation != UNLABELLED:
            yield i, j, relation


def held_out(worlds: Iterable[World], *, share: int = 5) -> tuple[list[World], list[World]]:
    """Worlds to train on, and one in `share` to calibrate on, drawn by name within each style."""
    train: list[World] = []
    held: list[World] = []
    by_style: dict[str, list[World]] = {}
    for world in worlds:
        by_style.setdefault(world.style, []).append(world)
    for style in sorted(by_style):
        drawn = sorted(by_style[style], key=lambda one: (crc32(f"{style}/{one.name}".encode()), one.name))
        for at, world in enumerate(drawn):
            (held if at % share == 0 else train).append(world)
    return train, held
