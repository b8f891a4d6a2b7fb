"""What else lies near a proposal, so that a decision is not made in the dark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....records import Memory, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 3
"""Neighbours that a card names."""
NEAR = 0.5
"""Cosine to a member from which a memory counts as near; below it texts share a topic at best."""


def nearby(
    memories: Sequence[Memory], vectors: NDArray[np.float32], proposals: Sequence[Sequence[str]]
) -> list[list[int]]:
    """For each proposal the places of its neighbours among the memories, the nearest first.

    Args:
        memories: All memories of the page.
        vectors: float32 [n, d], L2-normalised, one row for each of them.
        proposals: Ids of the members of each proposal; all of one scope.
    """
    import numpy as np

    place = {memory.id: number for number, memory in enumerate(memories)}
    scopes: dict[Scope, list[int]] = defaultdict(list)
    for number, memory in enumerate(memories):
        scopes[memory.scope].append(number)
    neighbours: list[list[int]] = []
    for ids in proposals:
        members = [place[name] for name in ids if name in place]
        if not members:
            neighbours.append([])
            continue
        own = set(members)
        others = np.array([n for n in scopes[memories[members[0]].scope] if n not in own], dtype=int)
        cosines = (vectors[others] @ vectors[members].T).max(axis=1) if len(others) else np.zeros(0)
        order = np.argsort(-cosines, kind="stable")[:SHOWN]
        neighbours.append([int(others[at]) for at in order if cosines[at] >= NEAR])
    return neighbours
