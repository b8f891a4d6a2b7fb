"""Loads the encoder and the scorer that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError, UsageError

if TYPE_CHECKING:
    from .encoder import Encoder
    from .scorer import PairScorer

CHOICES = ("bundled", "bundled:FOLDER", "keywords", "cosine", "nli:MODEL[@REVISION]", "openai:MODEL@URL")
"""Every way to name a scorer; FOLDER holds weights that `scripts/train/scorer.py` wrote."""
WORDS = "words"  # the encoder that needs no model


def load_scorer(spec: str) -> PairScorer:
    """Load the scorer that a name means, one of `CHOICES` (UsageError), if it can be loaded (ModelError)."""
    kind, colon, where = spec.partition(":")
    if spec in {"keywords", "cosine"}:
        from .keywords import CosineScorer, KeywordScorer

        return KeywordScorer() if spec == "keywords" else CosineScorer()
    if kind == "bundled" and bool(colon) == bool(where):
        try:
            from .bundled.scorer import FOLDER, BundledScorer

            return BundledScorer(Path(where).expanduser() if where else FOLDER)
        except ModuleNotFoundError as error:
            told = f"The bundled scorer is not part of this installation ({error.name} is missing)."
            raise ModelError(told) from error
        except FileNotFoundError as error:
            raise ModelError(f"The weights of the bundled scorer are missing ({error.filename}).") from error
    if kind == "nli" and where:
        from .nli import NliScorer

        return NliScorer(*split_revision(where))
    if kind == "openai" and colon:
        from .llm import OpenAIJudge

        return OpenAIJudge(where)
    raise UsageError(f"There is no scorer {spec!r}; choose one of {', '.join(CHOICES)}.")


def load_encoder(model: str | None = None, *, scorer: str = "bundled") -> Encoder:
    """Load an encoder: a folder, a hub name with @REVISION if wanted, or `WORDS`; ModelError if it cannot be.

    None is the words themselves for the scorer "keywords", else the packaged MiniLM.
    """
    if model == WORDS or (model is None and scorer == "keywords"):
        from .keywords import LexicalEncoder

        return LexicalEncoder()
    from .encoder import SentenceEncoder

    if model is None:
        return SentenceEncoder(keep_tokens=scorer.partition(":")[0] == "bundled")
    name, revision = split_revision(model)
    return SentenceEncoder(name, revision=revision)


def split_revision(model: str) -> tuple[str, str | None]:
    """Model and revision; an existing folder is never split, since a path may hold an @."""
    name, at, revision = model.rpartition("@")
    if not at or not name or not revision or Path(model).expanduser().is_dir():
        return model, None
    return name, revision
