"""What the screen and the cache save inside a store: `python -m mem0_dream.scripts.benchmark_judging`.

One store of invented memories is judged with every candidate read in full, as before there was a screen, and
by the bundled scorer as it is; then whole passes run without a cache, with an empty and with a filled one.
Times are printed, never asserted. What is asserted are results: the second pass gives the identical plan, and
the screen only ever calls pairs distinct. All decisions that differ are listed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from mem0_dream.models.bundled import reader as pair_reader
from mem0_dream.models.bundled.scorer import FOLDER, BundledScorer
from mem0_dream.models.registry import load_encoder
from mem0_dream.models.scorer import PairInput
from mem0_dream.pipeline.judging.cache import Cache, CachedEncoder, CachedScorer
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.judging.judge import judge
from mem0_dream.records import Label, Memory, Scope, Verdict
from mem0_dream.scripts.benchmark import Clock, plan_of, require, use_threads
from mem0_dream.scripts.evaluate.worlds import read_worlds
from mem0_dream.settings import Settings
from numpy.typing import NDArray

SAMPLE = Path(__file__).parent / "data" / "worlds_sample"
FORMER_BATCH_TOKENS = 4_096
MOST_LOST = 0.02
"""Share of the duplicates and conflicts found without the screen that may go with it."""


class Before(BundledScorer):
    """As pairs were judged before there was a screen: all are read, in large batches, and none is spared."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, screen=False)

    def _glance(self, pairs: Sequence[PairInput]) -> NDArray[np.float32]:
        self._load()[0].network.encoder.set_attn_implementation("eager")
        usual, pair_reader.BATCH_TOKENS = pair_reader.BATCH_TOKENS, FORMER_BATCH_TOKENS
        try:
            return self._read(pairs)
        finally:
            pair_reader.BATCH_TOKENS = usual


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--worlds", type=Path, default=SAMPLE, help="folder of worlds; their lines are one store"
    )
    parser.add_argument("--style", default="", help="only worlds of this style, such as w13_mem0")
    parser.add_argument("--memories", type=int, default=300)
    parser.add_argument("--weights", type=Path, default=FOLDER, help="another folder of weights")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    use_threads(options.threads)
    memories = _store(options.worlds, options.style)[: options.memories]
    clock = Clock()
    scorers = Before(options.weights), BundledScorer(options.weights)
    _judging(clock, memories, *scorers)
    _passes(clock, memories, *scorers)
    return 0


def _store(folder: Path, style: str) -> tuple[Memory, ...]:
    """All lines of the worlds as the memories of one user without categories, which is the dearest case."""
    lines = [line for world in read_worlds(folder) if style in world.style for line in world.lines]
    scope = Scope.of(user_id="benchmark")
    return tuple(
        Memory(f"b{at:04}", line.judged, scope, created_at=line.stated_at, updated_at=line.stated_at)
        for at, line in enumerate(lines)
    )


def _judging(clock: Clock, memories: Sequence[Memory], every: BundledScorer, screened: BundledScorer) -> None:
    settings = Settings()
    encoder = load_encoder(None, scorer="bundled")
    vectors = encoder.encode([memory.text for memory in memories])
    pairs = clock.time(
        "candidates and their place",
        len(memories),
        lambda: find_candidates(
            memories, vectors, floor=settings.floor, neighbours=settings.neighbours, contexts=True
        ),
    )
    by_id = {memory.id: memory for memory in memories}
    for scorer in (every, screened):  # loads all models before the clock starts
        judge(pairs[:40], by_id, scorer)
    slow, fast = "judge, every candidate read", "judge, screened"
    before = clock.time(slow, len(pairs), lambda: judge(pairs, by_id, every))
    after = clock.time(fast, len(pairs), lambda: judge(pairs, by_id, screened))
    print(clock.ratio(slow, fast))
    _compare(before, after, by_id)


def _compare(before: Sequence[Verdict], after: Sequence[Verdict], by_id: dict[str, Memory]) -> None:
    told = [pair for pair in before if pair.label in {Label.DUPLICATE, Label.CONTRADICTION}]
    other = [
        (one, two)
        for one, two in zip(before, after, strict=True)
        if (one.label, one.auto) != (two.label, two.auto)
    ]
    print(f"{len(before)} candidates, {len(told)} duplicates and conflicts, {len(other)} other decisions:")
    for one, two in other:
        texts = " / ".join(by_id[i].text for i in (one.pair.a, one.pair.b))
        print(f"  {_said(one)} -> {_said(two)}: {texts}")
    lost = [one for one, _ in other if one.label in {Label.DUPLICATE, Label.CONTRADICTION}]
    require(len(lost) <= MOST_LOST * len(told), f"the screen loses at most {MOST_LOST:.0%} of what was found")
    require(all(two.label is Label.DISTINCT for _, two in other), "the screen only ever calls pairs distinct")


def _said(verdict: Verdict) -> str:
    return f"{verdict.label}{' by itself' if verdict.auto else ''}"


def _passes(
    clock: Clock, memories: tuple[Memory, ...], every: BundledScorer, screened: BundledScorer
) -> None:
    settings = Settings(scorer="bundled", stale_after=timedelta(days=36_500), min_words=0)  # only merges
    encoder = load_encoder(None, scorer="bundled")
    for scorer in (every, screened):
        plan_of(memories[:12], encoder, scorer, settings)
    count = len(memories)
    names = [f"pass of {count}, {how}" for how in ("every candidate read", "screened", "second")]
    whole = clock.time(names[0], count, lambda: plan_of(memories, encoder, every, settings))
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        parts = CachedEncoder(encoder, cache), CachedScorer(screened, cache)
        first = clock.time(names[1], count, lambda: plan_of(memories, *parts, settings))
        second = clock.time(names[2], count, lambda: plan_of(memories, *parts, settings))
    require(first == second, "the second pass gives the identical plan")
    print(clock.ratio(names[0], names[1]))
    print(clock.ratio(names[1], names[2]))
    for plan, how in ((whole, "every candidate read"), (first, "screened")):
        print(f"{how}: {len(plan.merges)} merges, {len(plan.conflicts)} conflicts, {len(plan.unsure)} unsure")


if __name__ == "__main__":
    sys.exit(main())
