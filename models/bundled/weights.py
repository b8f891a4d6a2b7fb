"""The shipped weights of the bundled scorer: matrices in int8 with a scale per row, the rest in float16.

Embeddings and vocabulary are not shipped: they are frozen in training and come from the packaged base model.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ModelError
from ..bert import Tokens, empty_encoder, readable
from .config import read_config

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .network import PairNetwork, PairTokenizer

WEIGHTS_FILE = "model.safetensors"
_SCALE = ".scale"
_STEPS = 127.0
_LAYERS = "encoder.encoder."


def pack(network: PairNetwork) -> dict[str, Tensor]:
    """The trained tensors: int8 with a float32 scale per output row for matrices, float16 otherwise.

    >>> pack(network)["encoder.encoder.layer.0.output.dense.weight"].dtype  # doctest: +SKIP
    torch.int8
    """
    import torch

    packed: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        if name.startswith("encoder.") and not name.startswith(_LAYERS):
            continue
        if tensor.ndim == 2:
            scale = tensor.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / _STEPS
            packed[name] = torch.round(tensor / scale).to(torch.int8)
            packed[name + _SCALE] = scale.float()
        else:
            packed[name] = tensor.to(torch.float16)
    return packed


def unpack(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of `pack` as float32, without the scales."""
    return {
        name: tensor.float() * packed[name + _SCALE] if name + _SCALE in packed else tensor.float()
        for name, tensor in packed.items()
        if not name.endswith(_SCALE)
    }


def load_network(folder: Path, base: Path) -> tuple[PairNetwork, PairTokenizer]:
    """The trained network: layers and heads from `folder`, embeddings and vocabulary from `base`.

    Raises:
        ModelError: a file is missing or damaged, or the base is not the one the layers were trained on.
    """
    from safetensors import safe_open
    from safetensors.torch import load_file

    from .network import PairNetwork, PairTokenizer

    config = read_config(folder)
    try:
        encoder, tokens, width = _base(base)
        network = PairNetwork(encoder, width=width, typed_segments=bool(config["typed_segments"]))
        with safe_open(base / WEIGHTS_FILE, framework="pt") as stored:
            names = [name for name in stored.keys() if "embeddings." in name]  # noqa: SIM118 - no dict
            frozen = {f"encoder.{name}": stored.get_tensor(name).float() for name in names}
        state = {k: v for k, v in frozen.items() if not k.endswith("position_ids")}
        if embedding_digest(state) != config["base_embeddings_sha256"]:
            raise ModelError(
                f"{base} is not the base that {folder} was trained on; install that version of the base model"
            )
        own = unpack(load_file(folder / WEIGHTS_FILE))
        missing = network.load_state_dict({**state, **own}, strict=False, assign=True)
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise ModelError(f"the bundled scorer cannot be built from {folder} and {base}: {error}") from error
    lacking = [name for name in missing.missing_keys if "pooler" not in name and "position_ids" not in name]
    if lacking or missing.unexpected_keys:
        raise ModelError(
            f"{folder / WEIGHTS_FILE} does not fit its network: {lacking or missing.unexpected_keys}"
        )
    network.eval()
    return network, PairTokenizer(tokens, max_length=int(config["max_length"]))


def _base(folder: Path) -> tuple[nn.Module, Tokens, int]:
    """An encoder of the kind of the base, its tokens and its width; no parameter is loaded yet."""
    if readable(folder):
        encoder = empty_encoder(folder)
        return encoder, Tokens.of(folder), encoder.width
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    config = AutoConfig.from_pretrained(folder)
    encoder = AutoModel.from_config(config, attn_implementation="sdpa")
    return encoder, Tokens.within(AutoTokenizer.from_pretrained(folder)), int(config.hidden_size)


def embedding_digest(state: dict[str, Tensor]) -> str:
    """SHA-256 over the embedding tensors of a network state, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(state):
        if name.startswith("encoder.embeddings.") and not name.endswith("position_ids"):
            digest.update(state[name].detach().contiguous().numpy().tobytes())
    return digest.hexdigest()
