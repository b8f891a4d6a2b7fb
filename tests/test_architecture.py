"""The page about the architecture names what exists."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| .+ \| `([\w/]+)\.py` \| `([\w.]+)` \|$", PAGE, re.MULTILINE)


def test_the_walk_is_found() -> None:
    """A table of another form would pass unread."""
    assert len(STEPS) > 20


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_each_step_of_the_walk_exists(file: str, name: str) -> None:
    """Module, class and function are where the page says."""
    module = importlib.import_module(f"mem0_dream.{file.replace('/', '.')}")
    assert callable(reduce(getattr, name.split("."), module))


@pytest.mark.parametrize("folder", re.findall(r"^\| `([\w/]+)/`", PAGE, re.MULTILINE))
def test_each_layer_is_a_folder(folder: str) -> None:
    """The table of layers follows the tree."""
    assert (Path(__file__).resolve().parent.parent / folder / "__init__.py").is_file()
