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
from mem0_dream.scripts.evaluate.worlds import World, read_world_file

_PINNING = ("pinned", "immutable", "critical")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One line of a pairs file: two memories of one scope and category, and what they are to each other.

    Attributes:
        source: The file, without its suffix.
        style: What stands before the first dash of the id, such as "p1": who wrote the pair, or how.
        group: Pairs of one group (a user) are drawn together by the bootstrap.
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
            stores += _worlds(path)
        else:
            stores.append(_store(text, path))
    return pairs, stores


def _worlds(path: Path) -> list[LabelledStore]:
    try:
        return [world_store(world) for world in read_world_file(path)]
    except ValueError as error:
        raise UsageError(f"{path} is no file of worlds: {error}.") from error


def world_store(world: World) -> LabelledStore:
    """A world as a store without categories, looked at on the day of its last memory.

    A world says nothing about ages, so every memory counts as read on that day.
    """
    scope = Scope.of(user_id=world.name)
    now = max((line.stated_at for line in world.lines), default=None)
    memories, blocks = [], defaultdict[int, dict[str, list[str]]](lambda: {"same": [], "against": []})
    for number, line in enumerate(world.lines):
        memory_id = f"{number:04}"
        if line.role != "~":
            blocks[line.block]["against" if line.role == "!" else "same"].append(memory_id)
        memories.append(
            Memory(
                id=memory_id,
                text=line.text,
                scope=scope,
                created_at=line.stated_at,
                updated_at=line.stated_at,
                accessed_at=now,
                metadata=line.metadata,
            )
        )
    gold = Gold(
        groups=tuple(frozenset(block["same"]) for block in blocks.values()),
        contradictions=tuple(
            (frozenset(block["same"]), frozenset([against]))
            for block in blocks.values()
            for against in block["against"]
        ),
        prune=frozenset(),
        keep=frozenset(),
    )
    name = f"{world.style}/{world.name}"
    return LabelledStore(name, Inventory(store=name, memories=tuple(memories)), now, gold)


def _pair(line: str, path: Path, number: int) -> LabelledPair:
    try:
        row = json.loads(line)
        label = Label(row["label"])
        scope = Scope.of(user_id=path.stem)
        a, b = (
            Memory(
                id=f"{path.stem}-{number:07}{side}",
                text=row[side],
                scope=scope,
                category=row.get("category"),
                created_at=moment(row.get(f"{side}_date")),
            )
            for side in ("a", "b")
        )
        weight = float(row.get("weight", 1.0))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"Line {number} of {path} is no labelled pair: {error!r}.") from error
    if label not in LABELS:
        raise UsageError(f"Line {number} of {path} has the label {label}, which no pair is given.")
    name = str(row.get("id", number))
    style, _, number_in_style = name.partition("-")
    return LabelledPair(
        name=name,
        source=path.stem,
        style=style if number_in_style else "",
        a=a,
        b=b,
        label=label,
        kind=str(row.get("kind")),
        weight=weight,
        group=row.get("store", name),
    )


def _store(text: str, path: Path) -> LabelledStore:
    try:
        data = json.loads(text)
        scope = Scope.of(**{name: data.get(name) for name in ("user_id", "agent_id", "run_id", "app_id")})
        memories = sorted((_memory(row, scope) for row in data["memories"]), key=lambda memory: memory.id)
        gold = Gold.of(data["gold"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no labelled store: {error!r}.") from error
    name = str(data.get("name", path.stem))
    return LabelledStore(name, Inventory(store=name, memories=tuple(memories)), moment(data.get("now")), gold)


def _memory(row: dict[str, Any], scope: Scope) -> Memory:
    metadata = row.get("metadata") or {}
    text = row["memory"]
    return Memory(
        id=row["id"],
        text=text,
        scope=scope,
        category=row.get("category"),
        created_at=moment(row.get("created_at")),
        updated_at=moment(row.get("updated_at")),
        accessed_at=moment(row.get("last_accessed_at")),
        pinned=text.lstrip().startswith(PIN_PREFIX) or any(metadata.get(key) for key in _PINNING),
        metadata=metadata,
    )


def moment(text: str | None) -> datetime | None:
    """An aware moment from ISO 8601, None from nothing."""
    return as_utc(datetime.fromisoformat(text)) if text else None
