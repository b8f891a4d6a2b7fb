"""The word tables are tidy, and every list is read."""

from __future__ import annotations

import tomllib
from pathlib import Path

import mem0_dream
import pytest
from mem0_dream.models.word_tables import table_lines, table_words

PACKAGE = Path(mem0_dream.__file__).parent
TABLES = sorted((PACKAGE / "models" / "tables").iterdir())
OF_LINES = {
    ("examples", "mem0"), ("names", "aliases"), ("names", "short_forms"), ("opposites", "families"),
    ("opposites", "pairs"), ("synonyms", "groups"), ("synonyms", "stems"), ("units", "spelled_out"), ("units", "units"),
}  # fmt: skip
LISTS = [(path.stem, key) for path in TABLES for key in tomllib.loads(path.read_text(encoding="utf-8"))]


def test_words_and_lines_keep_their_order() -> None:
    """Numbers of groups and alternatives of patterns follow the file."""
    assert table_words("grammar", "stop")[:3] == ("a", "an", "the")
    assert table_lines("names", "short_forms")[1] == "william will bill billy"


@pytest.mark.parametrize(("name", "key"), LISTS)
def test_nothing_stands_twice(name: str, key: str) -> None:
    """A list of words has each word once, a list of lines each line."""
    entries = table_lines(name, key) if (name, key) in OF_LINES else table_words(name, key)
    assert len(set(entries)) == len(entries)


@pytest.mark.parametrize(("name", "key"), LISTS)
def test_every_list_is_read(name: str, key: str) -> None:
    """Some module names the list; what nobody reads goes."""
    sources = [path.read_text(encoding="utf-8") for path in (PACKAGE / "models").rglob("*.py")]
    sources += [path.read_text(encoding="utf-8") for path in (PACKAGE / "pipeline").rglob("*.py")]
    assert any(f'"{name}"' in source and f'"{key}"' in source for source in sources)
