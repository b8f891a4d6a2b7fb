"""Stand-ins for tests of ours and of users: no model, no database, no clock.

They fit the seams of the real parts (`Encoder`, `PairScorer`, `Store`) and behave like them where it
matters for safety: an id that is gone stays gone, a restored record is equal to what it was.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from .models.scorer import PairInput, PairScores, Thresholds
from .pipeline.stores import base
from .pipeline.stores.base import Snapshot
from .records import Memory, Scope, noted_moment, says_pinned

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS = 64
_MOMENTS = ("created_at", "updated_at", "accessed_at")
_FIELDS = ("text", "scope", "category", *_MOMENTS, "expires_on", "pinned", "metadata")


class FakeEncoder:
    """Embeds a text as the hashed counts of its words, so that shared words mean similarity."""

    name = "fake-encoder-1"

    def __init__(self, vectors: Mapping[str, Sequence[float]] | None = None) -> None:
        """Use the given vectors for the given texts, and word counts for all others."""
        self._vectors = dict(vectors or {})
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts: float32 [n, d], rows of length one (zero for a text without words)."""
        self.asked += texts
        rows = [self._vectors.get(text) or _word_counts(text) for text in texts]
        width = max((len(row) for row in rows), default=_DIMENSIONS)
        matrix = np.zeros((len(rows), width), dtype=np.float32)
        for position, row in enumerate(rows):
            matrix[position, : len(row)] = row
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.ascontiguousarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def _word_counts(text: str) -> list[float]:
    row = [0.0] * _DIMENSIONS
    for word in text.lower().split():
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        row[int.from_bytes(digest[:2], "big") % _DIMENSIONS] += 1.0
    return row


class FakeScorer:
    """Answers from a table of pairs; every pair that is not in it is distinct."""

    name = "fake-scorer-1"
    thresholds = Thresholds(auto=0.9, duplicate=0.6, contradiction=0.6)

    def __init__(
        self,
        pairs: Mapping[tuple[str, str], tuple[float, float, float]] | None = None,
        *,
        default: Callable[[str, str], tuple[float, float, float]] = lambda _a, _b: (0.0, 0.0, 1.0),
    ) -> None:
        """Set the probabilities (duplicate, contradiction, distinct) by two texts, in any order.

        `default` is called with the two texts, sorted, for every other pair.
        """
        self._pairs = {tuple(sorted(pair)): answer for pair, answer in (pairs or {}).items()}
        self._default = default
        self.asked: list[PairInput] = []

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Look the pairs up; entailment is the duplicate probability in both directions."""
        self.asked.extend(pairs)
        keys = [(min(pair.a, pair.b), max(pair.a, pair.b)) for pair in pairs]
        rows = [self._pairs.get(key) or self._default(*key) for key in keys]
        probabilities = np.asarray(rows, dtype=np.float32).reshape(len(rows), 3)
        return PairScores(probabilities, np.repeat(probabilities[:, :1], 2, axis=1))


class InMemoryStore(base.Store):
    """A store in a dictionary, with everything a real one does that the writer relies on."""

    kind = "memory"
    capabilities = base.Capabilities(retire=True, vector=True, amend=True)

    def __init__(self, memories: Iterable[Memory] = (), *, fingerprint: str = "in-memory") -> None:
        """Fill the store with memories, under the ids they have."""
        self.fingerprint = fingerprint
        self.gaps: tuple[str, ...] = ()
        self.rows: dict[str, dict[str, Any]] = {memory.id: _payload(memory) for memory in memories}
        self.vectors: dict[str, tuple[float, ...]] = {i: _vector(row["text"]) for i, row in self.rows.items()}
        self.lost_in_search: set[str] = set()
        self.before_write: Callable[[base.Change], None] = lambda _: None
        self.after_write: Callable[[base.Change], None] = lambda _: None
        self._numbers = itertools.count(1)

    def __repr__(self) -> str:
        return f"InMemoryStore({json.dumps(self.rows, indent=1)})"

    def _listed(self, scopes: base.ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        memories = [self.parse(Snapshot(memory_id, row)) for memory_id, row in self.rows.items()]
        return [memory for memory in memories if scopes.matches(memory.scope)], self.gaps

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Copies of the given records, those that exist."""
        held = [name for name in ids if name in self.rows]
        return {i: Snapshot(i, json.loads(json.dumps(self.rows[i])), self.vectors.get(i)) for i in held}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a record back into a memory."""
        row = {name: snapshot.payload[name] for name in _FIELDS}
        row |= {name: noted_moment(row[name]) for name in _MOMENTS}
        row["scope"] = Scope(tuple(map(tuple, row["scope"])))
        row["expires_on"] = row["expires_on"] and date.fromisoformat(row["expires_on"])
        return Memory(id=snapshot.id, **row)

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """The record that was added with this mark."""
        wanted = [list(pair) for pair in scope.ids]
        found = (i for i, row in self.rows.items() if row["mark"] == mark and row["scope"] == wanted)
        return next(found, None)

    def finds(self, memory_id: str) -> bool:
        """Whether a search would return the record; tests may lose it on purpose."""
        return memory_id in self.rows and memory_id not in self.lost_in_search

    def write(self, change: base.Change) -> str:
        """Make one change, calling the hooks before and after it."""
        self.before_write(change)
        memory_id = super().write(change)
        self.after_write(change)
        return memory_id

    def _restore(self, change: base.Restore) -> str:
        memory_id = change.snapshot.id
        self.rows[memory_id] = json.loads(json.dumps(change.snapshot.payload))
        self.vectors[memory_id] = change.snapshot.vector or ()
        return memory_id

    def _delete(self, change: base.Delete) -> str:
        self.rows.pop(change.id, None)
        self.vectors.pop(change.id, None)
        return change.id

    def _update(self, change: base.Update) -> str:
        self.rows[change.id]["text"] = change.text
        self.vectors[change.id] = _vector(change.text)
        return change.id

    def _amend(self, change: base.Amend) -> str:
        row = self.rows[change.id]
        row["metadata"] |= json.loads(json.dumps(dict(change.metadata)))
        if change.created_at is not None:
            row["created_at"] = change.created_at.isoformat()
        if change.expires is not None:
            row["expires_on"] = change.expires or None
        return change.id

    def _add(self, change: base.Add) -> str:
        memory_id = next(i for i in (f"new-{n}" for n in self._numbers) if i not in self.rows)
        stated, metadata = change.created_at, change.metadata
        accessed = noted_moment(metadata.get("last_accessed_at"))
        about = (metadata.get("category"), stated, stated, accessed)
        memory = Memory(memory_id, change.text, change.scope, *about, metadata=metadata)
        self.rows[memory_id] = _payload(memory, change.mark)
        self.vectors[memory_id] = _vector(change.text)
        return memory_id


def _payload(memory: Memory, mark: str | None = None) -> dict[str, Any]:
    row = {name: getattr(memory, name) for name in _FIELDS} | {"scope": memory.scope.ids, "mark": mark}
    row |= {"pinned": memory.pinned or says_pinned(memory.text), "metadata": dict(memory.metadata)}
    return dict(json.loads(json.dumps(row, default=lambda moment: moment.isoformat())))


def _vector(text: str) -> tuple[float, ...]:
    return tuple(float(value) for value in FakeEncoder().encode([text])[0])
