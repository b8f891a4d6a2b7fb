"""Reads labelled pairs (.jsonl), stores (.json), invented stores ("worlds", .txt) and exchanges (.tsv).

A world file holds many small stores. A block is one fact: `-` states it, `=` repeats it, `!` contradicts it
and every repetition, `~` only looks like it; lines of different blocks are distinct.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from mem0_dream.errors import UsageError
from mem0_dream.models.scorer import CONTRADICTION, DISTINCT, DUPLICATE, PairContext, PairInput
from mem0_dream.records import PIN_PREFIX, Inventory, Label, Memory, Scope, noted_moment

from .metrics import LABELS, Gold

UNLABELLED = -1
STORES = "stores"
# Metadata of the worlds that says where a line came from; all other keys name whom it is about.
PROVENANCE = frozenset({"source", "date", "time", "seq", "type", "session", "channel"})
HELD = 5  # one world of a style, and one set of exchanges, in so many is kept for calibration and figures
ExchangeSet = tuple[tuple[str, str, str], str, str]
"""Three wordings of one fact, the same words bound otherwise, and `c` (contradiction) or `d` (distinct)."""

_LINE = re.compile(r"^\s*([-=!~])\s+(?:\[([^\]]+)\]\s+)?(\d{4}-\d{2}-\d{2})\s+(.*?)\s*(?:\{([^{}]*)\}\s*)?$")
_PINNING = ("pinned", "immutable", "critical")
_DATES = {"created_at": "created_at", "updated_at": "updated_at", "accessed_at": "last_accessed_at"}


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts of one scope and category, and what they are to each other."""

    a: str
    b: str
    label: int  # a column of `LABELS`
    source: str
    name: str = ""
    kind: str = ""
    group: str = ""  # a user: drawn together, and never split between folds
    weight: float = 1.0
    category: str = ""
    a_date: datetime | None = None
    b_date: datetime | None = None
    cosine: float | None = None  # of a pair inside a store, as its context
    context: PairContext | None = None

    def scored(self, cosine: float) -> PairInput:
        """The pair as a scorer is given it; its own cosine comes first."""
        own = cosine if self.cosine is None else self.cosine
        return PairInput(self.a, self.b, own, self.category or None, self.a_date, self.b_date, self.context)


class LabelledStore(NamedTuple):
    """A store file: its memories, the day it is looked at, and what should be done."""

    name: str
    inventory: Inventory
    now: datetime | None
    gold: Gold


@dataclass(frozen=True, slots=True)
class WorldLine:
    """One memory of a world; `role` is the sign before it, `block` numbers the fact it belongs to."""

    role: str
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


def read_files(paths: Iterable[Path]) -> tuple[list[LabelledPair], list[LabelledStore]]:
    """Read labelled pairs and stores; a UsageError if a file cannot be read as what its name says."""
    pairs, stores = list[LabelledPair](), list[LabelledStore]()
    for path in paths:
        place: object = path
        try:
            if path.suffix == ".jsonl":
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    place = f"{path}, line {number},"
                    pairs += [_pair(json.loads(line), path.stem, number)] if line.strip() else []
            elif path.suffix == ".txt":
                stores += map(world_store, read_world_file(path))
            else:
                stores.append(_store(json.loads(path.read_text(encoding="utf-8")), path.stem))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{place} cannot be read as what its name says: {error!r}.") from error
    return pairs, stores


def _pair(row: dict[str, Any], source: str, number: int) -> LabelledPair:
    name = str(row.get("id", number))
    return LabelledPair(
        row["a"], row["b"], LABELS.index(Label(row["label"])), source, name, str(row.get("kind")),
        row.get("store", name), float(row.get("weight", 1.0)), row.get("category") or "",
        noted_moment(row.get("a_date")), noted_moment(row.get("b_date")),
    )  # fmt: skip


def _store(data: dict[str, Any], stem: str) -> LabelledStore:
    scope = Scope.of(**{name: data.get(name) for name in ("user_id", "agent_id", "run_id", "app_id")})
    memories = []
    for row in sorted(data["memories"], key=lambda row: str(row["id"])):
        metadata, text = row.get("metadata") or {}, row["memory"]
        pinned = text.lstrip().startswith(PIN_PREFIX) or any(map(metadata.get, _PINNING))
        rest: dict[str, Any] = {to: noted_moment(row.get(name)) for to, name in _DATES.items()}
        rest |= {"category": row.get("category"), "pinned": pinned, "metadata": metadata}
        memories.append(Memory(row["id"], text, scope, **rest))
    name = str(data.get("name", stem))
    inventory = Inventory(name, tuple(memories))
    return LabelledStore(name, inventory, noted_moment(data.get("now")), Gold.of(data["gold"]))


def read_worlds(folder: Path) -> list[World]:
    """All worlds of `w*.txt` in a folder, in the order of file names and lines."""
    return [world for path in sorted(folder.glob("w*_*.txt")) for world in read_world_file(path)]


def read_world_file(path: Path) -> list[World]:
    """The worlds of one file; a ValueError names the line that is neither a heading nor a memory."""
    worlds: list[tuple[str, list[WorldLine]]] = []
    block, category = 0, ""
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.match(raw)
        if raw.startswith("# "):
            worlds.append((raw[2:].split("|")[0].strip(), []))
            block = 0
        elif match is not None and worlds:
            role, named, day, text, braces = match.groups()
            if role == "-":
                block, category = block + 1, named or ""
            parts = (part.partition(":") for part in re.split(r"[;,]\s*(?=\w+\s*:)", braces or ""))
            metadata = {key.strip(): value.strip() for key, _, value in parts if value.strip()}
            stated_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
            worlds[-1][1].append(WorldLine(role, block, category, stated_at, text, metadata))
        elif raw.strip():
            raise ValueError(f"{path.name}, line {number}: no heading and no memory")
    return [World(name, path.stem, tuple(lines)) for name, lines in worlds if lines]


def as_memories(lines: Iterable[WorldLine], scope: Scope, *, digits: int = 7) -> Iterator[Memory]:
    """The lines as memories of one scope, by their judged texts and dates alone; numbers are their ids."""
    for at, line in enumerate(lines):
        day = line.stated_at
        yield Memory(f"{at:0{digits}}", line.judged, scope, created_at=day, updated_at=day)


def label(a: WorldLine, b: WorldLine) -> int:
    """Label of two lines of one world, `UNLABELLED` where the world does not say."""
    roles = {a.role, b.role}
    if a.block != b.block or ("~" in roles and "!" not in roles):
        return DISTINCT
    if "!" in roles:
        return CONTRADICTION if roles & {"-", "="} else UNLABELLED
    return DUPLICATE


def labelled_pairs(world: World) -> Iterator[tuple[int, int, int]]:
    """(row, row, label) of every labelled pair of a world, first row before second."""
    for i, j in combinations(range(len(world.lines)), 2):
        relation = label(world.lines[i], world.lines[j])
        if relation != UNLABELLED:
            yield i, j, relation


def block_pairs(world: World) -> Iterator[LabelledPair]:
    """The labelled pairs inside the blocks of a world."""
    for i, j, _ in labelled_pairs(world):
        a, b = world.lines[i], world.lines[j]
        if a.block == b.block:
            yield line_pair(a, b, "worlds", kind=world.style)


def line_pair(a: WorldLine, b: WorldLine, source: str, **more: Any) -> LabelledPair:  # noqa: ANN401
    """Two lines that are labelled; `more` are further fields."""
    more |= {"a_date": a.stated_at, "b_date": b.stated_at}
    return LabelledPair(a.judged, b.judged, label(a, b), source, **more)


def world_store(world: World) -> LabelledStore:
    """A world as a store without categories, of which every memory was read on the day of the last one."""
    scope, name = Scope.of(user_id=world.name), f"{world.style}/{world.name}"
    now = max((line.stated_at for line in world.lines), default=None)
    blocks = defaultdict[int, tuple[list[str], list[str]]](lambda: ([], []))
    memories = []
    for number, line in enumerate(world.lines):
        key, day = f"{number:04}", line.stated_at
        memory = Memory(key, line.text, scope, created_at=day, updated_at=day, metadata=line.metadata)
        memories.append(replace(memory, accessed_at=now))
        if line.role != "~":
            blocks[line.block][line.role == "!"].append(key)
    groups = tuple(frozenset(same) for same, _ in blocks.values())
    opposed = ((frozenset(same), frozenset([one])) for same, against in blocks.values() for one in against)
    return LabelledStore(name, Inventory(name, tuple(memories)), now, Gold(groups, tuple(opposed)))


def held_out(worlds: Iterable[World]) -> tuple[list[World], list[World]]:
    """Worlds to train on, and one in `HELD` to calibrate on, drawn by name within each style."""
    drawn = sorted(worlds, key=lambda one: (one.style, crc32(f"{one.style}/{one.name}".encode()), one.name))
    every = [(at, one) for _, some in groupby(drawn, lambda one: one.style) for at, one in enumerate(some)]
    return [one for at, one in every if at % HELD], [one for at, one in every if not at % HELD]


def held_stores(data: Path) -> dict[str, list[LabelledStore]]:
    """The labelled stores under `STORES`, and by style the worlds that the network never saw."""
    stores = {STORES: read_files(sorted((data / "stores").glob("*.json")))[1]}
    for world in held_out(read_worlds(data / "worlds"))[1]:
        stores.setdefault(world.style, []).append(world_store(world))
    return stores


def read_exchanges(folder: Path) -> tuple[list[ExchangeSet], list[ExchangeSet]]:
    """Sets of `x*.tsv` to train on, and one in `HELD` that no training sees; none where there is no file."""
    files = sorted(folder.glob("x*.tsv"))
    rows = [line.split("\t") for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    sets: list[ExchangeSet] = [((fact, one, two), other, label) for fact, one, two, other, label in rows]
    return [one for at, one in enumerate(sets) if at % HELD], sets[::HELD]


def exchange_pairs(one: ExchangeSet) -> Iterator[LabelledPair]:
    """The six pairs of a set: wordings of one fact, and each beside the same words bound otherwise."""
    same, other, opposed = one
    against = CONTRADICTION if opposed == "c" else DISTINCT
    pairs = [(a, b, DUPLICATE) for a, b in combinations(same, 2)]
    for a, b, relation in (*pairs, *((text, other, against) for text in same)):
        yield LabelledPair(a, b, relation, "exchanges", kind="exchange", group=same[0])
