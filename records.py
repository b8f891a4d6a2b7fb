"""The records that flow through the pipeline: frozen in, frozen out.

Similarity is cosine, higher is closer. Every time is aware UTC. Records never hold a client, a
model or an open file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol

PIN_PREFIX = "[PINNED]"
LAST_STATED_KEY = "last_stated_at"
"""Metadata key under which a merge keeps the newest statement time of its sources."""
CONFIRMED_KEY = "confirmed_at"
"""Metadata key under which stands when a person last said that a memory is still true."""
MERGED_VALUES_KEY = "merged_values"
"""Metadata key under which a merge lists values that its sources disagree on, the latest statement last."""
SUPERSEDES_KEY = "supersedes"  # metadata key under which what stays names what it superseded
SUPERSEDED_KEYS = ("superseded_by", "superseded_at", "superseded_reason")
"""Metadata keys of a memory that was retired because another one took its place."""
_SPOKEN = {"user_id": 0, "agent_id": 1, "run_id": 2, "app_id": 3, "actor_id": 4}
"""The order in which a person is told the ids of a scope; any other comes last."""


class Label(StrEnum):
    """What a pair of memories is to each other."""

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    DISTINCT = "distinct"
    UNSURE = "unsure"


class ActionKind(StrEnum):
    """What a plan may propose."""

    MERGE = "merge"
    RESOLVE = "resolve"
    PRUNE = "prune"
    REWRITE = "rewrite"
    APPEND = "append"
    REINDEX = "reindex"
    RELATE = "relate"
    PROMOTE = "promote"


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The full identity tuple of a memory; nothing is ever compared across scopes."""

    # sorted (name, value) pairs such as (("agent_id", "bot"), ("user_id", "alice")); a name that is absent is
    # simply not there, so two scopes are equal only if every part is
    ids: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, **ids: str | None) -> Scope:
        """Build a scope from keyword ids, leaving out empty ones.

        >>> Scope.of(user_id="alice", run_id=None).ids
        (('user_id', 'alice'),)
        """
        return _scope(tuple(sorted((name, value) for name, value in ids.items() if value)))

    def get(self, name: str) -> str | None:
        """Return one id of the tuple, or None."""
        return dict(self.ids).get(name)

    def __str__(self) -> str:
        whose_first = sorted(self.ids, key=lambda part: (_SPOKEN.get(part[0], len(_SPOKEN)), part))
        return " ".join(f"{name}={value}" for name, value in whose_first) or "(no scope)"


@lru_cache(maxsize=1 << 16)  # a million memories of ten thousand users have as many scopes
def _scope(ids: tuple[tuple[str, str], ...]) -> Scope:
    return Scope(ids)


@dataclass(frozen=True, slots=True)
class Memory:
    """One record of a store."""

    id: str
    text: str
    scope: Scope
    category: str | None = None  # the group inside the scope in which duplicates are sought
    created_at: datetime | None = None  # when it was first stored; None if unknown
    updated_at: datetime | None = None  # when it was last changed; None if unknown
    accessed_at: datetime | None = None  # when it was last read by the agent; None if unknown
    expires_on: date | None = None  # the store's own expiry day; a memory past it is retired already
    pinned: bool = False  # never touched
    # the user's own metadata, without the store's bookkeeping
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def text_hash(self) -> str:
        """SHA-256 of the exact text, as preconditions and caches use it."""
        return text_hash(self.text)

    @property
    def stated_at(self) -> datetime | None:
        """The latest moment at which the store says this text was written."""
        created, updated = self.created_at, self.updated_at
        return max(created, updated) if created and updated else created or updated

    def is_retired(self, today: date) -> bool:
        """Whether the store already hides this memory on the given day, or another one superseded it."""
        if self.expires_on is None:
            return False
        return self.expires_on < today or SUPERSEDED_KEYS[0] in self.metadata


class TextHashed(Protocol):
    """Anything that knows the hash of its text: a memory, or what a plan kept of it."""

    @property
    def text_hash(self) -> str:
        """SHA-256 of the exact text."""
        ...


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything a store holds of the scopes asked for."""

    store: str  # fingerprint of the store, equal for equal places
    memories: tuple[Memory, ...]  # sorted by id
    gaps: tuple[str, ...] = ()  # why the listing is not provably complete; empty means complete
    # what an undo could not bring back on this store, said before anything is done
    fidelity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One named reason for or against a verdict."""

    kind: str  # what fired: "number", "date", "name", "negation", "path", "environment", ...
    detail: str  # the values, short enough to print: "20 mg / 40 mg"
    veto: bool = False  # whether this alone forbids an automatic merge


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of memories worth judging; `a` < `b` by id."""

    a: str
    b: str
    cosine: float
    exact: bool = False  # the texts are equal but for case, white space and final punctuation


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about a candidate, with everything that led to it."""

    pair: Candidate
    label: Label
    auto: bool = False  # a duplicate that may be merged without a person
    probabilities: tuple[float, float, float] = (0.0, 0.0, 1.0)  # duplicate, contradiction, distinct
    entailment: tuple[float, float] = (0.0, 0.0)  # a entails b, b entails a
    evidence: tuple[Evidence, ...] = ()  # the reasons that fired

    def __post_init__(self) -> None:
        """Refuse what would merge, unasked, memories that were found to be something else than duplicates."""
        if self.auto and self.label is not Label.DUPLICATE:
            raise ValueError(f"a verdict of {self.label} never merges by itself")


def text_hash(text: str) -> str:
    """SHA-256 of the exact text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rejection_key(a: TextHashed, b: TextHashed) -> str:
    """Name of a pair by its texts: a person's refusal holds until one of them changes."""
    return ":".join(sorted((a.text_hash, b.text_hash)))


def says_pinned(text: str) -> bool:
    """Whether a text says of itself that it is pinned; a person may write it in any case, or indented.

    >>> [says_pinned(text) for text in ("[PINNED] a", " [pinned] b", "see [PINNED]")]
    [True, True, False]
    """
    return text.lstrip("\ufeff\u200b \t\r\n\xa0").upper().startswith(PIN_PREFIX)


def as_utc(moment: datetime) -> datetime:
    """Return the moment as aware UTC; a naive one is taken to be UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def noted_moment(value: object) -> datetime | None:
    """Read an ISO date that metadata holds; a naive one is UTC, and what is none counts as unknown."""
    if not isinstance(value, str):
        return None
    try:
        return as_utc(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        return None
