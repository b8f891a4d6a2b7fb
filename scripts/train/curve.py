"""What a network in training makes of sets that it never reads: one line of figures a kind, as it goes."""

import csv
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score

from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.scorer import CONTRADICTION, DISTINCT, DUPLICATE
from ..evaluate import labelled as held
from . import sets

log = logging.getLogger(__name__)

EVERY = 50_000  # readings between two points of the curve
PAIRS = 450  # of each kind, drawn once
CHUNK = 64
WRONG = 0.01  # share of the pairs that are no duplicates which may stand above the last one counted as found
FIELDS = ("readings", "kind", "pairs", "macro_f1", "duplicates_ap", "found_at_1_percent", "contradictions_ap")
_LABELS = {
    "equal": DUPLICATE, "a_has_more": DUPLICATE, "b_has_more": DUPLICATE,
    "contradiction": CONTRADICTION, "distinct": DISTINCT, "apart": DISTINCT, "other": DISTINCT,
}  # fmt: skip


class Labelled(NamedTuple):
    """Two texts and a column of the memory head."""

    a: str
    b: str
    label: int


def kept_pairs(data: Path) -> dict[str, list[Labelled]]:
    """Pairs of the sets, exchanges and worlds that no training reads, `PAIRS` of each kind at most."""
    pairs = {}
    for folder in sets.FOLDERS:
        kept = sets.read_sets(data / folder)[1]
        every = (row for one in kept for row in sets.relations_of(one, folder))
        pairs[folder] = [Labelled(a, b, _LABELS[relation]) for a, b, _, relation in every if a != b]
    bound = (pair for one in held.read_exchanges(data / "exchanges")[1] for pair in held.exchange_pairs(one))
    pairs["exchanges"] = [Labelled(pair.a, pair.b, pair.label) for pair in bound]
    worlds = held.held_out(held.read_worlds(data / "worlds"))[1]
    inside = (pair for world in worlds for pair in held.block_pairs(world) if pair.a != pair.b)
    pairs["worlds"] = [Labelled(pair.a, pair.b, pair.label) for pair in inside]
    dice = random.Random(0)  # noqa: S311  (the same pairs for every point of every curve)
    return {kind: dice.sample(some, min(PAIRS, len(some))) for kind, some in pairs.items() if some}


def figures(network: PairNetwork, tokenizer: PairTokenizer, pairs: Sequence[Labelled]) -> list[float]:
    """Macro-F1, of duplicates average precision and share found at 1% wrong, of contradictions the former.

    The probabilities, float64 [n, 3], are the mean of both orders of each pair.
    """
    gold = np.array([pair.label for pair in pairs])
    both = [[(p.a, p.b) for p in pairs], [(p.b, p.a) for p in pairs]]
    said = np.mean([_probabilities(network, tokenizer, texts) for texts in both], axis=0)
    same, opposed = gold == DUPLICATE, gold == CONTRADICTION
    return [
        float(f1_score(gold, said.argmax(axis=1), average="macro")),
        float(average_precision_score(same, said[:, DUPLICATE])) if same.any() else float("nan"),
        found_at(said[:, DUPLICATE], same),
        float(average_precision_score(opposed, said[:, CONTRADICTION])) if opposed.any() else float("nan"),
    ]


def found_at(score: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Share of the duplicates scored above all but `WRONG` of the other pairs.

    >>> found_at(np.array([0.9, 0.8, 0.7, 0.2]), np.array([True, True, False, True]))
    0.6666666666666666
    """
    if not same.any() or same.all():
        return float("nan")
    others = np.sort(score[~same])[::-1]
    return float((score[same] > others[int(WRONG * len(others))]).mean())


def _probabilities(
    network: PairNetwork, tokenizer: PairTokenizer, texts: Sequence[tuple[str, str]]
) -> NDArray[np.float64]:
    ids = [tuple(tokenizer.ids(list(pair))) for pair in texts]
    order = sorted(range(len(ids)), key=lambda at: len(ids[at][0]) + len(ids[at][1]))
    said = np.empty((len(ids), 3))
    training = network.training
    network.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            logits = network(tokenizer.batch([(ids[at][0], ids[at][1]) for at in rows]))
            said[rows] = torch.softmax(logits.memory.float(), dim=-1).double().numpy()
    network.train(training)
    return said


def recorder(
    data: Path, tokenizer: PairTokenizer, file: Path, *, before: int
) -> Callable[[PairNetwork, int], None]:
    """What writes a point of the curve: called with the network and the readings of this run so far.

    `before` counts readings of earlier runs, which the file's counts include.
    """
    pairs = kept_pairs(data)

    def record(network: PairNetwork, readings: int) -> None:
        points = [[*_row(network, tokenizer, kind, some, before + readings)] for kind, some in pairs.items()]
        new = not file.is_file()
        with file.open("a", encoding="utf-8", newline="") as lines:
            rows = csv.writer(lines, delimiter="\t", lineterminator="\n")
            rows.writerows([FIELDS, *points] if new else points)
        for point in points:
            log.info("curve %s", " ".join(map(str, point)))

    return record


def _row(
    network: PairNetwork, tokenizer: PairTokenizer, kind: str, pairs: Sequence[Labelled], readings: int
) -> Iterable[object]:
    yield from (readings, kind, len(pairs))
    yield from (f"{figure:.3f}" for figure in figures(network, tokenizer, pairs))
