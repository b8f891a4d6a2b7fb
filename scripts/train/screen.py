"""Fits the screen before the network on worlds: `python -m mem0_dream.scripts.train.screen --data DIR`.

Groups of every kind that a store may hold are made of each world, so that ranks are learnt at every size.
"""

import itertools
import logging
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.bundled.calibrator import Calibrator
from ...models.bundled.scorer import FOLDER
from ...models.bundled.screen import COLUMNS, LATE_NAMES, SCREEN_FILE, Limits, Screen
from ...models.encoder import SentenceEncoder, TokenVectors
from ...models.scorer import CONTRADICTION, DISTINCT, DUPLICATE, PairInput, PairTable
from ...models.text.words import exact_key
from ..evaluate import labelled as held
from ..evaluate.labelled import World, WorldLine
from .calibrate import Encode, Floats, flatten, near_pairs
from .scorer import write_sums

log = logging.getLogger(__name__)

KEPT = {DUPLICATE: 0.995, CONTRADICTION: 0.99}  # share of the candidates of each label that must be read
WORDS_SHARE = 0.3  # of what may be lost, the share that the first step may lose
WHOLE, CATEGORY, BLOCKS, SAMPLE, SEVERAL = range(5)
COUNTED = (WHOLE, SEVERAL)  # kinds of groups at natural size: the limits must hold on each

FOLDS = 4
TOGETHER = 5  # worlds in one group of kind `SEVERAL`
SHARES = (0.12, 0.3, 0.6)  # of a world, in groups of kinds `BLOCKS` and `SAMPLE`
DISTINCT_KEPT = 0.08  # share of the distinct pairs that trees are fitted on; each weighs the more
ROUNDS, RATE, LEAVES, SMALLEST_LEAF, PENALTY = 100, 0.12, 16, 30, 3.0
LEAST_FREQUENT = 0.5  # added to the number of texts that have a token


class Sampled(NamedTuple):
    """Candidates of all groups: what they are, how many pairs each stands for, and where they are from."""

    pairs: list[PairInput]
    label: NDArray[np.int64]
    weight: Floats
    kind: NDArray[np.int64]
    fold: NDArray[np.int64]
    style: NDArray[np.str_]


def sample(worlds: Sequence[World], encode: Encode, *, seed: int) -> Sampled:
    """Labelled candidates of all groups of the worlds; of the distinct ones a share, drawn."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[PairInput, int, float, int, int, str]] = []
    for kind, fold, style, lines in _groups(worlds, rng):
        for pair, what in candidates(lines, encode):
            share = DISTINCT_KEPT if what == DISTINCT else 1.0
            if share == 1.0 or rng.random() < share:
                rows.append((pair, what, 1.0 / share, kind, fold, style))
    pairs, *columns = zip(*rows, strict=True)
    return Sampled(list(pairs), *map(np.array, columns))


def candidates(lines: Sequence[WorldLine], encode: Encode) -> Iterator[tuple[PairInput, int]]:
    """The labelled candidates among some lines, as the program finds them in one scope and category."""
    kept = list({exact_key(line.judged): line for line in reversed(lines)}.values())[::-1]
    if len(kept) < 2:
        return
    for i, j, cosine, context in near_pairs([line.judged for line in kept], encode):
        a, b = kept[i], kept[j]
        if (what := held.label(a, b)) != held.UNLABELLED:
            dates = a.stated_at, b.stated_at
            yield PairInput(a.judged, b.judged, cosine, a.category, *dates, context), what


def _groups(
    worlds: Sequence[World], rng: np.random.Generator
) -> Iterator[tuple[int, int, str, Sequence[WorldLine]]]:
    """(kind, fold, style, lines) of every group; worlds of one fold and style are put together."""
    by_style = defaultdict[str, list[World]](list)
    for world in worlds:
        fold = len(by_style[world.style]) % FOLDS
        by_style[world.style].append(world)
        yield from ((kind, fold, world.style, lines) for kind, lines in _parts(world, rng))
    for style, members in by_style.items():
        for fold, start in ((f, at) for f in range(FOLDS) for at in range(f, len(members), FOLDS * TOGETHER)):
            part = enumerate(members[start : start + FOLDS * TOGETHER : FOLDS])
            apart = [replace(x, block=x.block + 10_000 * at) for at, one in part for x in one.lines]
            yield SEVERAL, fold, style, apart


def _parts(world: World, rng: np.random.Generator) -> Iterator[tuple[int, Sequence[WorldLine]]]:
    yield WHOLE, world.lines
    for category in dict.fromkeys(line.category for line in world.lines):
        lines = [line for line in world.lines if line.category == category]
        yield from [(CATEGORY, lines)] * (len(lines) < len(world.lines))
    blocks = sorted({line.block for line in world.lines})
    for share in SHARES:
        chosen = set(rng.choice(blocks, max(1, int(len(blocks) * share)), replace=False).tolist())
        yield BLOCKS, [line for line in world.lines if line.block in chosen]
        yield SAMPLE, [line for line in world.lines if rng.random() < share]


def fit_trees(rows: Floats, wanted: NDArray[np.bool_], weight: Floats, *, seed: int) -> Calibrator:
    """Trees whose first column is the probability that a pair must be read."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, learning_rate=RATE, max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF,
        l2_regularization=PENALTY, early_stopping=False, random_state=seed,
    )  # fmt: skip
    trees = flatten([model.fit(rows, wanted, sample_weight=weight)])
    return replace(trees, baseline=np.hstack([trees.baseline, np.zeros((1, 1))]))  # against a score of 0


def limit(
    rows: Floats, data: Sampled, chosen: NDArray[np.bool_], *, seed: int, lost: float = 1.0
) -> tuple[float, NDArray[np.bool_]]:
    """Highest score, from trees that never saw a pair's world, below which no kind of group loses too much.

    Pairs that are not `chosen` are lost already; `lost` is the share of what may be lost up to here. With the
    limit comes which pairs it keeps; the shares of them, by kind and style, go to the log.
    """
    score = np.zeros(len(rows))
    for fold in range(FOLDS):
        held, fitted = data.fold == fold, chosen & (data.fold != fold)
        trees = fit_trees(rows[fitted], data.label[fitted] != DISTINCT, data.weight[fitted], seed=seed)
        score[held] = trees.probabilities(rows[held])[:, 0]
    limits = []
    for what, kind in itertools.product(KEPT, COUNTED):
        of_kind = (data.label == what) & (data.kind == kind)
        may_lose = int((1 - KEPT[what]) * lost * of_kind.sum()) - int((of_kind & ~chosen).sum())
        scores = np.sort(score[of_kind & chosen])
        limits.append(scores[max(0, may_lose)] if len(scores) else 0.0)
    kept = chosen & (score >= min(limits))
    parts = {f"kind {kind}": data.kind == kind for kind in range(5)}
    parts |= {str(style): (data.kind == WHOLE) & (data.style == style) for style in np.unique(data.style)}
    for name, inside in parts.items():
        of_label = [inside & (data.label == what) for what in KEPT]
        shares = (kept[one].mean() if one.any() else 1.0 for one in of_label)
        read = (data.weight * kept)[inside].sum() / data.weight[inside].sum()
        log.info("%s: duplicates %.4f, contradictions %.4f, read %.4f", name, *shares, read)
    return float(min(limits)), kept


def fit(data: Sampled, token_weight: NDArray[np.int64], *, seed: int) -> Screen:
    """A screen fitted on everything, with limits from cross-validation."""
    empty = fit_trees(np.zeros((2, 1)), np.array([True, False]), np.ones(2), seed=seed)
    draft = Screen(token_weight, empty, empty, Limits(0, 0))
    rows = draft.word_rows(PairTable.of(data.pairs))
    first, kept = limit(rows, data, np.ones(len(rows), dtype=bool), seed=seed, lost=WORDS_SHARE)
    late = np.zeros((len(rows), len(LATE_NAMES)))
    late[kept] = draft.late_rows([data.pairs[at] for at in np.flatnonzero(kept)])
    both = np.hstack([rows, late])
    second, _ = limit(both, data, kept, seed=seed)
    wanted = data.label != DISTINCT
    words = fit_trees(rows, wanted, data.weight, seed=seed)
    tokens = fit_trees(both[kept], wanted[kept], data.weight[kept], seed=seed)
    return Screen(token_weight, words, tokens, Limits(first, second))


def save(screen: Screen, path: Path) -> None:
    """Write everything to one `.npz` file."""
    arrays = screen.words.arrays("words_") | screen.late.arrays("late_")
    arrays |= {"token_weight": screen.token_weight.astype(np.int16)}
    np.savez_compressed(path, limits=np.array(screen.limits), columns=np.array(COLUMNS), **arrays)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit on the worlds of the data folder and write the file beside the weights."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds worlds/")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="weights folder")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    worlds = held.read_worlds(options.data / "worlds")
    texts = sorted({line.judged for world in worlds for line in world.lines})
    vectors = dict(zip(texts, SentenceEncoder().encode(texts), strict=True))
    data = sample(worlds, lambda some: np.stack([vectors[text] for text in some]), seed=options.seed)
    tokens = TokenVectors()
    count = np.zeros(tokens.vocabulary)
    for row in tokens.ids(texts):
        count[list(set(row))] += 1
    # How much a token says: hundredths of the logarithm of how rarely a text has it.
    weight = np.round(100 * np.log((len(texts) + 1) / (count + LEAST_FREQUENT))).astype(np.int64)
    screen = fit(data, weight, seed=options.seed)
    save(screen, options.folder / SCREEN_FILE)
    log.info("%s: %s", options.folder, write_sums(options.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
