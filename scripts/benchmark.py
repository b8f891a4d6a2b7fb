"""How fast a pass is on this machine: `python scripts/benchmark.py --memories 5000`.

Every stage is timed on a made-up store with planted duplicates. Times are printed, never asserted; what is
asserted are results: the planted duplicates are found, the exact index agrees with plain numpy, and a second
pass out of the cache gives the identical plan.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from mem0_dream.indexes import FlatIndex
from mem0_dream.models.registry import CHOICES, load_encoder, load_scorer
from mem0_dream.pipeline.judging.cache import Cache, CachedEncoder, CachedScorer
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.inventory import Circumstances
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.pipeline.planning.planner import build_plan
from mem0_dream.records import Candidate, Inventory, Memory, Scope
from mem0_dream.settings import Settings

if TYPE_CHECKING:
    from mem0_dream.models.encoder import Encoder
    from mem0_dream.models.scorer import PairScorer
    from mem0_dream.pipeline.plan import Plan
    from numpy.typing import NDArray

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SCOPE = Scope.of(user_id="benchmark")
PLANTED_SHARE = 10
"""One memory in so many is followed by an exact copy, and one in so many by its words in another order."""

TIE = 1e-5
"""Cosines closer than this to a limit may fall on either side of it."""

_BLOCK = 1_024
_PEOPLE = [
    "Priya",
    "Tomas",
    "Aiko",
    "Lena",
    "Omar",
    "Nadia",
    "Callum",
    "Ines",
    "Ravi",
    "Greta",
    "Mateo",
    "Zofia",
    "Kwame",
    "Elif",
    "Jonas",
    "Maren",
]
_THINGS = [
    "green tea",
    "the standing desk",
    "vintage bicycles",
    "sourdough bread",
    "the night train",
    "tabletop games",
    "jazz records",
    "the staging cluster",
    "the billing service",
    "window seats",
    "trail running",
    "oil painting",
    "dark mode",
    "the weekly review",
    "feature flags",
    "the design tokens",
    "black coffee",
    "ceramic knives",
    "the choir",
    "open-water swimming",
]
_PLACES = [
    "in Basel",
    "in Oslo",
    "at the harbour",
    "near the old mill",
    "at the office",
    "in Porto",
    "by the lake",
    "at home",
]
_TIMES = [
    "on Mondays",
    "every spring",
    "after lunch",
    "before sunrise",
    "during the sprint",
    "on holidays",
    "at weekends",
]
_VERBS = {
    "preference": ("prefers", "enjoys", "avoids", "recommends"),
    "work": ("maintains", "reviews", "presents", "documents"),
    "project": ("plans", "sketches", "budgets for", "postpones"),
    "hobby": ("collects", "restores", "photographs", "writes about"),
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    """A made-up store, and the pairs of ids that were planted in it."""

    memories: tuple[Memory, ...]
    copies: frozenset[tuple[str, str]]
    reordered: frozenset[tuple[str, str]]


@dataclass(slots=True)
class Clock:
    """Times stages and prints each as a line."""

    seconds: dict[str, float] = field(default_factory=dict)

    def time(self, name: str, items: int, work: Callable[[], T]) -> T:
        """Do the work once and print its time and rate."""
        start = time.perf_counter()
        result = work()
        spent = time.perf_counter() - start
        self.seconds[name] = spent
        print(f"{name:<34}{items:>9} {spent:>10.2f} s {items / spent:>12.0f} /s")
        return result

    def ratio(self, slow: str, fast: str) -> str:
        """How many times faster one stage was than another."""
        return f"{fast}: {self.seconds[slow] / self.seconds[fast]:.1f} times as fast as {slow}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    options = _parser().parse_args(arguments)
    count = min(options.memories, 300) if options.quick else options.memories
    use_threads(options.threads)
    store = made_up(count, seed=options.seed)
    encoder = load_encoder(options.encoder, scorer="keywords" if options.quick else "cosine")
    run(store, encoder, load_scorer(options.scorer), Settings(scorer=options.scorer))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, {options.threads} threads, seed {options.seed}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--scorer", default="keywords", help=", ".join(CHOICES))
    parser.add_argument("--encoder", help="another sentence-transformers model, folder or hub name")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="300 memories and no model, as the tests run it")
    return parser


def use_threads(count: int) -> None:
    """Give the libraries so many threads."""
    import faiss

    faiss.omp_set_num_threads(count)
    if "torch" not in sys.modules:
        import os

        os.environ["OMP_NUM_THREADS"] = str(count)
    else:
        import torch

        torch.set_num_threads(count)


def made_up(count: int, *, seed: int) -> Store:
    """A store of varied memories in four categories, a tenth of them exact copies, a tenth reordered."""
    rng = random.Random(seed)  # noqa: S311  (no secret is made here)
    memories: list[Memory] = []
    copies: set[tuple[str, str]] = set()
    reordered: set[tuple[str, str]] = set()
    while len(memories) < count:
        parts = _fact(rng)
        first = _memory(len(memories), _said(parts), parts[0], rng)
        memories.append(first)
        for planted, text in ((copies, _said(parts).lower() + "."), (reordered, _turned(parts))):
            if len(memories) < count and rng.randrange(PLANTED_SHARE) == 0:
                memories.append(_memory(len(memories), text, parts[0], rng))
                planted.add((first.id, memories[-1].id))
    return Store(tuple(memories), frozenset(copies), frozenset(reordered))


Parts = tuple[str, str, str, str, str, str]


def _fact(rng: random.Random) -> Parts:
    category = rng.choice(sorted(_VERBS))
    verb = rng.choice(_VERBS[category])
    return (category, rng.choice(_PEOPLE), verb, rng.choice(_THINGS), rng.choice(_PLACES), _when(rng))


def _when(rng: random.Random) -> str:
    return f"{rng.choice(_TIMES)} since {rng.randrange(1990, 2026)}"


def _said(parts: Parts) -> str:
    _, person, verb, thing, place, when = parts
    return f"{person} {verb} {thing} {place} {when}"


def _turned(parts: Parts) -> str:
    _, person, verb, thing, place, when = parts
    return f"{when[0].upper()}{when[1:]} {person} {verb} {thing} {place}"


def _memory(number: int, text: str, category: str, rng: random.Random) -> Memory:
    stated = NOW - timedelta(days=rng.randrange(1, 150))
    return Memory(f"b{number:07}", text, SCOPE, category=category, created_at=stated, updated_at=stated)


def run(store: Store, encoder: Encoder, scorer: PairScorer, settings: Settings) -> Plan:
    """Time every stage, then whole passes without and with the cache; assert what they find."""
    clock = Clock()
    memories, texts = store.memories, [memory.text for memory in store.memories]
    encoder.encode(texts[:1])  # loads the model before the clock starts
    print(f"{'stage':<34}{'items':>9} {'time':>12} {'rate':>14}")
    vectors = clock.time("encode", len(texts), lambda: encoder.encode(texts))
    candidates = clock.time("candidates", len(texts), lambda: _candidates(memories, vectors, settings))
    _compare_with_numpy(clock, vectors, settings)
    by_id = {memory.id: memory for memory in memories}
    judge(candidates[:1], by_id, scorer)
    clock.time("judge", len(candidates), lambda: judge(candidates, by_id, scorer))
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cached = CachedEncoder(encoder, cache), CachedScorer(scorer, cache)
        cold = clock.time("pass, cold", len(texts), lambda: plan_of(memories, *cached, settings))
        warm = clock.time("pass, cached", len(texts), lambda: plan_of(memories, *cached, settings))
    _check(store, candidates, cold, warm)
    print(clock.ratio("pass, cold", "pass, cached"))
    print(clock.ratio("nearest of all, numpy", "nearest of all, FAISS flat"))
    print(f"{len(candidates)} candidates, {len(cold.actions)} actions, {len(store.copies)} copies planted")
    return cold


def _candidates(
    memories: Sequence[Memory], vectors: NDArray[np.float32], settings: Settings
) -> tuple[Candidate, ...]:
    return find_candidates(memories, vectors, floor=settings.floor, neighbours=settings.neighbours)


def plan_of(memories: tuple[Memory, ...], encoder: Encoder, scorer: PairScorer, settings: Settings) -> Plan:
    """The plan of one whole pass."""
    return build_plan(
        Inventory(store="benchmark", memories=memories),
        kind="benchmark",
        encoder=encoder,
        scorer=scorer,
        settings=settings,
        circumstances=Circumstances(now=NOW),
    )


def _compare_with_numpy(clock: Clock, vectors: NDArray[np.float32], settings: Settings) -> None:
    distinct = np.unique(vectors, axis=0)
    limits = settings.floor, settings.neighbours
    flat = clock.time("nearest of all, FAISS flat", len(distinct), lambda: _by_faiss(distinct, *limits))
    plain = clock.time("nearest of all, numpy", len(distinct), lambda: _by_numpy(distinct, *limits))
    require(plain <= flat, "the exact index finds all that numpy finds")


def _by_faiss(vectors: NDArray[np.float32], floor: float, neighbours: int) -> set[tuple[int, int]]:
    return {(i, j) for i, j, _ in FlatIndex().pairs(vectors, floor=floor, neighbours=neighbours)}


def _by_numpy(vectors: NDArray[np.float32], floor: float, neighbours: int) -> set[tuple[int, int]]:
    """Pairs that are above both limits without any doubt: the floor, and the last neighbour's cosine."""
    pairs: set[tuple[int, int]] = set()
    width = min(neighbours, len(vectors) - 1)
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        last = -np.partition(-cosines, width - 1, axis=1)[:, width - 1]
        row, other = np.nonzero(cosines > np.maximum(last, floor)[:, None] + TIE)
        low, high = np.minimum(start + row, other), np.maximum(start + row, other)
        pairs.update(zip(low.tolist(), high.tolist(), strict=True))
    return pairs


def _check(store: Store, candidates: Sequence[Candidate], cold: Plan, warm: Plan) -> None:
    near = {(pair.a, pair.b) for pair in candidates}
    exact = {memory_id for pair in candidates if pair.exact for memory_id in (pair.a, pair.b)}
    removed = {memory_id for action in cold.actions for memory_id in action.removes}
    require(all({a, b} <= exact for a, b in store.copies), "every planted copy is an exact candidate")
    require(all({a, b} & removed for a, b in store.copies), "of every planted copy one memory goes")
    lone = [pair for pair in store.reordered if not set(pair) & exact]
    require(all(pair in near for pair in lone), "every reordered memory is a candidate")
    require(cold == warm, "the cached pass gives the identical plan")


def require(holds: bool, what: str) -> None:  # noqa: FBT001  (a check reads like an assertion)
    """Stop with a sentence if something does not hold."""
    if not holds:
        raise SystemExit(f"benchmark: it does not hold that {what}")


if __name__ == "__main__":
    sys.exit(main())
