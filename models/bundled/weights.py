"""A folder of shipped weights: its checksums, its configuration, and the network packed in it.

Matrices are int8 with a scale per row, the rest float16. Embeddings and vocabulary are not shipped: they are
frozen in training and come from the packaged base model.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ..bert import Tokens, empty_encoder, readable
from ..encoder import loading_library, local_folder, packaged_model_path
from ..scorer import Thresholds

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .network import PairNetwork, PairTokenizer

CONFIG_FILE = "config.json"
SUMS_FILE = "SHA256SUMS"
WEIGHTS_FILE = "model.safetensors"
PACKAGED_BASE = "sentence-transformers/all-MiniLM-L6-v2"  # any other is a folder or hub name
_AGAIN = "reinstall mem0-dream"
SCALE = ".scale"  # ending of the name of the scales of a matrix in int8


@contextlib.contextmanager
def _or_told(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{what}: {error}; {_AGAIN}") from error


def check_sums(folder: Path) -> None:
    """Refuse a folder of which the list or a file is missing, or a file differs from its sum (ModelError)."""
    with _or_told(f"the weights in {folder} are incomplete"):
        rows = map(str.split, (folder / SUMS_FILE).read_text(encoding="utf-8").splitlines())
        wrong = [name for digest, name in rows if digest_of(folder / name) != digest]
    if wrong:
        raise ModelError(f"damaged weights in {folder}: {', '.join(wrong)}; {_AGAIN}")


def sums_digest(folder: Path) -> str:
    """Digest of the list of sums: the identity of the weights, without reading them; ModelError if none."""
    with _or_told(f"no {SUMS_FILE} in {folder}"):
        return digest_of(folder / SUMS_FILE)


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a weights folder; ModelError if it is missing or no JSON object."""
    with _or_told(f"{folder / CONFIG_FILE} cannot be read"):
        return dict(json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8")))


def read_thresholds(folder: Path, name: str = "thresholds") -> Thresholds:
    """One of the sets of thresholds in the configuration of a weights folder; ModelError if there is none."""
    with _or_told(f"{folder / CONFIG_FILE} has no {name}"):
        limits = read_config(folder)[name]
        return Thresholds(**{key: float(limits[key]) for key in ("auto", "duplicate", "contradiction")})


def _base_folder(base: str) -> Path:
    """Folder of the base model that the weights were trained on; a hub name is fetched if need be."""
    if base == PACKAGED_BASE:
        return packaged_model_path()
    if (local := local_folder(base)) is not None:
        return local
    with loading_library(f"The base model {base}"):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(base, allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors"]))


def unpack(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file of weights as float32, without the scales."""
    return {
        name: tensor.float() * packed[name + SCALE] if name + SCALE in packed else tensor.float()
        for name, tensor in packed.items()
        if not name.endswith(SCALE)
    }


def load_network(folder: Path) -> tuple[PairNetwork, PairTokenizer]:
    """The trained network, `for_reading`, on the embeddings of its base; ModelError if either is wrong."""
    from safetensors import safe_open
    from safetensors.torch import load_file

    from .network import PairNetwork, PairTokenizer

    config = read_config(folder)
    base = _base_folder(str(config.get("base", PACKAGED_BASE)))
    try:
        encoder, tokens, width = _base(base)
        network = PairNetwork(encoder, width=width, typed_segments=bool(config["typed_segments"]))
        with safe_open(base / WEIGHTS_FILE, framework="pt") as stored:
            names = [name for name in stored.keys() if "embeddings." in name]  # noqa: SIM118 - no dict
            named = {f"encoder.{name}": name for name in names if not name.endswith("position_ids")}
            state = {own: stored.get_tensor(name).float() for own, name in named.items()}
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
    return for_reading(network), PairTokenizer(tokens, max_length=int(config["max_length"]))


def for_reading(network: PairNetwork) -> PairNetwork:
    """The network in int8 products and float64 heads, for good: a pair says the same in any company."""
    from ..bert_layers import in_whole_numbers

    in_whole_numbers(network.encoder)
    network.entailment_head.double()
    network.memory_head.double()
    network.eval()
    return network


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
