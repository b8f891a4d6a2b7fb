"""Pairs out of the contrast sets: the certain ones as written, and compound memories composed from them.

A short set holds an anchor, two duplicates, two contradictions and two distinct facts; a compound set holds a
base memory of several facts with parts, extensions, updates and neighbours. Only relations that a set makes
certain become examples. Every pair is emitted in both orders.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .examples import (
    CONTRADICTION,
    CONTRADICTS,
    DISTINCT,
    DUPLICATE,
    ENTAILS,
    NEUTRAL,
    NOT_CONTRADICTED,
    Allowed,
    Example,
)

Relation = Literal["equal", "a_has_more", "b_has_more", "detail", "contradiction", "distinct"]
"""How text a stands to text b; `detail` is a duplicate of which only the more detailed text is unknown."""

_TARGETS: dict[Relation, tuple[Allowed, Allowed, Allowed]] = {
    "equal": (DUPLICATE, ENTAILS, ENTAILS),
    "a_has_more": (DUPLICATE, ENTAILS, NEUTRAL),
    "b_has_more": (DUPLICATE, NEUTRAL, ENTAILS),
    "detail": (DUPLICATE, NOT_CONTRADICTED, NOT_CONTRADICTED),
    "contradiction": (CONTRADICTION, CONTRADICTS, CONTRADICTS),
    "distinct": (DISTINCT, NEUTRAL, NEUTRAL),
}

_COMPOUND: tuple[tuple[str, str, Relation], ...] = (
    ("base", "sub", "a_has_more"), ("base", "sub2", "a_has_more"), ("super", "base", "a_has_more"),
    ("base", "para", "equal"),
    ("para", "sub", "a_has_more"), ("para", "sub2", "a_has_more"), ("super", "para", "a_has_more"),
    ("super", "sub", "a_has_more"), ("super", "sub2", "a_has_more"), ("sub", "sub2", "distinct"),
    *((text, other, "contradiction") for text in ("base", "para", "super") for other in ("contra", "update")),
    *((a, b, "distinct") for a in ("base", "para") for b in ("partial", "partial2", "near", "near2")),
)  # fmt: skip

COMPOSED_PER_SET = 6
_LOWERED = ("The ", "A ", "My ", "Our ", "Never ", "Always ", "All ", "Has ", "Wants ", "Prefers ")


@dataclass(frozen=True, slots=True)
class ShortSet:
    """One short contrast set: wordings of one fact, facts that contradict it, facts beside it."""

    category: str
    same: tuple[str, str, str]
    contra: tuple[str, str]
    distinct: tuple[str, str]
    subsumed: tuple[bool, bool]


def both_orders(a: str, b: str, relation: Relation, *, weight: float = 1.0) -> Iterator[Example]:
    """The pair and its mirror image with the targets of both heads."""
    memory, forward, backward = _TARGETS[relation]
    yield Example(a, b, forward, memory, weight)
    yield Example(b, a, backward, memory, weight)


def read_short(path: Path) -> list[ShortSet]:
    """The short contrast sets of a JSON Lines file."""
    return [
        ShortSet(
            category=row["category"],
            same=(row["anchor"], row["dup"], row["dup2"]),
            contra=(row["contra"], row["contra2"]),
            distinct=(row["distinct"], row["distinct2"]),
            subsumed=(row["dup_kind"] == "subsumed", row["dup2_kind"] == "subsumed"),
        )
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]


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
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for left, right, relation in _COMPOUND:
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
    """Compound memories joined from facts of one category, `COMPOSED_PER_SET` pairs per set.

    Contained facts make a duplicate, partly shared ones a distinct pair, one contradicted fact a
    contradiction; both sides take one to three facts in any label, so that length says nothing.
    """
    rng = random.Random(seed)  # noqa: S311
    by_category: defaultdict[str, list[ShortSet]] = defaultdict(list)
    for group in sets:
        by_category[group.category].append(group)
    for group in sets:
        mates = [mate for mate in by_category[group.category] if mate is not group]
        if len(mates) < 2:
            mates = [mate for mate in sets if mate is not group]
        for _ in range(COMPOSED_PER_SET):
            left, right = rng.sample(mates, 2)
            yield from _compose(group, left, right, rng)


def _compose(group: ShortSet, left: ShortSet, right: ShortSet, rng: random.Random) -> Iterator[Example]:
    first, second = rng.sample(group.same, 2)
    beside, other_beside = rng.sample(group.distinct, 2)
    left_one, left_two = rng.sample(left.same, 2)
    more = rng.choice([[beside], [left_one], [left_one, beside]])
    contra = rng.choice(group.contra)
    right_one = rng.choice(right.same)
    recipes: list[tuple[list[str], list[str], Relation]] = [
        ([first, *more], [second], "a_has_more"),
        ([first, left_one, right_one], [second, left_two], "a_has_more"),
        ([first, left_one], [left_two, second], "equal"),
        ([first, left_one], [second, right_one], "distinct"),
        ([first, beside], [second, other_beside], "distinct"),
        ([first, *more], [other_beside], "distinct"),
        ([first, left_one], [right_one, other_beside], "distinct"),
        ([first, *more], [contra], "contradiction"),
        ([first, left_one], [left_two, contra], "contradiction"),
        ([first, beside], [contra, right_one], "contradiction"),
    ]
    a, b, relation = rng.choice(recipes)
    yield from both_orders(join(a, rng), join(b, rng), relation)


def join(facts: Sequence[str], rng: random.Random) -> str:
    """One memory out of several facts in a random order and sentence shape."""
    order = list(facts)
    rng.shuffle(order)
    if len(order) == 1:
        return order[0]
    bare = [fact.rstrip(".") for fact in order]
    shape = rng.randrange(4)
    if shape == 0:
        return "; ".join(bare) + "."
    if shape == 1:
        lowered = (fact[0].lower() + fact[1:] if fact.startswith(_LOWERED) else fact for fact in bare[1:])
        return ", and ".join([bare[0], *lowered]) + "."
    if shape == 2:
        return "\n".join(f"- {fact}" for fact in order)
    return " ".join(fact if fact.endswith((".", "!", "?")) else fact + "." for fact in order)
