"""Builds the pair network over a base encoder, trains it, and writes the weights folder.

Batches are sorted by length, embeddings frozen, and a later run picks a checkpoint up. The order of batches
depends only on the seed, so a resumed run sees what an uninterrupted one would have seen.
"""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from ...models.bert import Tokens
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.columns import feature_names
from ...models.bundled.network import PairBatch, PairNetwork, PairTokenizer
from ...models.bundled.scorer import CALIBRATOR_FILE
from ...models.bundled.weights import (
    CONFIG_FILE,
    PACKAGED_BASE,
    WEIGHTS_FILE,
    embedding_digest,
    pack,
    read_config,
    unpack,
    write_sums,
)
from ...models.encoder import packaged_model_path
from ...models.guards import FACTS_VERSION
from .calibrate import Limits
from .examples import Example

log = logging.getLogger(__name__)

PAD_MULTIPLE = 8
VERSION = 2
POOL_BATCHES = 64  # sorted by length together: enough to drop most padding, few enough to stay random
CLIP_NORM = 1.0
WEIGHT_DECAY = 0.01
SAVE_EVERY = 200
WARMUP, FINAL_FRACTION = 0.06, 0.1  # share of the steps; share of the rate that the last step has


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How one stage trains; rates are per step of `batch_size` pairs."""

    name: str
    epochs: float = 1.0
    batch_size: int = 48
    learning_rate: float = 2e-4
    seed: int = 7
    bf16: bool = False
    threads: int = 2
    stop_after: int | None = None


def base_folder(base: str | None) -> str:
    """Folder or hub name of the base; None means the packaged MiniLM.

    Raises:
        ModelError: the packaged base is not installed.
    """
    return str(packaged_model_path()) if base is None else base


def build(base: str | None, *, max_length: int, dropout: bool = True) -> tuple[PairNetwork, PairTokenizer]:
    """A fresh network over the packaged MiniLM or any encoder of the hub, its embeddings frozen.

    Without dropout the encoder trains a quarter faster on a processor, which draws the masks on one thread;
    the heads keep theirs.
    """
    from torch import nn
    from transformers import AutoModel, AutoTokenizer

    encoder = AutoModel.from_pretrained(base_folder(base), attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(base_folder(base))
    encoder.embeddings.requires_grad_(False)
    for layer in encoder.modules():
        if isinstance(layer, nn.Dropout) and not dropout:
            layer.p = 0.0
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler.requires_grad_(False)
    typed = getattr(encoder.config, "type_vocab_size", 0) > 1
    network = PairNetwork(encoder, width=int(encoder.config.hidden_size), typed_segments=typed)
    return network, PairTokenizer(Tokens.within(tokenizer), max_length=max_length, multiple=PAD_MULTIPLE)


def train(
    network: PairNetwork,
    tokenizer: PairTokenizer,
    examples: Sequence[Example],
    *,
    folder: Path,
    settings: LoopSettings,
) -> None:
    """Train in place, saving `<folder>/<stage>.pt` as it goes and continuing from there if it exists."""
    texts = sorted({text for example in examples for text in (example.a, example.b)})
    ids = dict(zip(texts, tokenizer.ids(texts), strict=True))
    tokens = [(ids[example.a], ids[example.b]) for example in examples]
    plan = _plan_batches(tokens, settings)
    trained = [p for p in network.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
    checkpoint = folder / f"{settings.name}.pt"
    start = 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        start = int(state["step"])
    began, losses = time.monotonic(), [0.0, 0.0]
    torch.set_num_threads(settings.threads)
    network.train()
    for step in range(start, min(len(plan), settings.stop_after or len(plan))):
        torch.manual_seed(settings.seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = _rate(step, len(plan), settings)
        optimizer.zero_grad(set_to_none=True)
        batch = tokenizer.batch([tokens[row] for row in plan[step]])
        loss = _loss(network, batch, [examples[row] for row in plan[step]], bf16=settings.bf16)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP_NORM)
        optimizer.step()
        losses = [losses[0] + float(loss.detach()), losses[1] + 1]
        if (step + 1) % 50 == 0:
            pace = (step + 1 - start) / (time.monotonic() - began)
            left, rate = (len(plan) - step - 1) / pace / 60, pace * settings.batch_size
            message = "%s step %d/%d, loss %.4f, %.1f pairs/s, %.1f min left"
            log.info(message, settings.name, step + 1, len(plan), losses[0] / losses[1], rate, left)
            losses = [0.0, 0.0]
        if (step + 1) % SAVE_EVERY == 0 or step + 1 in {len(plan), settings.stop_after}:
            _save(network, optimizer, checkpoint, step + 1)


def _plan_batches(tokens: Sequence[tuple[list[int], list[int]]], settings: LoopSettings) -> list[list[int]]:
    rng, size = random.Random(settings.seed), settings.batch_size  # noqa: S311
    batches: list[list[int]] = []
    for epoch in range(math.ceil(settings.epochs)):
        order = list(range(len(tokens)))
        rng.shuffle(order)
        order = order[: round(len(order) * min(1.0, settings.epochs - epoch))]
        for at in range(0, len(order), POOL_BATCHES * size):
            pool = order[at : at + POOL_BATCHES * size]
            pool.sort(key=lambda i: len(tokens[i][0]) + len(tokens[i][1]))
            chunks = [pool[i : i + size] for i in range(0, len(pool), size)]
            rng.shuffle(chunks)
            batches.extend(chunks)
    return batches


def _loss(network: PairNetwork, batch: PairBatch, chosen: Sequence[Example], *, bf16: bool) -> Tensor:
    """Weighted mean over the batch of both heads' costs."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = network(batch)
    weight = torch.tensor([example.weight for example in chosen])
    cost = _cost(logits.entailment, [e.entailment for e in chosen])
    cost = cost + _cost(logits.memory, [e.memory for e in chosen])
    return (cost * weight).sum() / weight.sum()


def _cost(logits: Tensor, allowed: Sequence[tuple[int, int, int]]) -> Tensor:
    """Minus log of the probability given to the allowed answers, float32 [n]."""
    mask = torch.tensor(allowed, dtype=torch.bool)
    scores = log_softmax(logits.float(), dim=-1).masked_fill(~mask, -torch.inf)
    return -torch.logsumexp(scores, dim=-1)


def _rate(step: int, total: int, settings: LoopSettings) -> float:
    warm = max(1, round(total * WARMUP))
    if step < warm:
        return settings.learning_rate * (step + 1) / warm
    left = (total - step) / max(1, total - warm)
    return settings.learning_rate * (FINAL_FRACTION + (1 - FINAL_FRACTION) * left)


def _save(network: PairNetwork, optimizer: torch.optim.Optimizer, path: Path, step: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, partial)
    partial.replace(path)


def quantize(network: PairNetwork) -> None:
    """Give the network the rounded weights that will be shipped: the calibrator is fitted on those."""
    network.load_state_dict(unpack(pack(network)), strict=False)


def export(
    network: PairNetwork,
    calibrator: Calibrator,
    thresholds: Limits,
    *,
    folder: Path,
    max_length: int,
    figures: dict[str, Any],
    base: str | None = None,
) -> str:
    """Write every file but the model card and return the digest of the checksums.

    `base` is the folder or hub name of the base model, None for the packaged one.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in pack(network).items()}, folder / WEIGHTS_FILE)
    (folder / WEIGHTS_FILE).chmod(0o644)
    calibrator.save(folder / CALIBRATOR_FILE)
    config = {
        "model_type": "memory-nli",
        "version": VERSION,
        "architecture": "PairNetwork",
        "base": base or PACKAGED_BASE,
        "base_embeddings_sha256": embedding_digest(network.state_dict()),
        "typed_segments": network.typed_segments,
        "max_length": max_length,
        "entailment_labels": ["entails", "neutral", "contradicts"],
        "memory_labels": ["duplicate", "contradiction", "distinct"],
        "features": list(feature_names()),
        "facts": FACTS_VERSION,
        "thresholds": asdict(thresholds.inside),
        "thresholds_alone": asdict(thresholds.alone),
    }
    return _write_config(folder, config, figures)


def add_figures(folder: Path, figures: dict[str, Any]) -> str:
    """Put further figures beside exported weights and return the digest of the checksums."""
    return _write_config(folder, read_config(folder), figures)


def _write_config(folder: Path, config: dict[str, Any], figures: dict[str, Any]) -> str:
    text = json.dumps(config | {"cross_validated": figures}, indent=1)
    (folder / CONFIG_FILE).write_text(text + "\n", encoding="utf-8")
    return write_sums(folder)
