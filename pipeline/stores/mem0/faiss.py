"""Raw access to a FAISS store, and saves of it that a kill cannot tear.

mem0 loads both files at open, rewrites both at every change without looking, and reports a failed
load as an empty store. So the files are compared before each use, a save goes through complete
copies beside them, and whatever does not fit together is an error.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ....errors import StoreLockedError
from ..files.durable import flush
from .rows import Filters, Row, asking, matches, search_links, sentence

_SUFFIXES = (".faiss", ".json")
_NEW = ".new"
_MARKER = ".saving"


class FaissBackend:
    """Rows of one FAISS index and its docstore."""

    provider = "faiss"
    verbatim = True

    def __init__(self, store: Any, *, memory: Any = None) -> None:  # noqa: ANN401  (untyped mem0 objects)
        self._store = store
        self._memory = memory
        self._folder = Path(store.path)
        self._entities: FaissBackend | None = None
        self._stamp = self._stamps()
        store._save = self._save  # noqa: SLF001  (mem0 calls it after every change)

    def faults(self) -> tuple[str, ...]:
        """Files that another process changed, or that do not belong together."""
        name, store = self._store.collection_name, self._store
        vectors, rows, places = self.count({}), set(store.docstore), list(store.index_to_id.values())
        loaded = store.index is not None and len(places) == vectors == len(rows) and set(places) == rows
        if not loaded:
            damage = (
                f"the FAISS store {name} in {self._folder} is damaged or was not loaded: {vectors} vectors, "
                f"{len(rows)} memories, {len(places)} places; restore it from a backup"
            )
            return (damage,)
        return (self._changed(),) if self._stamps() != self._stamp else ()

    def count(self, filters: Filters) -> int:
        """Number of vectors; for a filter, of the rows that match."""
        if filters:
            return sum(1 for _ in self.rows(filters))
        return int(self._store.index.ntotal) if self._store.index is not None else 0

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Every matching row of the loaded docstore."""
        for row_id, payload in list(self._store.docstore.items()):
            if matches(payload, filters):
                yield Row(row_id, dict(payload))

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids."""
        places = self._places()
        with asking("reading the FAISS store"):
            return {
                row_id: Row(row_id, dict(self._store.docstore[row_id]), self._vector(places[row_id]))
                for row_id in set(ids)
                if row_id in self._store.docstore and row_id in places
            }

    def put(self, row: Row) -> None:
        """Write payload and stored vector as they are, without normalising again."""
        place = self._places().get(row.id)
        with asking("writing to the FAISS store"):
            if place is None:
                self._store.index_to_id[self._store.index.ntotal] = row.id
                self._store.index.add(_matrix([row.vector or ()]))
            elif row.vector is not None and row.vector != self._vector(place):
                self._replace_vector(place, row.vector)
            self._store.docstore[row.id] = dict(row.payload)
            self._save()

    def remove(self, row_id: str) -> None:
        """Delete one row."""
        with asking("deleting from the FAISS store"):
            self._store.delete(vector_id=row_id)

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Entity rows that name any of the ids."""
        return search_links(self, ids)

    def entities(self) -> FaissBackend | None:
        """mem0's own entity store, if its files exist: two open copies would overwrite each other."""
        if self._memory is None:
            return None
        if self._entities is None and _files(self._folder, f"{self._store.collection_name}_entities"):
            self._entities = FaissBackend(self._memory.entity_store)
        return self._entities

    def backup(self, directory: Path) -> list[Path]:
        """Copy the files of memories and entities; each appears in the directory complete or not at all."""
        directory.mkdir(parents=True, exist_ok=True)
        return [_copy(file, directory / file.name) for file in self._all_files()]

    def close(self) -> None:
        """Give mem0 its own way of saving back."""
        for backend in (self, self._entities):
            if backend is not None:
                with suppress(AttributeError):
                    del backend._store._save  # noqa: SLF001  (its own class)

    def _save(self) -> None:
        """Write complete new files, then swap both; a marker lets the next open finish the swap."""
        import faiss

        if self._stamps() != self._stamp:
            raise StoreLockedError(sentence(self._changed()))
        index, docstore = _pair(self._folder, self._store.collection_name)
        faiss.write_index(self._store.index, f"{index}{_NEW}")
        places = {str(place): row_id for place, row_id in self._store.index_to_id.items()}
        text = json.dumps({"docstore": self._store.docstore, "index_to_id": places}, indent=2)
        Path(f"{docstore}{_NEW}").write_text(text, encoding="utf-8")
        for file in (index, docstore):
            flush(Path(f"{file}{_NEW}"))
        marker = index.with_suffix(_MARKER)
        marker.touch()
        flush(self._folder)
        finish_interrupted_save(self._folder, self._store.collection_name)
        self._stamp = self._stamps()

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(file) for file in _pair(self._folder, self._store.collection_name))

    def _changed(self) -> str:
        return (
            f"another process has written to the FAISS store in {self._folder} since it was opened; "
            "stop the agent that runs on it and run again"
        )

    def _places(self) -> dict[str, int]:
        return {row_id: place for place, row_id in self._store.index_to_id.items()}

    def _vector(self, place: int) -> tuple[float, ...]:
        return tuple(float(value) for value in self._store.index.reconstruct(int(place)))

    def _replace_vector(self, place: int, vector: tuple[float, ...]) -> None:
        index = self._store.index
        every = index.reconstruct_n(0, index.ntotal)
        every[place] = _matrix([vector])[0]
        index.reset()
        index.add(every)

    def _all_files(self) -> list[Path]:
        name = self._store.collection_name
        return [
            file for collection in (name, f"{name}_entities") for file in _files(self._folder, collection)
        ]


def finish_interrupted_save(folder: Path, collection: str) -> None:
    """Complete a save that had written everything, and drop one that had not."""
    for name in (collection, f"{collection}_entities"):
        index, docstore = _pair(folder, name)
        marker = index.with_suffix(_MARKER)
        for file in (index, docstore):
            new = Path(f"{file}{_NEW}")
            if new.is_file():
                new.replace(file) if marker.is_file() else new.unlink()
        if marker.is_file():
            flush(folder)
            marker.unlink()


def _pair(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}{_SUFFIXES[0]}", folder / f"{name}{_SUFFIXES[1]}"


def _files(folder: Path, name: str) -> list[Path]:
    """Both files of a collection, or none."""
    pair = _pair(folder, name)
    return list(pair) if all(file.is_file() for file in pair) else []


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        stat = file.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _copy(source: Path, target: Path) -> Path:
    partial = target.with_name(f"{target.name}.part")
    shutil.copyfile(source, partial)
    flush(partial)
    return partial.replace(target)


def _matrix(vectors: Sequence[Sequence[float]]) -> Any:  # noqa: ANN401
    import numpy as np

    return np.asarray(vectors, dtype=np.float32)
