"""The cross-encoder behind the bundled scorer: one encoder that reads `[CLS] a [SEP] b [SEP]`, two heads.

torch is imported here, so import this module only inside the function that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..bert import Tokens

HEAD_WIDTH = 256
PAD_MULTIPLE = 8
DROPOUT = 0.1


class PairBatch(NamedTuple):
    """Padded ids, attention mask and segment ids, each int64 [n, length]; segment 1 marks the second text."""

    ids: Tensor
    mask: Tensor
    segments: Tensor


class PairLogits(NamedTuple):
    """float logits: of a -> b [n, 3] (entails, neutral, contradicts), of both [n, 3] as columns of scores."""

    entailment: Tensor
    memory: Tensor


class PairTokenizer:
    """Lays pairs out for the encoder, at most `max_length` tokens of a base model, special ones included."""

    def __init__(self, tokens: Tokens, *, max_length: int) -> None:
        self.max_length = max_length
        self._tokens = tokens

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, no special tokens, at most `max_length` of them."""
        return self._tokens.ids(texts, longest=self.max_length)

    def width(self, pair: tuple[list[int], list[int]]) -> int:
        """Tokens of the row of a pair, with what fills it: steps of eight make many rows of one width."""
        return -(-min(len(pair[0]) + len(pair[1]) + 3, self.max_length) // PAD_MULTIPLE) * PAD_MULTIPLE

    def batch(self, pairs: Sequence[tuple[list[int], list[int]]]) -> PairBatch:
        """Lay out pairs of token ids, cutting the longer text first where the pair is too long."""
        rows = [_fit(a, b, self.max_length - 3) for a, b in pairs]
        width = max(self.width(pair) for pair in rows)
        cls, sep, pad = self._tokens.cls, self._tokens.sep, self._tokens.pad
        laid = [([cls, *a, sep, *b, sep], width - len(a) - len(b) - 3) for a, b in rows]
        ids = [sequence + [pad] * room for sequence, room in laid]
        mask = [[1] * len(sequence) + [0] * room for sequence, room in laid]
        segments = [
            [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * room
            for (a, b), (_, room) in zip(rows, laid, strict=True)
        ]
        return PairBatch(*map(torch.tensor, (ids, mask, segments)))


class PairNetwork(nn.Module):  # type: ignore[misc]  # torch is not type-checked here
    """Encoder with mean pooling per text, an entailment head and a memory head."""

    def __init__(self, encoder: nn.Module, *, width: int, typed_segments: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.typed_segments = typed_segments
        self.entailment_head = _head(5 * width)
        self.memory_head = _head(5 * width)

    def forward(self, batch: PairBatch) -> PairLogits:
        """Logits of every pair in the batch, in its order."""
        inputs: dict[str, Tensor] = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if self.typed_segments:
            inputs["token_type_ids"] = batch.segments
        hidden = self.encoder(**inputs).last_hidden_state.float()
        second = (batch.mask * batch.segments).unsqueeze(-1).to(hidden.dtype)
        first = (batch.mask * (1 - batch.segments)).unsqueeze(-1).to(hidden.dtype)
        a, b = ((hidden * each).sum(1) / each.sum(1).clamp(min=1.0) for each in (first, second))
        features = torch.cat([hidden[:, 0], a, b, (a - b).abs(), a * b], dim=-1)
        features = features.to(self.memory_head[1].weight.dtype)
        with torch.autocast(features.device.type, enabled=False):
            return PairLogits(self.entailment_head(features), self.memory_head(features))


def _head(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(DROPOUT), nn.Linear(width, HEAD_WIDTH), nn.GELU(), nn.Linear(HEAD_WIDTH, 3)
    )


def _fit(a: list[int], b: list[int], room: int) -> tuple[list[int], list[int]]:
    if len(a) > len(b):
        return _fit(b, a, room)[::-1]
    short = len(a) if len(a) + len(b) <= room else min(len(a), room // 2)
    return a[:short], b[: room - short]
