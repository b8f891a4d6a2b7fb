"""The word tables are tidy, and every list is read."""

import tomllib
from pathlib import Path

import mem0_dream
import pytest
from mem0_dream.models.text.tables import table_lines, table_words

PACKAGE = Path(mem0_dream.__file__).parent
TABLES = sorted((PACKAGE / "models" / "tables").iterdir())
OF_LINES = {
    ("examples", "mem0"), ("names", "aliases"), ("names", "short_forms"), ("opposites", "pairs"), ("opposites", "one_relative"), ("synonyms", "groups"),
    ("synonyms", "stems"), ("wording", "groups"), ("wording", "alike"),
}  # fmt: skip
LISTS = [(path.stem, key) for path in TABLES for key in tomllib.loads(path.read_text(encoding="utf-8"))]


def test_words_and_lines_keep_their_order() -> None:
    assert table_words("grammar", "stop")[:3] == ("a", "an", "the")
    assert table_lines("names", "short_forms")[1] == "william will bill billy"


@pytest.mark.parametrize(("name", "key"), LISTS)
def test_nothing_stands_twice(name: str, key: str) -> None:
    lines = table_lines(name, key)
    of_lines = (name, key) in OF_LINES or any(sign in line for line in lines for sign in ":|,(<")
    entries = lines if of_lines else table_words(name, key)
    assert len(set(entries)) == len(entries)


@pytest.mark.parametrize(("name", "key"), LISTS)
def test_every_list_is_read(name: str, key: str) -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for part in ("models", "pipeline")
        for path in (PACKAGE / part).rglob("*.py")
    ]
    sources = [source.replace("'", '"') for source in sources]
    signs = (f"<{key}>", f"(?&{key})", f"(?&{name}.{key})", f"(?&{name}:{key})")
    placed = any(sign in path.read_text(encoding="utf-8") for path in TABLES for sign in signs)
    asked = name == "patterns" and any("pattern" in source and f'"{key}"' in source for source in sources)
    assert placed or asked or any(f'"{name}"' in source and f'"{key}"' in source for source in sources)
