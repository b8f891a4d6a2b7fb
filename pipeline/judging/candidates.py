"""Which pairs are worth judging. Recall is the only aim here; no pair crosses a scope or a category.

Texts that are one statement come first and need no model. Of each such group only one representative is
searched for neighbours, so that copies cost nothing. A memory of several statements is searched for by each
of them, too: a short fact is far from a long memory that says it among others, and near that one statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...indexes import RowPairs, choose_index, exact_groups, row_pairs
from ...models.scorer import PairContext
from ...records import Candidate, Memory, Scope
from .neighbourhood import contexts_of
from .subjects import NO_KEYS, KeysOf, keys_by_scope, signature

SAME_TEXT = 1.0  # cosine of an exact pair
PART_FLOOR = 0.6  # lowest cosine of two statements that makes a pair of their memories
PART_NEIGHBOURS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Statements of compound memories: float32 [m, d] vectors, and int64 [m] rows of their memories."""

    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]

    def of(self, rows: Sequence[int]) -> Parts:
        """The statements of some memories, with their places among these as rows."""
        place = {row: at for at, row in enumerate(rows)}
        kept = [at for at, row in enumerate(self.rows.tolist()) if row in place]
        return Parts(self.vectors[kept], np.array([place[int(self.rows[at])] for at in kept], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Near(Candidate):
    """A candidate that knows where it stands among the memories of its scope and category."""

    context: PairContext | None = field(default=None, compare=False)


def find_candidates(
    memories: Sequence[Memory],
    vectors: NDArray[np.float32],
    *,
    floor: float,
    neighbours: int,
    keys: KeysOf | None = None,
    contexts: bool = False,
    parts: Parts | None = None,
    but: Collection[tuple[str, str]] = (),
    notes: list[str] | None = None,
) -> tuple[Candidate, ...]:
    """Find all pairs to judge, sorted by ids, each unordered pair once, in whichever order the memories are.

    Groups of one statement come as stars around the smallest id, which stands for the group in the search for
    near ones.

    Args:
        memories: Those that may be merged at all.
        vectors: float32 [n, d], one row for each memory, in the same order.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one memory looks for.
        keys: Of the metadata; equal texts about different subjects are no copies of each other.
        contexts: Give near pairs as `Near`, for a scorer that reads where a pair stands.
        parts: Searched, too, where a group has more memories than one looks for partners.
        but: Near pairs by their ids, the smaller first, that need not be judged.
        notes: Takes up how many near pairs an approximate search found.
    """
    if vectors.ndim != 2 or len(vectors) != len(memories):
        raise ValueError(
            f"{len(memories)} memories need as many vectors, not an array of shape {vectors.shape}"
        )
    pairs: list[Candidate] = []
    known = keys_by_scope(memories) if keys is None else keys
    partitions: dict[tuple[Scope, str | None], list[int]] = defaultdict(list)
    for row in sorted(range(len(memories)), key=lambda row: memories[row].id):
        partitions[memories[row].scope, memories[row].category].append(row)
    for (scope, _), rows in partitions.items():
        subjects = [signature(memories[row], known.get(scope, NO_KEYS)) for row in rows]
        groups = exact_groups([memories[row].text for row in rows], subjects)
        for first, *copies in ([memories[rows[at]].id for at in group] for group in groups):
            pairs += [Candidate(first, copy, SAME_TEXT, exact=True) for copy in copies]
        chosen = [rows[group[0]] for group in groups]
        near = choose_index(len(chosen)).pairs(vectors[chosen], floor=floor, neighbours=neighbours)
        if parts is not None and len(rows) > neighbours and len(parts.of(rows).rows):
            near = _with_parts(near, vectors[chosen], parts.of(chosen))
        if notes is not None:
            notes += near.note.splitlines()
        ids = [memories[row].id for row in chosen]
        if but:
            kept = np.array([(ids[i], ids[j]) not in but for i, j in near.rows.tolist()], dtype=bool)
            near = replace(near, rows=near.rows[kept], cosines=near.cosines[kept])
        if contexts:
            places = contexts_of(vectors[chosen], [memories[row].text for row in chosen], near.rows)
            found = zip(near, places, strict=True)
            pairs += [Near(ids[i], ids[j], cosine, context=place) for (i, j, cosine), place in found]
        else:
            pairs += [Candidate(ids[i], ids[j], cosine) for i, j, cosine in near]
    return tuple(sorted(pairs, key=lambda pair: (pair.a, pair.b)))


def _with_parts(near: RowPairs, vectors: NDArray[np.float32], parts: Parts) -> RowPairs:
    owner = np.concatenate([np.arange(len(vectors)), parts.rows])
    stacked = np.concatenate([vectors, parts.vectors])
    found = choose_index(len(owner)).pairs(stacked, floor=PART_FLOOR, neighbours=PART_NEIGHBOURS)
    rows = np.concatenate([near.rows, owner[found.rows]])
    directed = np.linalg.norm(vectors, axis=1) > 0
    rows = rows[(rows[:, 0] != rows[:, 1]) & directed[rows].all(axis=1)]
    whole = row_pairs(vectors, rows[:, 0], rows[:, 1], floor=-1.0)
    return replace(whole, note="\n".join(filter(None, (near.note, found.note))))
