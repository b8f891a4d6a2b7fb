"""Writes the weights folder that the package ships: int8 layers, heads, calibrator, thresholds, checksums."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...models.bundled.calibrator import Calibrator
from ...models.bundled.checksums import write_sums
from ...models.bundled.config import CONFIG_FILE, PACKAGED_BASE, read_config
from ...models.bundled.features import feature_names
from ...models.bundled.network import PairNetwork
from ...models.bundled.scorer import CALIBRATOR_FILE
from ...models.bundled.weights import WEIGHTS_FILE, embedding_digest, pack, unpack
from ...models.guards import FACTS_VERSION
from .calibrate import Limits

VERSION = 2


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
        "cross_validated": figures,
    }
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return write_sums(folder)


def add_figures(folder: Path, figures: dict[str, Any]) -> str:
    """Put further figures beside exported weights and return the digest of the checksums."""
    config = read_config(folder) | {"cross_validated": figures}
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return write_sums(folder)
