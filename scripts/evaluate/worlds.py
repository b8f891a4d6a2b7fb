"""Labelled texts of our own: invented memory stores ("worlds") at natural prevalence, and sets of exchanges.

A world file holds many small stores. A block is one fact: `-` states it, `=` repeats it, `!` contradicts it
and every repetition, `~` only looks like it. Lines of different blocks of a world are distinct. An exchange
binds the words of a fact otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Literal
from zlib import crc32

from mem0_dream.models.scorer import CONTRADICTION, DISTINCT, DUPLICATE

__all__ = ["CONTRADICTION", "DISTINCT", "DUPLICATE"]

UNLABELLED = -1
Role = Literal["-", "=", "!", "~"]

PROVENANCE = frozenset({"source", "date", "time", "seq", "type", "session", "channel"})
"""Metadata keys of the worlds that say where a line came from; all others name whom it is about."""

HELD = 5
"""One world of a style, and one set of exchanges, in so many is kept for calibration and figures."""

ExchangeSet = tuple[tuple[str, str, str], str, str]
"""Three wordings of one fact, the same words bound otherwise, and `c` (contradiction) or `d` (distinct)."""

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
    """All worlds of `w*.txt` in a folder, in the order of file names and lines."""
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
    parts = re.split(r"[;,]\s*(?=\w+\s*:)", braces[1]) if braces else ()
    pairs = (part.partition(":") for part in parts)
    metadata = {key.strip(): value.strip() for key, _, value in pairs if value.strip()}
    stated_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return WorldLine(role, block, category, stated_at, text.strip(), metadata)  # type: ignore[arg-type]


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


def held_out(worlds: Iterable[World]) -> tuple[list[World], list[World]]:
    """Worlds to train on, and one in `HELD` to calibrate on, drawn by name within each style."""
    by_style: dict[str, list[World]] = {}
    for world in worlds:
        by_style.setdefault(world.style, []).append(world)
    drawn = [
        (at, world)
        for style in sorted(by_style)
        for at, world in enumerate(
            sorted(by_style[style], key=lambda one: (crc32(f"{one.style}/{one.name}".encode()), one.name))
        )
    ]
    return [world for at, world in drawn if at % HELD], [world for at, world in drawn if at % HELD == 0]


def read_exchanges(folder: Path) -> list[ExchangeSet]:
    """The sets of `x*.tsv` in a folder, in the order of files and lines; none where there is no file."""
    files = sorted(folder.glob("x*.tsv"))
    rows = [line.split("\t") for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    return [((fact, one, two), other, label) for fact, one, two, other, label in rows]


def held_exchanges(sets: Sequence[ExchangeSet]) -> tuple[list[ExchangeSet], list[ExchangeSet]]:
    """Sets to train on, and one in `HELD` that no training sees."""
    return [one for at, one in enumerate(sets) if at % HELD], list(sets[::HELD])
