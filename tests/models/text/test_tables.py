"""The word tables are tidy, and every list is read."""

import re
import tomllib
from pathlib import Path

import mem0_dream
from mem0_dream.models.text.tables import table_lines, table_words

PACKAGE = Path(mem0_dream.__file__).parent
TABLES = sorted((PACKAGE / "models" / "tables").iterdir())
OF_LINES = {
    ("examples", "mem0"), ("names", "aliases"), ("names", "short_forms"), ("opposites", "pairs"), ("opposites", "one_relative"), ("synonyms", "groups"),
    ("names", "one_being"), ("synonyms", "stems"), ("wording", "groups"), ("wording", "alike"),
}  # fmt: skip
LISTS = [(path.stem, key) for path in TABLES for key in tomllib.loads(path.read_text(encoding="utf-8"))]


def test_words_and_lines_keep_their_order() -> None:
    assert table_words("grammar", "stop")[:3] == ("a", "an", "the")
    assert table_lines("names", "short_forms")[1] == "william will bill billy"


def test_nothing_stands_twice() -> None:
    for name, key in LISTS:
        lines = table_lines(name, key)
        of_lines = (name, key) in OF_LINES or any(sign in line for line in lines for sign in ":|,(<")
        entries = lines if of_lines else table_words(name, key)
        assert len(set(entries)) == len(entries), (name, key)


def test_every_list_is_read() -> None:
    files = (path for part in ("models", "pipeline") for path in (PACKAGE / part).rglob("*.py"))
    sources = [path.read_text(encoding="utf-8").replace("'", '"') for path in files]
    tables = "".join(path.read_text(encoding="utf-8") for path in TABLES)
    for name, key in LISTS:
        signs = (f"<{key}>", f"(?&{key})", f"(?&{name}.{key})", f"(?&{name}:{key})")
        asking = [source for source in sources if f'"{key}"' in source]
        asked = any(
            f'"{name}"' in source or (name == "patterns" and re.search(r"pattern|found", source))
            for source in asking
        )
        assert asked or any(sign in tables for sign in signs), (name, key)
