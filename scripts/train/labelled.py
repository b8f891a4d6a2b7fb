"""The labelled development pairs: hard ones, pairs of real memories, candidates inside stores and worlds.

They fit the calibrator and its thresholds; the network trains on them only in the optional stage `adapt`.
Pairs of stores and worlds come with their place in the store: all candidates, at natural prevalence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...indexes import choose_index
from ...models.scorer import PairContext, PairInput
from ...models.words import exact_key
from ...pipeline.judging.neighbourhood import contexts_of
from ...settings import Settings
from ..evaluate.worlds import UNLABELLED, World, WorldLine, held_out, label, read_worlds

Encode = Callable[[list[str]], NDArray[np.float32]]
"""Texts to float32 [n, d] unit rows."""

LABELS = ("duplicate", "contradiction", "distinct")
ORIGINS = ("hard", "real", "store", "world")
HARD_FOLDS = 12
PINNED = "[PINNED]"
CATEGORY_WEIGHT = 0.5  # the same pairs once more, among fewer neighbours

Origin = Literal["hard", "real", "store", "world"]


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
    cosine: float | None = None
    a_date: datetime | None = None
    b_date: datetime | None = None
    context: PairContext | None = None

    def scored(self, cosine: float) -> PairInput:
        """The pair as a scorer is given it; `cosine` where the pair does not bring its own."""
        near = cosine if self.cosine is None else self.cosine
        return PairInput(self.a, self.b, near, self.category or None, self.a_date, self.b_date, self.context)


def read_labelled(data: Path, encode: Encode) -> list[LabelledPair]:
    """Hard and real pairs, the candidates of each store, and of each world that the network never saw.

    `data` holds `pairs/dev.jsonl`, `pairs/real_dev.jsonl`, `stores/*.json` and, if there are any,
    `worlds/w*.txt`.
    """
    pairs = [_hard(row) for row in _rows(data / "pairs" / "dev.jsonl")]
    pairs += [_real(row) for row in _rows(data / "pairs" / "real_dev.jsonl")]
    for path in sorted((data / "stores").glob("*.json")):
        pairs += _store_pairs(json.loads(path.read_text(encoding="utf-8")), path.stem, encode)
    if (data / "worlds").is_dir():
        for world in held_out(read_worlds(data / "worlds"))[1]:
            pairs += _world_pairs(world, encode)
    return pairs


def folds(pairs: Sequence[LabelledPair], count: int) -> list[int]:
    """Fold of each pair: whole groups, dealt out in the order of their names within each origin."""
    fold: dict[tuple[str, str], int] = {}
    for origin in ORIGINS:
        groups = sorted({pair.group for pair in pairs if pair.origin == origin})
        fold.update({(origin, group): at % count for at, group in enumerate(groups)})
    return [fold[pair.origin, pair.group] for pair in pairs]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _hard(row: dict[str, Any]) -> LabelledPair:
    group = f"{crc32(row['id'].encode()) % HARD_FOLDS:02d}"
    return LabelledPair(
        row["a"], row["b"], row["category"], LABELS.index(row["label"]), 1.0, "hard", group, row["kind"],
        a_date=_day(row.get("a_date")), b_date=_day(row.get("b_date")),
    )  # fmt: skip


def _real(row: dict[str, Any]) -> LabelledPair:
    return LabelledPair(
        row["a"], row["b"], "", LABELS.index(row["label"]), float(row["weight"]), "real", row["store"],
        row["kind"], a_date=_day(row.get("a_date")), b_date=_day(row.get("b_date")),
    )  # fmt: skip


def _day(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _store_pairs(store: dict[str, Any], name: str, encode: Encode) -> Iterator[LabelledPair]:
    gold = store["gold"]
    same = {frozenset(pair) for group in gold["duplicate_groups"] for pair in combinations(group, 2)}
    opposed = {frozenset(pair) for pair in gold["contradictions"]}
    living = [row for row in store["memories"] if PINNED not in row["memory"]]
    for category in sorted({row["category"] for row in living}):
        rows = [row for row in living if row["category"] == category]
        for i, j, cosine, context in _candidates([row["memory"] for row in rows], encode):
            ids = frozenset((rows[i]["id"], rows[j]["id"]))
            relation = 0 if ids in same else 1 if ids in opposed else 2
            yield LabelledPair(
                rows[i]["memory"], rows[j]["memory"], category, relation, 1.0, "store", name,
                f"{rows[i]['id']} {rows[j]['id']}", cosine, _stated(rows[i]), _stated(rows[j]), context,
            )  # fmt: skip


def _stated(row: dict[str, Any]) -> datetime | None:
    known = [moment for key in ("created_at", "updated_at") if (moment := _day(row.get(key)))]
    return max(known, default=None)


def _world_pairs(world: World, encode: Encode) -> Iterator[LabelledPair]:
    """The candidates of a world as one store without categories, and again of each category by itself."""
    yield from _of_lines(world, world.lines, encode, weight=1.0)
    for category in sorted({line.category for line in world.lines}):
        lines = [line for line in world.lines if line.category == category]
        if len(lines) < len(world.lines):
            yield from _of_lines(world, lines, encode, weight=CATEGORY_WEIGHT)


def _of_lines(
    world: World, lines: Sequence[WorldLine], encode: Encode, *, weight: float
) -> Iterator[LabelledPair]:
    for i, j, cosine, context in _candidates([line.text for line in lines], encode):
        a, b = lines[i], lines[j]
        relation = label(a, b)
        if relation != UNLABELLED and not _other_subject(a, b):
            yield LabelledPair(
                a.judged, b.judged, a.category, relation, weight, "world", f"{world.style}/{world.name}",
                world.style, cosine, a.stated_at, b.stated_at, context,
            )  # fmt: skip


def _other_subject(a: WorldLine, b: WorldLine) -> bool:
    """Whether the metadata of two lines names different subjects, so that no scorer is asked."""
    mine, theirs = a.subjects, b.subjects
    return any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())


def _candidates(texts: Sequence[str], encode: Encode) -> Iterator[tuple[int, int, float, PairContext]]:
    """Pairs of rows as the program finds them under its default settings, equal texts left out."""
    vectors = encode(list(texts))
    settings = Settings()
    near = choose_index(len(texts)).pairs(vectors, floor=settings.floor, neighbours=settings.neighbours)
    for (i, j, cosine), context in zip(near, contexts_of(vectors, texts, near.rows), strict=True):
        if exact_key(texts[i]) != exact_key(texts[j]):
            yield i, j, cosine, context
