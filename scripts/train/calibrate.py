"""Fits the calibrator over the signals, cross-validated by user, store and fold, and its thresholds.

Cross-validated figures are the honest ones; what ships is fitted on all development pairs, none of which the
network trained on. Pairs of stores, worlds and people come with their place in the store, at natural
prevalence. The pairs of real memories come twice: alone (`real`), and among all memories of their user
(`people`).
"""

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ... import indexes
from ...models.belief import Said
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import ENTAILS, PairSignals, own_columns, placed, short_long
from ...models.bundled.scorer import BundledScorer, PairReader
from ...models.scorer import CONTRADICTION, DISTINCT, DUPLICATE, PairContext, PairInput, Thresholds
from ...models.text.words import exact_key
from ...pipeline.judging.candidates import contexts_of
from ...pipeline.judging.judge import differences, left_to_person
from ...settings import Settings
from ..evaluate import labelled as held
from ..evaluate.labelled import LabelledPair, LabelledStore, World
from ..evaluate.metrics import Decisions, pair_figures, threshold_at

log = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Encode = Callable[[list[str]], NDArray[np.float32]]
"""Texts to float32 [n, d] unit rows."""

ORIGINS = ("hard", "real", "people", "bound", "store", "world")
HARD_FOLDS = 12
CHUNK = 400
CATEGORY_WEIGHT = 0.5  # the same pairs once more, among fewer neighbours

FOLDS = MEMBERS = 6
ROUNDS, RATE, LEAVES, SMALLEST_LEAF, PENALTY = 120, 0.06, 8, 12, 3.0
BALANCE = 0.3  # 0 keeps the labels' natural shares within an origin, 1 makes them equal
ORIGIN_MASS = {"hard": 1.0, "real": 0.7, "people": 0.7, "bound": 0.8, "store": 0.6, "world": 2.0}
AUTO_PRECISION, BOUND_PRECISION = 0.99, 0.99  # of real pairs alone; of exchanges, which are made to mislead
INSIDE_PRECISION = 0.985  # of candidates in worlds, where far more looks alike than in most stores
LEAST = 0.8  # probability below which nothing merges by itself
PEOPLE_CONTRADICTION = 0.70  # of pairs among a person's memories; a report is right if one of its pairs is
# A person decides each one, but a report that is wrong costs trust: of hard pairs, and of exchanges.
CONTRADICTION_PRECISION, BOUND_CONTRADICTION = 0.85, 0.90
INSIDE_CONTRADICTION = 0.90  # of pairs; several pairs of one fact are one report, so 0.86 of the reports
SHOWN_PRECISION, INSIDE_SHOWN = 0.80, 0.75
ALONE = ("hard", "real", "bound")  # origins of pairs of which no store is known


def read_labelled(data: Path, encode: Encode) -> list[LabelledPair]:
    """Pairs of all `ORIGINS`, which their sources name."""
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


def near_pairs(texts: list[str], encode: Encode) -> Iterator[tuple[int, int, float, PairContext]]:
    """Rows, cosine and place of the pairs that the program finds among these texts, equal ones left out."""
    vectors, limits = encode(texts), Settings()
    near = indexes.near_pairs(vectors, floor=limits.floor, neighbours=limits.neighbours)
    for (i, j, cosine), context in zip(near, contexts_of(vectors, texts, near.rows), strict=True):
        if exact_key(texts[i]) != exact_key(texts[j]):
            yield i, j, cosine, context


def _dealt(name: str) -> str:
    return f"{crc32(name.encode()) % HARD_FOLDS:02d}"


def _among_people(real: Sequence[LabelledPair], encode: Encode) -> Iterator[LabelledPair]:
    for user in sorted({pair.group for pair in real}):
        pairs = [pair for pair in real if pair.group == user]
        texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
        placed = {(texts[i], texts[j]): (cos, at) for i, j, cos, at in near_pairs(texts, encode)}
        for pair in pairs:
            found = placed.get((min(pair.a, pair.b), max(pair.a, pair.b)))
            if found is not None:
                context = found[1] if pair.a < pair.b else found[1].swapped()
                yield replace(pair, source="people", cosine=found[0], context=context)


def _inside(stores: Sequence[LabelledStore], encode: Encode) -> Iterator[LabelledPair]:
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
            # Where metadata names different subjects no scorer is asked.
            asked = all(b.subjects.get(key, value) == value for key, value in a.subjects.items())
            if asked and held.label(a, b) != held.UNLABELLED:
                place = {"group": f"{world.style}/{world.name}", "cosine": cosine, "context": context}
                more = {"kind": world.style, "category": a.category, "weight": weight}
                yield held.line_pair(a, b, "world", **place, **more)


@dataclass(frozen=True, slots=True)
class Table:
    """Signals [n, columns] of labelled pairs with what the calibrator is fitted and judged on."""

    rows: Floats
    label: NDArray[np.int64]
    weight: Floats
    origin: NDArray[np.str_]
    group: NDArray[np.str_]
    pairs: NDArray[np.object_]  # what the scorer is given
    ways: Floats  # [n, 2], the entailment of b by a and of a by b

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Whether each pair is inside a store that tells something; the others are judged by their texts."""
        return np.array([pair.placed for pair in self.pairs], dtype=bool)


def as_scored(pairs: Sequence[LabelledPair], encode: Encode) -> list[PairInput]:
    """The pairs as the scorer is given them; the cosine of those that bring none is reckoned."""
    alone = sorted({text for pair in pairs if pair.cosine is None for text in (pair.a, pair.b)})
    at = dict(zip(alone, encode(alone), strict=True)) if alone else {}
    return [one.scored(float(at[one.a] @ at[one.b]) if one.cosine is None else one.cosine) for one in pairs]


def read_signals(reader: PairReader, inputs: Sequence[PairInput], cache: Path) -> list[PairSignals]:
    """Signals of every pair; two texts are read once however often they stand together, and kept."""
    known: dict[tuple[str, str], PairSignals] = {}
    if cache.is_file():
        known = pickle.loads(cache.read_bytes())  # noqa: S301 - our own cache, never a shipped file
    once = {short_long(pair.a, pair.b): (pair.a, pair.b) for pair in inputs}
    missing = [key for key in once if key not in known]
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
    ways = []
    for pair, read in zip(inputs, signals, strict=True):
        down, up = read.entailment[:, ENTAILS].tolist()
        ways.append((down, up) if read.long == pair.a else (up, down))
    label, weight, origin, group = (
        np.array([getattr(pair, name) for pair in pairs]) for name in ("label", "weight", "source", "group")
    )
    rows = placed(own_columns(signals), inputs)
    given = np.empty(len(inputs), dtype=object)
    given[:] = inputs
    return Table(rows, label, weight, origin, group, given, np.array(ways).reshape(-1, 2))


class FoldScorer(BundledScorer):
    """The scorer of a weights folder with the calibrator of one fold, under a name of its own."""

    def __init__(self, folder: Path, number: int, calibrator: Calibrator) -> None:
        super().__init__(folder)
        self._calibrator = calibrator
        self.name += f".fold{number}"


def sample_weight(data: Table) -> Floats:
    """Weights that give each origin its share of the mass; pairs count by the root of their weight."""
    weight = np.sqrt(data.weight)
    for origin, mass in ORIGIN_MASS.items():
        inside = data.origin == origin
        if inside.any():
            for label in np.unique(data.label[inside]):
                chosen = inside & (data.label == label)
                weight[chosen] *= (weight[inside].sum() / weight[chosen].sum()) ** BALANCE
            weight[inside] *= mass * len(weight) / len(ORIGIN_MASS) / weight[inside].sum()
    return np.asarray(weight)


def fit(data: Table, chosen: NDArray[np.bool_] | None = None, *, seed: int) -> Calibrator:
    """A calibrator fitted on the chosen rows (all by default), `MEMBERS` boosters averaged."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    keep = np.ones(len(data.label), dtype=bool) if chosen is None else chosen
    weight = sample_weight(data)
    rows = np.where(np.isnan(data.rows[keep]).all(axis=0), 0.0, data.rows[keep])  # no value, no split
    rng = np.random.default_rng(seed)
    boosters = []
    for member in range(MEMBERS):
        # Each member sees its own random weights (a Bayesian bootstrap), which averages out single pairs.
        noise = rng.exponential(size=len(weight)) * 0.4 + 0.6
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF,
            l2_regularization=PENALTY, max_features=0.5, early_stopping=False, random_state=seed + member,
        )  # fmt: skip
        boosters.append(model.fit(rows, data.label[keep], sample_weight=(weight * noise)[keep]))
    return flatten(boosters)


def flatten(boosters: Sequence[object]) -> Calibrator:
    """The trees of fitted scikit-learn boosters as one `Calibrator`."""
    trees = [
        (label, number, tree.nodes)
        for number, booster in enumerate(boosters)
        for together in booster._predictors  # type: ignore[attr-defined]  # noqa: SLF001
        for label, tree in enumerate(together)
    ]
    column, member, nodes = zip(*trees, strict=True)
    baselines = [booster._baseline_prediction.reshape(1, -1) for booster in boosters]  # type: ignore[attr-defined]  # noqa: SLF001
    root = np.cumsum([0, *map(len, nodes[:-1])])
    every, start = np.concatenate(nodes), np.repeat(root, [len(one) for one in nodes])
    leaf = every["is_leaf"].astype(bool)
    return Calibrator(
        feature=np.where(leaf, -1, every["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, 0.0, every["num_threshold"]).astype(np.float64),
        left=np.where(leaf, 0, every["left"] + start).astype(np.int32),
        right=np.where(leaf, 0, every["right"] + start).astype(np.int32),
        missing_left=every["missing_go_to_left"].astype(bool),
        value=np.where(leaf, every["value"], 0.0).astype(np.float64), root=root.astype(np.int32),
        column=np.array(column, np.int32), member=np.array(member, np.int32),
        baseline=np.concatenate(baselines).astype(np.float64),
    )  # fmt: skip


def cross_validated(data: Table, fold: Sequence[int], *, seed: int) -> tuple[Floats, dict[int, Calibrator]]:
    """For each fold a calibrator that never saw its groups, and what it says of them [n, 3]."""
    of_pair = np.array(fold)
    calibrators = {int(one): fit(data, of_pair != one, seed=seed) for one in np.unique(of_pair)}
    probabilities = np.zeros((len(of_pair), 3))
    for number, calibrator in calibrators.items():
        held = of_pair == number
        probabilities[held] = calibrator.probabilities(data.rows[held])
    return probabilities, calibrators


def mergeable(probability: Floats, data: Table) -> Floats:
    """Duplicate probability [n], zero where it is low, or evidence leaves a merge to a person."""
    score = np.where(probability[:, 0] >= LEAST, probability[:, 0], 0.0)
    for at in np.flatnonzero(score):
        pair, ways = data.pairs[at], (float(data.ways[at, 0]), float(data.ways[at, 1]))
        found = differences(pair, entailment=ways, said=Said(float(score[at]), pair.placed))
        if left_to_person(found, ways):
            score[at] = 0.0
    return score


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of pairs inside a store, and of pairs of which no store is known."""

    inside: Thresholds
    alone: Thresholds


def thresholds(probability: Floats, score: Floats, data: Table) -> Limits:
    """Thresholds from cross-validated probabilities, and what is `mergeable` of these.

    Alone, the precisions hold on real pairs and on exchanges, those of contradictions on hard ones; inside,
    over candidates of worlds and of people, and `auto` merges nothing wrong in a labelled store. Without
    worlds both are one.
    """
    same, opposed = data.label == 0, data.label == 1
    asked, conflict = probability[:, 0], probability[:, 1]

    def at(origin: str, columns: Floats, right: NDArray[np.bool_], precision: float) -> float:
        rows = data.origin == origin
        return threshold_at(columns[rows], right[rows], data.weight[rows], precision) if rows.any() else 0.0

    def above_wrong(origin: str) -> float:
        wrong = score[(data.origin == origin) & ~same]
        return float(np.nextafter(np.float32(wrong.max()), np.float32(2))) if len(wrong) else 0.0

    bound = at("bound", score, same, BOUND_PRECISION)
    auto = max(at("real", score, same, AUTO_PRECISION), above_wrong("hard"), bound)
    unharmed = above_wrong("store")
    shown = min(at("real", asked, same, SHOWN_PRECISION), auto)
    kept = (("hard", CONTRADICTION_PRECISION), ("bound", BOUND_CONTRADICTION))
    alone = Thresholds(auto, shown, max(at(origin, conflict, opposed, share) for origin, share in kept))
    if not ((data.origin == "world") & same).any():
        alone = replace(alone, auto=max(auto, unharmed))
        return Limits(inside=alone, alone=alone)
    auto = max(unharmed, *(at(origin, score, same, INSIDE_PRECISION) for origin in ("world", "people")))
    kept = (("world", INSIDE_CONTRADICTION), ("people", PEOPLE_CONTRADICTION))
    reported = max(at(origin, conflict, opposed, share) for origin, share in kept)
    shown = min(at("world", asked, same, INSIDE_SHOWN), auto)
    return Limits(inside=Thresholds(auto, shown, reported), alone=alone)


def report(probability: Floats, score: Floats, data: Table, fitted: Limits) -> dict[str, dict[str, Any]]:
    """Figures per origin; `small` are pairs of worlds in groups too small to tell anything, judged alone."""
    figures: dict[str, dict[str, Any]] = {}
    named = np.where((data.origin == "world") & ~data.placed, "small", data.origin)
    group = np.unique(data.group, return_inverse=True)[1]
    for origin in np.unique(named).tolist():
        limits = fitted.alone if origin in (*ALONE, "small") else fitted.inside
        auto = score >= limits.auto
        decided = np.where(probability[:, 1] >= limits.contradiction, 1, np.where(auto, 0, 2))
        decisions = Decisions(data.label, decided, auto, probability, data.weight, group)
        found = pair_figures(decisions.where(named == origin), threshold=limits.auto)
        conflict = found["decided"]["labels"]["contradiction"]
        figures[origin] = {
            "macro_f1": found["macro_f1"],
            **{f"auto_{name}": found["auto"][name] for name in ("precision", "recall")},
            "false_merges": float(auto[(named == origin) & (data.label != 0)].mean()),
            **{f"contradiction_{name}": conflict[name] for name in ("precision", "recall")},
            "ece": found["ece"]["label"],
            "intervals": {name: edges for name, edges in found["intervals"].items() if name != "macro_f1"},
        }
    return figures
