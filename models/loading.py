"""Loading models: whatever goes wrong becomes one sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import ModelError


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Turn whatever goes wrong into one sentence.

    Args:
        what: The model as the beginning of that sentence: "The encoder x".

    Raises:
        ModelError: In place of any other error.
    """
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelError(f"{what} cannot be loaded: {reason}.") from error


@contextlib.contextmanager
def loading_library(what: str) -> Iterator[None]:
    """The same for what `transformers` loads, without its progress bars.

    Raises:
        ModelError: In place of any other error.
    """
    with loading(what):
        from transformers.utils import logging

        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                logging.enable_progress_bar()
