"""mem0's embedder is made only when a new text needs it, and named when it fails."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from mem0_dream.errors import ConfigError, RefusedChangeError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.mem0.config import _UNASKED as UNASKED, LazyEmbedder
from mem0_dream.pipeline.stores.mem0.store import embedding


def test_it_is_made_once_and_late():
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return SimpleNamespace(embed=str.upper, dims=3)

    lazy = LazyEmbedder(make)
    assert made == []
    assert (lazy.embed("a"), lazy.dims, made) == ("A", 3, [1])


@pytest.mark.parametrize("error", [OSError("no route"), ConfigError("no route"), ValueError("secret text")])
def test_a_failure_is_its_own_and_holds_no_text(error):
    memory = SimpleNamespace(config=SimpleNamespace(embedder=SimpleNamespace(provider="openai")))
    with pytest.raises(RefusedChangeError, match="the openai embedder") as caught, embedding(memory):
        raise error
    assert ("no route" in str(caught.value)) is (not isinstance(error, ValueError))
    assert "secret" not in str(caught.value)


@pytest.mark.store
def test_looking_merging_copies_and_undoing_load_no_embedder(qdrant, tmp_path, monkeypatch):
    qdrant.fill(["Likes tea with milk", "Likes tea with milk", "Owns a standing desk"])

    def refuse(*_: object) -> None:
        raise AssertionError("the embedder was made")

    from mem0.utils.factory import EmbedderFactory

    create = EmbedderFactory.create
    monkeypatch.setattr(
        EmbedderFactory,
        "create",
        staticmethod(lambda provider, *rest: create(provider, *rest) if provider == UNASKED else refuse()),
    )
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(qdrant.config))
    for words in (
        ("status", "--all"),
        ("runs",),
        ("--all", "--dry-run", "--scorer", "keywords"),
        ("--all", "--auto", "--scorer", "keywords"),
        ("undo",),
    ):
        done = CliRunner().invoke(main, [*words, "--config", str(file)])
        assert done.exit_code == 0, done.output
    assert "restored: 1" in done.output
