"""The folder of a reader that ships whole: its network with embeddings, its vocabulary, its configuration.

Matrices are int8 with a scale per row, the rest float16, in files that any host of packages takes. What is
read in is what was written: the whole numbers are never turned to fractions and back. Sums are checked by the
folder that holds this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ..bert import TOKENIZER_FILE, Tokens, encoder_of, known
from .weights import CONFIG_FILE, SCALE, for_reading, read_config

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .network import PairNetwork, PairTokenizer

TOKENIZER_CONFIG = "tokenizer_config.json"
FILE_BYTES = 40_000_000  # of one file of weights at most
_HEADER_BYTES = 300  # what a tensor takes in the list that a file begins with, generously
_MARKS = ("cls_token", "sep_token", "pad_token")
_CONFIG = (
    "model_type", "hidden_act", "hidden_size", "intermediate_size", "layer_norm_eps",
    "max_position_embeddings", "num_attention_heads", "num_hidden_layers", "type_vocab_size", "vocab_size",
    "pad_token_id", "relative_attention_num_buckets",
)  # fmt: skip
_LEFT_OUT = ("encoder.pooler.", "encoder.embeddings.position_ids")
_WORDS = "encoder.embeddings.word_embeddings.weight"
_BIAS = "encoder.encoder.relative_attention_bias.weight"  # added as it is: no product that could be rounded


def write_reader(
    network: PairNetwork, tokenizer_folder: Path, folder: Path,
    *, steps: int, max_length: int, file_bytes: int = FILE_BYTES,
) -> None:  # fmt: skip
    """Write a network over an encoder of `transformers`, and the vocabulary of a folder, for `load_reader`.

    Word vectors and the layers' weights are rounded to `steps` (at most 127) within four times the root mean
    square of a row, to each side of zero; what lies farther out has more. With fewer steps the files can be
    compressed further. Position vectors and heads, which are few, have all of int8.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("model-*.safetensors"):
        old.unlink()
    parts = list(_parts(pack_reader(network, steps=steps), file_bytes))
    names = [f"model-{number:05}-of-{len(parts):05}.safetensors" for number in range(1, len(parts) + 1)]
    for name, part in zip(names, parts, strict=True):
        save_file(part, folder / name)
        (folder / name).chmod(0o644)
    encoder = network.encoder.config.to_dict()
    config = {name: encoder[name] for name in _CONFIG if name in encoder} | {
        "architecture": "PairNetwork",
        "typed_segments": network.typed_segments,
        "max_length": max_length,
        "entailment_labels": ["entails", "neutral", "contradicts"],
        "memory_labels": ["duplicate", "contradiction", "distinct"],
        "steps": steps,
        "weights": names,
    }
    _write_json(folder / CONFIG_FILE, config)
    (folder / TOKENIZER_FILE).write_bytes((tokenizer_folder / TOKENIZER_FILE).read_bytes())
    marks = json.loads((tokenizer_folder / TOKENIZER_CONFIG).read_text(encoding="utf-8"))
    _write_json(folder / TOKENIZER_CONFIG, {name: marks[name] for name in _MARKS})


def pack_reader(network: PairNetwork, *, steps: int) -> dict[str, Tensor]:
    """All tensors of a network as they are written: int8 with float32 scales by row, or float16."""
    import torch

    from ..bert_layers import by_row, by_spread

    packed: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        if name.startswith(_LEFT_OUT):
            continue
        if tensor.ndim == 2 and name != _BIAS:
            coarse = name == _WORDS or name.startswith("encoder.encoder.")
            whole, scale = by_spread(tensor.float(), steps) if coarse else by_row(tensor.float())
            packed |= {name: whole.to(torch.int8), name + SCALE: scale}
        else:
            packed[name] = tensor.to(torch.float16)
    return {name: tensor.contiguous() for name, tensor in packed.items()}


def load_reader(folder: Path) -> tuple[PairNetwork, PairTokenizer]:
    """The network of a folder, in int8 products and float64 heads, and its tokens; ModelError if wrong."""
    from safetensors import SafetensorError

    from .network import PairTokenizer

    config = read_config(folder)
    try:
        if not known(config):
            raise ModelError(f"{folder / CONFIG_FILE} names an encoder that mem0-dream cannot build")
        packed = _read(folder, config)
        network = _built(config, packed)
        tokens = Tokens.of(folder)
        if len(tokens) > int(config["vocab_size"]):
            raise ModelError(f"the vocabulary in {folder} is not that of its network")
        return network, PairTokenizer(tokens, max_length=int(config["max_length"]))
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"the reader in {folder} cannot be built: {error}; reinstall mem0-dream") from error


def _read(folder: Path, config: Mapping[str, Any]) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    packed: dict[str, Tensor] = {}
    for name in config["weights"]:
        packed |= load_file(folder / str(name))
    return packed


def _built(config: Mapping[str, Any], packed: dict[str, Tensor]) -> PairNetwork:
    """A network that holds these tensors; ValueError if it needs others."""
    import torch

    from .network import PairNetwork

    with torch.device("meta"):  # shapes alone: every parameter comes from the files
        width, typed = int(config["hidden_size"]), bool(config["typed_segments"])
        network = PairNetwork(encoder_of(config), width=width, typed_segments=typed)
    wanted = {name: tensor.shape for name, tensor in network.state_dict().items()}
    given = {name: tensor.shape for name, tensor in packed.items() if not name.endswith(SCALE)}
    if wrong := sorted(name for name in wanted | given if wanted.get(name) != given.get(name)):
        raise ValueError(f"{len(wrong)} tensors do not fit, the first is {wrong[0]}")
    _put_whole(network.encoder, "encoder.", packed)
    rest = {name: _fractions(packed, name) for name in network.state_dict() if name in packed}
    network.load_state_dict(rest, strict=False, assign=True)
    for_reading(network).requires_grad_(requires_grad=False)
    return network


def _put_whole(module: nn.Module, prefix: str, packed: dict[str, Tensor]) -> None:
    """Put layers and tables of whole numbers, as they were written, in the places of a module's own."""
    from torch import nn

    from ..bert_layers import WholeNumbers, WholeTable

    for name, child in module.named_children():
        weight = f"{prefix}{name}.weight"
        if isinstance(child, nn.Linear):
            bias = packed[f"{prefix}{name}.bias"].float()
            setattr(module, name, WholeNumbers(packed[weight], packed[weight + SCALE], bias))
        elif weight == _WORDS:
            module[name] = WholeTable(packed[weight], packed[weight + SCALE])
        else:
            _put_whole(child, f"{prefix}{name}.", packed)


def _fractions(packed: dict[str, Tensor], name: str) -> Tensor:
    stored = packed[name].float()
    return stored * packed[name + SCALE] if name + SCALE in packed else stored


def _parts(packed: dict[str, Tensor], limit: int) -> Iterator[dict[str, Tensor]]:
    """The tensors in order, in parts of at most so many bytes each."""
    part: dict[str, Tensor] = {}
    size = _HEADER_BYTES
    for name, tensor in packed.items():
        more = tensor.nbytes + _HEADER_BYTES
        if more + _HEADER_BYTES > limit:
            raise ValueError(f"{name} alone is larger than a file may be")
        if part and size + more > limit:
            yield part
            part, size = {}, _HEADER_BYTES
        part[name], size = tensor, size + more
    yield part


def _write_json(file: Path, value: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
