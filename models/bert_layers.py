"""The layers of `bert.py`: embeddings, then attention and two dense layers by turns (Devlin et al. 2019).

torch is imported here, so import this module only inside the function that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Hidden(NamedTuple):
    """float32 [n, tokens, width], under the name that other encoders give it."""

    last_hidden_state: Tensor


class _Bare:
    """What draws nothing at random as the library's own does: all is about to be loaded."""

    def reset_parameters(self) -> None:
        pass


class _Table(_Bare, nn.Embedding):  # type: ignore[misc]
    pass


class _Dense(_Bare, nn.Linear):  # type: ignore[misc]
    pass


class Bert(nn.Module):  # type: ignore[misc]  # torch is not type-checked here
    """The whole encoder.

    Args:
        config: The `config.json` of the model.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.width = int(config["hidden_size"])
        self.segments = int(config["type_vocab_size"])
        eps = float(config["layer_norm_eps"])
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": _Table(config["vocab_size"], self.width),
                "position_embeddings": _Table(config["max_position_embeddings"], self.width),
                "token_type_embeddings": _Table(self.segments, self.width),
                "LayerNorm": nn.LayerNorm(self.width, eps),
            }
        )
        inner, heads = int(config["intermediate_size"]), int(config["num_attention_heads"])
        layers = (_Layer(self.width, inner, heads, eps) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Hidden:
        """One vector for each token.

        Args:
            input_ids: int64 [n, tokens].
            attention_mask: int64 [n, tokens], 0 for what fills a row; None if nothing does.
            token_type_ids: int64 [n, tokens], which of two texts; None is the first.
        """
        named = self.embeddings
        segments = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden = named["word_embeddings"](input_ids) + named["token_type_embeddings"](segments)
        hidden = named["LayerNorm"](hidden + named["position_embeddings"](places))
        filled = attention_mask is not None and not bool(attention_mask.all())
        mask = attention_mask[:, None, None, :].bool() if filled else None  # type: ignore[index]
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, mask)
        return Hidden(hidden)


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, inner: int, heads: int, eps: float) -> None:
        super().__init__()
        self._heads = heads
        sides = nn.ModuleDict({name: _Dense(width, width) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": sides, "output": _closing(width, width, eps)})
        self.intermediate = nn.ModuleDict({"dense": _Dense(width, inner)})
        self.output = _closing(inner, width, eps)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        rows, tokens, width = hidden.shape
        query, key, value = (
            side(hidden).view(rows, tokens, self._heads, -1).transpose(1, 2)
            for side in self.attention["self"].values()
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        seen = seen.transpose(1, 2).reshape(rows, tokens, width)
        closing = self.attention["output"]
        hidden = closing["LayerNorm"](closing["dense"](seen) + hidden)
        inner = functional.gelu(self.intermediate["dense"](hidden))
        return self.output["LayerNorm"](self.output["dense"](inner) + hidden)


def _closing(inner: int, width: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": _Dense(inner, width), "LayerNorm": nn.LayerNorm(width, eps)})
