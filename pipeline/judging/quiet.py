"""Pairs that need not be read and of which the words say nothing either, known from night to night.

A new memory moves the places of its neighbours, so that a changed scope is judged again; what the words of
two texts say by themselves stays the same wherever they stand. Whatever is not known here is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records import Memory
from .cache import Cache, key_of, rules_digest
from .subjects import NO_KEYS, KeysOf

Ints = NDArray[np.int64]
Names = NDArray[np.uint64]

_MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)  # odd: no bit is lost


@dataclass(frozen=True, slots=True, eq=False)
class Quiet:
    """The quiet pairs among memories of one scope, by numbers made of all that their words are judged by."""

    cache: Cache | None
    numbers: Names  # uint64 [n], of each memory
    keys: Sequence[bytes]  # under which the pairs of a memory are kept that has the lower number of the two
    names: Names  # sorted, of the pairs that are known

    @classmethod
    def among(
        cls, memories: Sequence[Memory], keys: KeysOf, *by: object, cache: Cache | None = None
    ) -> Quiet:
        """What is known of these memories; `by` is what besides their words decides."""
        common = repr((rules_digest(), by, keys.get(memories[0].scope, NO_KEYS).told))
        told = [f"{common}{(m.text, m.metadata, m.stated_at)!r}" for m in memories]
        rows = [key_of("quiet", each) for each in told]
        numbers = b"".join(row[:8] for row in rows)
        known = b"".join(cache.load(rows).values()) if cache else b""
        return cls(cache, np.frombuffer(numbers, np.uint64), rows, np.unique(np.frombuffer(known, np.uint64)))

    def knows(self, rows: Ints) -> NDArray[np.bool_]:
        """Which pairs, int64 [m, 2] of rows, are known to be quiet."""
        known: NDArray[np.bool_] = np.isin(self._named(rows)[0], self.names)
        return known

    def add(self, rows: Ints) -> None:
        """Keep that these pairs are quiet, too."""
        rows = rows[~self.knows(rows)]
        if self.cache is None or not len(rows):
            return
        names, owners = self._named(rows)
        order = np.argsort(owners, kind="stable")
        starts = np.flatnonzero(np.diff(owners[order], prepend=-1))
        parts = zip(owners[order][starts].tolist(), np.split(names[order], starts[1:]), strict=True)
        new = {self.keys[owner]: some.tobytes() for owner, some in parts}
        before = self.cache.load(list(new))
        self.cache.store({key: before.get(key, b"") + names for key, names in new.items()})

    def _named(self, rows: Ints) -> tuple[Names, Ints]:
        """The name of each pair, and the row of the memory with which it is kept."""
        ends = self.numbers[rows]
        names: Names = (np.sort(ends, axis=1) * _MIXED).sum(axis=1, dtype=np.uint64)
        return names, rows[np.arange(len(rows)), ends.argmin(axis=1)]
