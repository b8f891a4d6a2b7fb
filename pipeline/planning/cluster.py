"""Stars of duplicates: every member is judged a duplicate of the centre directly.

Connected components would let A~B~C drop C although A and C differ; a star cannot. The greedy order
takes the memory with the most unclaimed duplicates first, so that few memories survive.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Star:
    """A centre and the memories judged duplicates of it.

    Attributes:
        centre: Id of the centre.
        others: Ids of its duplicates, sorted, without the centre.
    """

    centre: str
    others: tuple[str, ...]


def stars(edges: Mapping[str, Collection[str]], *, rank: Mapping[str, tuple[float, ...]]) -> tuple[Star, ...]:
    """Cover a graph of duplicates greedily with disjoint stars.

    Args:
        edges: For each id, the ids judged duplicates of it; symmetric.
        rank: Ties between equally connected ids go to the larger rank, then to the smaller id.

    Returns:
        Stars with at least one other member, in the order they were found.

    >>> stars({"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}, rank={})
    (Star(centre='b', others=('a', 'c')),)
    """
    free = {node for node, others in edges.items() if others}
    degree = {node: sum(other in free for other in edges[node]) for node in free}

    def key(node: str) -> tuple[int, tuple[float, ...], str]:
        """Sorts the next centre first."""
        return (-degree[node], tuple(-part for part in rank.get(node, ())), node)

    queue = [key(node) for node in free]
    heapq.heapify(queue)
    drawn: list[Star] = []
    while queue:
        entry = heapq.heappop(queue)
        centre = entry[-1]
        if centre not in free or entry != key(centre):
            continue  # claimed, or queued again since with fewer free neighbours
        if not degree[centre]:
            break
        others = tuple(sorted(other for other in edges[centre] if other in free))
        drawn.append(Star(centre, others))
        free -= {centre, *others}
        for neighbour in {node for gone in (centre, *others) for node in edges[gone]} & free:
            degree[neighbour] = sum(other in free for other in edges[neighbour])
            heapq.heappush(queue, key(neighbour))
    return tuple(drawn)
