"""Pairs are planted in copies, every place by turns, and found again in the plan of a real pass."""

import json
import random
from pathlib import Path

import pytest
from graph_world import entity, write
from markdown_trees import MEMORY, memory_file, write_tree
from mem0_dream.scripts.evaluate import planted
from mem0_dream.settings import Settings


def _project(root: Path) -> Path:
    bodies = {"a": "## Build\n\nmake builds all.\n\n## Run\n\nIt runs.", "b": "Some text."}
    return write_tree(root, {f"{MEMORY}/{name}.md": memory_file(body) for name, body in bodies.items()})


def _graph(root: Path) -> Path:
    root.mkdir()
    kinds = {"web": "service", "api": "service", "ana": "person"}
    lines = (entity(name, "Is there.", kind=kind) for name, kind in kinds.items())
    write(root / "memory.json", lines, end="\n")
    return root / "memory.json"


def _folder(root: Path) -> Path:
    return _project(root) / ".claude" / "memory"


def _beside_documents(root: Path) -> Path:
    _project(root)
    (root / "docs").mkdir()
    for name in "abcdefgh":
        (root / "docs" / f"{name}.md").write_text("# Not a memory\n")
    return root


@pytest.mark.parametrize("make", [_project, _graph, _folder, _beside_documents])
def test_every_pair_is_planted_and_the_source_stays(tmp_path: Path, make) -> None:
    source = make(tmp_path / "source")
    files = [source] if source.is_file() else sorted(source.rglob("*.md"))
    before = [path.read_bytes() for path in files]
    plan, pairs, _ = planted.measured(source, seed=1, settings=Settings(scorer="keywords"))
    assert [path.read_bytes() for path in files] == before
    assert len(pairs) == len(planted.read_table()) == 93
    assert {pair.place for pair in pairs} >= {"other type"}
    outcomes = [planted.outcome(plan, pair) for pair in pairs]
    assert set(outcomes) <= set(planted.OUTCOMES)
    assert "missed" not in {planted.outcome(plan, pair) for pair in pairs if pair.form == "verbatim"}
    rows = {(p.kind, row) for p in pairs for row in ("", p.form, p.place)}
    assert len(planted.table(pairs, outcomes).splitlines()) == 2 + len(rows)


def test_texts_stand_in_the_files_as_they_are(tmp_path: Path) -> None:
    root = _project(tmp_path / "p")
    pairs = planted.plant_markdown([root], planted.read_table(), random.Random(3))  # noqa: S311
    said = "\n".join(path.read_text() for path in root.rglob("*.md"))
    assert all(text in said for pair in pairs for text in pair.texts)


def test_entities_stand_there_a_second_time_under_other_names(tmp_path: Path) -> None:
    graph = _graph(tmp_path / "g")
    with graph.open("a") as lines:
        for name in ("garden shop", "book shop", "wine shop"):
            said = [f"{text} of the {name}" for text in ("Tools", "Opening", "Address", "Owner")]
            lines.write(entity(name, *said, kind="shop") + "\n")
    pairs = planted.plant_graph(graph, (), random.Random(1))  # noqa: S311
    held = {line["name"]: line["observations"] for line in map(json.loads, graph.read_text().splitlines())}
    assert [pair.form for pair in pairs] == ["parentheses", "general word"]
    for pair in pairs:
        original, second = (held[name] for name in pair.texts)
        assert len(set(original) & set(second)) == len(original)
    plan, _, _ = planted.measured(graph, seed=1, settings=Settings(scorer="keywords"))
    assert "asked" in [planted.outcome(plan, pair) for pair in pairs] or plan.merges
