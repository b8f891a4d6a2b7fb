"""Builds the pair network over a base encoder, and writes the weights folder that the package ships."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...models.bert import Tokens
from ...models.bundled.calibrator import Calibrator
from ...models.bundled.checksums import write_sums
from ...models.bundled.config import CONFIG_FILE, PACKAGED_BASE, read_config
from ...models.bundled.features import feature_names
from ...models.bundled.network import PairNetwork, PairTokenizer
from ...models.bundled.scorer import CALIBRATOR_FILE
from ...models.bundled.weights import WEIGHTS_FILE, embedding_digest, pack, unpack
from ...models.guards import FACTS_VERSION
from ...models.packaged import packaged_model_path
from .calibrate import Limits

PAD_MULTIPLE = 8
VERSION = 2


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
