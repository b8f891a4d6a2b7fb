"""An optional training stage: a few passes over labelled memory pairs, cross-fitted.

One network per fold trains on the other folds, and one on all pairs. The calibrator and its thresholds are
fitted on what each pair's own fold network says, which never saw the pair, its user or its store (stacking:
Wolpert 1992, doi:10.1016/S0893-6080(05)80023-1). The shipped weights do without it (decision 0107).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from .contrast import Relation, both_orders
from .examples import Example
from .labelled import LABELS, LabelledPair

STORE_DISTINCTS = 400  # most pairs inside a store are distinct and easy
ORIGIN_WEIGHT = {"hard": 1.5, "real": 1.0, "store": 0.7}
RARE_WEIGHT = 2.0  # conflicts among real memories are few, and the hardest to learn from invented ones


def fold_name(name: str, fold: int) -> str:
    """Name of the checkpoint that never saw a fold."""
    return f"{name}-{fold}"


def adaptation_examples(pairs: Sequence[LabelledPair], *, passes: int, seed: int) -> list[Example]:
    """`passes` times each pair, its two orders in turn; easy distinct pairs of stores are sampled."""
    rng = random.Random(seed)  # noqa: S311
    easy = [pair for pair in pairs if pair.origin == "store" and LABELS[pair.label] == "distinct"]
    dropped = {id(pair) for pair in rng.sample(easy, max(0, len(easy) - STORE_DISTINCTS))}
    examples: list[Example] = []
    for at, pair in enumerate(pairs):
        if id(pair) not in dropped:
            orders = list(both_orders(pair.a, pair.b, relation(pair), weight=_weight(pair)))
            examples += [orders[(at + turn) % 2] for turn in range(passes)]
    return examples


def relation(pair: LabelledPair) -> Relation:
    """How text a of a labelled pair stands to text b.

    >>> relation(LabelledPair("Has a dog.", "Has a dog called Rex.", "", 0, 1.0, "real", "ana", "subsumed"))
    'b_has_more'
    """
    label = LABELS[pair.label]
    if label == "contradiction":
        return "contradiction"
    if label == "distinct":
        return "distinct"
    if pair.kind == "subsumed":
        return "a_has_more" if len(pair.a) > len(pair.b) else "b_has_more"
    return "detail" if pair.origin == "store" else "equal"


def _weight(pair: LabelledPair) -> float:
    rare = pair.origin != "hard" and LABELS[pair.label] == "contradiction"
    return ORIGIN_WEIGHT[pair.origin] * (RARE_WEIGHT if rare else 1.0)
