"""Train the bundled scorer: pretrain, finetune, measure, calibrate and export; each can be resumed.

    python -m mem0_dream.scripts.train.scorer pretrain --data DIR --work WORK

`--data` holds `nli/train.tsv.gz` (general NLI) and `pairs/`, `stores/` (labelled development data);
`--work` receives checkpoints. `--base` takes any encoder that `transformers` loads.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from ...models.bundled.calibrator import Calibrator
from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.bundled.scorer import FOLDER, PairReader
from ...models.bundled.weights import WEIGHTS_FILE, unpack
from ...models.encoder import SentenceEncoder
from ...pipeline.judging.cache import Cache, CachedScorer
from ..evaluate.labelled import LabelledPair, block_pairs, exchange_pairs, held_stores, read_files
from ..evaluate.quality import store_report
from ..evaluate.worlds import held_exchanges, held_out, read_exchanges, read_worlds
from .calibrate import FOLDS, cross_validated, fit, fit_folds, report, thresholds
from .edits import edited_pairs, set_examples
from .examples import (
    DUPLICATE,
    Example,
    composed_pairs,
    compound_pairs,
    minimal_pairs,
    read_nli,
    read_nli_test,
    read_short,
    short_pairs,
)
from .labelled import folds, read_labelled
from .network import LoopSettings, add_figures, base_folder, build, export, quantize, train
from .restatements import constructed_pairs, read_restatements, restated_pairs
from .signals import Floats, FoldScorer, Known, as_scored, encoder, load, needed, read_signals, table
from .stories import read_stories, story_pairs
from .worlds import wordings, world_examples

log = logging.getLogger(__name__)

SEED = 7
SHIPPED = "shipped"
"""Name that stands for the weights of the package instead of a checkpoint."""
PRETRAIN_LENGTH = 96
FINETUNE_LENGTH = 192
MINIMAL_REPEATS = 2
ACCURACY_PAIRS = 200
REPLAY_WEIGHT = 0.5
OF_EACH_STYLE = 60  # pairs of the blocks of the kept worlds of one style, drawn once
OF_PAWS = 500
FILES = {
    "hard": "pairs/dev.jsonl", "real": "pairs/real_dev.jsonl", "BEAM": "outside/beam_dev.jsonl",
    "PAWS-X": "outside/pawsx_en_dev.jsonl",
}  # fmt: skip
DRAWN = {
    "blocks": 32_000, "exchanges": 20_000, "constructed": 26_000, "restated": 10_000, "edits": 10_000,
    "keeping": 7_000, "own": 18_000, "outside": 7_000,
}  # fmt: skip
OUR_DATA = Path(__file__).parent.parent / "data"


def main(arguments: list[str] | None = None) -> int:
    """Run one stage; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=sorted(_STAGES))
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, pairs/ and stores/")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints and caches")
    parser.add_argument("--base", default=None, help="base encoder; default: the packaged MiniLM")
    parser.add_argument(
        "--start", default="pretrain", help=f"checkpoint that the stage starts from, or {SHIPPED}"
    )
    parser.add_argument("--name", default=None, help="name of the stage's own checkpoint")
    parser.add_argument("--out", type=Path, default=None, help="where calibrate writes the weights folder")
    parser.add_argument("--seed", type=int, default=SEED, help="draws and order of finetune's examples")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--replay", type=int, default=4_000, help="general pairs that finetune mixes in")
    parser.add_argument("--stop-after", type=int, default=None, help="stop at this step of the schedule")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 products, where the processor has them")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    _STAGES[options.stage](options)
    return 0


def _pretrain(options: argparse.Namespace) -> None:
    torch.manual_seed(SEED)
    network, tokenizer = build(options.base, max_length=PRETRAIN_LENGTH, dropout=False)
    options.name, options.seed = "pretrain", SEED
    _trained(network, tokenizer, options, _general(options), batch_size=64)


def _finetune(options: argparse.Namespace) -> None:
    """Memories of ours; restatements beside exchanges, so that other orders are told apart, not feared.

    All duplicates of worlds and a share of their other pairs, exchanges, constructions and edits by program,
    contrast sets and stories, with a share of general pairs and public sets against forgetting.
    """
    rng = random.Random(options.seed)  # noqa: S311
    worlds, _ = held_out(read_worlds(options.data / "worlds"))
    blocks = world_examples(worlds, encoder(base_folder(options.base)), seed=options.seed)
    seen, _ = held_exchanges(read_exchanges(options.data / "exchanges"))
    relations, patterns = read_restatements(OUR_DATA / "restatements.txt")
    groups = [*wordings(worlds), *(one[0] for one in seen)]
    outside = read_nli(options.data / "outside" / "train.tsv.gz", seed=options.seed)
    general = [*outside[: DRAWN["outside"]], *_general(options, 2)[: options.replay]]
    examples = [
        *(one for one in blocks if one.memory == DUPLICATE),
        *_some([one for one in blocks if one.memory != DUPLICATE], DRAWN["blocks"], rng),
        *_some(list(set_examples(seen)) * 3, DRAWN["exchanges"], rng),
        *constructed_pairs(relations, seed=options.seed, count=DRAWN["constructed"]),
        *restated_pairs(groups, patterns, seed=options.seed, count=DRAWN["restated"]),
        *edited_pairs(groups, seed=options.seed, changing=DRAWN["edits"], keeping=DRAWN["keeping"]),
        *_some(_own_examples(options), DRAWN["own"], rng),
        *(replace(one, weight=REPLAY_WEIGHT) for one in general),
    ]
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH, dropout=False)
    _start(network, options)
    _trained(network, tokenizer, options, examples, batch_size=32)


def _own_examples(options: argparse.Namespace) -> list[Example]:
    """Contrast sets, minimal pairs, composed memories and stories; each pair beside its mirror image."""
    short = read_short(OUR_DATA / "contrast_short.jsonl")
    return [
        *short_pairs(short),
        *list(minimal_pairs(OUR_DATA / "minimal.txt")) * MINIMAL_REPEATS,
        *compound_pairs(OUR_DATA / "contrast_compound.jsonl"),
        *composed_pairs(short, seed=options.seed),
        *story_pairs(read_stories(OUR_DATA / "stories.txt"), seed=options.seed),
    ]


def _general(options: argparse.Namespace, offset: int = 0) -> list[Example]:
    return read_nli(options.data / "nli" / "train.tsv.gz", seed=options.seed + offset)


def _some(examples: Sequence[Example], most: int, rng: random.Random) -> list[Example]:
    return rng.sample(examples, min(most, len(examples)))


def _trained(
    network: PairNetwork,
    tokenizer: PairTokenizer,
    options: argparse.Namespace,
    examples: list[Example],
    *,
    batch_size: int,
) -> None:
    settings = LoopSettings(
        options.name or options.stage, epochs=options.epochs, batch_size=batch_size,
        learning_rate=options.rate, bf16=options.bf16, seed=options.seed, threads=options.threads,
        stop_after=options.stop_after,
    )  # fmt: skip
    log.info("%d examples", len(examples))
    train(network, tokenizer, examples, folder=options.work, settings=settings)


def _start(network: PairNetwork, options: argparse.Namespace) -> None:
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


def _calibrate(options: argparse.Namespace) -> None:
    """Signals, cross-validation, thresholds and the weights folder, all of one checkpoint.

    The signals are those of every labelled pair that passes the screen, under the rounded weights.
    """
    encode = encoder(base_folder(options.base))
    every = read_labelled(options.data, encode)
    scored = as_scored(every, encode)
    passes = needed(scored)
    pairs = [pair for pair, keep in zip(every, passes, strict=True) if keep]
    inputs = [one for one, keep in zip(scored, passes, strict=True) if keep]
    log.info("%d of %d labelled pairs pass the screen", len(pairs), len(every))
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options)
    quantize(network)
    cache = options.work / f"{options.start}.signals"
    data = table(pairs, inputs, read_signals(network, tokenizer, inputs, cache))
    fold = folds(pairs, FOLDS)
    calibrators = fit_folds(data, fold, seed=SEED)
    probability = cross_validated(data, fold, calibrators)
    fitted = thresholds(probability, data)
    reported: dict[str, Any] = report(probability, data, fitted)
    print(json.dumps({"thresholds": asdict(fitted), **reported}, indent=1), flush=True)
    target, shipped = options.out or options.work / "memory_nli", fit(data, seed=SEED)
    parts: dict[str, Any] = {"max_length": FINETUNE_LENGTH, "figures": reported, "base": options.base}
    export(network, shipped, fitted, folder=target, **parts)
    if options.base is None:
        fold_of = dict(zip(data.group.tolist(), fold, strict=True))
        reported["in_stores"] = _inside_stores(options, target, calibrators, fold_of, load(cache))
        add_figures(target, reported)


def _inside_stores(
    options: argparse.Namespace,
    target: Path,
    calibrators: Mapping[int, Calibrator],
    fold_of: Mapping[str, int],
    known: Known,
) -> dict[str, dict[str, int]]:
    """What the program does to each labelled store and world with the calibrator of its fold."""
    stores = held_stores(options.data)
    folder = options.work / "in_stores"
    folder.mkdir(parents=True, exist_ok=True)
    cache = Cache(folder)
    by_fold = {
        number: CachedScorer(FoldScorer(target, number, calibrator, known), cache)
        for number, calibrator in calibrators.items()
    }
    scorers = {one.name: by_fold[fold_of[one.name]] for members in stores.values() for one in members}
    table = store_report(stores, scorers, SentenceEncoder())
    for name, row in table.items():
        log.info("%s: %s", name, row)
    return table


def _measure(options: argparse.Namespace) -> None:
    """Figures of the network alone on kept material, and its accuracy on general NLI test sets."""
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options)
    quantize(network)
    torch.set_num_threads(options.threads)
    reader = PairReader(network, tokenizer)
    for name, pairs in kept_pairs(options.data).items():
        label = np.array([pair.label for pair in pairs])
        print(name, json.dumps(figures(memory_answers(reader, pairs), label)), flush=True)
    for path in sorted((options.data / "nli" / "eval").glob("*.tsv.gz")):
        examples = read_nli_test(path)[:ACCURACY_PAIRS]
        if examples:
            answers = reader.read([(example.a, example.b) for example in examples])
            right = [np.argmax(answers[e.a, e.b][0]) == np.argmax(e.entailment) for e in examples]
            print(f"{path.name.removesuffix('.tsv.gz')}: {np.mean(right):.3f} of {len(right)}", flush=True)


def kept_pairs(data: Path) -> dict[str, list[LabelledPair]]:
    """The pairs of each set that the folder has."""
    sets: dict[str, list[LabelledPair]] = {}
    for name, file in FILES.items():
        if (data / file).is_file():
            rows = read_files([data / file])[0]
            sets[name] = _sample(rows, OF_PAWS) if name == "PAWS-X" else rows
    exchanges = held_exchanges(read_exchanges(data / "exchanges"))[1]
    sets["exchanges"] = [pair for one in exchanges for pair in exchange_pairs(one)]
    styles: dict[str, list[LabelledPair]] = defaultdict(list)
    for world in held_out(read_worlds(data / "worlds"))[1]:
        styles[world.style] += block_pairs(world)
    sets["worlds"] = [pair for pairs in styles.values() for pair in _sample(pairs, OF_EACH_STYLE)]
    return {name: pairs for name, pairs in sets.items() if pairs}


def _sample(pairs: list[LabelledPair], most: int) -> list[LabelledPair]:
    return random.Random(1).sample(pairs, min(most, len(pairs)))  # noqa: S311


def memory_answers(reader: PairReader, pairs: list[LabelledPair]) -> Floats:
    """The memory head's probabilities [n, 3], mean of both orders."""
    read = reader.read(sorted({ordered for p in pairs for ordered in ((p.a, p.b), (p.b, p.a))}))
    return np.array([(read[p.a, p.b][1] + read[p.b, p.a][1]) / 2 for p in pairs])


def figures(probability: Floats, label: np.ndarray) -> dict[str, float]:
    """Macro-F1, average precision of duplicates, contradictions found, and who is above 0.95."""
    from sklearn.metrics import average_precision_score, f1_score

    best, same = probability.argmax(axis=1), label == 0
    sure = probability[:, 0] >= 0.95
    found = {"macro_f1": f1_score(label, best, labels=np.unique(label), average="macro", zero_division=0)}
    if same.any() and not same.all():
        found |= {
            "duplicates_ap": average_precision_score(same, probability[:, 0]),
            "duplicates_sure": sure[same].mean(),
            "others_sure": sure[~same].mean(),
        }
    if (label == 1).any():
        found["contradictions_found"] = (best[label == 1] == 1).mean()
    return {name: round(float(value), 3) for name, value in found.items()}


_STAGES = {
    "pretrain": _pretrain, "finetune": _finetune, "measure": _measure, "calibrate": _calibrate,
}  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(main())
