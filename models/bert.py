"""A BERT encoder as small as reading needs it, and its tokens: ids in, one vector for each token out.

Parameters have the names of published weights, so that these load as they are. The usual library gives the
same vectors, but takes seconds to import. torch is imported late: counting tokens needs none of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"


class Tokens:
    """The word pieces of a model.

    Args:
        tokenizer: Of the package `tokenizers`.
        cls: Id that opens a text. `sep`: that closes one. `pad`: that fills a row.
    """

    def __init__(self, tokenizer: Any, *, cls: int, sep: int, pad: int) -> None:  # noqa: ANN401  (untyped)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.cls, self.sep, self.pad = cls, sep, pad

    @classmethod
    def of(cls, folder: Path) -> Tokens:
        """The tokens of the model in a folder.

        Raises:
            OSError: A file is missing.
            KeyError, ValueError: A file is damaged.
        """
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str((folder / TOKENIZER_FILE).read_text(encoding="utf-8"))
        marks = _json(folder / "tokenizer_config.json")
        named = (marks[f"{name}_token"] for name in ("cls", "sep", "pad"))
        vocabulary = tokenizer.get_vocab()
        opens, closes, fills = (
            vocabulary[mark["content"] if isinstance(mark, dict) else mark] for mark in named
        )
        return cls(tokenizer, cls=opens, sep=closes, pad=fills)

    @classmethod
    def within(cls, tokenizer: Any) -> Tokens:  # noqa: ANN401
        """The tokens of a fast tokenizer of `transformers`."""
        ids = (int(getattr(tokenizer, f"{name}_token_id")) for name in ("cls", "sep", "pad"))
        opens, closes, fills = ids
        return cls(tokenizer.backend_tokenizer, cls=opens, sep=closes, pad=fills)

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
    kind = [config.get(key, "absolute") for key in ("model_type", "hidden_act", "position_embedding_type")]
    return kind == ["bert", "gelu", "absolute"] and not config.get("is_decoder")


def empty_encoder(folder: Path) -> nn.Module:
    """The encoder of a folder before its parameters are loaded."""
    from .bert_layers import Bert

    return Bert(_json(folder / CONFIG_FILE)).eval()


def load_encoder(folder: Path) -> nn.Module:
    """The encoder of a folder, for reading.

    Raises:
        OSError, KeyError, ValueError, RuntimeError: A file is missing or damaged.
    """
    from safetensors.torch import load_file

    encoder = empty_encoder(folder)
    stored = load_file(folder / WEIGHTS_FILE)
    kept = {name: value.float() for name, value in stored.items() if name in encoder.state_dict()}
    encoder.load_state_dict(kept, assign=True)
    return encoder


def _json(file: Path) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content
