"""What models said before, so that a nightly pass pays only for what changed.

Keys are hashes of a model's identity and of everything it read; no text is stored. A cache can be slow,
locked, full or damaged, but never wrong and never an error: an entry that does not match its checksum
is not there, a damaged file is moved aside, and whatever is missing is computed again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..models.encoder import Encoder
from ..models.scorer import PairContext, PairInput, PairScorer, PairScores, Thresholds, reads_context

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE_NAME = "cache.sqlite3"

MAX_BYTES = 2 << 30
"""A larger cache is emptied; it grows by about 1.7 kB per text and 0.2 kB per pair."""

TIMEOUT_S = 10.0
"""How long another process may keep the file busy before this one goes without the cache."""

TEXTS_AT_ONCE = 1_024
"""Texts that are embedded and stored together: a killed run loses no more than these."""

PAIRS_AT_ONCE = 1_024

_KEYS_PER_QUERY = 500
_CHECKSUM_BYTES = 8
_SCHEMA = "CREATE TABLE IF NOT EXISTS entries_1 (key BLOB PRIMARY KEY, value BLOB NOT NULL)"

Progress = Callable[[int], None]
"""Called with the number of items that were finished since the last call; the calls add up to all."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Cache:
    """Bytes by hash in one SQLite file, shared by any number of processes.

    Args:
        directory: The state directory.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME

    def load(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known and undamaged."""
        found: dict[bytes, bytes] = self._attempt(lambda session: _select(session, keys), {})
        return {key: value[_CHECKSUM_BYTES:] for key, value in found.items() if _sound(key, value)}

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep the values; a failure to do so is logged, not raised."""
        rows = [(key, _checksum(key, value) + value) for key, value in entries.items()]
        self._attempt(lambda session: _insert(session, rows), None)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], fallback: T) -> T:
        """Do the work, on a fresh file if this one is damaged; what else goes wrong gives the fallback."""
        for _ in range(2):
            try:
                with contextlib.closing(self._open()) as session:
                    return work(session)
            except sqlite3.OperationalError as error:
                _log.warning("The cache %s is not used: %s", self.path, error)
                return fallback
            except sqlite3.DatabaseError as error:
                _log.warning("The cache %s is damaged and is moved aside: %s", self.path, error)
                self._move_aside()
        return fallback

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(OSError):
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self.path, timeout=TIMEOUT_S)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _move_aside(self) -> None:
        with contextlib.suppress(OSError):
            self.path.replace(self.path.with_suffix(".damaged"))
        for ending in ("-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + ending).unlink()


class CachedEncoder:
    """An encoder that embeds each text once, ever.

    Args:
        encoder: Computes what is not known.
        cache: Where vectors are kept.
        on_progress: Told how many texts are done.
    """

    def __init__(self, encoder: Encoder, cache: Cache, *, on_progress: Progress | None = None) -> None:
        self._encoder = encoder
        self._cache = cache
        self._on_progress = on_progress or _ignore

    @property
    def name(self) -> str:
        """Identity of the encoder inside."""
        return self._encoder.name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed all texts: float32 [n, d], the same bytes as the encoder inside gives."""
        if not texts:
            return self._encoder.encode(texts)
        keys = [_key("vector", self.name, text) for text in texts]
        known = _usable(self._cache.load(list(dict.fromkeys(keys))))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        self._on_progress(sum(key in known for key in keys))
        order = sorted(missing, key=lambda key: (len(missing[key]), missing[key]))
        for part in _parts(order, TEXTS_AT_ONCE):
            vectors = self._encoder.encode([missing[key] for key in part])
            fresh = {key: vector.tobytes() for key, vector in zip(part, vectors, strict=True)}
            self._cache.store(fresh)
            known |= fresh
            self._on_progress(sum(key in fresh for key in keys))
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])


class CachedScorer:
    """A scorer that judges each unordered pair once, ever.

    The two sides are put in one order before the scorer sees them, so that a pair and its mirror image
    share an entry. Everything a scorer may read is in the key, the cosine to the last bit.

    Args:
        scorer: Computes what is not known.
        cache: Where scores are kept.
        on_progress: Told how many pairs are done.
    """

    def __init__(self, scorer: PairScorer, cache: Cache, *, on_progress: Progress | None = None) -> None:
        self._scorer = scorer
        self._cache = cache
        self._on_progress = on_progress or _ignore

    @property
    def name(self) -> str:
        """Identity of the scorer inside."""
        return self._scorer.name

    @property
    def thresholds(self) -> Thresholds:
        """Thresholds of the scorer inside."""
        return self._scorer.thresholds

    @property
    def reads_context(self) -> bool:
        """What the scorer inside says."""
        return reads_context(self._scorer)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs, with the same bytes as the scorer inside gives."""
        if not pairs:
            return self._scorer.score(pairs)
        sides = [_ordered(pair) for pair in pairs]
        keys = [_pair_key(self.name, pair) for pair, _ in sides]
        known = self._cache.load(list(dict.fromkeys(keys)))
        known = {key: value for key, value in known.items() if len(value) == 5 * 4}
        missing = {key: pair for key, (pair, _) in zip(keys, sides, strict=True) if key not in known}
        self._on_progress(sum(key in known for key in keys))
        for part in _parts(list(missing), PAIRS_AT_ONCE):
            fresh = self._computed({key: missing[key] for key in part})
            self._cache.store(fresh)
            known |= fresh
            self._on_progress(sum(key in fresh for key in keys))
        rows = np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])
        entailment = rows[:, 3:].copy()
        swapped = np.array([swap for _, swap in sides])
        entailment[swapped] = entailment[swapped, ::-1]
        return PairScores(np.ascontiguousarray(rows[:, :3]), entailment)

    def _computed(self, pairs: Mapping[bytes, PairInput]) -> dict[bytes, bytes]:
        scores = self._scorer.score(list(pairs.values()))
        rows = np.hstack([scores.probabilities, scores.entailment]).astype(np.float32)
        return {key: row.tobytes() for key, row in zip(pairs, rows, strict=True)}


def _ordered(pair: PairInput) -> tuple[PairInput, bool]:
    """The pair with its sides in one order, and whether they were swapped."""
    if (pair.a, _moment(pair.a_date)) <= (pair.b, _moment(pair.b_date)):
        return pair, False
    return pair.swapped(), True


def _moment(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


def _pair_key(name: str, pair: PairInput) -> bytes:
    cosine = struct.pack("<d", pair.cosine).hex()
    category = "" if pair.category is None else f"={pair.category}"
    parts = ["pair", name, pair.a, pair.b, _moment(pair.a_date), _moment(pair.b_date), category, cosine]
    return _key(*parts, *([] if pair.context is None else [_standing(pair.context)]))


def opinion_key(name: str, pair: PairInput) -> bytes:
    """Under which a language model's opinion on a pair is kept: whose, and everything it read."""
    side, _ = _ordered(pair)
    dates = (_moment(side.a_date), _moment(side.b_date))
    return _key("opinion", name, side.a, side.b, *dates, "" if side.category is None else f"={side.category}")


def _standing(context: PairContext) -> str:
    return struct.pack("<8d", *dataclasses.astuple(context)).hex()


def _key(*parts: str) -> bytes:
    """SHA-256 of the parts, each with its length, so that no two lists of parts share a key."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, key=key, digest_size=_CHECKSUM_BYTES).digest()


def _sound(key: bytes, value: object) -> bool:
    return isinstance(value, bytes) and value[:_CHECKSUM_BYTES] == _checksum(key, value[_CHECKSUM_BYTES:])


def _usable(vectors: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """All vectors if they are of one width; else none, so that a width never mixes with another."""
    return vectors if len({len(value) for value in vectors.values()}) < 2 else {}


def _select(session: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        part = keys[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(part))
        found.update(session.execute(f"SELECT key, value FROM entries_1 WHERE key IN ({marks})", part))
    return found


def _insert(session: sqlite3.Connection, rows: list[tuple[bytes, bytes]]) -> None:
    if _bytes_used(session) > MAX_BYTES:
        session.execute("DELETE FROM entries_1")
    session.executemany("INSERT OR REPLACE INTO entries_1 VALUES (?, ?)", rows)
    session.commit()


def _bytes_used(session: sqlite3.Connection) -> int:
    pages, free, size = (
        int(session.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _parts(keys: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _ignore(_done: int) -> None:
    return None
