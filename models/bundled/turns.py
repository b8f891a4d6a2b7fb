"""In which order the pairs of a store are read, and when a memory has been read often enough.

In a small store most pairs that the screen leaves are worth a reading. In a large one every memory has ever
more neighbours that only sound like it, and what it is one with or against stands first among them. So each
memory is read against its likeliest neighbours until so many readings were sure that it says something else;
a reading that was not sure costs it nothing, and twenty wordings of one fact are all read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..scorer import PairInput

ENOUGH = 8
"""Readings sure of `distinct` after which a memory is not read any more (decision 21)."""


def read_in_turns(
    pairs: Sequence[PairInput], worth: Sequence[float], read: Callable[[list[int]], Sequence[bool]]
) -> None:
    """Read the pairs of which both memories have not been read often enough, the likeliest first.

    Neither the order of the pairs nor which memory is called a plays a part.

    Args:
        pairs: Of any groups; what is read in one group leaves the others alone.
        worth: How much speaks for reading each of them.
        read: Reads pairs by number; says of each whether it is surely distinct.
    """
    ends = [tuple((pair.group, pair.category, text) for text in (pair.a, pair.b)) for pair in pairs]
    room = {end: ENOUGH for both in ends for end in both}
    waiting = sorted(range(len(pairs)), key=lambda at: (-worth[at], *sorted((pairs[at].a, pairs[at].b))))
    while waiting:
        chosen, later = [], []
        for at in waiting:
            if all(room[end] for end in ends[at]):
                chosen.append(at)
                for end in ends[at]:
                    room[end] -= 1
            else:
                later.append(at)
        if not chosen:
            return
        for at, distinct in zip(chosen, read(chosen), strict=True):
            if not distinct:
                for end in ends[at]:
                    room[end] += 1
        waiting = later
