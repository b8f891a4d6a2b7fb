"""Which pairs are worth judging. Recall is the only aim here; no pair crosses a scope or a category.

Texts that are one statement come first and need no model. Of each such group only one representative is
searched for neighbours, so that copies cost nothing. A memory of several statements is searched for by each
of them, too: a short fact is far from a long memory that says it among others, and near that one statement.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...indexes import RowPairs, choose_index, exact_groups, row_pairs
from ...records import Candidate, Memory, Scope
from .neighbourhood import contexts_of
from .subjects import NO_KEYS, KeysOf, keys_by_scope, signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...models.scorer import PairContext

SAME_TEXT = 1.0
"""Cosine of an exact pair."""

PART_FLOOR = 0.6
"""Lowest cosine of a statement and a statement of another memory that makes a pair of the two memories."""

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
    """Find all pairs to judge.

    Groups of one statement come as stars: the member with the smallest id with each of the others, which is
    enough because equality of keys is transitive. It stands for the group in the search for near ones.

    Args:
        memories: Those that may be merged at all; pinned and retired ones were left out by the caller.
        vectors: float32 [n, d], one row for each memory, in the same order.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one memory looks for.
        keys: What the metadata keys of each scope mean; read from the given memories if omitted. Equal
            texts about different subjects are no copies of each other.
        contexts: Give near pairs as `Near`, for a scorer that reads where a pair stands.
        parts: Statements of compound memories, searched for where a group has more memories than one looks
            for partners.
        but: Near pairs by their ids, the smaller first, that need not be judged; they are left out.
        notes: Takes up how many near pairs an approximate search found.

    Returns:
        Sorted by ids, each unordered pair once. The order of the memories plays no part.

    Raises:
        ValueError: If there is not one vector for each memory.
        ModelError: If a vector holds a value that is not a finite number.
    """
    if vectors.ndim != 2 or len(vectors) != len(memories):
        raise ValueError(
            f"{len(memories)} memories need as many vectors, not an array of shape {vectors.shape}"
        )
    pairs: list[Candidate] = []
    notes = [] if notes is None else notes
    known = keys_by_scope(memories) if keys is None else keys
    for rows in _partitions(memories):
        members = [memories[row] for row in rows]
        subjects = [signature(memory, known.get(memory.scope, NO_KEYS)) for memory in members]
        inside = parts.of(rows) if parts is not None and len(rows) > neighbours else None
        pairs.extend(
            _of_group(
                members,
                subjects,
                vectors[rows],
                inside,
                floor=floor,
                neighbours=neighbours,
                contexts=contexts,
                but=but,
                notes=notes,
            )
        )
    return tuple(sorted(pairs, key=lambda pair: (pair.a, pair.b)))


def _partitions(memories: Sequence[Memory]) -> Iterator[list[int]]:
    """Rows of each scope and category, sorted by id."""
    groups: dict[tuple[Scope, str | None], list[int]] = {}
    for row in sorted(range(len(memories)), key=lambda row: memories[row].id):
        groups.setdefault((memories[row].scope, memories[row].category), []).append(row)
    yield from groups.values()


def _of_group(
    memories: Sequence[Memory],
    subjects: Sequence[Hashable],
    vectors: NDArray[np.float32],
    parts: Parts | None,
    *,
    floor: float,
    neighbours: int,
    contexts: bool,
    but: Collection[tuple[str, str]],
    notes: list[str],
) -> Iterator[Candidate]:
    groups = exact_groups([memory.text for memory in memories], subjects)
    for first, *copies in groups:
        for copy in copies:
            yield Candidate(memories[first].id, memories[copy].id, SAME_TEXT, exact=True)
    chosen = [rows[0] for rows in groups]
    near = choose_index(len(chosen)).pairs(vectors[chosen], floor=floor, neighbours=neighbours)
    if parts is not None and len(parts.rows):
        near = _with_parts(near, vectors[chosen], parts.of(chosen))
    notes += near.note.splitlines()
    ids = [memories[row].id for row in chosen]
    if but:
        kept = np.array([(ids[i], ids[j]) not in but for i, j in near.rows.tolist()], dtype=bool)
        near = replace(near, rows=near.rows[kept], cosines=near.cosines[kept])
    if not contexts:
        yield from (Candidate(ids[i], ids[j], cosine) for i, j, cosine in near)
        return
    known = contexts_of(vectors[chosen], [memories[row].text for row in chosen], near.rows)
    for (i, j, cosine), context in zip(near, known, strict=True):
        yield Near(ids[i], ids[j], cosine, context=context)


def _with_parts(near: RowPairs, vectors: NDArray[np.float32], parts: Parts) -> RowPairs:
    """The pairs with those of which a statement of one is near the other, or near a statement of it."""
    owner = np.concatenate([np.arange(len(vectors)), parts.rows])
    stacked = np.concatenate([vectors, parts.vectors])
    found = choose_index(len(owner)).pairs(stacked, floor=PART_FLOOR, neighbours=PART_NEIGHBOURS)
    rows = np.concatenate([near.rows, owner[found.rows]])
    directed = np.linalg.norm(vectors, axis=1) > 0
    rows = rows[(rows[:, 0] != rows[:, 1]) & directed[rows].all(axis=1)]
    whole = row_pairs(vectors, rows[:, 0], rows[:, 1], floor=-1.0)
    return replace(whole, note="\n".join(filter(None, (near.note, found.note))))
