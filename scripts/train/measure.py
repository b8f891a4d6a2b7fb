"""What the network alone says of pairs that no training saw, both orders averaged, without a calibrator."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np

from ...models.bundled.reader import PairReader
from ..evaluate.labelled import LabelledPair, block_pairs, exchange_pairs, read_files
from ..evaluate.worlds import held_exchanges, held_out, read_exchanges, read_worlds
from .signals import Floats

OF_EACH_STYLE = 60  # pairs of the blocks of the kept worlds of one style, drawn once
OF_PAWS = 500
FILES = {
    "hard": "pairs/dev.jsonl", "real": "pairs/real_dev.jsonl", "BEAM": "outside/beam_dev.jsonl",
    "PAWS-X": "outside/pawsx_en_dev.jsonl",
}  # fmt: skip


def kept_pairs(data: Path) -> dict[str, list[LabelledPair]]:
    """The pairs of each set that the folder has."""
    sets: dict[str, list[LabelledPair]] = {}
    for name, file in FILES.items():
        if (data / file).is_file():
            rows = read_files([data / file])[0]
            sets[name] = _sample(rows, OF_PAWS) if name == "PAWS-X" else rows
    exchanges = held_exchanges(read_exchanges(data / "exchanges"))[1]
    sets["exchanges"] = [pair for one in exchanges for pair in exchange_pairs(one)]
    styles: dict[str, list[LabelledPair]] = defaultdict(list)
    for world in held_out(read_worlds(data / "worlds"))[1]:
        styles[world.style] += block_pairs(world)
    sets["worlds"] = [pair for pairs in styles.values() for pair in _sample(pairs, OF_EACH_STYLE)]
    return {name: pairs for name, pairs in sets.items() if pairs}


def _sample(pairs: list[LabelledPair], most: int) -> list[LabelledPair]:
    return random.Random(1).sample(pairs, min(most, len(pairs)))  # noqa: S311


def memory_answers(reader: PairReader, pairs: list[LabelledPair]) -> Floats:
    """The memory head's probabilities [n, 3], mean of both orders."""
    read = reader.read(sorted({ordered for p in pairs for ordered in ((p.a, p.b), (p.b, p.a))}))
    return np.array([(read[p.a, p.b][1] + read[p.b, p.a][1]) / 2 for p in pairs])


def figures(probability: Floats, label: np.ndarray) -> dict[str, float]:
    """Macro-F1, average precision of duplicates, contradictions found, and who is above 0.95."""
    from sklearn.metrics import average_precision_score, f1_score

    best, same = probability.argmax(axis=1), label == 0
    sure = probability[:, 0] >= 0.95
    found = {"macro_f1": f1_score(label, best, labels=np.unique(label), average="macro", zero_division=0)}
    if same.any() and not same.all():
        found |= {
            "duplicates_ap": average_precision_score(same, probability[:, 0]),
            "duplicates_sure": sure[same].mean(),
            "others_sure": sure[~same].mean(),
        }
    if (label == 1).any():
        found["contradictions_found"] = (best[label == 1] == 1).mean()
    return {name: round(float(value), 3) for name, value in found.items()}
