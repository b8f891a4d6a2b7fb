"""Reading mem0's configuration and opening the store it describes; its embedder is made when a text needs it."""

import copy
import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from builders import rows_of
from click.testing import CliRunner
from mem0_dream import errors
from mem0_dream.errors import ConfigError, MissingExtraError, RefusedChangeError, StoreError, UsageError
from mem0_dream.pipeline.cli.main import main
from mem0_dream.pipeline.stores.base import Add, ScopeFilter
from mem0_dream.pipeline.stores.mem0 import config as opening
from mem0_dream.pipeline.stores.mem0.config import LazyEmbedder, Mem0Config, load_config, open_mem0
from mem0_dream.pipeline.stores.mem0.store import Mem0Store, embedding
from mem0_dream.pipeline.writing.access import track_access
from mem0_dream.records import Scope
from mem0_stores import ALICE, build_place

YAML = """
vector_store:
  provider: qdrant
  config: {path: "${STORE_DIR:-~/store}", port: "${STORE_PORT:-6333}", api_key: "${STORE_KEY:-a:b#c}"}
history_db_path: ~/history.db
mem0_dream: {stale_after: 90d}
"""


def written(folder: Path, text: str, name: str = "mem0.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def listing(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


class TestLoad:
    def test_sections_are_split(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", "/home/alice")
        monkeypatch.setenv("STORE_KEY", "")
        config = load_config(written(tmp_path, YAML))
        assert config.settings == {"stale_after": "90d"}
        place = {"path": "/home/alice/store", "port": 6333, "api_key": "a:b#c"}
        store = {"provider": "qdrant", "config": place}
        assert config.mem0 == {"vector_store": store, "history_db_path": "/home/alice/history.db"}
        assert "a:b#c" not in repr(config)

    def test_values_inside_lists_are_expanded_and_json_and_old_keys_are_read_too(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ONE", "1")
        text = "llm: {provider: x, config: {models: ['${ONE}-${TWO:-2}', 3, null], route: '$ONE'}}"
        config = load_config(written(tmp_path, text)).mem0["llm"]["config"]
        assert config == {"models": ["1-2", 3, None], "route": "$ONE"}
        old = {"graph_store": {"provider": "neo4j"}, "version": "v1.1"}
        file = written(tmp_path, json.dumps(old), "mem0.json")
        assert load_config(str(file)) == Mem0Config(old, {}, str(file))

    @pytest.mark.parametrize(("text", "problem"), rows_of(Path(__file__).with_name("mistakes.tsv"), "yaml"))
    def test_each_mistake_is_one_sentence(self, tmp_path, text, problem):
        file = written(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            load_config(file)
        message = str(caught.value)
        assert problem in message
        assert str(file) in message
        assert "\n" not in message
        assert "s3cret" not in message
        assert message.endswith((".", "?"))

    def test_bad_files_are_told(self, tmp_path):
        broken = written(tmp_path, "{", "mem0.json")
        for path, problem in [
            (tmp_path / "none.yaml", "There is no configuration file"),
            (tmp_path, "cannot be read: IsADirectoryError"),
            (broken, "is no valid JSON: line 1, column 2"),
        ]:
            with pytest.raises(ConfigError, match=problem):
                load_config(path)


@pytest.mark.store
class TestOpen:
    def test_a_misspelt_collection_creates_nothing(self, place, tmp_path):
        place.fill(["Likes tea"])
        before = listing(tmp_path)
        name = place.config["vector_store"]["config"]["collection_name"]
        with pytest.raises(ConfigError, match=f"Collection typo does not exist in .*: .*{name}"):
            place.with_collection("typo").open()
        assert listing(tmp_path) == before

    @pytest.mark.parametrize("provider", ["qdrant", "faiss", "chroma"])
    def test_a_misspelt_path_creates_nothing(self, provider, tmp_path, shared_encoder):
        with pytest.raises(ConfigError, match=r"existing collections: none\.$"):
            build_place(provider, tmp_path).open()
        assert listing(tmp_path) == []

    def test_a_store_in_use_is_locked(self, qdrant):
        store, _ = qdrant.filled(["Likes tea"])
        held = "Another process holds the qdrant store in"
        with pytest.raises(errors.StoreLockedError, match=held) as caught:
            qdrant.open()
        assert caught.value.exit_code == 5
        threading.Timer(0.5, store.close).start()
        open_mem0(qdrant.config, wait_s=60).close()

    def test_no_language_model_is_needed(self, qdrant, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        qdrant.fill(["Likes tea"])
        config = copy.deepcopy(qdrant.config)
        config["llm"] = {"provider": "groq", "config": {"model": "any"}}
        config["reranker"] = {"provider": "cohere", "config": {"api_key": "none"}}
        store = open_mem0(Mem0Config(config, {}, "mem0.yaml"))
        assert len(store.read(ALICE).memories) == 1
        store.close()

    def test_the_users_choice_about_telemetry_stands(self, qdrant, monkeypatch):
        import os

        qdrant.fill(["Likes tea"])
        monkeypatch.delenv("MEM0_TELEMETRY")
        qdrant.open().close()
        assert os.environ["MEM0_TELEMETRY"] == "False"
        monkeypatch.setenv("MEM0_TELEMETRY", "True")
        qdrant.open().close()
        assert os.environ["MEM0_TELEMETRY"] == "True"

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"provider": "qdrnt"}, "vector_store: Unsupported vector store provider: qdrnt"),
            ({"config": {"colection_name": "x", "api_key": "s3cret"}}, "fields not allowed: colection_name"),
            ({"config": {"port": "s3cret"}}, "port: Input should be a valid integer"),
            ({"provider": "pgvector", "config": {"user": "s3cret"}}, "must be provided"),
            ({"provider": "pgvector", "config": {"connection_string": "s3cret=1 x"}}, "no PostgreSQL"),
        ],
    )
    def test_what_mem0_rejects_is_one_sentence(self, qdrant, change, problem):
        config = copy.deepcopy(qdrant.config)
        config["vector_store"] |= change
        with pytest.raises(ConfigError, match=problem) as caught:
            open_mem0(config)
        assert "\n" not in str(caught.value)
        assert "s3cret" not in str(caught.value)

    def test_a_wrong_embedder_is_told_without_its_key(self, qdrant):
        qdrant.fill(["Likes tea"])
        config = copy.deepcopy(qdrant.config)
        config["embedder"]["config"] = {"model": "/no/such/model", "api_key": "/no/such/model"}
        store = open_mem0(config)  # listing needs no embedder
        assert len(store.read(ScopeFilter()).memories) == 1
        with pytest.raises(RefusedChangeError, match="embedder cannot be loaded") as caught:
            store.write(Add("Likes snow", Scope.of(user_id="alice"), {}, None, "run/1"))
        store.close()
        assert "/no/such/model" not in str(caught.value)

    def test_errors_while_opening_are_told_apart_and_a_missing_package_is_named(self, qdrant, monkeypatch):
        from qdrant_client.http.exceptions import ResponseHandlingException

        qdrant.fill(["Likes tea"])
        config, client = "mem0.configs.base.MemoryConfig.__init__", "mem0.Memory.__init__"
        cases = [
            (config, PermissionError("no"), ConfigError, "set MEM0_DIR"),
            (client, ResponseHandlingException(OSError("gone")), StoreError, "does not answer"),
        ]
        for module, told in (
            ("chromadb", r"pip install 'mem0-dream\[chroma\]'"),
            ("psycopg_pool", r"pip install 'mem0-dream\[pgvector\]'"),
            ("pinecone", "not installed: pinecone"),
        ):
            missing = ModuleNotFoundError("no", name=module)
            cases += [(place, missing, MissingExtraError, told) for place in (config, client)]
        for target, error, kind, problem in cases:
            with monkeypatch.context() as patch:
                patch.setattr(target, Mock(side_effect=error))
                with pytest.raises(kind, match=problem):
                    qdrant.open()

    def test_other_clients_are_refused(self, qdrant):
        from mem0 import AsyncMemory

        with pytest.raises(UsageError, match="object is no mem0 Memory"):
            Mem0Store(object())
        memory = qdrant.memory()
        asynchronous = AsyncMemory.__new__(AsyncMemory)
        with pytest.raises(UsageError, match="AsyncMemory cannot be consolidated"):
            Mem0Store(asynchronous)
        store = Mem0Store(track_access(memory), owned=True)
        assert store.memory is memory
        store.close()


def test_the_embedder_is_made_once_and_late():
    make = Mock(return_value=SimpleNamespace(embed=str.upper, dims=3))
    lazy = LazyEmbedder(make)
    make.assert_not_called()
    assert (lazy.embed("a"), lazy.dims, make.call_count) == ("A", 3, 1)


@pytest.mark.parametrize("error", [OSError("no route"), ConfigError("no route"), ValueError("secret text")])
def test_a_failing_embedder_is_named_and_holds_no_text(error):
    memory = SimpleNamespace(config=SimpleNamespace(embedder=SimpleNamespace(provider="openai")))
    with pytest.raises(RefusedChangeError, match="the openai embedder") as caught, embedding(memory):
        raise error
    assert ("no route" in str(caught.value)) is (not isinstance(error, ValueError))
    assert "secret" not in str(caught.value)


@pytest.mark.store
def test_looking_merging_copies_and_undoing_load_no_embedder(qdrant, tmp_path, monkeypatch):
    qdrant.fill(["Likes tea with milk", "Likes tea with milk", "Owns a standing desk"])
    from mem0.utils.factory import EmbedderFactory

    create = EmbedderFactory.create

    def only_unasked(provider: str, *rest: object) -> Any:
        assert provider == opening._UNASKED, "the embedder was made"
        return create(provider, *rest)

    monkeypatch.setattr(EmbedderFactory, "create", staticmethod(only_unasked))
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
