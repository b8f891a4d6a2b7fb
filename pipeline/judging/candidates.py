"""Which pairs are worth judging. Recall is the only aim here; no pair crosses a scope or a category.

Equal texts come first and need no model. Of each group of equal texts only one representative is
searched for neighbours, so that copies cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...indexes import choose_index, exact_groups
from ...records import Candidate, Memory, Scope
from .neighbourhood import contexts_of
from .subjects import NO_KEYS, KeysOf, keys_by_scope, signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...models.scorer import PairContext

SAME_TEXT = 1.0
"""Cosine of an exact pair."""


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
) -> tuple[Candidate, ...]:
    """Find all pairs to judge.

    Exact groups come as stars: the member with the smallest id with each of the others, which is enough
    because equality of texts is transitive. That member stands for the group in the search for near ones.

    Args:
        memories: Those that may be merged at all; pinned and retired ones were left out by the caller.
        vectors: float32 [n, d], one row for each memory, in the same order.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one memory looks for.
        keys: What the metadata keys of each scope mean; read from the given memories if omitted. Equal
            texts about different subjects are no copies of each other.
        contexts: Give near pairs as `Near`, for a scorer that reads where a pair stands.

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
    known = keys_by_scope(memories) if keys is None else keys
    for rows in _partitions(memories):
        members = [memories[row] for row in rows]
        texts = [_with_subject(memory, known) for memory in members]
        pairs.extend(
            _of_group(members, texts, vectors[rows], floor=floor, neighbours=neighbours, contexts=contexts)
        )
    return tuple(sorted(pairs, key=lambda pair: (pair.a, pair.b)))


def _partitions(memories: Sequence[Memory]) -> Iterator[list[int]]:
    """Rows of each scope and category, sorted by id."""
    groups: dict[tuple[Scope, str | None], list[int]] = {}
    for row in sorted(range(len(memories)), key=lambda row: memories[row].id):
        groups.setdefault((memories[row].scope, memories[row].category), []).append(row)
    yield from groups.values()


def _with_subject(memory: Memory, keys: KeysOf) -> str:
    """The text by which a memory is a copy of another: behind what its metadata says of its subject."""
    said = signature(memory, keys.get(memory.scope, NO_KEYS))
    return f"{said}\n{memory.text}" if said else memory.text


def _of_group(
    memories: Sequence[Memory],
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    floor: float,
    neighbours: int,
    contexts: bool,
) -> Iterator[Candidate]:
    groups = exact_groups(texts)
    for first, *copies in groups:
        for copy in copies:
            yield Candidate(memories[first].id, memories[copy].id, SAME_TEXT, exact=True)
    chosen = [rows[0] for rows in groups]
    near = choose_index(len(chosen)).pairs(vectors[chosen], floor=floor, neighbours=neighbours)
    ids = [memories[row].id for row in chosen]
    if not contexts:
        yield from (Candidate(ids[i], ids[j], cosine) for i, j, cosine in near)
        return
    known = contexts_of(vectors[chosen], [memories[row].text for row in chosen], near.rows)
    for (i, j, cosine), context in zip(near, known, strict=True):
        yield Near(ids[i], ids[j], cosine, context=context)
