"""Train the bundled scorer: pretrain -> finetune (-> adapt) -> calibrate and export, each resumable.

    python -m mem0_dream.scripts.train.scorer pretrain --data DIR --work WORK

`--data` holds `nli/train.tsv.gz` (general NLI) and `pairs/`, `stores/` (labelled development data);
`--work` receives checkpoints. `--base` takes any encoder that `transformers` loads.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...models.bundled.calibrator import Calibrator
    from ...models.bundled.features import PairSignals
    from ...models.bundled.network import PairNetwork
    from .calibrate import Limits
    from .examples import Example
    from .signals import Known, Table

log = logging.getLogger(__name__)

SEED = 7
SHIPPED = "shipped"
"""Name that stands for the weights of the package instead of a checkpoint."""
PRETRAIN_LENGTH = 96
FINETUNE_LENGTH = 192
MINIMAL_REPEATS = 2
ACCURACY_PAIRS = 500
REPLAY_WEIGHT = 0.5
OWN_REPLAY = 8_000
OUR_DATA = Path(__file__).parent.parent / "data"


def main(arguments: list[str] | None = None) -> int:
    """Run one stage; returns the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    _STAGES[options.stage](options)
    return 0


def _parser() -> argparse.ArgumentParser:
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
    parser.add_argument(
        "--folds-out",
        type=Path,
        default=None,
        help="where calibrate --cross-fitted writes each fold's weights",
    )
    parser.add_argument("--seed", type=int, default=SEED, help="draws and order of finetune's examples")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--both-orders", action="store_true", help="finetune on each pair in both orders")
    parser.add_argument("--replay", type=int, default=4_000, help="general pairs that finetune mixes in")
    parser.add_argument("--freeze", type=int, default=2, help="lowest layers that finetune leaves alone")
    parser.add_argument("--cross-fitted", action="store_true", help="calibrate on adapt's fold networks")
    parser.add_argument("--stop-after", type=int, default=None, help="stop at this step of the schedule")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 products, where the processor has them")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def _pretrain(options: argparse.Namespace) -> None:
    import torch

    from . import examples as train_examples
    from . import loop as train_loop
    from .base import build

    torch.manual_seed(SEED)
    examples = train_examples.read_nli(options.data / "nli" / "train.tsv.gz", seed=SEED)
    network, tokenizer = build(options.base, max_length=PRETRAIN_LENGTH, dropout=False)
    settings = train_loop.LoopSettings(
        "pretrain",
        epochs=options.epochs,
        batch_size=64,
        learning_rate=options.rate,
        bf16=options.bf16,
        seed=SEED,
        threads=options.threads,
        stop_after=options.stop_after,
    )
    train_loop.train(network, tokenizer, examples, folder=options.work, settings=settings)


def _own_examples(options: argparse.Namespace) -> list[Example]:
    """Contrast sets, minimal pairs, composed memories and stories; each pair beside its mirror image."""
    from . import contrast as train_contrast
    from . import stories as train_stories

    short = train_contrast.read_short(OUR_DATA / "contrast_short.jsonl")
    minimal = list(train_contrast.minimal_pairs(OUR_DATA / "minimal.txt"))
    return [
        *train_contrast.short_pairs(short),
        *(example for _ in range(MINIMAL_REPEATS) for example in minimal),
        *train_contrast.compound_pairs(OUR_DATA / "contrast_compound.jsonl"),
        *train_contrast.composed_pairs(short, seed=options.seed),
        *train_stories.story_pairs(train_stories.read_stories(OUR_DATA / "stories.txt"), seed=options.seed),
    ]


def _examples_of_finetune(options: argparse.Namespace) -> list[Example]:
    """Our own pairs, with a share of general pairs against forgetting."""
    from . import examples as train_examples

    general = train_examples.read_nli(options.data / "nli" / "train.tsv.gz", seed=options.seed + 1)
    mirrored = _own_examples(options)
    # Each pair stands next to its mirror image; one order of each is half the work of an epoch.
    rng = random.Random(options.seed)  # noqa: S311
    chosen = [mirrored[at + rng.randrange(2)] for at in range(0, len(mirrored), 2)]
    examples = mirrored if options.both_orders else chosen
    return examples + [replace(example, weight=REPLAY_WEIGHT) for example in general[: options.replay]]


def _finetune(options: argparse.Namespace) -> None:
    from . import loop as train_loop
    from .base import build

    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH, dropout=False)
    _start(network, options, options.start)
    for layer in network.encoder.encoder.layer[: options.freeze]:
        layer.requires_grad_(False)
    settings = train_loop.LoopSettings(
        options.name or "finetune", epochs=options.epochs, batch_size=32, learning_rate=options.rate,
        bf16=options.bf16, seed=options.seed, threads=options.threads, stop_after=options.stop_after,
    )  # fmt: skip
    examples = _examples_of_finetune(options)
    train_loop.train(network, tokenizer, examples, folder=options.work, settings=settings)


def _examples_of_worlds(options: argparse.Namespace) -> list[Example]:
    """Pairs of the worlds that are not kept for calibration, with a share of ours and of general ones."""
    from ..evaluate.worlds import held_out, read_worlds
    from . import examples as train_examples
    from . import signals as train_signals
    from . import worlds as train_worlds
    from .base import base_folder

    encode = train_signals.encoder(base_folder(options.base))
    worlds, _ = held_out(read_worlds(options.data / "worlds"))
    examples = train_worlds.world_examples(worlds, encode, seed=options.seed)
    ours = _own_examples(options)
    general = train_examples.read_nli(options.data / "nli" / "train.tsv.gz", seed=options.seed + 2)
    rng = random.Random(options.seed)  # noqa: S311
    examples += rng.sample(ours, min(OWN_REPLAY, len(ours)))
    return examples + [replace(example, weight=REPLAY_WEIGHT) for example in general[: options.replay]]


def _worlds(options: argparse.Namespace) -> None:
    """Finetune on the worlds, from a checkpoint or from the shipped weights (`--start shipped`)."""
    from . import loop as train_loop
    from .base import build

    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH, dropout=False)
    _start(network, options, options.start)
    settings = train_loop.LoopSettings(
        options.name or "worlds", epochs=options.epochs, batch_size=32, learning_rate=options.rate,
        bf16=options.bf16, seed=options.seed, threads=options.threads, stop_after=options.stop_after,
    )  # fmt: skip
    examples = _examples_of_worlds(options)
    log.info("%d examples", len(examples))
    train_loop.train(network, tokenizer, examples, folder=options.work, settings=settings)


def _start(network: PairNetwork, options: argparse.Namespace, name: str) -> None:
    """Load a checkpoint of the work folder, or the shipped weights under the name `SHIPPED`."""
    from safetensors.torch import load_file

    from ...models.bundled.scorer import FOLDER
    from ...models.bundled.weights import WEIGHTS_FILE, unpack
    from .loop import load_checkpoint

    if name == SHIPPED:
        network.load_state_dict(unpack(load_file(FOLDER / WEIGHTS_FILE)), strict=False)
    else:
        load_checkpoint(network, options.work / f"{name}.pt")


def _adapt(options: argparse.Namespace) -> None:
    """A network per fold that never saw it, and one that saw all."""
    from . import adapt as train_adapt
    from . import calibrate as train_calibrate
    from . import labelled as train_labelled
    from . import loop as train_loop
    from . import signals as train_signals
    from .base import base_folder, build

    encode = train_signals.encoder(base_folder(options.base))
    pairs = [pair for pair in train_labelled.read_labelled(options.data, encode) if pair.origin != "world"]
    fold = train_labelled.folds(pairs, train_calibrate.FOLDS)
    name = options.name or "adapt"
    stages = [(train_adapt.fold_name(name, held), held) for held in range(train_calibrate.FOLDS)]
    for stage, held in [*stages, (name, None)]:
        seen = [pair for pair, number in zip(pairs, fold, strict=True) if number != held]
        examples = train_adapt.adaptation_examples(seen, passes=round(options.epochs), seed=options.seed)
        network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
        _start(network, options, options.start)
        settings = train_loop.LoopSettings(
            stage, batch_size=32, learning_rate=options.rate, bf16=options.bf16, seed=options.seed,
            threads=options.threads,
        )  # fmt: skip
        train_loop.train(network, tokenizer, examples, folder=options.work, settings=settings)


def _labelled_table(options: argparse.Namespace) -> tuple[Table, list[int]]:
    """Signals of every labelled pair that passes the screen, under the rounded weights, and its fold.

    Cross-fitted, each pair is read by its own fold's network, which never saw it.
    """
    from . import adapt as train_adapt
    from . import calibrate as train_calibrate
    from . import export as train_export
    from . import labelled as train_labelled
    from . import signals as train_signals
    from .base import base_folder, build

    encode = train_signals.encoder(base_folder(options.base))
    pairs = train_labelled.read_labelled(options.data, encode)
    inputs = train_signals.as_scored(pairs, encode)
    needed = train_signals.needed(inputs)
    pairs = [pair for pair, keep in zip(pairs, needed, strict=True) if keep]
    inputs = [one for one, keep in zip(inputs, needed, strict=True) if keep]
    log.info("%d of %d labelled pairs pass the screen", len(pairs), len(needed))
    fold = train_labelled.folds(pairs, train_calibrate.FOLDS)
    read_by = fold if options.cross_fitted else [0] * len(pairs)
    signals: dict[int, PairSignals] = {}
    for held in sorted(set(read_by)):
        name = train_adapt.fold_name(options.start, held) if options.cross_fitted else options.start
        network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
        _start(network, options, name)
        train_export.quantize(network)
        rows = [row for row, number in enumerate(read_by) if number == held]
        cache = options.work / f"{name}.signals"
        read = train_signals.read_signals(network, tokenizer, [inputs[row] for row in rows], cache)
        signals.update(zip(rows, read, strict=True))
    return train_signals.table(pairs, inputs, [signals[row] for row in range(len(pairs))]), fold


def _calibrate(options: argparse.Namespace) -> None:
    """Signals, cross-validation, thresholds and the weights folder, all of one checkpoint."""
    from . import calibrate as train_calibrate
    from . import export as train_export
    from . import signals as train_signals
    from .base import build

    data, fold = _labelled_table(options)
    network, _ = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options, options.start)
    train_export.quantize(network)
    calibrators = train_calibrate.fit_folds(data, fold, seed=SEED)
    probability = train_calibrate.cross_validated(data, fold, calibrators)
    fitted = train_calibrate.thresholds(probability, data)
    figures: dict[str, Any] = train_calibrate.report(probability, data, fitted)
    print(json.dumps({"thresholds": asdict(fitted), **figures}, indent=1), flush=True)
    target = options.out or options.work / "memory_nli"
    train_export.export(
        network,
        train_calibrate.fit(data, seed=SEED),
        fitted,
        folder=target,
        max_length=FINETUNE_LENGTH,
        figures=figures,
        base=options.base,
    )
    if options.base is None:
        fold_of = dict(zip(data.group.tolist(), fold, strict=True))
        known = train_signals.load(options.work / f"{options.start}.signals")
        figures["in_stores"] = _inside_stores(options, target, calibrators, fold_of, known)
        train_export.add_figures(target, figures)
    if options.folds_out is not None:
        _export_folds(options, data, fold, fitted)


def _inside_stores(
    options: argparse.Namespace,
    target: Path,
    calibrators: Mapping[int, Calibrator],
    fold_of: Mapping[str, int],
    known: Known,
) -> dict[str, dict[str, int]]:
    """What the program does to each labelled store and world with the calibrator of its fold."""
    from ...models.encoder import SentenceEncoder
    from ...pipeline.judging.cache import Cache, CachedScorer
    from . import stores as train_stores

    stores = train_stores.held_stores(options.data)
    folder = options.work / "in_stores"
    folder.mkdir(parents=True, exist_ok=True)
    cache = Cache(folder)
    by_fold = {
        number: CachedScorer(train_stores.FoldScorer(target, number, calibrator, known), cache)
        for number, calibrator in calibrators.items()
    }
    scorers = {one.name: by_fold[fold_of[one.name]] for members in stores.values() for one in members}
    figures = train_stores.store_report(stores, scorers, SentenceEncoder())
    for name, row in figures.items():
        log.info("%s: %s", name, row)
    return figures


def _export_folds(options: argparse.Namespace, data: Table, fold: Sequence[int], thresholds: Limits) -> None:
    """A weights folder per fold that has seen nothing of it: what a labelled store is measured with."""
    import numpy as np

    from . import adapt as train_adapt
    from . import calibrate as train_calibrate
    from . import export as train_export
    from .base import build

    for held in sorted(set(fold)):
        network, _ = build(options.base, max_length=FINETUNE_LENGTH)
        _start(network, options, train_adapt.fold_name(options.start, held))
        calibrator = train_calibrate.fit(data, np.array(fold) != held, seed=SEED)
        inside = sorted(set(data.group[np.array(fold) == held].tolist()))
        train_export.export(
            network, calibrator, thresholds, folder=options.folds_out / f"fold-{held}",
            max_length=FINETUNE_LENGTH, figures={"never_saw": inside}, base=options.base,
        )  # fmt: skip
        print(f"fold-{held} never saw {', '.join(inside)}")


def _accuracy(options: argparse.Namespace) -> None:
    """Three-way accuracy on the general NLI test sets, the first `ACCURACY_PAIRS` of each."""
    import numpy as np

    from ...models.bundled.reader import PairReader
    from . import examples as train_examples
    from .base import build

    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options, options.start)
    reader = PairReader(network, tokenizer)
    for path in sorted((options.data / "nli" / "eval").glob("*.tsv.gz")):
        examples = train_examples.read_nli_test(path)[:ACCURACY_PAIRS]
        if examples:
            answers = reader.read([(example.a, example.b) for example in examples])
            right = [np.argmax(answers[e.a, e.b][0]) == np.argmax(e.entailment) for e in examples]
            print(f"{path.name.removesuffix('.tsv.gz')}: {np.mean(right):.3f} of {len(right)}", flush=True)


_STAGES = {
    "pretrain": _pretrain, "finetune": _finetune, "worlds": _worlds, "adapt": _adapt, "calibrate": _calibrate,
    "accuracy": _accuracy,
}  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(main())
