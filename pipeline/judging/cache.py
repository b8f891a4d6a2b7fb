"""The models of a session, behind a cache of their outputs: a nightly pass computes only what changed.

Keys are hashes of a model's identity and of everything it read; no text is stored. A cache can be slow,
locked, full or damaged, but never wrong and never an error: what does not match its checksum is computed
again, and a damaged file is moved aside.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...models.encoder import Encoder
from ...models.scorer import (
    PLACE_NAMES,
    Compute,
    PairContext,
    PairInput,
    PairScorer,
    PairScores,
    PairTable,
    StagedScorer,
    Thresholds,
    Wrapped,
    numbers_of,
    worth_reading,
)
from ...settings import Settings
from ..stores.files import make_database
from .calibration import load_thresholds

FILE_NAME = "cache.sqlite3"
MAX_BYTES = 16 << 30  # a larger cache loses its older half; it grows by 10 kB per text and 0.2 kB per pair
TIMEOUT_S = 10.0  # another process may keep the file busy before this one goes on without the cache
AT_ONCE, FIRST_AT_ONCE = 1_024, 16  # stored together at most, and at first: a killed run loses no more
PART_S = 1.0  # a part should take at most, so that progress shows; parts grow and shrink towards that

_RULES = ("models", "indexes", "pipeline/judging", "pipeline/planning", "records.py", "settings.py")
_KEYS_PER_QUERY = 500
_CHECKSUM_BYTES = 8
_PAGES = "page_count", "freelist_count", "page_size"
_SCHEMA = "CREATE TABLE IF NOT EXISTS entries_1 (key BLOB PRIMARY KEY, value BLOB NOT NULL)"

OnStage = Callable[[str, int, int], None]  # told a stage, how many of its items are done, and their number
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Cache:
    """Bytes by hash in one SQLite file, shared by any number of processes."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME

    def load(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known and undamaged."""
        entries: dict[bytes, bytes] = self._attempt(lambda session: _select(session, keys), {})
        return {
            key: value[_CHECKSUM_BYTES:]
            for key, value in entries.items()
            if isinstance(value, bytes) and value[:_CHECKSUM_BYTES] == _checksum(key, value[_CHECKSUM_BYTES:])
        }

    def store(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep the values; a failure to do so is logged, not raised."""
        rows = [(key, _checksum(key, value) + value) for key, value in entries.items()]
        self._attempt(lambda session: _insert(session, rows), None)

    def prune(self, limit: int = MAX_BYTES) -> tuple[int, int]:
        """Let the oldest entries go until about `limit` bytes are left; entries that are left, and bytes."""
        return self._attempt(lambda session: _prune(session, limit), (0, 0))

    def _attempt(self, work: Callable[[sqlite3.Connection], T], fallback: T) -> T:
        for _ in range(2):
            try:
                with contextlib.closing(self._open()) as session:
                    return work(session)
            except (OSError, sqlite3.OperationalError) as error:
                _log.warning("The cache %s is not used: %s", self.path, error)
                return fallback
            except sqlite3.DatabaseError as error:
                _log.warning("The cache %s is damaged and is moved aside: %s", self.path, error)
                with contextlib.suppress(OSError):
                    self.path.replace(self.path.with_suffix(".damaged"))
                for ending in ("-wal", "-shm"):
                    with contextlib.suppress(OSError):
                        self.path.with_name(self.path.name + ending).unlink()
        return fallback

    def _open(self) -> sqlite3.Connection:
        make_database(self.path)
        connection = sqlite3.connect(self.path, timeout=TIMEOUT_S)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class CachedEncoder:
    """An encoder that embeds each text once, ever."""

    def __init__(self, encoder: Encoder, cache: Cache, *, on_stage: OnStage | None = None) -> None:
        self._encoder = encoder
        self._known = Remembered(encoder.name, cache, on_stage)
        self.name = encoder.name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed all texts: float32 [n, d], the same bytes as the encoder inside gives."""
        if not texts:
            return self._encoder.encode(texts)
        keys = [key_of("vector", self.name, text) for text in texts]
        return self._known.rows(
            "embed", keys, texts, self._encoder.encode, order=lambda text: (len(text), text)
        )


class CachedScorer(Wrapped):
    """A scorer that judges each unordered pair once, ever.

    Everything a scorer may read is in the key, the cosine to the last bit. The expensive stages of a
    `StagedScorer` are cached by the texts alone: a new neighbour changes the place of pairs, and no text is
    read again.
    """

    def __init__(self, scorer: PairScorer, cache: Cache, *, on_stage: OnStage | None = None) -> None:
        super().__init__(scorer)
        self._cache = cache
        self._known = Remembered(scorer.name, cache, on_stage)

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        """Score all pairs, with the same bytes as the scorer inside gives."""
        if not pairs:
            return self._scorer.score(pairs)
        if isinstance(self._scorer, StagedScorer):
            return self._scorer.score_with(pairs, self._known)
        keys, asked = [], [_ordered(pair) for pair in pairs]
        for pair in asked:
            cosine = struct.pack("<d", pair.cosine).hex()
            place = [] if pair.context is None else [_standing(pair.context).hex()]
            keys.append(key_of("pair", self.name, *_read(pair), cosine, *place))
        rows = self._known.rows("judge", keys, asked, lambda part: _table(self._scorer.score(part)))
        entailment = rows[:, 3:].copy()
        swapped = np.array([given is not pair for given, pair in zip(pairs, asked, strict=True)])
        entailment[swapped] = entailment[swapped, ::-1]
        return PairScores(np.ascontiguousarray(rows[:, :3]), entailment)

    def worth(self, table: PairTable) -> NDArray[np.float64] | None:
        """How much speaks for reading each pair, float64 [n]; None where the scorer inside has no screen."""
        return worth_reading(self._scorer, table, self._known)


class Remembered:
    """What a model, or the stages of a scorer, said of texts and of pairs, ever."""

    def __init__(self, name: str, cache: Cache, on_stage: OnStage | None = None) -> None:
        self._name = name
        self._cache = cache
        self._on_stage = on_stage or (lambda *_: None)
        self._at_once: dict[str, int] = {}  # how many of a stage took about a second, the last time

    def __call__(self, stage: str, pairs: Sequence[PairInput], compute: Compute, /) -> NDArray[np.float32]:
        """The rows of a stage for pairs, whichever side comes first."""
        keys = [key_of(stage, self._name, *sorted((pair.a, pair.b))) for pair in pairs]
        # alike in length, so that little is padded
        return self.rows(stage, keys, pairs, compute, order=lambda pair: len(pair.a) + len(pair.b))

    def rows(
        self,
        stage: str,
        keys: Sequence[bytes],
        items: Sequence[T],
        compute: Callable[[list[T]], NDArray[np.float32]],
        *,
        order: Callable[[T], Any] | None = None,
    ) -> NDArray[np.float32]:
        """Rows of one width; those that are not known are computed in parts, and each part is kept."""
        known = self._cache.load(list(dict.fromkeys(keys)))
        if len({len(value) for value in known.values()}) > 1:
            known = {}  # a width never mixes with another
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        total = len(known) + len(missing)
        self._on_stage(stage, len(known), total)
        # by key among equals, so that the order of the items plays no part
        wanted = sorted(missing, key=lambda key: (order(missing[key]), key)) if order else list(missing)
        for part in self._parts(stage, wanted):
            rows = compute([missing[key] for key in part]).astype(np.float32)
            fresh = {key: row.tobytes() for key, row in zip(part, rows, strict=True)}
            self._cache.store(fresh)
            known |= fresh
            self._on_stage(stage, len(known), total)
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])

    def _parts(self, stage: str, keys: list[bytes]) -> Iterator[list[bytes]]:
        start = 0
        while start < len(keys):
            begun, size = time.monotonic(), self._at_once.get(stage, FIRST_AT_ONCE)
            yield keys[start : start + size]
            start += size
            spent = time.monotonic() - begun
            if spent < PART_S / 2 and start <= len(keys):  # a part that was full
                self._at_once[stage] = min(2 * size, AT_ONCE)
            elif spent > PART_S:
                self._at_once[stage] = max(size // 2, 1)

    def texts(
        self, stage: str, texts: Sequence[str], compute: Callable[[Sequence[str]], list[bytes]], /
    ) -> list[bytes]:
        """The bytes of each text; those that are not known are computed at once."""
        keys = [key_of(stage, self._name, text) for text in texts]
        known = self._cache.load(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, compute(list(missing.values())), strict=True))
            self._cache.store(fresh)
            known |= fresh
        return [known[key] for key in keys]


def _table(scores: PairScores) -> NDArray[np.float32]:
    return np.hstack([scores.probabilities, scores.entailment]).astype(np.float32)


def _ordered(pair: PairInput) -> PairInput:
    """The pair, or its mirror image: the two share an entry."""
    a, b, a_date, b_date, _ = _read(pair)
    return pair if (a, a_date) <= (b, b_date) else pair.swapped()


def _read(pair: PairInput) -> tuple[str, ...]:
    dates = (moment.isoformat() if moment else "" for moment in (pair.a_date, pair.b_date))
    return pair.a, pair.b, *dates, "" if pair.category is None else f"={pair.category}"


def opinion_key(name: str, pair: PairInput) -> bytes:
    """Key of a language model's opinion on a pair: the model, and everything it read."""
    return key_of("opinion", name, *_read(_ordered(pair)))


def _standing(context: PairContext) -> bytes:
    return struct.pack(f"<{len(PLACE_NAMES)}d", *numbers_of(context))


def key_of(*parts: str) -> bytes:
    """SHA-256 of the parts, each with its length, so that no two lists of parts share a key."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


@functools.cache
def rules_digest() -> str:
    """A digest of the code and the tables that decide: other rules decide everything anew."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for name in _RULES:
        place = root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, key=key, digest_size=_CHECKSUM_BYTES).digest()


def _select(session: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    entries: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        part = keys[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(part))
        entries.update(session.execute(f"SELECT key, value FROM entries_1 WHERE key IN ({marks})", part))
    return entries


def _insert(session: sqlite3.Connection, rows: list[tuple[bytes, bytes]]) -> None:
    if _bytes(session) > MAX_BYTES:
        _shorten(session, MAX_BYTES // 2)
    session.executemany("INSERT OR REPLACE INTO entries_1 VALUES (?, ?)", rows)
    session.commit()


def _prune(session: sqlite3.Connection, limit: int) -> tuple[int, int]:
    if _shorten(session, limit):
        session.commit()
        session.execute("VACUUM")
    return _size(session)


def _shorten(session: sqlite3.Connection, limit: int) -> bool:
    entries, size = _size(session)
    kept = int(entries * min(1.0, limit / max(size, 1)))
    last = "SELECT rowid FROM entries_1 ORDER BY rowid DESC LIMIT 1 OFFSET ?"
    return session.execute(f"DELETE FROM entries_1 WHERE rowid <= ({last})", (kept,)).rowcount > 0


def _size(session: sqlite3.Connection) -> tuple[int, int]:
    """Entries, and bytes that they take."""
    return int(session.execute("SELECT count(*) FROM entries_1").fetchone()[0]), _bytes(session)


def _bytes(session: sqlite3.Connection) -> int:
    """The same without counting, which takes the longer the more there are."""
    pages, free, size = (int(session.execute(f"PRAGMA {name}").fetchone()[0]) for name in _PAGES)
    return (pages - free) * size


class Models:
    """Loads what the settings name, so that another process can, too (`named`), or uses what is given."""

    def __init__(
        self,
        settings: Settings,
        directory: Path,
        *,
        encoder: Encoder | None = None,
        scorer: PairScorer | None = None,
    ) -> None:
        self._settings = settings
        self._directory = directory
        self.cache = Cache(directory)
        self.named = encoder is None and scorer is None
        self._encoder = encoder
        self._scorer = scorer

    def take(self, other: Models) -> None:
        """Use what another one has loaded, if it was told to load the same."""
        ours, theirs = self._settings, other._settings
        if (ours.scorer, ours.encoder) == (theirs.scorer, theirs.encoder):
            self._encoder, self._scorer = self._encoder or other._encoder, self._scorer or other._scorer

    @property
    def encoder(self) -> Encoder:
        """The encoder itself."""
        if self._encoder is None:
            from ...models.registry import load_encoder

            self._encoder = load_encoder(self._settings.encoder, scorer=self._settings.scorer)
        return self._encoder

    @property
    def scorer(self) -> PairScorer:
        """The pair scorer itself."""
        if self._scorer is None:
            from ...models.registry import load_scorer

            self._scorer = load_scorer(self._settings.scorer)
        return self._scorer

    def read(self, *, on_stage: OnStage | None = None) -> CachedEncoder:
        """The encoder behind the cache, as a pass uses it."""
        return CachedEncoder(self.encoder, self.cache, on_stage=on_stage)

    def asked(self, *, on_stage: OnStage | None = None) -> CachedScorer:
        """The scorer behind the cache, as a pass uses it."""
        return CachedScorer(self.scorer, self.cache, on_stage=on_stage)

    @property
    def thresholds(self) -> Thresholds:
        """Where the scorer's probabilities become decisions: a person's calibration, else its own."""
        return self.calibrated or self.scorer.thresholds

    @property
    def calibrated(self) -> Thresholds | None:
        """The thresholds of a person's own calibration for this scorer, if there is one."""
        return load_thresholds(self._directory, self.scorer.name)
