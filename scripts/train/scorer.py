"""Train the bundled scorer: pretrain, finetune, calibrate and export; each can be resumed.

    python -m mem0_dream.scripts.train.scorer pretrain --data DIR --work WORK

`--data` holds `nli/train.tsv.gz` (general NLI) and `pairs/`, `stores/` (labelled development data);
`--work` receives checkpoints: a later run sees what an uninterrupted one would have seen. `--base` takes any
encoder that `transformers` loads.
"""

import json
import logging
import math
import random
import shutil
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import log_softmax

from ...models.bert import Tokens
from ...models.bert_layers import by_row
from ...models.bundled import weights
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import FEATURE_NAMES
from ...models.bundled.network import PairBatch, PairNetwork, PairTokenizer
from ...models.bundled.reader_files import write_reader
from ...models.bundled.scorer import CALIBRATOR_FILE, FOLDER, READER_FOLDER, BundledScorer, load_readers
from ...models.bundled.screen import SCREEN_FILE
from ...models.encoder import SentenceEncoder, packaged_model_path
from ...models.guards import FACTS_VERSION
from ...pipeline.judging.cache import Cache, CachedEncoder, CachedScorer
from ..evaluate import labelled as held
from ..evaluate.quality import store_report
from . import calibrate, curve, edits, sets
from . import examples as pairs_of
from .examples import DATA, DUPLICATE, Example, read_nli

log = logging.getLogger(__name__)

Record = Callable[[PairNetwork, int], None]

SEED = 7
NLI = Path("nli", "train.tsv.gz")
SHIPPED = "shipped"  # stands for the weights of the package instead of a checkpoint
PRETRAIN_LENGTH, FINETUNE_LENGTH = 96, 192
MINIMAL_REPEATS = 2
REPLAY_WEIGHT = 0.5
READINGS: dict[str, int] = pairs_of.TABLE["round"]
VERSION = 2
STEPS = 31  # of a weight of a large network: five bits, as a wheel compresses it
POOL_BATCHES = 64  # sorted by length together: enough to drop most padding, few enough to stay random
CLIP_NORM, WEIGHT_DECAY = 1.0, 0.01
SAVE_EVERY, LOG_EVERY = 200, 50
WARMUP, FINAL_FRACTION = 0.02, 0.1  # share of the steps; share of the rate that the last step has
REWARM = 200  # steps in which the rate comes back after the state of the optimizer was lost


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
    parser.add_argument(
        "--frozen", type=int, default=0, help="lowest layers that finetune leaves as they are"
    )
    parser.add_argument("--readings-before", type=int, default=0, help="readings of --start, for the curve")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument(
        "--rounds", type=int, default=7, help="of 100,000 readings that finetune is planned for"
    )
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
    """Rounds of sets, worlds, edits by program and general pairs, as `round` lists them."""
    network, tokenizer = build(options.base, max_length=FINETUNE_LENGTH, dropout=False)
    _start(network, options)
    freeze(network, options.frozen)
    examples = _rounds(options.data, Cache(options.work), seed=options.seed, count=options.rounds)
    file = options.work / f"{options.name or options.stage}.curve.tsv"
    record = curve.recorder(options.data, tokenizer, file, before=options.readings_before)
    train(network, tokenizer, examples, batch_size=32, options=options, record=record)


def _rounds(data: Path, cache: Cache, *, seed: int, count: int) -> list[Example]:
    """`count` rounds of examples: what a kind has is dealt out over them, what programs make is made anew."""
    worlds, _ = held.held_out(held.read_worlds(data / "worlds"))
    blocks = pairs_of.world_examples(worlds, CachedEncoder(SentenceEncoder(), cache).encode, seed=seed)
    seen, _ = held.read_exchanges(data / "exchanges")
    bound = [pair for one in seen for pair in held.exchange_pairs(one)]
    short = pairs_of.read_short(DATA / "contrast_short.jsonl")
    lists = {folder: sets.read_sets(data / folder)[0] for folder in sets.FOLDERS}
    pools = {folder: sets.set_examples(some, folder) for folder, some in lists.items()} | {
        "blocks": [*blocks, *(one for one in blocks if one.memory == DUPLICATE)],
        "exchanges": [
            e for x in bound for e in pairs_of.both_orders(x.a, x.b, pairs_of.OF_EXCHANGES[x.label])
        ],
        "own": [
            *pairs_of.set_pairs(short),
            *list(pairs_of.set_pairs(pairs_of.read_minimal(DATA / "minimal.txt"))) * MINIMAL_REPEATS,
            *pairs_of.compound_pairs(DATA / "contrast_compound.jsonl"),
            *pairs_of.composed_pairs(short, seed=seed),
            *pairs_of.story_pairs(pairs_of.read_stories(DATA / "stories.txt"), seed=seed),
        ],
        "outside": read_nli(data / "outside" / "train.tsv.gz", seed=seed),
        "edited": read_nli(data / "outside2" / "train.tsv.gz", seed=seed),
        "general": [one._replace(weight=REPLAY_WEIGHT) for one in read_nli(data / NLI, seed=seed)],
    }
    groups = [*pairs_of.wordings(worlds), *(one[0] for one in seen), *map(sets.wordings, lists["families"])]
    rng, examples = random.Random(seed), list[Example]()  # noqa: S311
    pools = {kind: rng.sample(pool, len(pool)) for kind, pool in pools.items() if pool}
    for number in range(count):
        for kind, pool in pools.items():
            some = range(number * READINGS[kind], (number + 1) * READINGS[kind])
            examples += (pool[at % len(pool)] for at in some)
        made = {"seed": seed * 1_009 + number}
        examples += edits.constructed_pairs(edits.RELATIONS, count=READINGS["constructed"], **made)
        examples += edits.restated_pairs(groups, edits.PATTERNS, count=READINGS["restated"], **made)
        few = {"changing": READINGS["edits"], "keeping": READINGS["keeping"]}
        examples += edits.edited_pairs(groups, **few, **made)
    return examples


def _start(network: PairNetwork, options: Namespace) -> None:
    """Load the checkpoint `--start`, or the mean of several joined by "+" (as in arXiv:2203.05482)."""
    own = network.state_dict()

    def state_of(name: str) -> dict[str, Tensor]:
        if name == SHIPPED:
            return {**own, **weights.unpack(load_file(FOLDER / weights.WEIGHTS_FILE))}
        return dict(torch.load(options.work / f"{name}.pt", weights_only=True)["network"])

    first, *others = map(state_of, options.start.split("+"))
    for key in own if others else ():
        tensors = [state[key] for state in (first, *others)]
        if not all(torch.equal(tensor, first[key]) for tensor in tensors):  # frozen: kept to the bit
            mean = torch.stack([tensor.double() for tensor in tensors]).mean(dim=0)
            first[key] = mean.to(own[key].dtype)
    network.load_state_dict(first)


def _calibrate(options: Namespace) -> None:
    encode = CachedEncoder(SentenceEncoder(), Cache(options.work)).encode
    every = calibrate.read_labelled(options.data, encode)
    scored = calibrate.as_scored(every, encode)
    kept = np.flatnonzero(BundledScorer().worth_of(scored))
    pairs, inputs = [every[at] for at in kept], [scored[at] for at in kept]
    log.info("%d of %d labelled pairs pass the screen", len(pairs), len(every))
    target = options.out or options.work / "memory_nli"
    write_networks(options, target)
    cache = options.work / f"{options.start}.signals"
    data = calibrate.table(pairs, inputs, calibrate.read_signals(load_readers(target), inputs, cache))
    fold = calibrate.folds(pairs, calibrate.FOLDS)
    probability, calibrators = calibrate.cross_validated(data, fold, seed=SEED)
    score = calibrate.mergeable(probability, data)
    fitted = calibrate.thresholds(probability, score, data)
    reported: dict[str, Any] = calibrate.report(probability, score, data, fitted)
    print(json.dumps({"thresholds": asdict(fitted), **reported}, indent=1), flush=True)
    export(calibrate.fit(data, seed=SEED), fitted, reported, folder=target)
    if (target / SCREEN_FILE).exists():  # what the program does to each store with the calibrator of its fold
        stores, cache = held.held_stores(options.data), Cache(options.work)
        judges = {
            at: CachedScorer(calibrate.FoldScorer(target, at, calibrators[at]), cache) for at in calibrators
        }
        scorers = {group: judges[number] for group, number in zip(data.group.tolist(), fold, strict=True)}
        reported["in_stores"] = store_report(stores, scorers, SentenceEncoder())
        log.info("in stores: %s", reported["in_stores"])
        add_figures(target, reported)


def build(base: str | None, *, max_length: int, dropout: bool = True) -> tuple[PairNetwork, PairTokenizer]:
    """A fresh network over the packaged MiniLM or any encoder of the hub, its embeddings frozen."""
    from torch import nn
    from transformers import AutoModel, AutoTokenizer

    folder = base or str(packaged_model_path())
    encoder = AutoModel.from_pretrained(folder, attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoder.embeddings.requires_grad_(False)
    for layer in encoder.modules():
        if isinstance(layer, nn.Dropout) and not dropout:
            layer.p = 0.0
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler.requires_grad_(False)
    typed = getattr(encoder.config, "type_vocab_size", 0) > 1
    network = PairNetwork(encoder, width=int(encoder.config.hidden_size), typed_segments=typed)
    return network, PairTokenizer(Tokens.within(tokenizer), max_length=max_length)


def freeze(network: PairNetwork, layers: int) -> None:
    """Leave the lowest layers as they are, and what all share; with half of them a step costs two thirds."""
    if layers:
        blocks = network.encoder.encoder.layer[:layers]
        shared = (part for name, part in network.encoder.encoder.named_children() if name != "layer")
        for part in (*blocks, *shared):
            part.requires_grad_(False)


def train(
    network: PairNetwork, tokenizer: PairTokenizer, examples: Sequence[Example],
    *, batch_size: int, options: Namespace, record: Record | None = None,
) -> None:  # fmt: skip
    """Train in place, saving `<work>/<name>.pt` as it goes and continuing from there if it exists.

    A checkpoint without the optimizer's state is continued with a warm-up of its own. `record` is called with
    the network and the readings so far, at the start and after every `curve.EVERY` of them.
    """
    log.info("%d examples", len(examples))
    name = options.name or options.stage
    texts = sorted({text for example in examples for text in (example.a, example.b)})
    ids = dict(zip(texts, tokenizer.ids(texts), strict=True))
    tokens = [(ids[example.a], ids[example.b]) for example in examples]
    plan = _plan_batches([len(a) + len(b) for a, b in tokens], batch_size, options)
    trained = [p for p in network.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=options.rate, fused=True)
    checkpoint, start, rewarmed = options.work / f"{name}.pt", 0, 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        start = int(state["step"])
        rewarmed = 0 if "optimizer" in state else start + REWARM
        optimizer.load_state_dict(state.get("optimizer", optimizer.state_dict()))
    last = min(len(plan), options.stop_after or len(plan))
    began, losses = time.monotonic(), list[float]()
    torch.set_num_threads(options.threads)
    network.train()
    if record is not None and start == 0:
        record(network, 0)
    for step in range(start, last):
        torch.manual_seed(options.seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = options.rate * _share_of_rate(step, len(plan), rewarmed)
        optimizer.zero_grad(set_to_none=True)
        batch = tokenizer.batch([tokens[row] for row in plan[step]])
        loss = _loss(network, batch, [examples[row] for row in plan[step]], bf16=options.bf16)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP_NORM)
        optimizer.step()
        losses.append(float(loss.detach()))
        if (step + 1) % LOG_EVERY == 0:
            pace = (step + 1 - start) / (time.monotonic() - began)
            message = "%s step %d/%d, loss %.4f, %.1f pairs/s, %.1f min left"
            figures = sum(losses) / len(losses), pace * batch_size, (len(plan) - step - 1) / pace / 60
            log.info(message, name, step + 1, len(plan), *figures)
            losses.clear()
        done = (step + 1) * batch_size
        if record is not None and done // curve.EVERY > step * batch_size // curve.EVERY:
            record(network, done)
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == last:
            partial = checkpoint.with_suffix(".partial")
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(state, partial)
            partial.replace(checkpoint)


def _share_of_rate(step: int, steps: int, rewarmed: int) -> float:
    """Up in the first steps, then down to the end; up once more before the step `rewarmed`."""
    warm = max(1, round(steps * WARMUP))
    left = FINAL_FRACTION + (1 - FINAL_FRACTION) * (steps - step) / max(1, steps - warm)
    share = (step + 1) / warm if step < warm else left
    return share if step >= rewarmed else share * (1 - (rewarmed - step) / (REWARM + 1))


def _plan_batches(lengths: Sequence[int], size: int, options: Namespace) -> list[list[int]]:
    rng = random.Random(options.seed)  # noqa: S311
    batches: list[list[int]] = []
    for epoch in range(math.ceil(options.epochs)):
        order = list(range(len(lengths)))
        rng.shuffle(order)
        order = order[: round(len(order) * min(1.0, options.epochs - epoch))]
        for at in range(0, len(order), POOL_BATCHES * size):
            pool = sorted(order[at : at + POOL_BATCHES * size], key=lengths.__getitem__)
            chunks = [pool[i : i + size] for i in range(0, len(pool), size)]
            rng.shuffle(chunks)
            batches.extend(chunks)
    return batches


def _loss(network: PairNetwork, batch: PairBatch, chosen: Sequence[Example], *, bf16: bool) -> Tensor:
    """Weighted mean over the batch of what the allowed answers of both heads lack: minus log probability."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = network(batch)
    weight = torch.tensor([one.weight for one in chosen])
    cost = torch.zeros(len(chosen))
    for head in ("entailment", "memory"):
        said, allowed = getattr(logits, head), [getattr(one, head) for one in chosen]
        refused = ~torch.tensor(allowed, dtype=torch.bool)
        scores = log_softmax(said.float(), dim=-1).masked_fill(refused, -torch.inf)
        cost -= torch.logsumexp(scores, dim=-1)
    return (cost * weight).sum() / weight.sum()


def write_networks(options: Namespace, folder: Path) -> None:
    """Write the network of `--start`: as the small one, alone; over `--base` as the large one.

    Before the large one come the small one and the screen of the package.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    network, _ = build(options.base, max_length=FINETUNE_LENGTH)
    _start(network, options)
    if options.base is None:
        tensors = {name: tensor.contiguous() for name, tensor in pack(network).items()}
        save_file(tensors, folder / weights.WEIGHTS_FILE)
        (folder / weights.WEIGHTS_FILE).chmod(0o644)
        config = {
            "model_type": "memory-nli",
            "version": VERSION,
            "architecture": "PairNetwork",
            "base": weights.PACKAGED_BASE,
            "base_embeddings_sha256": weights.embedding_digest(network.state_dict()),
            "typed_segments": network.typed_segments,
            "max_length": FINETUNE_LENGTH,
            "entailment_labels": ["entails", "neutral", "contradicts"],
            "memory_labels": ["duplicate", "contradiction", "distinct"],
        }
        (folder / weights.CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
        return
    for name in (weights.WEIGHTS_FILE, weights.CONFIG_FILE, SCREEN_FILE):
        shutil.copy(FOLDER / name, folder)
    large = folder / READER_FOLDER
    write_reader(network, Path(options.base), large, steps=STEPS, max_length=FINETUNE_LENGTH)


def export(
    calibrator: Calibrator, thresholds: calibrate.Limits, figures: dict[str, Any], *, folder: Path
) -> None:
    """Put the calibrator, the thresholds and figures beside networks: every file but the model card."""
    np.savez_compressed(folder / CALIBRATOR_FILE, **calibrator.arrays())
    config = weights.read_config(folder) | {
        "features": list(FEATURE_NAMES),
        "facts": FACTS_VERSION,
        "thresholds": asdict(thresholds.inside),
        "thresholds_alone": asdict(thresholds.alone),
    }
    (folder / weights.CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    add_figures(folder, figures)


def pack(network: PairNetwork) -> dict[str, Tensor]:
    """The trained tensors: int8 with a float32 scale per output row for matrices, float16 otherwise."""
    packed: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        if name.startswith("encoder.") and not name.startswith("encoder.encoder."):
            continue
        if tensor.ndim == 2:
            whole, scale = by_row(tensor)
            packed |= {name: whole.to(torch.int8), name + weights.SCALE: scale.float()}
        else:
            packed[name] = tensor.to(torch.float16)
    return packed


def write_sums(folder: Path) -> str:
    """Write the sums of all files but model cards, inner folders too, like `sha256sum`; the list's digest."""
    unlisted, files = {weights.SUMS_FILE, "README.md"}, (path for path in folder.rglob("*") if path.is_file())
    names = sorted(path.relative_to(folder).as_posix() for path in files if path.name not in unlisted)
    lines = "".join(f"{weights.digest_of(folder / name)}  {name}\n" for name in names)
    (folder / weights.SUMS_FILE).write_text(lines, encoding="utf-8")
    return weights.sums_digest(folder)


def add_figures(folder: Path, figures: dict[str, Any]) -> None:
    """Put figures beside exported weights, and the checksums of all files."""
    text = json.dumps(weights.read_config(folder) | {"cross_validated": figures}, indent=1)
    (folder / weights.CONFIG_FILE).write_text(text + "\n", encoding="utf-8")
    write_sums(folder)


_STAGES = {"pretrain": _pretrain, "finetune": _finetune, "calibrate": _calibrate}

if __name__ == "__main__":
    raise SystemExit(main())
