"""The labelled development pairs: hand-written hard ones, pairs of real memories, pairs inside stores.

They fit the calibrator and its thresholds; the network trains on them only in the optional stage `adapt`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

LABELS = ("duplicate", "contradiction", "distinct")
HARD_FOLDS = 12
PINNED = "[PINNED]"

Origin = Literal["hard", "real", "store"]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One pair with its label as a column of `LABELS`; pairs of one group are never split between folds."""

    a: str
    b: str
    category: str
    label: int
    weight: float
    origin: Origin
    group: str
    kind: str


def read_labelled(data: Path) -> list[LabelledPair]:
    """Every pair of `pairs/dev.jsonl`, `pairs/real_dev.jsonl` and `stores/*.json` below the data folder."""
    pairs = [_hard(row) for row in _rows(data / "pairs" / "dev.jsonl")]
    pairs += [_real(row) for row in _rows(data / "pairs" / "real_dev.jsonl")]
    for path in sorted((data / "stores").glob("*.json")):
        pairs += _store_pairs(json.loads(path.read_text(encoding="utf-8")), path.stem)
    return pairs


def folds(pairs: Sequence[LabelledPair], count: int) -> list[int]:
    """Fold of each pair: whole groups, dealt out in the order of their names within each origin."""
    fold: dict[tuple[str, str], int] = {}
    for origin in ("hard", "real", "store"):
        groups = sorted({pair.group for pair in pairs if pair.origin == origin})
        fold.update({(origin, group): at % count for at, group in enumerate(groups)})
    return [fold[pair.origin, pair.group] for pair in pairs]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _hard(row: dict[str, Any]) -> LabelledPair:
    group = f"{crc32(row['id'].encode()) % HARD_FOLDS:02d}"
    return LabelledPair(
        row["a"], row["b"], row["category"], LABELS.index(row["label"]), 1.0, "hard", group, row["kind"]
    )


def _real(row: dict[str, Any]) -> LabelledPair:
    label = LABELS.index(row["label"])
    return LabelledPair(
        row["a"], row["b"], "", label, float(row["weight"]), "real", row["store"], row["kind"]
    )


def _store_pairs(store: dict[str, Any], name: str) -> list[LabelledPair]:
    gold = store["gold"]
    same = {frozenset(pair) for group in gold["duplicate_groups"] for pair in combinations(group, 2)}
    opposed = {frozenset(pair) for pair in gold["contradictions"]}
    pairs: list[LabelledPair] = []
    for left, right in combinations(store["memories"], 2):
        if left["category"] != right["category"] or PINNED in left["memory"] + right["memory"]:
            continue
        ids = frozenset((left["id"], right["id"]))
        label = 0 if ids in same else 1 if ids in opposed else 2
        kind = f"{left['id']} {right['id']}"
        pairs.append(
            LabelledPair(left["memory"], right["memory"], left["category"], label, 1.0, "store", name, kind)
        )
    return pairs
