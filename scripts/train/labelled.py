"""The labelled pairs that fit the calibrator and its thresholds, and what a checkpoint says of them.

The network never trains on them.

Pairs of stores, worlds and people come with their place in the store, at natural prevalence. The pairs of
real memories come twice: alone (`real`), and among all memories of their user (`people`).
"""

import copy
import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ... import indexes
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import ENTAILS, PairSignals, own_columns, placed, short_long
from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.bundled.scorer import FOLDER, BundledScorer, PairReader
from ...models.bundled.screen import SCREEN_FILE, Screen
from ...models.bundled.weights import for_reading
from ...models.scorer import PairContext, PairInput, Thresholds
from ...models.text.words import exact_key
from ...pipeline.judging.candidates import contexts_of
from ...pipeline.judging.judge import decide, differences
from ...settings import Settings
from ..evaluate import labelled as held
from ..evaluate.labelled import CONTRADICTION, DISTINCT, DUPLICATE, LabelledPair, LabelledStore, World

log = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Encode = Callable[[list[str]], NDArray[np.float32]]
"""Texts to float32 [n, d] unit rows."""

DEFAULTS = Settings()
ORIGINS = ("hard", "real", "people", "bound", "store", "world")
HARD_FOLDS = 12
CHUNK = 400
ALL_MERGED = Thresholds(auto=0.0, duplicate=0.0, contradiction=1.0)
CATEGORY_WEIGHT = 0.5  # the same pairs once more, among fewer neighbours


def read_labelled(data: Path, encode: Encode) -> list[LabelledPair]:
    """Hard and real pairs, kept exchanges, the candidates of stores and of worlds that the network never saw.

    The source of each pair is one of `ORIGINS`.
    """
    hard, real = (held.read_files([data / "pairs" / name])[0] for name in ("dev.jsonl", "real_dev.jsonl"))
    real = [replace(pair, source="real", category="") for pair in real]
    sets = held.read_exchanges(data / "exchanges")[1]
    bound = [pair for one in sets for pair in held.exchange_pairs(one)]
    stores = held.read_files(sorted((data / "stores").glob("*.json")))[1]
    worlds = held.held_out(held.read_worlds(data / "worlds"))[1]
    return [
        *(replace(pair, source="hard", group=_dealt(pair.name), weight=1.0) for pair in hard),
        *real,
        *_among_people(real, encode),
        *(replace(pair, source="bound", group=_dealt(pair.group)) for pair in bound),
        *_inside(stores, encode),
        *(pair for world in worlds for pair in _world_pairs(world, encode)),
    ]


def folds(pairs: Sequence[LabelledPair], count: int) -> list[int]:
    """Fold of each pair: whole groups, dealt out in the order of their names within each origin."""
    groups = {name: sorted({pair.group for pair in pairs if pair.source == name}) for name in ORIGINS}
    fold = {(name, one): at % count for name, some in groups.items() for at, one in enumerate(some)}
    return [fold[pair.source, pair.group] for pair in pairs]


def near_pairs(
    texts: Sequence[str], encode: Encode, limits: Settings = DEFAULTS
) -> Iterator[tuple[int, int, float, PairContext]]:
    """Rows, cosine and place of the pairs that the program finds among these texts, equal ones left out."""
    vectors = encode(list(texts))
    near = indexes.near_pairs(vectors, floor=limits.floor, neighbours=limits.neighbours)
    for (i, j, cosine), context in zip(near, contexts_of(vectors, texts, near.rows), strict=True):
        if exact_key(texts[i]) != exact_key(texts[j]):
            yield i, j, cosine, context


def _dealt(name: str) -> str:
    return f"{crc32(name.encode()) % HARD_FOLDS:02d}"


def _among_people(real: Sequence[LabelledPair], encode: Encode) -> Iterator[LabelledPair]:
    """The real pairs once more, each in its place among all texts of its user."""
    for user in sorted({pair.group for pair in real}):
        pairs = [pair for pair in real if pair.group == user]
        texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
        at = {text: row for row, text in enumerate(texts)}
        placed = {(i, j): (cosine, context) for i, j, cosine, context in near_pairs(texts, encode)}
        for pair in pairs:
            i, j = at[pair.a], at[pair.b]
            found = placed.get((min(i, j), max(i, j)))
            if found is not None:
                context = found[1] if i < j else found[1].swapped()
                yield replace(pair, source="people", cosine=found[0], context=context)


def _inside(stores: Sequence[LabelledStore], encode: Encode) -> Iterator[LabelledPair]:
    """The candidates of each category of labelled stores."""
    for store in stores:
        same = {frozenset(pair) for group in store.gold.groups for pair in combinations(group, 2)}
        opposed = {older | newer for older, newer in store.gold.contradictions}
        living = [memory for memory in store.inventory.memories if not memory.pinned]
        for category in sorted({memory.category or "" for memory in living}):
            rows = [memory for memory in living if (memory.category or "") == category]
            for i, j, cosine, context in near_pairs([memory.text for memory in rows], encode):
                a, b = rows[i], rows[j]
                ids = frozenset((a.id, b.id))
                relation = DUPLICATE if ids in same else CONTRADICTION if ids in opposed else DISTINCT
                yield LabelledPair(
                    a.text, b.text, relation, "store", kind=f"{a.id} {b.id}", group=store.name,
                    category=category, a_date=a.stated_at, b_date=b.stated_at, cosine=cosine, context=context,
                )  # fmt: skip


def _world_pairs(world: World, encode: Encode) -> Iterator[LabelledPair]:
    """The candidates of a world as one store without categories, and again of each category by itself."""
    parts = [(world.lines, 1.0)]
    for category in sorted({line.category for line in world.lines}):
        lines = tuple(line for line in world.lines if line.category == category)
        parts += [(lines, CATEGORY_WEIGHT)] if len(lines) < len(world.lines) else []
    for lines, weight in parts:
        for i, j, cosine, context in near_pairs([line.text for line in lines], encode):
            a, b = lines[i], lines[j]
            mine, theirs, relation = a.subjects, b.subjects, held.label(a, b)
            # Where metadata names different subjects no scorer is asked.
            other_subject = any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())
            if relation != held.UNLABELLED and not other_subject:
                yield LabelledPair(
                    a.judged, b.judged, relation, "world", kind=world.style, weight=weight,
                    group=f"{world.style}/{world.name}", category=a.category, a_date=a.stated_at,
                    b_date=b.stated_at, cosine=cosine, context=context,
                )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """Signals [n, columns] of labelled pairs with what the calibrator is fitted and judged on."""

    rows: Floats
    label: NDArray[np.int64]
    weight: Floats
    origin: NDArray[np.str_]
    group: NDArray[np.str_]
    placed: NDArray[np.bool_]  # inside a store that tells something; the others are judged by their texts
    refused: NDArray[np.bool_]  # whether evidence keeps a pair from being merged, whatever is probable


def as_scored(pairs: Sequence[LabelledPair], encode: Encode) -> list[PairInput]:
    """The pairs as the scorer is given them; the cosine of those that bring none is reckoned."""
    alone = sorted({text for pair in pairs if pair.cosine is None for text in (pair.a, pair.b)})
    at = dict(zip(alone, encode(alone), strict=True)) if alone else {}
    return [one.scored(float(at[one.a] @ at[one.b]) if one.cosine is None else one.cosine) for one in pairs]


def needed(inputs: Sequence[PairInput]) -> NDArray[np.bool_]:
    """Which pairs the shipped screen lets through, bool [n]; all of them where no screen is shipped."""
    file = FOLDER / SCREEN_FILE
    return Screen.load(file).worth(inputs) > 0 if file.is_file() else np.ones(len(inputs), dtype=bool)


def read_signals(
    network: PairNetwork, tokenizer: PairTokenizer, inputs: Sequence[PairInput], cache: Path
) -> list[PairSignals]:
    """Signals of every pair; two texts are read once however often they stand together, and kept."""
    known: dict[tuple[str, str], PairSignals] = {}
    if cache.is_file():
        known = pickle.loads(cache.read_bytes())  # noqa: S301 - our own cache, never a shipped file
    once = {short_long(pair.a, pair.b): (pair.a, pair.b) for pair in inputs}
    missing = [key for key in once if key not in known]
    reader = PairReader(for_reading(copy.deepcopy(network)), tokenizer)
    cache.parent.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        known.update(zip(chunk, reader.signals([once[key] for key in chunk]), strict=True))
        cache.write_bytes(pickle.dumps(known))
        log.info("read %d of %d labelled pairs", start + len(chunk), len(missing))
    return [known[short_long(pair.a, pair.b)] for pair in inputs]


def table(
    pairs: Sequence[LabelledPair], inputs: Sequence[PairInput], signals: Sequence[PairSignals]
) -> Table:
    """The signals as numbers beside labels, weights and origins."""

    def refused(pair: PairInput, read: PairSignals) -> bool:
        down, up = read.whole[0][:, ENTAILS].tolist()
        ways = (down, up) if read.long == pair.a else (up, down)  # of b by a, of a by b
        return not decide((1.0, 0.0, 0.0), differences(pair, entailment=ways), ALL_MERGED, entailment=ways)[1]

    return Table(
        rows=placed(own_columns(signals), inputs),
        label=np.array([pair.label for pair in pairs]),
        weight=np.array([pair.weight for pair in pairs]),
        origin=np.array([pair.source for pair in pairs]),
        group=np.array([pair.group for pair in pairs]),
        placed=np.array([pair.placed for pair in inputs], dtype=bool),
        refused=np.array([refused(pair, s) for pair, s in zip(inputs, signals, strict=True)], dtype=bool),
    )


class FoldScorer(BundledScorer):
    """The scorer of a weights folder with the calibrator of one fold, under a name of its own."""

    def __init__(self, folder: Path, number: int, calibrator: Calibrator) -> None:
        super().__init__(folder)
        self._parts = self._parts[0], calibrator
        self.name += f".fold{number}"
