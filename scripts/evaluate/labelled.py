"""Reads labelled pairs (.jsonl), labelled stores (.json), and worlds (.txt), which are many small stores."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from mem0_dream.errors import UsageError
from mem0_dream.models.scorer import PairContext, PairInput
from mem0_dream.records import PIN_PREFIX, Inventory, Label, Memory, Scope, as_utc
from mem0_dream.scripts.evaluate.metrics import LABELS, Gold
from mem0_dream.scripts.evaluate.worlds import (
    CONTRADICTION,
    DISTINCT,
    DUPLICATE,
    ExchangeSet,
    World,
    held_out,
    labelled_pairs,
    read_world_file,
    read_worlds,
)

STORES = "stores"
_PINNING = ("pinned", "immutable", "critical")
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts of one scope and category, and what they are to each other as a column of `LABELS`.

    `source` is the set, for instance the file without its suffix. Pairs of one `group` (a user) are drawn
    together by the bootstrap, and never split between folds. A pair inside a store has a place: its cosine,
    and what stands around it.
    """

    a: str
    b: str
    label: int
    source: str
    name: str = ""
    kind: str = ""
    group: str = ""
    weight: float = 1.0
    category: str = ""
    a_date: datetime | None = None
    b_date: datetime | None = None
    cosine: float | None = None
    context: PairContext | None = None

    @property
    def style(self) -> str:
        """What stands before the first dash of the name, such as "p1": who wrote the pair, or how."""
        style, dash, _ = self.name.partition("-")
        return style if dash else ""

    def scored(self, cosine: float) -> PairInput:
        """The pair as a scorer is given it; its own cosine comes first."""
        own = cosine if self.cosine is None else self.cosine
        return PairInput(self.a, self.b, own, self.category or None, self.a_date, self.b_date, self.context)


@dataclass(frozen=True, slots=True)
class LabelledStore:
    """A store file: its memories, the day it is looked at, and what should be done."""

    name: str
    inventory: Inventory
    now: datetime | None
    gold: Gold


def read_files(paths: Sequence[Path]) -> tuple[list[LabelledPair], list[LabelledStore]]:
    """Read labelled pairs and stores.

    Raises:
        UsageError: If a file cannot be read as what its name says.
    """
    pairs: list[LabelledPair] = []
    stores: list[LabelledStore] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}.") from error
        if path.suffix == ".jsonl":
            lines = enumerate(text.splitlines(), 1)
            pairs += [_pair(line, path, number) for number, line in lines if line.strip()]
        elif path.suffix == ".txt":
            try:
                stores += map(world_store, read_world_file(path))
            except ValueError as error:
                raise UsageError(f"{path} is no file of worlds: {error}.") from error
        else:
            stores.append(_store(text, path))
    return pairs, stores


def held_stores(data: Path) -> dict[str, list[LabelledStore]]:
    """The labelled stores under `STORES`, and by style the worlds that the network never saw."""
    stores: dict[str, list[LabelledStore]] = defaultdict(list)
    stores[STORES] = read_files(sorted((data / "stores").glob("*.json")))[1]
    for world in held_out(read_worlds(data / "worlds"))[1]:
        stores[world.style].append(world_store(world))
    return dict(stores)


def world_store(world: World) -> LabelledStore:
    """A world as a store without categories, looked at on the day of its last memory.

    A world says nothing about ages, so every memory counts as read on that day.
    """
    scope = Scope.of(user_id=world.name)
    now = max((line.stated_at for line in world.lines), default=None)
    blocks = defaultdict[int, tuple[list[str], list[str]]](lambda: ([], []))
    for number, line in enumerate(world.lines):
        if line.role != "~":
            blocks[line.block][line.role == "!"].append(f"{number:04}")
    memories = tuple(
        Memory(
            f"{number:04}", line.text, scope, created_at=line.stated_at, updated_at=line.stated_at,
            accessed_at=now, metadata=line.metadata,
        )
        for number, line in enumerate(world.lines)
    )  # fmt: skip
    gold = Gold(
        groups=tuple(frozenset(same) for same, _ in blocks.values()),
        contradictions=tuple(
            (frozenset(same), frozenset([other])) for same, against in blocks.values() for other in against
        ),
    )
    name = f"{world.style}/{world.name}"
    return LabelledStore(name, Inventory(name, memories), now, gold)


def block_pairs(world: World) -> Iterator[LabelledPair]:
    """The labelled pairs inside the blocks of a world."""
    for i, j, relation in labelled_pairs(world):
        a, b = world.lines[i], world.lines[j]
        if a.block == b.block:
            yield LabelledPair(
                a.judged,
                b.judged,
                relation,
                "worlds",
                kind=world.style,
                a_date=a.stated_at,
                b_date=b.stated_at,
            )


def exchange_pairs(one: ExchangeSet) -> Iterator[LabelledPair]:
    """The six pairs of a set: wordings of one fact, and each beside the same words bound otherwise."""
    same, other, opposed = one
    against = CONTRADICTION if opposed == "c" else DISTINCT
    pairs = [(a, b, DUPLICATE) for a, b in combinations(same, 2)]
    for a, b, relation in (*pairs, *((text, other, against) for text in same)):
        yield LabelledPair(a, b, relation, "exchanges", kind="exchange", group=same[0])


def _pair(line: str, path: Path, number: int) -> LabelledPair:
    try:
        row = json.loads(line)
        label, name, a, b = Label(row["label"]), str(row.get("id", number)), row["a"], row["b"]
        a_date, b_date = moment(row.get("a_date")), moment(row.get("b_date"))
        weight = float(row.get("weight", 1.0))
    except _UNREADABLE as error:
        raise UsageError(f"Line {number} of {path} is no labelled pair: {error!r}.") from error
    if label not in LABELS:
        raise UsageError(f"Line {number} of {path} has the label {label}, which no pair is given.")
    group, category = row.get("store", name), row.get("category") or ""
    return LabelledPair(
        a,
        b,
        LABELS.index(label),
        path.stem,
        name,
        str(row.get("kind")),
        group,
        weight,
        category,
        a_date,
        b_date,
    )


def _store(text: str, path: Path) -> LabelledStore:
    try:
        data = json.loads(text)
        scope = Scope.of(**{name: data.get(name) for name in ("user_id", "agent_id", "run_id", "app_id")})
        memories = sorted((_memory(row, scope) for row in data["memories"]), key=lambda memory: memory.id)
        gold = Gold.of(data["gold"])
    except _UNREADABLE as error:
        raise UsageError(f"{path} is no labelled store: {error!r}.") from error
    name = str(data.get("name", path.stem))
    return LabelledStore(name, Inventory(name, tuple(memories)), moment(data.get("now")), gold)


def _memory(row: dict[str, Any], scope: Scope) -> Memory:
    metadata, text = row.get("metadata") or {}, row["memory"]
    return Memory(
        row["id"], text, scope, category=row.get("category"), created_at=moment(row.get("created_at")),
        updated_at=moment(row.get("updated_at")), accessed_at=moment(row.get("last_accessed_at")),
        pinned=text.lstrip().startswith(PIN_PREFIX) or any(metadata.get(key) for key in _PINNING),
        metadata=metadata,
    )  # fmt: skip


def moment(text: str | None) -> datetime | None:
    """An aware moment from ISO 8601, None from nothing."""
    return as_utc(datetime.fromisoformat(text)) if text else None
