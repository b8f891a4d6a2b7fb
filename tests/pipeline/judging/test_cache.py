"""The cache: never wrong, never an error, and nothing is computed twice."""

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from mem0_dream.models.scorer import PairContext, PairInput, PairScores, Remember, Thresholds, forgetful
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.judging import cache as module
from mem0_dream.pipeline.judging.cache import FILE_NAME, Cache, CachedEncoder, CachedScorer
from mem0_dream.testing import FakeEncoder
from numpy.typing import NDArray

DAY = datetime(2026, 11, 21, tzinfo=UTC)
NEAR = PairContext(0, 0, 0.2, 0.1, 0.3, 0.3, 0.1, 5)


class HashScorer:
    """Symmetric probabilities and directed entailment made from everything a scorer may read."""

    name = "hash-1"
    thresholds = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)

    def __init__(self) -> None:
        self.asked: list[PairInput] = []

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        self.asked.extend(pairs)
        probabilities = np.zeros((len(pairs), 3), np.float32)
        entailment = np.zeros((len(pairs), 2), np.float32)
        for row, pair in enumerate(pairs):
            both = sorted([f"{pair.a}|{pair.a_date}", f"{pair.b}|{pair.b_date}"])
            seed = sum(f"{both}{pair.category}{pair.cosine!r}".encode("utf-8", "surrogatepass"))
            rest = np.random.default_rng(seed).dirichlet([1, 1, 1])
            probabilities[row] = rest
            entailment[row] = len(pair.a) / 100, len(pair.b) / 100
        return PairScores(probabilities, entailment)


def pair(a="Likes tea", b="Likes green tea", **rest) -> PairInput:
    return PairInput(a, b, **{"cosine": 0.5, **rest})


def equal(first: PairScores, second: PairScores) -> bool:
    return (
        first.probabilities.tobytes() == second.probabilities.tobytes()
        and first.entailment.tobytes() == second.entailment.tobytes()
    )


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path)


@given(texts=st.lists(st.text(max_size=8), max_size=12))
@settings(max_examples=25, deadline=None)
def test_vectors_are_equal_with_and_without(tmp_path_factory, texts):
    cached = CachedEncoder(FakeEncoder(), Cache(tmp_path_factory.mktemp("c")))
    wanted = FakeEncoder().encode(texts)
    for _ in range(2):
        found = cached.encode(texts)
        assert found.dtype == np.float32
        assert found.flags.c_contiguous
        assert found.tobytes() == wanted.tobytes()
        assert found.shape == wanted.shape


def test_each_text_is_embedded_once(cache):
    encoder, other = FakeEncoder(), FakeEncoder()
    cached = CachedEncoder(encoder, cache)
    assert cached.name == FakeEncoder.name
    cached.encode(["a b", "c", "a b"])
    cached.encode(["c", "d"])
    assert sorted(encoder.asked) == ["a b", "c", "d"]
    other.name = "another"  # which has entries of its own
    CachedEncoder(other, cache).encode(["c"])
    assert other.asked == ["c"]


def computed(cache: Cache) -> bool:
    """Whether the vectors of two texts are those of a fresh encoder, whatever the cache holds."""
    found = CachedEncoder(FakeEncoder(), cache).encode(["a", "b"])
    return found.tobytes() == FakeEncoder().encode(["a", "b"]).tobytes()


def test_mixed_widths_are_computed_again(cache):
    keys = (module.key_of("vector", FakeEncoder.name, text) for text in "ab")
    cache.store(dict(zip(keys, (b"\0" * 8, b"\0" * 16), strict=True)))
    assert computed(cache)


@pytest.mark.parametrize("texts", [["a"], ["a", "b", "a", "c"]])
def test_progress_adds_up(cache, texts, monkeypatch):
    monkeypatch.setattr(module, "FIRST_AT_ONCE", 1)
    heard: list[tuple[str, int, int]] = []
    for _ in range(2):
        heard.clear()
        CachedEncoder(FakeEncoder(), cache, on_stage=lambda *now: heard.append(now)).encode(texts)
        assert {(stage, total) for stage, _, total in heard} == {("embed", len(set(texts)))}
        assert [done for _, done, _ in heard] == sorted({done for _, done, _ in heard})
        assert heard[-1][1] == len(set(texts))


def test_scores_are_equal_with_and_without(cache):
    pairs = [pair(), pair(b="Owns a dog"), pair(a="z", b="a"), pair(category="x", a_date=DAY), pair()]
    wanted = HashScorer().score(pairs)
    cached = CachedScorer(HashScorer(), cache)
    assert (cached.name, cached.thresholds) == ("hash-1", HashScorer.thresholds)
    assert equal(cached.score(pairs), wanted)
    assert equal(cached.score(pairs), wanted)
    assert equal(cached.score(pairs[:0]), HashScorer().score([]))


def test_mirror_image_shares_an_entry(cache):
    scorer = HashScorer()
    cached = CachedScorer(scorer, cache)
    straight = cached.score([pair("aa", "b", a_date=DAY)])
    mirrored = cached.score([pair("b", "aa", b_date=DAY)])
    assert len(scorer.asked) == 1
    np.testing.assert_array_equal(straight.probabilities, mirrored.probabilities)
    np.testing.assert_array_equal(straight.entailment, mirrored.entailment[:, ::-1])


@pytest.mark.parametrize(
    "change",
    [
        {"a": "x"}, {"cosine": 0.5000001}, {"category": ""}, {"category": "c"}, {"a_date": DAY},
        {"b_date": DAY},
    ],
)  # fmt: skip
def test_everything_a_scorer_reads_is_in_the_key(cache, change):
    scorer = HashScorer()
    cached = CachedScorer(scorer, cache)
    cached.score([pair()])
    cached.score([replace(pair(), **change)])
    assert len(scorer.asked) == 2


@pytest.mark.parametrize("content", [b"this is no database, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_damaged_file_is_moved_aside(cache, content):
    cache.path.write_bytes(content)
    encoder = FakeEncoder()
    for _ in range(3):
        CachedEncoder(encoder, cache).encode(["a"])
    assert encoder.asked.count("a") <= 2
    assert cache.path.with_suffix(".damaged").read_bytes() == content


def test_a_changed_byte_is_not_believed_and_an_unusable_or_busy_file_is_no_error(cache, monkeypatch):
    assert computed(Cache(cache.path.parent / "missing"))
    assert computed(cache)
    with sqlite3.connect(cache.path) as session:
        session.execute("UPDATE entries_1 SET value = zeroblob(length(value))")
    assert computed(cache)
    monkeypatch.setattr(module, "TIMEOUT_S", 0.05)
    holder = sqlite3.connect(cache.path)
    holder.execute("BEGIN EXCLUSIVE")
    assert computed(cache)
    holder.close()


def test_a_full_cache_loses_its_older_half(cache, monkeypatch):
    first, second = ({f"{part}-{n}".encode(): b"v" * 500 for n in range(500)} for part in "ab")
    cache.store(first)
    cache.store(second)
    monkeypatch.setattr(module, "MAX_BYTES", cache.prune()[1] - 1)
    cache.store({b"new": b"v"})
    assert 0 < len(cache.load(list(second))) <= 500
    assert (cache.load(list(first)), cache.load([b"new"])) == ({}, {b"new": b"v"})
    entries, size = cache.prune(100 << 10)
    assert 0 < len(cache.load(list(second))) < entries + 1 < 200
    assert size < 200 << 10
    assert cache.prune(0)[0] == 0


def test_no_text_is_stored(cache):
    CachedEncoder(FakeEncoder(), cache).encode(["my secret diagnosis"])
    CachedScorer(HashScorer(), cache).score([pair(a="my secret diagnosis")])
    assert b"secret" not in b"".join(path.read_bytes() for path in cache.path.parent.iterdir())
    assert cache.path.stat().st_mode & 0o077 == 0


def test_processes_share_one_file(tmp_path):
    code = (
        "import sys, pathlib\n"
        "from mem0_dream.pipeline.judging.cache import Cache\n"
        "cache, mine = Cache(pathlib.Path(sys.argv[1])), sys.argv[2]\n"
        "for n in range(40):\n"
        "    cache.store({f'{mine}-{n}'.encode(): b'v' * 100})\n"
        "print(len(cache.load([f'{mine}-{n}'.encode() for n in range(40)])))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], stdout=subprocess.PIPE, text=True)
        for name in "abc"
    ]
    assert [process.communicate()[0].strip() for process in running] == ["40"] * 3
    everything = [f"{name}-{n}".encode() for name in "abc" for n in range(40)]
    assert len(Cache(tmp_path).load(everything)) == 120
    assert (tmp_path / FILE_NAME).is_file()


def test_a_kill_while_it_writes_damages_nothing(tmp_path):
    code = (
        "import sys, pathlib, itertools\n"
        "from mem0_dream.pipeline.judging.cache import Cache\n"
        "cache = Cache(pathlib.Path(sys.argv[1]))\n"
        "for n in itertools.count():\n"
        "    cache.store({f'{n}-{m}'.encode(): b'v' * 1000 for m in range(200)})\n"
        "    print(n, flush=True)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    done = [int(writer.stdout.readline()) for _ in range(3)]
    writer.kill()
    writer.communicate()
    known = Cache(tmp_path).load([f"{n}-{m}".encode() for n in done for m in range(200)])
    assert (len(known), set(known.values())) == (600, {b"v" * 1000})
    assert not (tmp_path / FILE_NAME).with_suffix(".damaged").exists()


def test_a_person_may_make_it_smaller(cache):
    cache.store({f"{n}".encode(): b"v" * 1000 for n in range(3000)})
    for words, left in (((), 3000), (("--prune", "1"), 1000), (("--prune", "0"), 0)):
        said = CliRunner().invoke(main, ["cache", "--state-dir", str(cache.path.parent), *words]).output
        assert int(said.split(": ")[1].split()[0].replace(",", "")) == pytest.approx(left, abs=100)


def test_broken_text_has_a_key(cache):
    scorer = HashScorer()
    for _ in range(2):
        CachedScorer(scorer, cache).score([pair(a="\ud800")])
    assert len(scorer.asked) == 1


class TwoSteps:
    """Reads lengths of texts, and concludes from them and from the place."""

    name = "steps-1"
    thresholds = Thresholds(auto=0.9, duplicate=0.5, contradiction=0.5)
    reads_context = True

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []
        self.concluded = 0

    def score(self, pairs: Sequence[PairInput]) -> PairScores:
        return self.score_with(pairs, forgetful)

    def score_with(self, pairs: Sequence[PairInput], remember: Remember) -> PairScores:
        self.concluded += len(pairs)
        rows = remember("judge", pairs, self._read)[:, 0]
        ranks = np.array([pair.context.rank_a + pair.context.rank_b if pair.context else 9 for pair in pairs])
        duplicate = rows / (1 + ranks)
        probabilities = np.stack([duplicate, 0 * duplicate, 1 - duplicate], axis=1).astype(np.float32)
        entailment = np.array([[len(pair.a) / 100, len(pair.b) / 100] for pair in pairs], np.float32)
        return PairScores(probabilities, entailment.reshape(-1, 2))

    def _read(self, pairs: Sequence[PairInput]) -> NDArray[np.float32]:
        self.read += [(pair.a, pair.b) for pair in pairs]
        alike = [min(len(p.a), len(p.b)) / max(len(p.a), len(p.b), 1) for p in pairs]
        return np.array(alike, np.float32).reshape(-1, 1)


PAIRS = [
    PairInput("Likes tea", "Likes green tea", 0.5, None, DAY, None, NEAR),
    PairInput("Likes green tea", "Owns a dog", 0.2, "home", None, DAY, replace(NEAR, rank_a=3)),
    PairInput("Owns a dog", "Likes tea", 0.1),
]


def test_what_was_read_is_concluded_from_without_being_read_again(cache: Cache) -> None:
    scorer = TwoSteps()
    wanted = TwoSteps().score(PAIRS)
    assert equal(CachedScorer(scorer, cache).score(PAIRS), wanted)
    assert equal(CachedScorer(scorer, cache).score(PAIRS), wanted)
    assert (len(scorer.read), scorer.concluded) == (3, 6)


@pytest.mark.parametrize(
    "change",
    [
        {"context": replace(NEAR, rank_a=1)}, {"context": replace(NEAR, size=6)}, {"context": None},
        {"cosine": 0.5000001}, {"a_date": None}, {"category": "c"},
    ],
)  # fmt: skip
def test_another_place_is_concluded_anew_and_nothing_is_read_again(cache: Cache, change) -> None:
    scorer = TwoSteps()
    CachedScorer(scorer, cache).score(PAIRS)
    moved = [replace(PAIRS[0], **change), *PAIRS[1:]]
    assert equal(CachedScorer(scorer, cache).score(moved), TwoSteps().score(moved))
    assert (len(scorer.read), scorer.concluded) == (3, 6)


def test_a_changed_text_is_read_and_the_others_are_not(cache: Cache) -> None:
    scorer = TwoSteps()
    CachedScorer(scorer, cache).score(PAIRS)
    changed = [replace(PAIRS[0], b="Likes green tea a lot"), PAIRS[1].swapped(), PAIRS[2]]
    assert equal(CachedScorer(scorer, cache).score(changed), TwoSteps().score(changed))
    assert scorer.read[3:] == [("Likes tea", "Likes green tea a lot")]


def test_the_stage_says_how_many_pairs_are_left(cache: Cache) -> None:
    heard: list[tuple[str, int, int]] = []
    CachedScorer(TwoSteps(), cache).score(PAIRS[:1])
    CachedScorer(TwoSteps(), cache, on_stage=lambda *now: heard.append(now)).score(PAIRS)
    assert heard[0] == ("judge", 1, 3)
    assert heard[-1] == ("judge", 3, 3)
