"""Turns texts into vectors, by which candidates are found; vectors alone never decide.

Without a model name this is the MiniLM of an installed package, so that nothing is downloaded, read
without the library it was made with (`packaged`), whose import alone takes seconds. Any other
sentence-transformers model, local or from the hub, fits the same seam; code that comes with a model is
never run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ModelError
from .loading import loading_library
from .packaged import PACKAGED_NAME, PackagedModel, packaged_model_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    number of tokens, so that nothing is padded, and one that is left alone is read beside itself, unless
    `rows_at_once` says that all of that number go alone. On one machine with one number of threads this gave
    equal bits in every permutation and subset tried (decision 13); what is guaranteed is equality to about
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
        self._packaged = model is None and device == "cpu"
        self._model_id = PACKAGED_NAME if model is None else model
        self._revision = revision
        self._device = device
        self._loaded: _Model | None = None
        self._name: str | None = None

    @property
    def name(self) -> str:
        """Model and hash of its files, such as "all-MiniLM-L6-v2@3f2a…"; a hub model has its commit."""
        if self._name is None:
            version = folder_hash(self._folder) if self._folder else self._model().commit or "unknown"
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
        vectors = np.zeros((len(readable), model.dimension), dtype=np.float32)
        lengths = model.lengths(readable)
        for rows in equal_length_batches(lengths, tokens=BATCH_TOKENS):
            # the kernels read one row alone in another way than beside a second: other last bits
            alone = len(rows) == 1 < rows_at_once(lengths[rows[0]])
            filled = rows * 2 if alone else rows
            vectors[rows] = model.vectors([readable[row] for row in filled])[: len(rows)]
        return vectors

    def _model(self) -> _Model:
        if self._loaded is None:
            if self._packaged:
                self._loaded = PackagedModel(keep_tokens=self._keep_tokens)
            else:
                self._loaded = _LibraryModel(self._folder or self._model_id, self._revision, self._device)
        return self._loaded


class _Model(Protocol):
    """A loaded model.

    Attributes:
        dimension: Columns of its vectors.
        commit: Of a hub model, where known.
    """

    dimension: int
    commit: str | None

    def lengths(self, texts: Sequence[str]) -> list[int]: ...

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class _LibraryModel:
    """A model as sentence-transformers loads it, from a folder or by its hub name."""

    def __init__(self, model: Path | str, revision: str | None, device: str) -> None:
        local = isinstance(model, Path)
        with loading_library(f"The encoder {model.name if isinstance(model, Path) else model}"):
            from sentence_transformers import SentenceTransformer

            self._model: LoadedModel = SentenceTransformer(
                str(model),
                device=device,
                revision=None if local else revision,
                local_files_only=local,
                trust_remote_code=False,
            )
        # renamed in sentence-transformers 6; both ends of the supported range are served
        ask = getattr(self._model, "get_embedding_dimension", None)
        self.dimension = int((ask or self._model.get_sentence_embedding_dimension)())
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        self.commit: str | None = getattr(config, "_commit_hash", None)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model sees it; characters where it has no tokenizer to ask."""
        tokenizer = getattr(self._model, "tokenizer", None)
        if not callable(tokenizer) or not texts:
            return [len(text) for text in texts]
        ids = tokenizer(list(texts), truncation=True, max_length=self._model.max_seq_length)["input_ids"]
        return [len(row) for row in ids]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, d], rows of length 1."""
        vectors = self._model.encode(
            list(texts),
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


def encodable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer accepts; they become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
