"""Reads labelled pairs (.jsonl), labelled stores (.json) and worlds (.txt), which are many small stores.

What is no such file is refused with one sentence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mem0_dream.errors import UsageError
from mem0_dream.records import PIN_PREFIX, Inventory, Label, Memory, Scope, as_utc
from mem0_dream.scripts.evaluate.metrics import LABELS, Gold
from mem0_dream.scripts.evaluate.worlds import World, held_out, read_world_file, read_worlds

STORES = "stores"
_PINNING = ("pinned", "immutable", "critical")
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One line of a pairs file: two memories of one scope and category, and what they are to each other.

    `source` is the file without its suffix; `style` what stands before the first dash of the id, such as
    "p1": who wrote the pair, or how. Pairs of one `group` (a user) are drawn together by the bootstrap.
    """

    name: str
    source: str
    style: str
    a: Memory
    b: Memory
    label: Label
    kind: str
    weight: float
    group: str


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


def _pair(line: str, path: Path, number: int) -> LabelledPair:
    try:
        row = json.loads(line)
        label, scope, category = Label(row["label"]), Scope.of(user_id=path.stem), row.get("category")
        a, b = (
            Memory(
                f"{path.stem}-{number:07}{side}", row[side], scope, category=category,
                created_at=moment(row.get(f"{side}_date")),
            )
            for side in ("a", "b")
        )  # fmt: skip
        weight = float(row.get("weight", 1.0))
    except _UNREADABLE as error:
        raise UsageError(f"Line {number} of {path} is no labelled pair: {error!r}.") from error
    if label not in LABELS:
        raise UsageError(f"Line {number} of {path} has the label {label}, which no pair is given.")
    name = str(row.get("id", number))
    style, dash, _ = name.partition("-")
    style, kind, group = style if dash else "", str(row.get("kind")), row.get("store", name)
    return LabelledPair(name, path.stem, style, a, b, label, kind, weight, group)


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
