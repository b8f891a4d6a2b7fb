"""Train the bundled scorer: pretrain, finetune, calibrate and export; each can be resumed.

    python -m mem0_dream.scripts.train.scorer pretrain --data DIR --work WORK

`--data` holds `nli/train.tsv.gz` (general NLI) and `pairs/`, `stores/` (labelled development data);
`--work` receives checkpoints. `--base` takes any encoder that `transformers` loads.
"""

import json
import logging
import random
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from ...models.bundled.calibrator import Calibrator
from ...models.bundled.network import PairNetwork
from ...models.bundled.scorer import FOLDER
from ...models.bundled.weights import WEIGHTS_FILE, unpack
from ...models.encoder import SentenceEncoder
from ...pipeline.judging.cache import Cache, CachedEncoder, CachedScorer
from ..evaluate import labelled as held
from ..evaluate.quality import store_report
from . import calibrate, edits, labelled
from . import examples as pairs_of
from .examples import DATA, DUPLICATE, Example, read_nli
from .network import add_figures, build, export, pack, train

log = logging.getLogger(__name__)

SEED = 7
NLI = Path("nli", "train.tsv.gz")
SHIPPED = "shipped"  # stands for the weights of the package instead of a checkpoint
PRETRAIN_LENGTH = 96
FINETUNE_LENGTH = 192
MINIMAL_REPEATS = 2
REPLAY_WEIGHT = 0.5
DRAWN: dict[str, int] = pairs_of.TABLE["drawn"]


def main(arguments: list[str] | None = None) -> int:
    """Run one stage; returns the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=sorted(_STAGES))
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, pairs/ and stores/")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints and caches")
    parser.add_argument("--base", help="base encoder; default: the packaged MiniLM")
    parser.add_argument("--start", default="pretrain", help=f"checkpoint to start from, or {SHIPPED}")
    parser.add_argument("--name", help="name of the stage's own checkpoint")
    parser.add_argument("--out", type=Path, help="where calibrate writes the weights folder")
    parser.add_argument("--seed", type=int, default=SEED, help="draws and order of finetune's examples")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--replay", type=int, default=4_000, help="general pairs that finetune mixes in")
    parser.add_argument("--stop-after", type=int, help="stop at this step of the schedule")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 products, where the processor has them")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    options.work.mkdir(parents=True, exist_ok=True)
    _STAGES[options.stage](options)
    return 0


def _pretrain(options: Namespace) -> None:
    torch.manual_seed(SEED)
    network, tokenizer = build(options.base, max_length=PRETRAIN_LENGTH, dropout=False)
    options.name, options.seed = "pretrain", SEED
    train(network, tokenizer, read_nli(options.data / NLI, seed=SEED), batch_size=64, options=options)


def _finetune(options: Namespace) -> None:
    """Memories of ours; restatements beside exchanges, so that other orders are told apart, not feared.

    All duplicates of worlds and a share of their other pairs, exchanges, constructions and edits by program,
    contrast sets and stories, with a share of general pairs and public sets against forgetting.
    """
    rng, seed = random.Random(options.seed), options.seed  # noqa: S311

    def some(examples: Sequence[Example], kind: str) -> list[Example]:
        return rng.sample(examples, min(DRAWN[kind], len(examples)))

    worlds, _ = held.held_out(held.read_worlds(options.data / "worlds"))
    blocks = pairs_of.world_examples(worlds, _encode(options), seed=seed)
    seen, _ = held.read_exchanges(options.data / "exchanges")
    relations, patterns = edits.read_restatements(DATA / "restatements.txt")
    groups = [*pairs_of.wordings(worlds), *(one[0] for one in seen)]
    outside = read_nli(options.data / "outside" / "train.tsv.gz", seed=seed)
    short = pairs_of.read_short(DATA / "contrast_short.jsonl")
    own = [
        *pairs_of.set_pairs(short),
        *list(pairs_of.set_pairs(pairs_of.read_minimal(DATA / "minimal.txt"))) * MINIMAL_REPEATS,
        *pairs_of.compound_pairs(DATA / "contrast_compound.jsonl"),
        *pairs_of.composed_pairs(short, seed=seed),
        *pairs_of.story_pairs(pairs_of.read_stories(DATA / "stories.txt"), seed=seed),
    ]
    general = [*outside[: DRAWN["outside"]], *read_nli(options.data / NLI, seed=seed + 2)[: options.replay]]
    examples = [
        *(one for one in blocks if one.memory == DUPLICATE),
        *some([one for one in blocks if one.memory != DUPLICATE], "blocks"),
        *some(list(pairs_of.exchange_examples(seen)) * 3, "exchanges"),
        *edits.constructed_pairs(relations, seed=seed, count=DRAWN["constructed"]),
        *edits.restated_pairs(groups, patterns, seed=seed, count=DRAWN["restated"]),
        *edits.edited_pairs(groups, seed=seed, changing=DRAWN["edits"], keeping=DRAWN["keeping"]),
        *some(own, "own"),
        *(one._replace(weight=REPLAY_WEIGHT) for one in general),
    ]
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH, dropout=False)
    _start(network, options)
    train(network, tokenizer, examples, batch_size=32, options=options)


def _encode(options: Namespace) -> labelled.Encode:
    """Embeds each text once, ever."""
    return CachedEncoder(SentenceEncoder(options.base), Cache(options.work)).encode


def _start(network: PairNetwork, options: Namespace) -> None:
    """Load the checkpoint `--start` of the work folder, or the mean of several, joined by "+".

    `SHIPPED` stands for the weights of the package. The mean of weights that were trained from one start is
    often better than each of them (Wortsman et al. 2022, arXiv:2203.05482).
    """
    own = network.state_dict()

    def state_of(name: str) -> dict[str, Tensor]:
        if name == SHIPPED:
            shipped: dict[str, Tensor] = own | unpack(load_file(FOLDER / WEIGHTS_FILE))
            return shipped
        state: dict[str, Tensor] = torch.load(options.work / f"{name}.pt", weights_only=True)["network"]
        return state

    first, *others = map(state_of, options.start.split("+"))
    for key in own if others else ():
        tensors = [state[key] for state in (first, *others)]
        if not all(torch.equal(tensor, first[key]) for tensor in tensors):  # frozen: kept to the bit
            mean = torch.stack([tensor.double() for tensor in tensors]).mean(dim=0)
            first[key] = mean.to(own[key].dtype)
    network.load_state_dict(first)


def _calibrate(options: Namespace) -> None:
    """Signals, cross-validation, thresholds and the weights folder, all of one checkpoint.

    The signals are those of every labelled pair that passes the screen, under the rounded weights.
    """
    encode = _encode(options)
    every = labelled.read_labelled(options.data, encode)
    scored = labelled.as_scored(every, encode)
    kept = np.flatnonzero(labelled.needed(scored))
    pairs, inputs = [every[at] for at in kept], [scored[at] for at in kept]
    log.info("%d of %d labelled pairs pass the screen", len(pairs), len(every))
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options)
    network.load_state_dict(unpack(pack(network)), strict=False)  # rounded, as they will be shipped
    cache = options.work / f"{options.start}.signals"
    data = labelled.table(pairs, inputs, labelled.read_signals(network, tokenizer, inputs, cache))
    fold = labelled.folds(pairs, calibrate.FOLDS)
    probability, calibrators = calibrate.cross_validated(data, fold, seed=SEED)
    fitted = calibrate.thresholds(probability, data)
    reported: dict[str, Any] = calibrate.report(probability, data, fitted)
    print(json.dumps({"thresholds": asdict(fitted), **reported}, indent=1), flush=True)
    target, shipped = options.out or options.work / "memory_nli", calibrate.fit(data, seed=SEED)
    export(network, shipped, fitted, reported, folder=target, max_length=FINETUNE_LENGTH, base=options.base)
    if options.base is None:
        fold_of = dict(zip(data.group.tolist(), fold, strict=True))
        reported["in_stores"] = _inside_stores(options, target, calibrators, fold_of)
        add_figures(target, reported)


def _inside_stores(
    options: Namespace, target: Path, calibrators: Mapping[int, Calibrator], fold_of: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """What the program does to each labelled store and world with the calibrator of its fold."""
    stores, cache = held.held_stores(options.data), Cache(options.work)
    by_fold = {
        number: CachedScorer(labelled.FoldScorer(target, number, calibrator), cache)
        for number, calibrator in calibrators.items()
    }
    scorers = {one.name: by_fold[fold_of[one.name]] for members in stores.values() for one in members}
    table = store_report(stores, scorers, SentenceEncoder())
    for name, row in table.items():
        log.info("%s: %s", name, row)
    return table


_STAGES = {"pretrain": _pretrain, "finetune": _finetune, "calibrate": _calibrate}

if __name__ == "__main__":
    raise SystemExit(main())
