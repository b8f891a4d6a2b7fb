"""BERT and MPNet as small as reading needs them, and their tokens: the usual library imports for seconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import nn

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
_MARKS = ("cls", "sep", "pad")
Part = TypeVar("Part")
Read = TypeVar("Read")


def on_all_cores(read: Callable[[Part], Read], parts: Iterable[Part]) -> list[Read]:
    """What a network makes of each part, in order, each on one core, so that sums depend on no other."""
    import torch

    def reading(part: Part) -> Read:
        with torch.inference_mode():
            return read(part)

    threads = torch.get_num_threads()
    if threads == 1:
        return [reading(part) for part in parts]
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        return list(pool.map(reading, parts))
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # the last word on it counts for threads to come


class Tokens:
    """The word pieces of a model, and the ids that open and close a text and fill a row."""

    def __init__(self, tokenizer: Any, *, cls: int, sep: int, pad: int) -> None:  # noqa: ANN401  (untyped)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.cls, self.sep, self.pad = cls, sep, pad

    @classmethod
    def of(cls, folder: Path) -> Tokens:
        """The tokens of the model in a folder; OSError, KeyError or ValueError if a file is not right."""
        from tokenizers import Tokenizer

        written = (folder / TOKENIZER_FILE).read_text(encoding="utf-8")
        try:
            tokenizer = Tokenizer.from_str(written)
        except Exception as error:  # the library has no class of its own for a file that it cannot read
            raise ValueError(f"{folder / TOKENIZER_FILE}: {error}") from error
        config, vocabulary = _json(folder / "tokenizer_config.json"), tokenizer.get_vocab()
        marks = {name: config[f"{name}_token"] for name in _MARKS}
        spelled = {name: m["content"] if isinstance(m, dict) else m for name, m in marks.items()}
        return cls(tokenizer, **{name: vocabulary[mark] for name, mark in spelled.items()})

    @classmethod
    def within(cls, tokenizer: Any) -> Tokens:  # noqa: ANN401
        """The tokens of a fast tokenizer of `transformers`."""
        ids = {name: int(getattr(tokenizer, f"{name}_token_id")) for name in _MARKS}
        return cls(tokenizer.backend_tokenizer, **ids)

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def ids(self, texts: Sequence[str], *, longest: int) -> list[list[int]]:
        """The ids of each text, at most `longest`, without the marks that open and close it."""
        rows = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [row.ids[:longest] for row in rows]


def readable(folder: Path) -> bool:
    """Whether a folder holds a model of this kind; any other one needs `transformers`."""
    if not all((folder / name).is_file() for name in (CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE)):
        return False
    config = _json(folder / CONFIG_FILE)
    return known(config) and not config.get("is_decoder")


def known(config: Mapping[str, Any]) -> bool:
    """Whether a configuration is of an encoder that can be built here."""
    places = config.get("position_embedding_type", "absolute")
    return config.get("model_type") in ("bert", "mpnet") and (config.get("hidden_act"), places) == (
        "gelu",
        "absolute",
    )


def empty_encoder(folder: Path) -> nn.Module:
    """The encoder of a folder before its parameters are loaded."""
    return encoder_of(_json(folder / CONFIG_FILE))


def encoder_of(config: Mapping[str, Any]) -> nn.Module:
    """The encoder of a `known` configuration before its parameters are loaded."""
    if config["model_type"] == "mpnet":
        from .mpnet_layers import Mpnet

        return Mpnet(config).eval()
    from .bert_layers import Bert

    return Bert(config).eval()


def load_encoder(folder: Path) -> nn.Module:
    """The encoder of a folder, for reading; an error of the system or of torch if a file is not right."""
    from safetensors.torch import load_file

    encoder = empty_encoder(folder)
    stored = load_file(folder / WEIGHTS_FILE)
    kept = {name: value.float() for name, value in stored.items() if name in encoder.state_dict()}
    encoder.load_state_dict(kept, assign=True)
    return encoder


def _json(file: Path) -> Any:  # noqa: ANN401
    return json.loads(file.read_text(encoding="utf-8"))
