"""The layers of MPNet (Song et al. 2020): BERT's, with a bias by distance that all add to what they see.

torch is imported here, so import this module only inside the function that needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .bert_layers import Dense, Hidden, Table, attended, closing

PAD = 1  # the number of what fills a row; places are counted from the next one
FARTHEST = 128  # tokens from which on all distances are one


class Mpnet(nn.Module):  # type: ignore[misc]  # torch is not type-checked here
    """The whole encoder, by the `config.json` of a model; parameters are named as in `transformers`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.width = int(config["hidden_size"])
        eps = float(config["layer_norm_eps"])
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": Table(config["vocab_size"], self.width),
                "position_embeddings": Table(config["max_position_embeddings"], self.width),
                "LayerNorm": nn.LayerNorm(self.width, eps),
            }
        )
        inner, heads = int(config["intermediate_size"]), int(config["num_attention_heads"])
        layers = (_Layer(self.width, inner, heads, eps) for _ in range(config["num_hidden_layers"]))
        distances = Table(config.get("relative_attention_num_buckets", 32), heads)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(layers), "relative_attention_bias": distances},
        )

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Hidden:
        """One vector for each token; both int64 [n, tokens], the mask 0 for what fills a row."""
        named, kept = self.embeddings, input_ids.ne(PAD).long()
        places = kept.cumsum(dim=1) * kept + PAD
        hidden = named["word_embeddings"](input_ids) + named["position_embeddings"](places)
        hidden = named["LayerNorm"](hidden)
        bias = self._bias(input_ids.shape[1])
        if attention_mask is not None:
            bias = bias.masked_fill(attention_mask[:, None, None, :] == 0, -torch.inf)
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, bias)
        return Hidden(hidden)

    def _bias(self, tokens: int) -> Tensor:
        """What each head adds for each token that looks at each: float [1, heads, tokens, tokens]."""
        table = self.encoder["relative_attention_bias"]
        place = torch.arange(tokens, device=table.weight.device)
        return table(bucket(place[None, :] - place[:, None], table.num_embeddings)).permute(2, 0, 1)[None]


def bucket(ahead: Tensor, count: int) -> Tensor:
    """The number of the bucket, of `count`, for tokens that many places ahead; negative ones lie behind.

    Half of them for either way; of each half one for each short distance, then ever wider ones.
    """
    half, short = count // 2, count // 4
    far = ahead.abs()
    grown = torch.log(far.float() / short) / math.log(FARTHEST / short) * (half - short)
    wide = (short + grown.clamp(min=0).long()).clamp(max=half - 1)
    return (ahead > 0).long() * half + torch.where(far < short, far, wide)


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, inner: int, heads: int, eps: float) -> None:
        super().__init__()
        self._heads = heads
        sides = nn.ModuleDict({name: Dense(width, width) for name in "qkvo"})
        self.attention = nn.ModuleDict({"attn": sides, "LayerNorm": nn.LayerNorm(width, eps)})
        self.intermediate = nn.ModuleDict({"dense": Dense(width, inner)})
        self.output = closing(inner, width, eps)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        query, key, value, out = self.attention["attn"].values()
        seen = attended(hidden, (query, key, value), self._heads, bias)
        hidden = self.attention["LayerNorm"](out(seen) + hidden)
        inner = functional.gelu(self.intermediate["dense"](hidden))
        return self.output["LayerNorm"](self.output["dense"](inner) + hidden)
