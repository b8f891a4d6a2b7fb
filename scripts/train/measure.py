"""What the network alone says of pairs that no training saw, both orders averaged, without a calibrator."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...models.bundled.reader import PairReader
from ..evaluate.labelled import read_files
from ..evaluate.metrics import LABELS
from ..evaluate.worlds import held_out, labelled_pairs, read_worlds
from .labelled import held_bound
from .signals import Floats

OF_EACH_STYLE = 60  # pairs of the blocks of the kept worlds of one style, drawn once
OF_PAWS = 500
FILES = {
    "hard": "pairs/dev.jsonl", "real": "pairs/real_dev.jsonl", "BEAM": "outside/beam_dev.jsonl",
    "PAWS-X": "outside/pawsx_en_dev.jsonl",
}  # fmt: skip
Pairs = list[tuple[str, str, int]]


def kept_pairs(data: Path) -> dict[str, Pairs]:
    """Texts and the column of their label, of each set that the folder has."""
    sets: dict[str, Pairs] = {}
    for name, file in FILES.items():
        if (data / file).is_file():
            rows = read_files([data / file])[0]
            chosen = random.Random(1).sample(rows, min(OF_PAWS, len(rows))) if name == "PAWS-X" else rows  # noqa: S311
            sets[name] = [(one.a.text, one.b.text, LABELS.index(one.label)) for one in chosen]
    sets["exchanges"] = [(one.a, one.b, one.label) for one in held_bound(data)]
    sets["worlds"] = list(_of_worlds(data / "worlds"))
    return {name: pairs for name, pairs in sets.items() if pairs}


def _of_worlds(folder: Path) -> Iterator[tuple[str, str, int]]:
    styles: dict[str, Pairs] = {}
    for world in held_out(read_worlds(folder))[1]:
        lines = world.lines
        for i, j, label in labelled_pairs(world):
            if lines[i].block == lines[j].block:
                styles.setdefault(world.style, []).append((lines[i].judged, lines[j].judged, label))
    for pairs in styles.values():
        yield from random.Random(1).sample(pairs, min(OF_EACH_STYLE, len(pairs)))  # noqa: S311


def memory_answers(reader: PairReader, pairs: Pairs) -> Floats:
    """The memory head's probabilities [n, 3], mean of both orders."""
    read = reader.read(sorted({ordered for a, b, _ in pairs for ordered in ((a, b), (b, a))}))
    return np.array([(read[a, b][1] + read[b, a][1]) / 2 for a, b, _ in pairs])


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
