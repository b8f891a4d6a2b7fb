"""What reaches the error stream besides our own lines."""

from __future__ import annotations

import warnings

import pytest
from mem0_dream.pipeline.cli.terminal import set_up_logs


@pytest.mark.parametrize(
    ("verbose", "module", "shown"), [(0, "mem0.embeddings", 0), (1, "mem0.embeddings", 1), (0, "ours", 1)]
)
def test_what_mem0_will_have_to_change_is_no_news_for_its_user(verbose: int, module: str, shown: int) -> None:
    """A nightly job mails its error stream; with -v everything is there."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        set_up_logs(verbose, as_json=False)
        warnings.warn_explicit("renamed", FutureWarning, "huggingface.py", 29, module=module)
    assert len(caught) == shown
