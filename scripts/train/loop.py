"""The training loop: length-sorted batches, frozen embeddings, checkpoints that a later run picks up.

The order of batches depends only on the seed, so a resumed run sees what an uninterrupted one would have
seen.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from ...models.bundled.network import PairBatch, PairNetwork, PairTokenizer
from .examples import Example

log = logging.getLogger(__name__)

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
