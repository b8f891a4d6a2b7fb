"""Training examples of the bundled scorer: general NLI pairs, contrast sets and worlds of ours.

An example carries, for each head, the set of answers that its label allows: a three-way label allows one
answer, "not entailment" allows two, an unknown answer allows all three and so costs nothing.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluate.labelled import World, block_pairs

Allowed = tuple[int, int, int]

ANY: Allowed = (1, 1, 1)
ENTAILS: Allowed = (1, 0, 0)
NEUTRAL: Allowed = (0, 1, 0)
CONTRADICTS: Allowed = (0, 0, 1)
NOT_ENTAILED: Allowed = (0, 1, 1)
NOT_CONTRADICTED: Allowed = (1, 1, 0)

DUPLICATE: Allowed = (1, 0, 0)
CONTRADICTION: Allowed = (0, 1, 0)
DISTINCT: Allowed = (0, 0, 1)
NO_DUPLICATE: Allowed = (0, 1, 1)

Relation = Literal["equal", "a_has_more", "b_has_more", "detail", "contradiction", "distinct"]
"""How text a stands to text b; `detail` is a duplicate of which only the more detailed text is unknown."""

TOLD: dict[str, tuple[Allowed, Allowed]] = {
    "same": (ENTAILS, DUPLICATE), "s": (ENTAILS, DUPLICATE), "c": (CONTRADICTS, CONTRADICTION),
    "d": (NOT_ENTAILED, DISTINCT), "other": (NOT_ENTAILED, NO_DUPLICATE),
}  # fmt: skip
"""Targets of a restatement, and of texts bound otherwise: opposed, distinct, or either of these."""

_TARGETS: dict[Relation, tuple[Allowed, Allowed, Allowed]] = {
    "equal": (DUPLICATE, ENTAILS, ENTAILS),
    "a_has_more": (DUPLICATE, ENTAILS, NEUTRAL),
    "b_has_more": (DUPLICATE, NEUTRAL, ENTAILS),
    "detail": (DUPLICATE, NOT_CONTRADICTED, NOT_CONTRADICTED),
    "contradiction": (CONTRADICTION, CONTRADICTS, CONTRADICTS),
    "distinct": (DISTINCT, NEUTRAL, NEUTRAL),
}

_OF_BLOCKS: tuple[Relation, ...] = ("detail", "contradiction", "distinct")
COMPOSED_PER_SET = 6
COMPOSED_PER_WORLD = 40
HARD_NEGATIVES = 1.2  # pairs of two facts that look alike, per labelled pair inside a block
EASY_NEGATIVES = 0.3
DATA = Path(__file__).parents[1] / "data"
TABLE = tomllib.loads((DATA / "training.toml").read_text(encoding="utf-8"))


class Example(NamedTuple):
    """One ordered pair with the answers its label allows; `weight` scales its loss."""

    a: str
    b: str
    entailment: Allowed
    memory: Allowed = ANY
    weight: float = 1.0


class ShortSet(NamedTuple):
    """One short contrast set: wordings of one fact, facts that contradict it, facts beside it."""

    category: str
    same: tuple[str, str, str]
    contra: tuple[str, str]
    distinct: tuple[str, str]
    subsumed: tuple[bool, bool]


def both_orders(a: str, b: str, relation: Relation) -> Iterator[Example]:
    """The pair and its mirror image with the targets of both heads."""
    memory, forward, backward = _TARGETS[relation]
    yield Example(a, b, forward, memory)
    yield Example(b, a, backward, memory)


def read_nli(path: Path, *, seed: int) -> list[Example]:
    """General NLI pairs of a gzip TSV, each source sampled down to its limit, shuffled by `seed`."""
    rng = random.Random(seed)  # noqa: S311
    by_source: defaultdict[str, list[Example]] = defaultdict(list)
    allowed = {label: tuple(answers) for label, answers in TABLE["nli"].items()}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            by_source[row["source"]].append(Example(row["a"], row["b"], allowed[row["label"]]))
    chosen: list[Example] = []
    for source, pool in sorted(by_source.items()):
        rng.shuffle(pool)
        chosen += pool[: TABLE["limits"].get(source, len(pool))]
    rng.shuffle(chosen)
    return chosen


def _rows(path: Path) -> Iterator[dict[str, str]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def read_short(path: Path) -> list[ShortSet]:
    """The short contrast sets of a JSON Lines file."""
    return [
        ShortSet(
            row["category"], (row["anchor"], row["dup"], row["dup2"]), (row["contra"], row["contra2"]),
            (row["distinct"], row["distinct2"]),
            (row["dup_kind"] == "subsumed", row["dup2_kind"] == "subsumed"),
        )
        for row in _rows(path)
    ]  # fmt: skip


def short_pairs(sets: Sequence[ShortSet]) -> Iterator[Example]:
    """The fifteen certain pairs of each short set."""
    for group in sets:
        anchor, dup, dup2 = group.same
        for other, is_subsumed in zip((dup, dup2), group.subsumed, strict=True):
            more: Relation = "b_has_more" if len(other) > len(anchor) else "a_has_more"
            yield from both_orders(anchor, other, more if is_subsumed else "equal")
        yield from both_orders(dup, dup2, "detail" if any(group.subsumed) else "equal")
        for text in group.same:
            for other in group.contra:
                yield from both_orders(text, other, "contradiction")
            for other in group.distinct:
                yield from both_orders(text, other, "distinct")


def compound_pairs(path: Path) -> Iterator[Example]:
    """The certain pairs of each compound set of a JSON Lines file."""
    for row in _rows(path):
        for left, right, relation in TABLE["compound"]:
            yield from both_orders(row[left], row[right], relation)


def minimal_pairs(path: Path) -> Iterator[Example]:
    """Pairs of a text file of lines `fact | same fact | opposed fact | distinct fact`, all near-identical."""
    for line in path.read_text(encoding="utf-8").splitlines():
        fact, same, opposed, other = (part.strip() for part in line.split("|"))
        yield from both_orders(fact, same, "equal")
        for text in (fact, same):
            yield from both_orders(text, opposed, "contradiction")
            yield from both_orders(text, other, "distinct")


def composed_pairs(sets: Sequence[ShortSet], *, seed: int) -> Iterator[Example]:
    """Compound memories joined from facts of one category, `COMPOSED_PER_SET` pairs per set."""
    rng = random.Random(seed)  # noqa: S311
    for group in sets:
        others = [mate for mate in sets if mate is not group]
        mates = [mate for mate in others if mate.category == group.category]
        for _ in range(COMPOSED_PER_SET):
            two = [mate.same for mate in rng.sample(mates if len(mates) > 1 else others, 2)]
            yield from compose(group.same, group.contra, group.distinct, others=two, rng=rng)


def compose(
    same: Sequence[str], contra: Sequence[str], beside: Sequence[str],
    *, others: Sequence[Sequence[str]], rng: random.Random,
) -> Iterator[Example]:  # fmt: skip
    """Two compound memories of three facts in both orders; only relations that the facts make certain.

    Contained facts make a duplicate, partly shared ones a distinct pair, one contradicted fact a
    contradiction; both sides take one to three facts in any label, so that length says nothing.
    Of the fact that decides (`same`) and of two `others` two wordings at least; `contra` contradicts
    it, `beside` only looks like it.
    """
    left, right = others
    (first, second), (left_one, left_two) = rng.sample(same, 2), rng.sample(left, 2)
    right_one, near = rng.choice(right), rng.sample(beside, len(beside))
    more = rng.choice([[left_one], near[1:2] or [left_one], [left_one, *near[1:2]]])
    recipes: list[tuple[list[str], list[str], Relation]] = [
        ([first, *more], [second], "a_has_more"),
        ([first, left_one, right_one], [second, left_two], "a_has_more"),
        ([first, left_one], [left_two, second], "detail"),
        ([first, left_one], [second, right_one], "distinct"),
        ([first, left_one], [right_one], "distinct"),
    ]
    for other in rng.sample(contra, min(1, len(contra))):
        recipes += [
            ([first, *more], [other], "contradiction"),
            ([first, left_one], [left_two, other], "contradiction"),
            ([first, left_one], [other, right_one], "contradiction"),
        ]
    for other in near[:1]:
        recipes += [([first, *more], [other], "distinct"), ([first, left_one], [left_two, other], "distinct")]
    a, b, relation = rng.choice(recipes)
    yield from both_orders(join(a, rng), join(b, rng), relation)


def join(facts: Sequence[str], rng: random.Random) -> str:
    """One memory out of several facts in a random order and sentence shape."""
    order = list(facts)
    rng.shuffle(order)
    if len(order) == 1:
        return order[0]
    bare = [fact.rstrip(".") for fact in order]
    lowered = [
        fact[0].lower() + fact[1:] if fact.startswith(tuple(TABLE["lowered"])) else fact for fact in bare[1:]
    ]
    ended = (fact if fact.endswith((".", "!", "?")) else fact + "." for fact in order)
    return (
        "; ".join(bare) + ".",
        ", and ".join([bare[0], *lowered]) + ".",
        "\n".join(f"- {fact}" for fact in order),
        " ".join(ended),
    )[rng.randrange(4)]


def world_examples(
    worlds: Sequence[World], encode: Callable[[list[str]], NDArray[np.float32]], *, seed: int
) -> list[Example]:
    """Training pairs of the worlds; `encode` gives float32 [n, d] unit rows.

    Pairs inside a block come in both orders; of the pairs of two blocks, the nearest ones by cosine and a few
    drawn ones come in one order each, so that most of what a store holds is seen as distinct. Facts joined to
    compound memories follow.
    """
    examples: list[Example] = []
    for number, world in enumerate(worlds):
        rng = random.Random(seed * 100_003 + number)  # noqa: S311
        inside = list(block_pairs(world))
        for pair in inside:
            if pair.a != pair.b:
                examples += both_orders(pair.a, pair.b, _OF_BLOCKS[pair.label])
        texts = [line.judged for line in world.lines]
        vectors = encode(texts)
        cosine = vectors @ vectors.T
        rows = combinations(range(len(texts)), 2)
        across = [(i, j) for i, j in rows if world.lines[i].block != world.lines[j].block]
        across.sort(key=lambda pair: -float(cosine[pair]))
        hard = round(len(inside) * HARD_NEGATIVES)
        easy = min(len(across[hard:]), round(len(inside) * EASY_NEGATIVES))
        for i, j in across[:hard] + rng.sample(across[hard:], easy):
            examples.append(list(both_orders(texts[i], texts[j], "distinct"))[rng.randrange(2)])
        for _ in range(COMPOSED_PER_WORLD):
            examples += _composed(world, rng)
    return examples


def wordings(worlds: Sequence[World]) -> list[list[str]]:
    """The wordings of each fact of the worlds."""
    facts = defaultdict[tuple[str, str, int], list[str]](list)
    for world in worlds:
        for line in world.lines:
            if line.role in ("-", "="):
                facts[world.style, world.name, line.block].append(line.judged)
    return list(facts.values())


def _composed(world: World, rng: random.Random) -> Iterator[Example]:
    blocks = defaultdict[int, tuple[list[str], ...]](lambda: ([], [], []))
    for line in world.lines:
        blocks[line.block][{"!": 1, "~": 2}.get(line.role, 0)].append(line.judged)
    told = [block for block in blocks.values() if len(block[0]) > 1]
    if len(told) >= 3:
        fact, left, right = rng.sample(told, 3)
        pair = compose(*fact, others=(left[0], right[0]), rng=rng)
        yield list(pair)[rng.randrange(2)]
