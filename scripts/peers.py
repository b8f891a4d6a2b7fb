"""Beside others, on the same texts and vectors: `python scripts/peers.py --worlds FOLDER --chart FILE.png`.

SemHash, `paraphrase_mining` of sentence-transformers and a script that compares the words of all pairs are
asked for the near pairs of all texts as one collection, and for what goes from each labelled world. A removal
is right if the world says that what stays in its place is a duplicate; where it says nothing, it is not
counted. What must hold is asserted before a time is printed: seconds of the processor, one thread.
"""

import itertools
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import faiss
import numpy as np
import torch
from mem0_dream.errors import MissingExtraError
from mem0_dream.models.encoder import Encoder
from mem0_dream.models.keywords import DUPLICATE_COSINE, DUPLICATE_OVERLAP
from mem0_dream.models.registry import load_encoder, load_scorer
from mem0_dream.models.scorer import DUPLICATE, PairScorer
from mem0_dream.models.text.words import overlap
from mem0_dream.pipeline.judging.candidates import find_candidates
from mem0_dream.pipeline.kinds import build_plan
from mem0_dream.records import Inventory
from mem0_dream.scripts.benchmark import SAMPLE, SCOPE, require
from mem0_dream.scripts.evaluate import labelled
from mem0_dream.scripts.evaluate.labelled import World
from mem0_dream.scripts.evaluate.metrics import markdown
from mem0_dream.scripts.evaluate.quality import load_semhash
from mem0_dream.settings import Settings
from mem0_dream.testing import InMemoryStore
from numpy.typing import NDArray

NEAR = DUPLICATE_COSINE  # from which the others take two texts for duplicates: SemHash's default
OURS = "mem0-dream"
HEAD = {
    "": "{}", "near pairs found": "{:.1%}", "labelled duplicates": "{:.1%}", "seconds": "{:.2f}",
    "removed rightly": "{}", "wrongly": "{}", "seconds in all": "{:.1f}",
}  # fmt: skip
COLOURS = {"right": "#0072B2", "wrong": "#D55E00", "search": "#999999", "whole": "#333333"}

T = TypeVar("T")
Pairs = Iterable[tuple[int, int]]  # rows of the texts: near ones, or what goes with what stays in its place
Way = Callable[[World, NDArray[np.float32]], Pairs]


class Row(NamedTuple):
    """What one of them did; seconds are the processor's."""

    name: str
    near: float  # share of the pairs of cosine >= `NEAR` among all texts that it finds
    same: float  # share of the labelled duplicates that it finds among all texts
    search: float  # seconds of that, given the vectors
    right: int  # removals from the worlds of which what stays is a duplicate
    wrong: int  # removals of which it is something else
    whole: float  # seconds of all worlds, from texts to removals


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask each of them; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=Path, help="folder of worlds; read are those that no training saw")
    parser.add_argument("--memories", type=int, default=2_000, help="about so many, in whole worlds")
    parser.add_argument("--scorer", default="bundled", help=f"of {OURS}")
    parser.add_argument("--encoder", help="of all, instead of the packaged MiniLM; 'words' needs none")
    parser.add_argument("--chart", type=Path, help="PNG file to draw")
    options = parser.parse_args(arguments)
    try:
        load_semhash()
    except MissingExtraError as error:
        print(f"peers: {error}", file=sys.stderr)
        return error.exit_code
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    worlds = chosen(options.worlds, options.memories)
    rows = compared(worlds, load_encoder(options.encoder, scorer=options.scorer), options.scorer)
    title = f"{sum(len(world.lines) for world in worlds):,} memories, {repeated(worlds):,} repeat another"
    cells = ([form.format(value) for form, value in zip(HEAD.values(), row, strict=True)] for row in rows)
    print(title, markdown([[*HEAD], *cells]), sep="\n")
    if options.chart:
        draw(rows, options.chart, title=title)
    return 0


def chosen(folder: Path | None, memories: int) -> list[World]:
    """Worlds spread over a folder (of the sample: all), each text once."""
    worlds = labelled.held_out(labelled.read_worlds(folder))[1] if folder else labelled.read_worlds(SAMPLE)
    step = max(1, sum(len(world.lines) for world in worlds) // memories)
    worlds = worlds[::step]
    first = {line.judged: line for world in worlds for line in reversed(world.lines)}
    return [replace(w, lines=tuple(line for line in w.lines if first[line.judged] is line)) for w in worlds]


def repeated(worlds: Iterable[World]) -> int:
    """How many memories could go: all but one of those that state one fact."""
    facts = [(w.style, w.name, line.block) for w in worlds for line in w.lines if line.role in "-="]
    return len(facts) - len(set(facts))


def compared(worlds: Sequence[World], encoder: Encoder, scorer: str) -> list[Row]:
    """What each of them finds among all texts, and removes from the worlds."""
    whole = World("all", "", tuple(line for world in worlds for line in world.lines))
    encoder.encode(_texts(whole)[:1])  # loads the model before the clock starts
    vectors, encoding = _timed(lambda: encoder.encode(_texts(whole)))
    starts = np.cumsum([0, *(len(world.lines) for world in worlds)]).tolist()
    parts = [vectors[start:end] for start, end in itertools.pairwise(starts)]
    near = set(_above(vectors @ vectors.T, NEAR))
    same = {
        (start + i, start + j)
        for start, world in zip(starts, worlds, strict=False)
        for i, j, relation in labelled.labelled_pairs(world)
        if relation == DUPLICATE
    }

    def asked(name: str, find: Way, remove: Way) -> Row:
        list(find(worlds[0], parts[0]))  # imports what it needs
        found, search = _timed(lambda: set(find(whole, vectors)))
        went, spent = _timed(lambda: [list(remove(*store)) for store in zip(worlds, parts, strict=True)])
        share = [len(found & wanted) / max(1, len(wanted)) for wanted in (near, same)]
        spent += encoding if name.endswith(str(NEAR)) else 0.0
        right, wrong = _judged(worlds, went)
        return Row(name, share[0], share[1], search, right, wrong, spent)

    words, judge = f"all pairs, more than {DUPLICATE_OVERLAP:.0%} of words", load_scorer(scorer)
    rows = [
        asked(f"SemHash, {NEAR}", _semhash_near, _semhash_removals),
        asked(f"paraphrase_mining, {NEAR}", _mined, lambda *store: _dropped(_mined(*store))),
        asked(words, _by_words, lambda *store: _dropped(_by_words(*store))),
        asked(f"{OURS}, {scorer}", _candidates, lambda world, _: _merged(world, encoder, judge)),
    ]
    missed = [row.name for row in rows if row.near < 1 and row.name.startswith((OURS, "paraphrase"))]
    require(not missed, f"exact search finds every near pair: {missed}")
    *others, ours = (row.wrong / max(1, row.right + row.wrong) for row in rows)
    require(ours <= min(others), f"the share of wrong removals is lowest here: {ours}, {others}")
    return rows


def _texts(world: World) -> list[str]:
    return [line.judged for line in world.lines]


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _judged(worlds: Sequence[World], went: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int]:
    relations = []
    for world, pairs in zip(worlds, went, strict=True):
        removed = [gone for gone, _ in pairs]
        require(len(removed) == len(set(removed)), "nothing is removed twice")
        require(not {kept for _, kept in pairs} & set(removed), "what stays in a place is not removed")
        relations += [labelled.label(world.lines[gone], world.lines[kept]) for gone, kept in pairs]
    right = relations.count(DUPLICATE)
    return right, len(relations) - right - relations.count(labelled.UNLABELLED)


def _unordered(pairs: Pairs) -> Iterator[tuple[int, int]]:
    return ((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])


def _above(scores: NDArray[np.float32], limit: float) -> Pairs:
    first, second = np.nonzero(np.triu(scores, 1) >= limit)
    return zip(first.tolist(), second.tolist(), strict=True)


def _semhash_near(world: World, vectors: NDArray[np.float32]) -> Pairs:
    index = load_semhash().from_embeddings(vectors, _texts(world), model=None).index
    found = enumerate(index.query_threshold(index.vectors, threshold=NEAR))
    return _unordered((row, int(other)) for row, (others, _) in found for other in others)


def _semhash_removals(world: World, vectors: NDArray[np.float32]) -> Pairs:
    rows = {text: row for row, text in enumerate(_texts(world))}
    whole = load_semhash().from_embeddings(vectors, _texts(world), model=None)
    filtered = whole.self_deduplicate(threshold=NEAR).filtered
    return [(rows[each.record], rows[each.duplicate_of]) for each in filtered]


def _mined(_: World, vectors: NDArray[np.float32]) -> Pairs:
    from sentence_transformers.util import paraphrase_mining_embeddings

    mined = paraphrase_mining_embeddings(torch.from_numpy(vectors))
    return _unordered((i, j) for score, i, j in mined if score >= NEAR)


def _by_words(world: World, _: NDArray[np.float32]) -> Pairs:
    pairs = itertools.combinations(enumerate(_texts(world)), 2)
    return ((i, j) for (i, a), (j, b) in pairs if overlap(a, b) > DUPLICATE_OVERLAP)


def _dropped(pairs: Pairs) -> Pairs:
    """Of each pair the later text goes, unless what would stay is gone already."""
    kept: dict[int, int] = {}
    for stays, goes in sorted(pairs):
        if stays not in kept:
            kept.setdefault(goes, stays)
    return kept.items()


def _candidates(world: World, vectors: NDArray[np.float32]) -> Pairs:
    limits, memories = Settings(), list(labelled.as_memories(world.lines, SCOPE))
    pairs = find_candidates(memories, vectors, floor=limits.floor, neighbours=limits.neighbours)
    return ((int(pair.a), int(pair.b)) for pair in pairs)


def _merged(world: World, encoder: Encoder, scorer: PairScorer) -> Pairs:
    """What `--auto` merges, from the texts alone."""
    inventory = Inventory("peers", tuple(labelled.as_memories(world.lines, SCOPE)))
    plan = build_plan(
        inventory, store=InMemoryStore(), encoder=encoder, scorer=scorer, unattended=True,
        settings=Settings(scorer=scorer.name), now=max(line.stated_at for line in world.lines),
    )  # fmt: skip
    for merge in plan.merges:
        stays = merge.survivor or merge.members[0].id
        yield from ((int(member.id), int(stays)) for member in merge.members if member.id != stays)


def draw(rows: Sequence[Row], file: Path, *, title: str) -> None:
    """What each removed, rightly and wrongly, and how long it took, as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3), layout="constrained")
    removed, seconds = figure.subplots(1, 2, sharey=True)
    names, places = [row.name for row in rows], np.arange(len(rows))
    for axes, parts in ((removed, ("right", "wrong")), (seconds, ("search", "whole"))):
        for number, part in enumerate(parts):
            values = [getattr(row, part) for row in rows]
            bars = axes.barh(places + 0.4 * number - 0.2, values, 0.4, color=COLOURS[part], label=part)
            axes.bar_label(bars, fmt="%.3g", padding=2, fontsize="small")
        axes.legend(frameon=False, fontsize="small")
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.15)
    removed.set(yticks=places, yticklabels=names, xlabel=f"removed: {title}")
    removed.invert_yaxis()
    seconds.set(xscale="log", xlabel="processor seconds: search among all, and whole")
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
