"""The layers of `bert.py`: embeddings, then attention and two dense layers by turns (Devlin et al. 2019).

torch is imported here, so import this module only inside the function that needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = 127.0  # steps of a number in int8, to each side of zero
SPREAD = 4.0  # no more than a few weights of a row lie farther out
_LEAST = 1e-12


class Hidden(NamedTuple):
    """float32 [n, tokens, width], under the name that other encoders give it."""

    last_hidden_state: Tensor


class _Bare:
    """What draws nothing at random as the library's own does: all is about to be loaded."""

    def reset_parameters(self) -> None:
        pass


class Table(_Bare, nn.Embedding):  # type: ignore[misc]
    """A vector for each number."""


class Dense(_Bare, nn.Linear):  # type: ignore[misc]
    """A dense layer."""


def by_row(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """A float32 [n, d] matrix in whole numbers of int8's range, as float32, and each row's scale [n, 1]."""
    scale = matrix.abs().amax(dim=1, keepdim=True).clamp(min=_LEAST) / STEPS
    return (matrix / scale).round_(), scale


def by_spread(matrix: Tensor, steps: float) -> tuple[Tensor, Tensor]:
    """The same in whole numbers of which `steps` reach `SPREAD` times the root mean square of a row.

    So all rows are as exact, for what they hold, whatever their largest number, and compress equally well.
    """
    spread = SPREAD * matrix.square().mean(dim=1, keepdim=True).sqrt()
    scale = torch.maximum(spread / steps, matrix.abs().amax(dim=1, keepdim=True) / STEPS).clamp(min=_LEAST)
    return (matrix / scale).round_(), scale


class WholeNumbers(nn.Module):  # type: ignore[misc]
    """A dense layer of int8 weights that rounds what it reads to int8, with a scale for each row and column.

    Products of whole numbers are exact, so that a row says the same beside whatever rows. On processors with
    instructions for them they are several times as fast; elsewhere they are computed in float32, which holds
    sums below 2^24 exactly. Quantisation is symmetric, of what is read by row (Jacob et al. 2018).
    """

    def __init__(self, whole: Tensor, scale: Tensor, bias: Tensor) -> None:
        """`whole` [out, in] holds whole numbers of int8's range, `scale` [out, 1] what one stands for."""
        super().__init__()
        self.register_buffer("whole", whole.to(torch.int8 if exact_in_int8() else torch.float32))
        self.register_buffer("scale", scale[:, 0])
        self.register_buffer("bias", bias)

    @classmethod
    def of(cls, dense: nn.Linear) -> WholeNumbers:
        """The same layer, its weights rounded."""
        return cls(*by_row(dense.weight.detach()), dense.bias.detach())

    def forward(self, read: Tensor) -> Tensor:
        """float32 [..., in] to float32 [..., out]."""
        rounded, scale = by_row(read.reshape(-1, read.shape[-1]))
        if self.whole.dtype is torch.int8:
            products = torch._int_mm(rounded.to(torch.int8), self.whole.t()).float()  # noqa: SLF001  (no other)
        else:
            products = rounded @ self.whole.t()
        said = products.mul_(scale).mul_(self.scale).add_(self.bias)
        return said.view(*read.shape[:-1], -1)


class WholeTable(nn.Module):  # type: ignore[misc]
    """A vector for each number, kept in int8 [n, width] with a scale for each [n, 1]."""

    def __init__(self, whole: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("whole", whole)
        self.register_buffer("scale", scale)

    def forward(self, ids: Tensor) -> Tensor:
        """int64 [...] to float32 [..., width]."""
        return self.whole[ids] * self.scale[ids]


@cache
def exact_in_int8() -> bool:
    """Whether this processor multiplies int8 fast and exactly; on others sums of two may saturate."""
    capability = torch.backends.cpu.get_cpu_capability()
    if not (torch.backends.mkldnn.is_available() and capability.startswith("AVX")):
        return False
    most = torch.full((32, 256), int(STEPS), dtype=torch.int8)
    told = (torch._int_mm(most, way * most.t().contiguous()) for way in (1, -1))  # noqa: SLF001
    return all(bool((each.abs() == int(STEPS) ** 2 * most.shape[1]).all()) for each in told)


def in_whole_numbers(module: nn.Module) -> None:
    """Put int8 products in the place of all dense layers of a module, for reading alone."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, WholeNumbers.of(child))
        else:
            in_whole_numbers(child)


class Bert(nn.Module):  # type: ignore[misc]  # torch is not type-checked here
    """The whole encoder, by the `config.json` of a model."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.width = int(config["hidden_size"])
        self.segments = int(config["type_vocab_size"])
        eps = float(config["layer_norm_eps"])
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": Table(config["vocab_size"], self.width),
                "position_embeddings": Table(config["max_position_embeddings"], self.width),
                "token_type_embeddings": Table(self.segments, self.width),
                "LayerNorm": nn.LayerNorm(self.width, eps),
            }
        )
        inner, heads = int(config["intermediate_size"]), int(config["num_attention_heads"])
        layers = (_Layer(self.width, inner, heads, eps) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Hidden:
        """One vector for each token; all int64 [n, tokens], the mask 0 for what fills a row."""
        named = self.embeddings
        segments = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden = named["word_embeddings"](input_ids) + named["token_type_embeddings"](segments)
        hidden = named["LayerNorm"](hidden + named["position_embeddings"](places))
        # Given a mask that leaves nothing out, too: without one the same row would say a little else.
        mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, mask)
        return Hidden(hidden)


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, inner: int, heads: int, eps: float) -> None:
        super().__init__()
        self._heads = heads
        sides = nn.ModuleDict({name: Dense(width, width) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": sides, "output": closing(width, width, eps)})
        self.intermediate = nn.ModuleDict({"dense": Dense(width, inner)})
        self.output = closing(inner, width, eps)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        seen = attended(hidden, self.attention["self"].values(), self._heads, mask)
        closing = self.attention["output"]
        hidden = closing["LayerNorm"](closing["dense"](seen) + hidden)
        inner = functional.gelu(self.intermediate["dense"](hidden))
        return self.output["LayerNorm"](self.output["dense"](inner) + hidden)


def attended(hidden: Tensor, sides: Iterable[nn.Module], heads: int, mask: Tensor | None) -> Tensor:
    """What each token sees of all, by the layers of query, key and value; a bool mask, or one to be added."""
    rows, tokens, width = hidden.shape
    query, key, value = (side(hidden).view(rows, tokens, heads, -1).transpose(1, 2) for side in sides)
    seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return seen.transpose(1, 2).reshape(rows, tokens, width)


def closing(inner: int, width: int, eps: float) -> nn.ModuleDict:
    """The dense layer and the norm that close a part of a layer."""
    return nn.ModuleDict({"dense": Dense(inner, width), "LayerNorm": nn.LayerNorm(width, eps)})
