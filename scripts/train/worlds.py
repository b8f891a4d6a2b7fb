"""Training pairs out of invented stores: what a block says, what lies near it, and joined facts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..evaluate.labelled import block_pairs
from ..evaluate.worlds import CONTRADICTION, DISTINCT, DUPLICATE, World
from .examples import Example, Relation, both_orders, compose

HARD_NEGATIVES = 1.2  # pairs of two facts that look alike, per labelled pair inside a block
EASY_NEGATIVES = 0.3
COMPOSED_PER_WORLD = 40
_RELATIONS: dict[int, Relation] = {DUPLICATE: "detail", CONTRADICTION: "contradiction", DISTINCT: "distinct"}


def world_examples(
    worlds: Sequence[World], encode: Callable[[list[str]], NDArray[np.float32]], *, seed: int
) -> list[Example]:
    """Training pairs of the worlds.

    Pairs inside a block come in both orders; of the pairs of two blocks, the nearest ones by cosine and a few
    drawn ones come in one order each, so that most of what a store holds is seen as distinct. Facts joined to
    compound memories follow. `encode` gives float32 [n, d] unit rows.
    """
    examples: list[Example] = []
    for number, world in enumerate(worlds):
        rng = random.Random(seed * 100_003 + number)  # noqa: S311
        for pair in block_pairs(world):
            if pair.a != pair.b:
                examples += both_orders(pair.a, pair.b, _RELATIONS[pair.label])
        examples += _negatives(world, encode([line.judged for line in world.lines]), rng)
        for _ in range(COMPOSED_PER_WORLD):
            examples += _composed(world, rng)
    return examples


def wordings(worlds: Sequence[World]) -> list[list[str]]:
    """The wordings of each fact of the worlds."""
    facts: dict[tuple[str, str, int], list[str]] = {}
    for world in worlds:
        for line in world.lines:
            if line.role in ("-", "="):
                facts.setdefault((world.style, world.name, line.block), []).append(line.judged)
    return list(facts.values())


def _negatives(world: World, vectors: NDArray[np.float32], rng: random.Random) -> Iterator[Example]:
    lines = world.lines
    cosine = vectors @ vectors.T
    across = [(i, j) for i, j in combinations(range(len(lines)), 2) if lines[i].block != lines[j].block]
    inside = sum(1 for _ in block_pairs(world))
    across.sort(key=lambda pair: -float(cosine[pair]))
    hard = across[: round(inside * HARD_NEGATIVES)]
    rest = across[len(hard) :]
    for i, j in hard + rng.sample(rest, min(len(rest), round(inside * EASY_NEGATIVES))):
        yield list(both_orders(lines[i].judged, lines[j].judged, "distinct"))[rng.randrange(2)]


def _composed(world: World, rng: random.Random) -> Iterator[Example]:
    """Two compound memories of one world, one order."""
    blocks: dict[int, dict[str, list[str]]] = {}
    for line in world.lines:
        kinds = blocks.setdefault(line.block, {"same": [], "contra": [], "beside": []})
        kinds[{"!": "contra", "~": "beside"}.get(line.role, "same")].append(line.judged)
    told = [block for block in blocks.values() if len(block["same"]) > 1]
    if len(told) >= 3:
        fact, left, right = rng.sample(told, 3)
        pair = compose(**fact, others=(left["same"], right["same"]), rng=rng)
        yield list(pair)[rng.randrange(2)]
