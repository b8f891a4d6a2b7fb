"""A cache of model outputs, so that a nightly pass computes only what changed.

Keys are hashes of a model's identity and of everything it read; no text is stored. A cache can be slow,
locked, full or damaged, but never wrong and never an error: an entry that does not match its checksum
counts as missing, a damaged file is moved aside, and whatever is missing is computed again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import operator
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...models.encoder import Encoder
from ...models.scorer import (
    Compute,
    PairContext,
    PairInput,
    PairScorer,
    PairScores,
    StagedScorer,
    Wrapped,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE_NAME = "cache.sqlite3"

MAX_BYTES = 2 << 30
"""A larger cache loses the older half of it; it grows by about 10 kB per text and 0.2 kB per pair."""

TIMEOUT_S = 10.0
"""Seconds another process may keep the file busy before this one goes on without the cache."""

AT_ONCE = 1_024
"""Most texts or pairs that are computed and stored together: a killed run loses no more than these."""

FIRST_AT_ONCE = 16
PART_S = 1.0
"""Seconds that a part should take at most, so that progress shows; parts grow and shrink towards that."""

_KEYS_PER_QUERY = 500
_CHECKSUM_BYTES = 8
_NUMBERS = operator.attrgetter(*(field.name for field in dataclasses.fields(PairContext)))
_SCHEMA = "CREATE TABLE IF NOT EXISTS entries_1 (key BLOB PRIMARY KEY, value BLOB NOT NULL)"

OnStage = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are; first with none done."""

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
        entries: dict[bytes, bytes] = self._attempt(lambda session: _select(session, keys), {})
        return {key: value[_CHECKSUM_BYTES:] for key, value in entries.items() if _sound(key, value)}

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep the values; a failure to do so is logged, not raised."""
        rows = [(key, _checksum(key, value) + value) for key, value in entries.items()]
        self._attempt(lambda session: _insert(session, rows), None)

    def prune(self, limit: int = MAX_BYTES) -> tuple[int, int]:
        """Let the oldest entries go until about `limit` bytes are left; entries that are left, and bytes."""
        return self._attempt(lambda session: _prune(session, limit), (0, 0))

    def _attempt(self, work: Callable[[sqlite3.Connection], T], fallback: T) -> T:
        """Do the work, on a fresh file if this one is damaged; any other failure gives the fallback."""
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
        on_stage: Told how many texts are embedded.
    """

    def __init__(self, encoder: Encoder, cache: Cache, *, on_stage: OnStage | None = None) -> None:
        self._encoder = encoder
        self._cache = cache
        self._on_stage = on_stage or _ignore

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
        self._on_stage("embed", len(known), len(known) + len(missing))
        order = sorted(missing, key=lambda key: (len(missing[key]), missing[key]))
        for part in _parts(order):
            vectors = self._encoder.encode([missing[key] for key in part])
            fresh = {key: vector.tobytes() for key, vector in zip(part, vectors, strict=True)}
            self._cache.store(fresh)
            known |= fresh
            self._on_stage("embed", len(known), len(known.keys() | missing.keys()))
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])


class CachedScorer(Wrapped):
    """A scorer that judges each unordered pair once, ever.

    The two sides are put in one order before the scorer sees them, so that a pair and its mirror image
    share an entry. Everything a scorer may read is in the key, the cosine to the last bit.

    The expensive stages of a `StagedScorer` are cached by the texts alone: a new neighbour changes the
    place of pairs, and no text is read again.

    Args:
        scorer: Computes what is not known.
        cache: Where scores are kept.
        on_stage: Told how many pairs are done.
    """

    def __init__(self, scorer: PairScorer, cache: Cache, *, on_stage: OnStage | None = None) -> None:
        super().__init__(scorer)
        self._cache = cache
        self._on_stage = on_stage or _ignore

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs, with the same bytes as the scorer inside gives."""
        if not pairs:
            return self._scorer.score(pairs)
        if isinstance(self._scorer, StagedScorer):
            return self._staged(self._scorer, pairs)
        sides = [_ordered(pair) for pair in pairs]
        keys = [_pair_key(self.name, pair) for pair, _ in sides]
        known = self._cache.load(list(dict.fromkeys(keys)))
        known = {key: value for key, value in known.items() if len(value) == 5 * 4}
        missing = {key: pair for key, (pair, _) in zip(keys, sides, strict=True) if key not in known}
        self._on_stage("judge", len(known), len(known) + len(missing))
        for part in _parts(list(missing)):
            fresh = self._computed({key: missing[key] for key in part})
            self._cache.store(fresh)
            known |= fresh
            self._on_stage("judge", len(known), len(known.keys() | missing.keys()))
        rows = np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])
        entailment = rows[:, 3:].copy()
        swapped = np.array([swap for _, swap in sides])
        entailment[swapped] = entailment[swapped, ::-1]
        return PairScores(np.ascontiguousarray(rows[:, :3]), entailment)

    def _computed(self, pairs: Mapping[bytes, PairInput]) -> dict[bytes, bytes]:
        scores = self._scorer.score(list(pairs.values()))
        rows = np.hstack([scores.probabilities, scores.entailment]).astype(np.float32)
        return {key: row.tobytes() for key, row in zip(pairs, rows, strict=True)}

    def _staged(self, scorer: StagedScorer, pairs: Sequence[PairInput]) -> PairScores:
        """All scores from one entry where nothing changed; else only the stages that depend on the texts."""
        key = _pairs_key(self.name, pairs)
        known = self._cache.load([key]).get(key, b"")
        if len(known) != len(pairs) * 5 * 4:
            scores = scorer.score_with(pairs, Remembered(self.name, self._cache, self._on_stage))
            known = np.hstack([scores.probabilities, scores.entailment]).astype(np.float32).tobytes()
            self._cache.store({key: known})
        rows = np.frombuffer(known, dtype=np.float32).reshape(len(pairs), 5)
        return PairScores(np.ascontiguousarray(rows[:, :3]), rows[:, 3:].copy())


class Remembered:
    """What the stages of a scorer said of texts and of pairs, ever."""

    def __init__(self, name: str, cache: Cache, on_stage: OnStage) -> None:
        self._name = name
        self._cache = cache
        self._on_stage = on_stage

    def __call__(self, stage: str, pairs: Sequence[PairInput], compute: Compute, /) -> NDArray[np.float32]:
        """Rows for pairs; those that are not known are computed in parts, and each part is kept."""
        keys = [_key(stage, self._name, *sorted((pair.a, pair.b))) for pair in pairs]
        known = _usable(self._cache.load(list(dict.fromkeys(keys))))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        self._on_stage(stage, len(known), len(known) + len(missing))
        # alike in length, so that little is padded; by text, so that the order of the pairs plays no part
        order = sorted(missing, key=lambda key: (len(missing[key].a) + len(missing[key].b), key))
        for part in _parts(order):
            rows = compute([missing[key] for key in part]).astype(np.float32)
            fresh = {key: row.tobytes() for key, row in zip(part, rows, strict=True)}
            self._cache.store(fresh)
            known |= fresh
            self._on_stage(stage, len(known), len(known.keys() | missing.keys()))
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])

    def texts(
        self, stage: str, texts: Sequence[str], compute: Callable[[Sequence[str]], list[bytes]], /
    ) -> list[bytes]:
        """The bytes of each text; those that are not known are computed at once."""
        keys = [_key(stage, self._name, text) for text in texts]
        known = self._cache.load(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, compute(list(missing.values())), strict=True))
            self._cache.store(fresh)
            known |= fresh
        return [known[key] for key in keys]


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
    return _key(*parts, *([] if pair.context is None else [_standing(pair.context).hex()]))


def opinion_key(name: str, pair: PairInput) -> bytes:
    """Key of a language model's opinion on a pair: the model, and everything it read."""
    side, _ = _ordered(pair)
    dates = (_moment(side.a_date), _moment(side.b_date))
    return _key("opinion", name, side.a, side.b, *dates, "" if side.category is None else f"={side.category}")


def _pairs_key(name: str, pairs: Sequence[PairInput]) -> bytes:
    """One key for all pairs in their order, and for everything that a scorer may read of them."""
    digest = hashlib.sha256(_key("pairs", name))
    digests: dict[str | None, bytes] = {}
    for pair in pairs:
        dates = _moment(pair.a_date), _moment(pair.b_date)
        category = "" if pair.category is None else f"={pair.category}"
        for text in (pair.a, pair.b, *dates, category, repr(pair.group)):
            if text not in digests:
                digests[text] = _key(text)
            digest.update(digests[text])
        digest.update(struct.pack("<d", pair.cosine) + _standing(pair.context))
    return digest.digest()


def _standing(context: PairContext | None) -> bytes:
    if context is None:
        return b"-" * 104
    return struct.pack("<13d", *_NUMBERS(context))


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
    entries: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        part = keys[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(part))
        entries.update(session.execute(f"SELECT key, value FROM entries_1 WHERE key IN ({marks})", part))
    return entries


def _insert(session: sqlite3.Connection, rows: list[tuple[bytes, bytes]]) -> None:
    if _bytes_used(session) > MAX_BYTES:
        _shorten(session, MAX_BYTES // 2)
    session.executemany("INSERT OR REPLACE INTO entries_1 VALUES (?, ?)", rows)
    session.commit()


def _prune(session: sqlite3.Connection, limit: int) -> tuple[int, int]:
    if _shorten(session, limit):
        session.commit()
        session.execute("VACUUM")
    (entries,) = session.execute("SELECT count(*) FROM entries_1").fetchone()
    return int(entries), _bytes_used(session)


def _shorten(session: sqlite3.Connection, limit: int) -> bool:
    """Let the oldest entries go, as if all had one size; whether any went."""
    (entries,) = session.execute("SELECT count(*) FROM entries_1").fetchone()
    kept = int(entries * min(1.0, limit / max(_bytes_used(session), 1)))
    last = "SELECT rowid FROM entries_1 ORDER BY rowid DESC LIMIT 1 OFFSET ?"
    return session.execute(f"DELETE FROM entries_1 WHERE rowid <= ({last})", (kept,)).rowcount > 0


def _bytes_used(session: sqlite3.Connection) -> int:
    pages, free, size = (
        int(session.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    """The keys in parts, sized so that each takes at most about `PART_S` seconds."""
    start, size = 0, FIRST_AT_ONCE
    while start < len(keys):
        begun = time.monotonic()
        yield keys[start : start + size]
        start += size
        spent = time.monotonic() - begun
        if spent < PART_S / 2:
            size = min(2 * size, AT_ONCE)
        elif spent > PART_S:
            size = max(size // 2, 1)


def _ignore(_stage: str, _done: int, _total: int) -> None:
    return None
