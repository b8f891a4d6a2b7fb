"""The page about the architecture names what exists."""

import importlib
import re
import tomllib
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = {
    part.partition("\n")[0]: re.findall(r"^\| .+ \| `([\w/]+)\.py` \| `([\w.]+)` \|$", part, re.MULTILINE)
    for part in PAGE.split("\n## ")[1:]
}
LAYERS = re.findall(r"^\| (`[\w/]+(?:/|\.py)`.*?) \|", PAGE.partition("\n## ")[0], re.MULTILINE)


@pytest.mark.parametrize("title", WALKS)
def test_each_walk_fits_a_screen_and_all_of_it_is_checked(title: str) -> None:
    part = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("|")]
    assert len(rows) - 2 == len(WALKS[title])
    assert 15 <= len(WALKS[title]) <= 25


def test_there_is_a_walk_for_each_kind_of_unit() -> None:
    assert [title.split()[1] for title in WALKS] == ["mem0", "Markdown", "observation"]


@pytest.mark.parametrize(("file", "name"), [step for steps in WALKS.values() for step in steps])
def test_each_step_of_a_walk_exists(file: str, name: str) -> None:
    module = importlib.import_module(f"mem0_dream.{file.replace('/', '.')}")
    assert callable(reduce(getattr, name.split("."), module))


def test_the_table_of_layers_stands_in_the_order_that_is_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    whole, pipeline = (contract["layers"] for contract in contracts["contracts"][:2])
    assert whole[:2] == ["mem0_dream.__main__", "mem0_dream.pipeline"]
    wanted = [{f"pipeline/{each.strip()}" for each in layer.split("|")} for layer in pipeline]
    wanted += [{each.strip().removeprefix("mem0_dream.") for each in layer.split("|")} for layer in whole[2:]]
    told = []
    for cell in LAYERS:
        named = [each.removesuffix(".py").rstrip("/") for each in re.findall(r"`([^`]+)`", cell)]
        assert all((ROOT / each).is_dir() or (ROOT / f"{each}.py").is_file() for each in _whole(named))
        told.append(set(_whole(named)))
    assert told == wanted


def _whole(named: list[str]) -> list[str]:
    """Modules behind the first of a row stand in the same folder."""
    folder = named[0].rpartition("/")[0]
    return [each if "/" in each or not folder else f"{folder}/{each}" for each in named]
