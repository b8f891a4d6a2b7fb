"""Transcripts: read from their end, for narrow terms, never as a whole."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mem0_dream.pipeline.stores.markdown import project
from mem0_dream.pipeline.stores.markdown.project import evidence, lines_backwards


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b" ")), max_size=20),
    ended=st.booleans(),
    block=st.integers(1, 40),
)
def test_lines_come_backwards_whatever_the_block(tmp_path_factory, lines, ended, block) -> None:
    path = tmp_path_factory.mktemp("t") / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ended and lines else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(project, "_BLOCK", block)
        assert list(lines_backwards(path)) == [line for line in reversed(lines) if line.strip()]


def test_the_newest_lines_of_the_newest_file_come_first(tmp_path: Path) -> None:
    for number, name in enumerate(["old", "new"]):
        path = tmp_path / f"{name}.jsonl"
        said = [json.dumps({"content": [{"text": f"{name} {n}\nabout src/was.py now"}]}) for n in range(2)]
        path.write_text("\n".join(said) + "\n")
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    found = evidence(tmp_path, {"m": ["src/was.py"], "n": ["absent_term"]})
    assert [(q.file, q.text) for q in found["m"]] == [
        ("new.jsonl", "new 1 about src/was.py now"),
        ("new.jsonl", "new 0 about src/was.py now"),
        ("old.jsonl", "old 1 about src/was.py now"),
    ]
    assert "n" not in found


def test_reading_stops_after_enough_matches(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "b.jsonl").write_text("src/was.py here\n" * 80)
    (tmp_path / "a.jsonl").write_text("src/was.py there\n")
    os.utime(tmp_path / "a.jsonl", (1, 1))
    read: list[str] = []
    original = project.lines_backwards

    def noted(path: Path):
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(project, "lines_backwards", noted)
    evidence(tmp_path, {"m": ["src/was.py"]})
    assert read == ["b.jsonl"]


def test_a_long_line_is_cut_around_the_term_and_only_narrow_terms_are_searched(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "x " * 500 + "the_term" + " y" * 500}) + "\n")
    found = evidence(tmp_path, {"m": ["the_term"], "n": ["the"]})
    assert list(found) == ["m"]
    text = found["m"][0].text
    assert "the_term" in text
    assert (text[0], text[-1], len(text) < 170) == ("…", "…", True)
