"""Builds the pair network over a base encoder, trains it, and writes the weights folder.

A later run picks a checkpoint up, and sees what an uninterrupted one would have seen.
"""

import json
import logging
import math
import random
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from ...models.bert import Tokens
from ...models.bert_layers import by_row
from ...models.bundled import weights
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import FEATURE_NAMES
from ...models.bundled.network import PairBatch, PairNetwork, PairTokenizer
from ...models.bundled.scorer import CALIBRATOR_FILE
from ...models.encoder import packaged_model_path
from ...models.guards import FACTS_VERSION
from .calibrate import Limits
from .examples import Example

log = logging.getLogger(__name__)

VERSION = 2
POOL_BATCHES = 64  # sorted by length together: enough to drop most padding, few enough to stay random
CLIP_NORM = 1.0
WEIGHT_DECAY = 0.01
SAVE_EVERY, LOG_EVERY = 200, 50
WARMUP, FINAL_FRACTION = 0.06, 0.1  # share of the steps; share of the rate that the last step has


def build(base: str | None, *, max_length: int, dropout: bool = True) -> tuple[PairNetwork, PairTokenizer]:
    """A fresh network over the packaged MiniLM or any encoder of the hub, its embeddings frozen.

    Without dropout the encoder trains a quarter faster on a processor; the heads keep theirs.
    """
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


def train(
    network: PairNetwork, tokenizer: PairTokenizer, examples: Sequence[Example],
    *, batch_size: int, options: Namespace,
) -> None:  # fmt: skip
    """Train in place, saving `<work>/<name>.pt` as it goes and continuing from there if it exists."""
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
    optimizer = torch.optim.AdamW(groups, lr=options.rate)
    checkpoint, start = options.work / f"{name}.pt", 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        start = int(state["step"])
    last = min(len(plan), options.stop_after or len(plan))
    began, losses = time.monotonic(), list[float]()
    torch.set_num_threads(options.threads)
    network.train()
    for step in range(start, last):
        torch.manual_seed(options.seed * 1_000_003 + step)
        warm = max(1, round(len(plan) * WARMUP))
        left = FINAL_FRACTION + (1 - FINAL_FRACTION) * (len(plan) - step) / max(1, len(plan) - warm)
        for group in optimizer.param_groups:
            group["lr"] = options.rate * ((step + 1) / warm if step < warm else left)
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
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == last:
            options.work.mkdir(parents=True, exist_ok=True)
            partial = checkpoint.with_suffix(".partial")
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(state, partial)
            partial.replace(checkpoint)


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
    for said, allowed in (
        (logits.entailment, [one.entailment for one in chosen]),
        (logits.memory, [one.memory for one in chosen]),
    ):
        refused = ~torch.tensor(allowed, dtype=torch.bool)
        scores = log_softmax(said.float(), dim=-1).masked_fill(refused, -torch.inf)
        cost -= torch.logsumexp(scores, dim=-1)
    return (cost * weight).sum() / weight.sum()


def export(
    network: PairNetwork, calibrator: Calibrator, thresholds: Limits, figures: dict[str, Any],
    *, folder: Path, max_length: int, base: str | None,
) -> None:  # fmt: skip
    """Write every file but the model card; no `base` is the packaged one."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.contiguous() for name, tensor in pack(network).items()}
    save_file(tensors, folder / weights.WEIGHTS_FILE)
    (folder / weights.WEIGHTS_FILE).chmod(0o644)
    np.savez_compressed(folder / CALIBRATOR_FILE, **calibrator.arrays())
    config = {
        "model_type": "memory-nli",
        "version": VERSION,
        "architecture": "PairNetwork",
        "base": base or weights.PACKAGED_BASE,
        "base_embeddings_sha256": weights.embedding_digest(network.state_dict()),
        "typed_segments": network.typed_segments,
        "max_length": max_length,
        "entailment_labels": ["entails", "neutral", "contradicts"],
        "memory_labels": ["duplicate", "contradiction", "distinct"],
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
    """Write the sums of every file but the model card, as `sha256sum` does; the digest of that list."""
    unlisted = {weights.SUMS_FILE, "README.md"}
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in unlisted)
    lines = "".join(f"{weights.digest_of(folder / name)}  {name}\n" for name in names)
    (folder / weights.SUMS_FILE).write_text(lines, encoding="utf-8")
    return weights.sums_digest(folder)


def add_figures(folder: Path, figures: dict[str, Any]) -> None:
    """Put figures beside exported weights, and the checksums of all files."""
    text = json.dumps(weights.read_config(folder) | {"cross_validated": figures}, indent=1)
    (folder / weights.CONFIG_FILE).write_text(text + "\n", encoding="utf-8")
    write_sums(folder)
