"""The configuration of a weights folder: a JSON object beside the weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import ModelError
from ..scorer import Thresholds

CONFIG_FILE = "config.json"
PACKAGED_BASE = "sentence-transformers/all-MiniLM-L6-v2"
"""Name of the packaged base; weights of any other base name its folder or its hub name."""


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a weights folder.

    Raises:
        ModelError: it is missing or no JSON object.
    """
    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / CONFIG_FILE} cannot be read: {error}; reinstall mem0-dream") from error
    if not isinstance(config, dict):
        raise ModelError(f"{folder / CONFIG_FILE} is no JSON object; reinstall mem0-dream")
    return config


def read_thresholds(folder: Path, name: str = "thresholds") -> Thresholds:
    """One of the sets of thresholds in the configuration of a weights folder.

    Raises:
        ModelError: the configuration cannot be read or has no thresholds.
    """
    try:
        limits = read_config(folder)[name]
        return Thresholds(**{key: float(limits[key]) for key in ("auto", "duplicate", "contradiction")})
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder / CONFIG_FILE} has no {name}: {error}; reinstall mem0-dream") from error


def check_features(folder: Path, names: tuple[str, ...], *, facts: int) -> None:
    """Refuse weights whose calibrator was fitted on other signals than this version computes.

    Raises:
        ModelError: the names of the columns, or the version of the guards that fill them, differ.
    """
    config = read_config(folder)
    if tuple(config.get("features", ())) != names or config.get("facts") != facts:
        raise ModelError(f"the weights in {folder} belong to another version; reinstall mem0-dream")


def base_folder(folder: Path) -> Path:
    """Folder of the base model that the weights were trained on; a hub name is fetched if need be.

    Raises:
        ModelError: the base is missing or cannot be fetched.
    """
    from ..encoder import local_folder
    from ..loading import loading_library
    from ..packaged import packaged_model_path

    base = str(read_config(folder).get("base", PACKAGED_BASE))
    if base == PACKAGED_BASE:
        return packaged_model_path()
    local = local_folder(base)
    if local is not None:
        return local
    with loading_library(f"The base model {base}"):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(base, allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors"]))
