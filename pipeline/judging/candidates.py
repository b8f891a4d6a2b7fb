"""Which pairs are worth judging. Recall is the only aim here; no pair crosses a scope or a category.

Texts that are one statement come first and need no model. Of each such group only one representative is
searched for neighbours, so that copies cost nothing. A memory of several statements is searched for by each
of them, too: a short fact is far from a long memory that says it among others, and near that one statement.

Where a pair stands among the other memories is told by vectors and shared words: two texts that are each
other's nearest, with nothing else near, are more likely one fact than two of many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...indexes import RowPairs, exact_groups, lengths_of, near_pairs, nearest_rows, row_pairs, unit_rows
from ...indexes.neighbours import Neighbours
from ...models.scorer import PLACE_NAMES, PairContext, PairTable
from ...models.text.words import significant_words
from ...records import Candidate, Memory, Scope
from .subjects import NO_KEYS, KeysOf, judged_text, keys_by_scope, signature

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT_LIMIT = 4_096  # memories up to which all may be the bridge; above, those among `NEAREST` of a side
NEAREST = 64  # ranks are counted up to this; all higher ones are equal
CROWD = 5
DECIMALS = 6  # of cosines, so that equal texts stay equally near in every order of the memories
_CELLS_AT_ONCE = 1 << 21
PAIRS_AT_ONCE = 1 << 13  # that are placed and looked at together
_NONE = -2.0  # below every cosine


class SharedWords:
    """Shares of words between the memories of one scope and category, copies left out.

    A share is the weight of the words in both texts by the geometric mean of that of the words in each. The
    more memories have a word, the less it weighs; weights are whole hundredths, summed exactly, so that the
    order of the memories does not matter.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from scipy.sparse import csr_matrix

        words = [sorted(significant_words(text)) for text in texts]
        count = Counter(word for row in words for word in row)
        column = {word: at for at, word in enumerate(sorted(count))}
        counts = np.array([count[word] for word in sorted(count)], dtype=np.float64)
        weight = np.round(100 * np.log((len(texts) + 1) / (counts + 0.5))).astype(np.int64)
        columns = np.array([column[word] for row in words for word in row], dtype=np.int64)
        starts = np.cumsum([0, *(len(row) for row in words)])
        shape = (len(texts), len(column))
        ones = np.ones(len(columns), dtype=np.int64)
        self._weighed: Any = csr_matrix((weight[columns], columns, starts), shape=shape)
        self._plain: Any = csr_matrix((ones, columns, starts), shape=shape)
        mass = np.asarray(self._weighed.sum(axis=1)).ravel()
        self._root = np.sqrt(np.maximum(mass, 1).astype(np.float64))

    def of_pairs(self, first: Ints, second: Ints) -> Floats:
        """The share of each pair of rows: float64 [m]."""
        shared = np.asarray(self._weighed[first].multiply(self._plain[second]).sum(axis=1)).ravel()
        cosines: Floats = np.round(shared / (self._root[first] * self._root[second]), DECIMALS)
        return cosines

    def nearest(self, rows: Ints, width: int) -> tuple[Floats, Ints]:
        """Shares and rows [n, at most width] of those that share most with each row, itself among them."""
        width = min(width, len(self._root))
        values, ids = np.zeros((len(rows), width)), np.zeros((len(rows), width), dtype=np.int64)
        step = max(1, _CELLS_AT_ONCE // len(self._root))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            shared = (self._weighed[rows[part]] @ self._plain.T).toarray()
            shares = np.round(shared / (self._root[rows[part], None] * self._root[None]), DECIMALS)
            ids[part] = np.argpartition(-shares, width - 1, axis=1)[:, :width]
            values[part] = np.take_along_axis(shares, ids[part], axis=1)
        return values, ids


def shared_words(texts: Sequence[str], *, most: int) -> Counter[tuple[int, int]]:
    """How many significant words each two texts share, by their rows; not counting words that more have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        for word in significant_words(text):
            holders[word].append(row)
    shared: Counter[tuple[int, int]] = Counter()
    for rows in holders.values():
        if len(rows) <= most:
            shared.update((i, j) for at, i in enumerate(rows) for j in rows[at + 1 :])
    return shared


def contexts_of(vectors: NDArray[np.float32], texts: Sequence[str], pairs: Ints) -> Iterator[PairContext]:
    """The context of each pair of rows, int64 [m, 2], of a group: vectors float32 [n, d], and texts."""
    for places in places_of(vectors, texts, pairs):
        yield from (PairContext(*row) for row in places.tolist())


def places_of(
    vectors: NDArray[np.float32], texts: Sequence[str], pairs: Ints, known: Neighbours | None = None
) -> Iterator[Floats]:
    """The same as columns, float64 [k, len(PLACE_NAMES)] for the next `PAIRS_AT_ONCE` pairs each time."""
    if not len(pairs):
        return
    group, at = _Group.of(vectors, texts, pairs, known), PLACE_NAMES.index("bridge")
    bridge = group.bridge(pairs)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        yield np.insert(group.table(pairs[part]), at, bridge[part], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """What the contexts of all pairs of a group share; those of some pairs follow from it."""

    vectors: NDArray[np.float32]  # [n, d]
    lengths: Floats  # [n, 1]
    involved: Ints  # [k], sorted rows that are in a pair
    whole: NDArray[np.float32] | None  # [k, n] cosines, where the group is small
    near: tuple[Floats, Ints]  # cosines and rows [k, w] of the nearest of each involved row
    words: SharedWords
    sharing: tuple[Floats, Ints]  # like `near`, by shares of words

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        texts: Sequence[str],
        pairs: Ints,
        known: Neighbours | None = None,
    ) -> _Group:
        involved, width = np.unique(pairs), min(NEAREST + 2, len(vectors))
        whole: Floats | None = None
        if len(vectors) <= EXACT_LIMIT:
            units = unit_rows(vectors)
            whole = np.round(units[involved] @ units.T, DECIMALS)
            ids = np.argpartition(-whole, width - 1, axis=1)[:, :width]
            near = np.take_along_axis(whole, ids, axis=1)
        else:
            ids = nearest_rows(vectors, involved, width, known)
            near = _cosines(vectors, involved, ids)
        words = SharedWords(texts)
        sharing = words.nearest(involved, width)
        # half as much to fetch where bridges are sought, which are rounded
        halved = None if whole is None else whole.astype(np.float32)
        return cls(vectors, lengths_of(vectors), involved, halved, (near, ids), words, sharing)

    def table(self, pairs: Ints) -> Floats:
        a, b = np.searchsorted(self.involved, pairs).T
        sides = (pairs[:, 0], pairs[:, 1])
        values, ids = self.near
        cosine = np.einsum("ij,ij->i", *(unit_rows(self.vectors[side]) for side in sides))
        near = (ids[a], ids[b])
        ranks, margins, tops = _standing(np.round(cosine, DECIMALS), pairs, (values[a], values[b]), near)
        size = np.full(len(pairs), np.round(np.log2(len(self.vectors))))
        share = self.words.of_pairs(*sides)
        values, ids = self.sharing
        sharing, telling, _ = _standing(share, pairs, (values[a], values[b]), (ids[a], ids[b]))
        crowds = [_mean(top[:, :CROWD]) for top in tops]
        columns: list[NDArray[Any]] = [*ranks, *margins, *crowds, size, share, *sharing, *telling]
        return np.stack(columns, axis=1).astype(float)

    def bridge(self, pairs: Ints) -> Floats:
        a, b = np.searchsorted(self.involved, pairs).T
        if self.whole is not None:
            return _bridge(self.whole, (a, b), (pairs[:, 0], pairs[:, 1]))
        best = np.maximum(self._through(a, pairs), self._through(b, pairs[:, ::-1]))
        return np.where(best > _NONE, np.round(best, DECIMALS), 0.0)

    def _through(self, rows: Ints, pairs: Ints) -> Floats:
        best = np.full(len(pairs), _NONE)
        order = np.argsort(rows, kind="stable")
        for of_row in np.split(order, np.flatnonzero(np.diff(rows[order])) + 1):
            first, others = pairs[of_row[0], 0], pairs[of_row, 1]
            third = self.near[1][rows[of_row[0]]]
            third = third[(third >= 0) & (third != first)]
            one, some, thirds = (self.vectors[at] / self.lengths[at] for at in ([first], others, third))
            both = np.minimum(thirds @ one[0], some @ thirds.T)
            both[others[:, None] == third] = _NONE
            best[of_row] = both.max(axis=1, initial=_NONE)
        return best


def _standing(
    value: Floats, pairs: Ints, values: tuple[Floats, Floats], ids: tuple[Ints, Ints]
) -> tuple[list[Ints], list[Floats], list[Floats]]:
    thirds = [
        np.where((near == pairs[:, :1]) | (near == pairs[:, 1:]) | (near < 0), _NONE, known)
        for near, known in zip(ids, values, strict=True)
    ]
    ranks = [np.minimum((third > value[:, None]).sum(axis=1), NEAREST) for third in thirds]
    tops = [-np.sort(-third, axis=1) for third in thirds]
    margins = [value - np.where(top[:, 0] > _NONE, top[:, 0], 0.0) for top in tops]
    return ranks, [np.round(margin, DECIMALS) for margin in margins], tops


def _cosines(vectors: NDArray[np.float32], rows: Ints, others: Ints) -> Floats:
    cosines = np.zeros(others.shape)
    step = max(1, _CELLS_AT_ONCE // (others.shape[1] * vectors.shape[1]))
    for start in range(0, len(rows), step):
        one, some = (unit_rows(vectors[which[start : start + step]]) for which in (rows, others))
        cosines[start : start + step] = np.einsum("id,iwd->iw", one, some)
    return np.round(cosines, DECIMALS)


def _mean(top: Floats) -> Floats:
    there = top > _NONE
    mean: Floats = np.where(there, top, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return np.round(mean, DECIMALS)


def _bridge(whole: NDArray[np.float32], rows: tuple[Ints, Ints], sides: tuple[Ints, Ints]) -> Floats:
    best = np.zeros(len(rows[0]))
    step = max(1, _CELLS_AT_ONCE // whole.shape[1])
    for start in range(0, len(best), step):
        part = slice(start, start + step)
        both = np.minimum(whole[rows[0][part]], whole[rows[1][part]])
        at = np.arange(len(both))
        both[at, sides[0][part]] = both[at, sides[1][part]] = _NONE
        best[part] = both.max(axis=1)
    return np.where(best > _NONE, np.round(best, DECIMALS), 0.0)


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
    worth: float | None = field(default=None, compare=False)  # how much a screen said for reading it
    silent: bool = field(default=False, compare=False)  # its words are known to say nothing by themselves


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Pairs of one scope and category: some that are named, or near ones, `PAIRS_AT_ONCE` at most."""

    memories: Sequence[Memory]  # one of each statement of the group; blocks of a group share the list
    near: PairTable | None = None  # rows of `memories`; their texts as they are judged
    named: tuple[Candidate, ...] = ()

    @property
    def placed(self) -> bool:
        """Whether it says where the pairs stand."""
        return self.near is not None and self.near.places.shape[1] > 0

    def pairs(
        self,
        chosen: Ints | None = None,
        worth: Floats | None = None,
        silent: NDArray[np.bool_] | None = None,
    ) -> list[Candidate]:
        """All pairs, or those near ones that are chosen, with what a screen said of each.

        `worth` is of all pairs, `silent` of those that are chosen.
        """
        if self.near is None:
            return list(self.named)
        at = np.arange(len(self.near.rows)) if chosen is None else chosen
        ends = zip(self.near.rows[at].tolist(), self.near.cosines[at].tolist(), strict=True)
        given = [(self.memories[i].id, self.memories[j].id, cosine) for (i, j), cosine in ends]
        if not self.placed:
            return [Candidate(*each) for each in given]
        told = [None] * len(at) if worth is None else worth[at].tolist()
        known = [False] * len(at) if silent is None else silent.tolist()
        rows = zip(given, self.near.places[at].tolist(), told, known, strict=True)
        return [
            Near(*each, context=PairContext(*place), worth=said, silent=nothing)
            for each, place, said, nothing in rows
        ]


Nearest = defaultdict[
    tuple[Scope, str | None], tuple[Neighbours, Neighbours]
]  # of texts, and of statements, too
Kept = Callable[[Sequence[Memory], Ints], NDArray[np.bool_]]


def find_candidates(
    memories: Sequence[Memory],
    vectors: NDArray[np.float32],
    **limits: Any,  # noqa: ANN401  (those of `each_block`)
) -> tuple[Candidate, ...]:
    """All pairs of `each_block`, sorted by ids."""
    pairs = (pair for block in each_block(memories, vectors, **limits) for pair in block.pairs())
    return tuple(sorted(pairs, key=lambda pair: (pair.a, pair.b)))


def each_block(
    memories: Sequence[Memory],
    vectors: NDArray[np.float32],
    *,
    floor: float,
    neighbours: int,
    keys: KeysOf | None = None,
    contexts: bool = False,
    parts: Parts | None = None,
    kept: Kept | None = None,
    notes: list[str] | None = None,
    nearest: Nearest | None = None,
) -> Iterator[Block]:
    """Find all pairs to judge, each unordered pair once, the same in whichever order the memories are.

    They are made as they are asked for, so that a large scope need not be held in pairs.

    Groups of one statement come as stars around the smallest id, which stands for the group in the search for
    near ones; equal texts about different subjects are no copies of each other.

    Args:
        memories: Those that may be merged at all.
        vectors: float32 [n, d], one row for each memory, in the same order.
        floor: Lowest cosine of a pair.
        neighbours: Most partners that one memory looks for.
        keys: Of the metadata.
        contexts: Say where near pairs stand, for a scorer that reads it.
        parts: Searched, too, where a group has more memories than one looks for partners.
        kept: Says which near pairs, int64 [m, 2] of rows of the memories that it is given, are to be judged.
        notes: Takes up how many near pairs an approximate search found.
        nearest: Takes up which rows are near, so that the next call need not search for them again.
    """
    if vectors.ndim != 2 or len(vectors) != len(memories):
        raise ValueError(
            f"{len(memories)} memories need as many vectors, not an array of shape {vectors.shape}"
        )
    known = keys_by_scope(memories) if keys is None else keys
    partitions: dict[tuple[Scope, str | None], list[int]] = defaultdict(list)
    for row in sorted(range(len(memories)), key=lambda row: memories[row].id):
        partitions[memories[row].scope, memories[row].category].append(row)
    for group, rows in partitions.items():
        scope, _ = group
        subjects = [signature(memories[row], known.get(scope, NO_KEYS)) for row in rows]
        same = exact_groups([memories[row].text for row in rows], subjects)
        for first, *copies in ([memories[rows[at]].id for at in some] for some in same if len(some) > 1):
            yield Block((), named=tuple(Candidate(first, copy, SAME_TEXT, exact=True) for copy in copies))
        chosen = [rows[some[0]] for some in same]
        standing, own = [memories[row] for row in chosen], vectors[chosen]
        whole, part = nearest[group] if nearest is not None else (None, None)
        near = near_pairs(own, floor=floor, neighbours=neighbours, known=whole)
        if parts is not None and len(rows) > neighbours and len(parts.of(rows).rows):
            near = _with_parts(near, own, parts.of(chosen), part)
        if notes is not None:
            notes += near.note.splitlines()
        if kept is not None:
            left = kept(standing, near.rows)
            near = replace(near, rows=near.rows[left], cosines=near.cosines[left])
        read = standing if contexts else ()  # by a screen, which places alone are told
        texts = tuple(judged_text(memory, known.get(scope, NO_KEYS)) for memory in read)
        placed = places_of(own, [each.text for each in standing], near.rows, whole) if contexts else None
        for start in range(0, len(near), PAIRS_AT_ONCE):
            at = slice(start, start + PAIRS_AT_ONCE)
            cosines = near.cosines[at].astype(np.float64)
            places = next(placed) if placed else np.zeros((len(cosines), 0))
            yield Block(standing, PairTable(texts, near.rows[at], cosines, places))


def _with_parts(
    near: RowPairs, vectors: NDArray[np.float32], parts: Parts, known: Neighbours | None
) -> RowPairs:
    owner = np.concatenate([np.arange(len(vectors)), parts.rows])
    stacked = np.concatenate([vectors, parts.vectors])
    found = near_pairs(stacked, floor=PART_FLOOR, neighbours=PART_NEIGHBOURS, known=known)
    rows = np.concatenate([near.rows, owner[found.rows]])
    directed = np.linalg.norm(vectors, axis=1) > 0
    rows = rows[(rows[:, 0] != rows[:, 1]) & directed[rows].all(axis=1)]
    whole = row_pairs(vectors, rows[:, 0], rows[:, 1], floor=-1.0)
    return replace(whole, note="\n".join(filter(None, (near.note, found.note))))
