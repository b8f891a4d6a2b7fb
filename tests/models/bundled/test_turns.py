"""How often a memory of a store is read: until enough readings were sure that it says something else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mem0_dream.models.bundled.scorer import ENOUGH, read_in_turns
from mem0_dream.models.scorer import PairInput

MANY = ENOUGH + 4
NEAR = [PairInput("Likes tea", f"Tells of tea {number:02}", 0.5) for number in range(MANY)]
WORTH = [1 - number / 100 for number in range(MANY)]


def read_of(pairs: list[PairInput], worth: list[float], unsure: set[str]) -> set[frozenset[str]]:
    """The texts of the pairs that are read, where all but those with an unsure text are surely distinct."""
    seen: set[frozenset[str]] = set()

    def read(numbers: list[int]) -> list[bool]:
        seen.update(frozenset((pairs[at].a, pairs[at].b)) for at in numbers)
        return [unsure.isdisjoint((pairs[at].a, pairs[at].b)) for at in numbers]

    read_in_turns(pairs, worth, read)
    return seen


@pytest.mark.parametrize(("unsure", "count"), [(0, ENOUGH), (1, ENOUGH + 1), (MANY, MANY)])
def test_a_reading_that_is_not_sure_costs_a_memory_nothing(unsure: int, count: int) -> None:
    seen = read_of(NEAR, WORTH, {pair.b for pair in NEAR[:unsure]})
    assert seen == {frozenset((pair.a, pair.b)) for pair in NEAR[:count]}


def test_neither_order_nor_sides_play_a_part() -> None:
    turned = [pair.swapped() for pair in NEAR[::-1]]
    assert read_of(turned, WORTH[::-1], set()) == read_of(NEAR, WORTH, set())


def test_a_pair_is_read_only_while_both_have_room() -> None:
    lone = PairInput("Likes tea", "Owns a kettle", 0.4)
    assert frozenset((lone.a, lone.b)) not in read_of([*NEAR, lone], [*WORTH, 0.01], set())
    assert frozenset((lone.a, lone.b)) in read_of(
        [*NEAR[: ENOUGH - 1], lone], [*WORTH[: ENOUGH - 1], 0.01], set()
    )


def test_groups_do_not_take_room_from_each_other() -> None:
    others = [replace(pair, group=(("user_id", "other"),), b=f"{pair.b}!") for pair in NEAR]
    assert len(read_of([*NEAR, *others], [*WORTH, *WORTH], set())) == 2 * ENOUGH
