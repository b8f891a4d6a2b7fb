"""FAISS: whole-file saves that a kill cannot tear, and loads that cannot lie."""

import json
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from killing import Killed
from mem0_dream.errors import StoreError, StoreLockedError
from mem0_dream.pipeline.stores.base import Delete, Restore, Retire
from mem0_dream.pipeline.stores.mem0.store import Mem0Store
from mem0_stores import ALICE, EVERYTHING, Place, remember

pytestmark = pytest.mark.store

TEXTS = ["Likes tea", "Lives in Lisbon", "Plays the cello"]


def folder(place: Place) -> Path:
    return Path(place.config["vector_store"]["config"]["path"])


def contents(place: Place) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder(place).iterdir()}


@pytest.mark.parametrize("name", ["memories.json", "memories.faiss"])
def test_a_failed_load_is_never_an_empty_store(faiss, name):
    (memory_id, *_) = faiss.fill(TEXTS)
    damaged = folder(faiss) / name
    damaged.write_bytes(damaged.read_bytes()[:40])
    before = contents(faiss)
    store = faiss.open()
    inventory = store.read(ALICE)
    assert inventory.memories == ()
    assert "damaged or was not loaded" in inventory.gaps[0]
    with pytest.raises(StoreError, match="restore it from a backup"):
        store.fetch([memory_id])
    with pytest.raises(StoreError, match="restore it from a backup"):
        store.write(Delete(memory_id))
    store.close()
    assert contents(faiss) == before


def test_files_that_another_process_wrote_are_not_overwritten(faiss):
    store, ids = faiss.filled(TEXTS)
    agent = faiss.memory()
    remember(agent, "Has a dog", user_id="alice")
    assert "another process has written" in store.read(ALICE).gaps[0]
    before = contents(faiss)
    with pytest.raises(StoreError, match="Another process has written"):
        store.write(Delete(ids[0]))
    with pytest.raises(StoreLockedError):
        store.memory.vector_store._save()
    store.close()
    assert contents(faiss) == before


@pytest.mark.parametrize("step", range(5))
def test_a_kill_during_a_save_leaves_before_or_after(faiss, step, monkeypatch):
    store, ids = faiss.filled(TEXTS)
    done: list[str] = []

    def until_killed(name: str) -> Any:
        original = getattr(Path, name)

        def operation(*args: Any, **options: Any) -> Any:
            if len(done) == step:
                raise Killed
            done.append(name)
            return original(*args, **options)

        return operation

    with monkeypatch.context() as patch:
        for name in ("write_text", "touch", "replace", "unlink"):
            patch.setattr(Path, name, until_killed(name))
        with pytest.raises(Killed):
            store.write(Delete(ids[0]))
    reopened = faiss.open()
    inventory = reopened.read(EVERYTHING)
    reopened.close()
    committed = "touch" in done
    assert not inventory.gaps
    assert [memory.id for memory in inventory.memories] == sorted(ids[1:] if committed else ids)
    assert sorted(contents(faiss)) == ["memories.faiss", "memories.json"]


_OPENING = """
import sys
from pathlib import Path
from mem0_dream.pipeline.stores.mem0 import backends
backends.SAVING_SECONDS = 0.1
with backends.saving(Path(sys.argv[1])):
    backends.finish_interrupted_save(Path(sys.argv[1]), "memories")
"""


@pytest.mark.parametrize("at", ["write_text", "touch", "replace"])
def test_who_opens_a_store_while_it_is_saved_touches_no_file(faiss, at, monkeypatch):
    """It took what was being written for what a killed process had left."""
    store, ids = faiss.filled(TEXTS)
    told: list[str] = []
    original = getattr(Path, at)

    def beside(*args: Any, **options: Any) -> Any:
        if not told:
            before = contents(faiss)
            words = [sys.executable, "-c", _OPENING, str(folder(faiss))]
            told.append(subprocess.run(words, capture_output=True, text=True, check=False).stderr)
            assert contents(faiss) == before
        return original(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, at, beside)
        store.write(Delete(ids[0]))
    assert "Another pass is saving the FAISS store" in told[0]
    assert [memory.id for memory in store.read(EVERYTHING).memories] == sorted(ids[1:])
    store.close()
    with closing(faiss.open()) as again:
        assert [memory.id for memory in again.read(EVERYTHING).memories] == sorted(ids[1:])


def test_a_backup_brings_everything_back(faiss, tmp_path):
    ids = faiss.fill(TEXTS)
    faiss.link("Lisbon", ids[1])
    store = faiss.open()
    before = store.fetch(ids)
    copies = store.backup(tmp_path / "copy")
    names = [f"memories{part}.{kind}" for part in ("", "_entities") for kind in ("faiss", "json")]
    assert sorted(file.name for file in copies) == names
    for memory_id in ids:
        store.write(Delete(memory_id))
    assert store.read(EVERYTHING).memories == ()
    folder = Path(store.backend._folder)
    store.close()
    for file in copies:
        shutil.copy2(file, folder)
    store = faiss.open()
    assert store.fetch(ids) == before
    assert not store.read(EVERYTHING).gaps


@pytest.mark.parametrize("strategy", ["cosine", "euclidean", "inner_product"])
def test_a_changed_vector_is_put_back_in_its_place(faiss, strategy):
    faiss.config["vector_store"]["config"]["distance_strategy"] = strategy
    store, ids = faiss.filled(TEXTS)
    before = store.fetch(ids)
    store.memory.update(ids[0], text="Likes coffee")
    store.write(Retire(ids[2], date(2020, 1, 1)))
    for memory_id in ids:
        store.write(Restore(before[memory_id]))
    assert store.fetch(ids) == before
    assert all(store.finds(memory_id) for memory_id in ids)


def test_mem0s_own_saving_returns_when_the_store_is_closed(faiss):
    memory = faiss.memory()
    store = Mem0Store(memory)
    assert "_save" in vars(memory.vector_store)
    remember(memory, "Likes tea", user_id="alice")
    store.close()
    assert "_save" not in vars(memory.vector_store)
    stored = json.loads((folder(faiss) / "memories.json").read_text())
    assert len(stored["docstore"]) == 1
    assert len(faiss.memory().get_all(filters={"user_id": "alice"})["results"]) == 1
