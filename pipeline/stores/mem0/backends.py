"""Which backend reads a mem0 store, where that store is; the backends of FAISS and of all other providers.

Everything about places looks without creating anything. mem0 loads both files of a FAISS store at open,
rewrites both at every change without looking, and reports a failed load as an empty store. So the files are
compared before each use, a save goes through complete copies beside them, and whatever does not fit together
is an error.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from ....errors import ConfigError, StoreLockedError
from ....models.text.tables import table_pairs, table_words
from ..base import Snapshot
from ..files import fingerprint, make_private, stamp
from ..files.exchange import flush
from .rows import Backend, Filters, absolute, asking, floats, sentence, value_of
from .vendors import ChromaBackend, MilvusBackend, PgvectorBackend, QdrantBackend

_LIST_BOUND = 1_000_000  # rows asked for at once where mem0's own list is the only way; many servers cap it
_COUNT_KEYS = ("count", "row_count", "num_entities", "document_count", "vector_count", "total_vector_count")
_PLACE_KEYS = table_words("listings", "places")
LISTING_FAULTS = table_pairs("listings", "faults")  # of all providers but those that are `WRITABLE`
SAVING_SECONDS = 30.0  # that an opening, or a save, waits for another one of ours
_NEW, _MARKER = ".new", ".saving"


class FaissBackend(Backend):
    """Rows of one FAISS index and its docstore; all of it is in memory."""

    provider, place = "faiss", "FAISS store"

    def __init__(self, store: Any, *, memory: Any = None) -> None:
        self._store = store
        self._memory = memory
        self._folder = Path(store.path)
        self._files = _pair(self._folder, store.collection_name)
        self._beside: FaissBackend | None = None
        self._stamp = self._stamps()
        store._save = self._save

    @classmethod
    def of(cls, memory: Any) -> Self:
        """The backend of a `mem0.Memory`."""
        return cls(memory.vector_store, memory=memory)

    @staticmethod
    def _collections(config: Any) -> list[str]:
        found = Path(absolute(value_of(config, "path"))).glob("*.faiss")
        return [each.stem for each in found if any(each.with_suffix(s).is_file() for s in (".json", ".pkl"))]

    def faults(self) -> tuple[str, ...]:
        """Files that another process changed, or that do not belong together."""
        name, store = self._store.collection_name, self._store
        vectors, rows, places = self._count({}), set(store.docstore), list(store.index_to_id.values())
        loaded = store.index is not None and len(places) == vectors == len(rows) and set(places) == rows
        if not loaded:
            told = f"the FAISS store {name} in {self._folder} is damaged or was not loaded: {vectors} vectors"
            return (f"{told}, {len(rows)} memories, {len(places)} places; restore it from a backup",)
        return (self._changed(),) if self._stamps() != self._stamp else ()

    def backup(self, folder: Path) -> tuple[Path, ...]:
        """Copy the files of memories and entities; each appears in the folder complete or not at all."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name, copies = self._store.collection_name, []
        for file in (*_files(self._folder, name), *_files(self._folder, f"{name}_entities")):
            partial = folder / f"{file.name}.part"
            make_private(partial)
            shutil.copyfile(file, partial)
            flush(partial)
            copies.append(partial.replace(folder / file.name))
        return tuple(copies)

    def close(self) -> None:
        """Give mem0 its own way of saving back."""
        for backend in (self, self._beside):
            if backend is not None:
                with suppress(AttributeError):
                    del backend._store._save

    def _count(self, filters: Filters) -> int:
        if filters:
            return sum(1 for _ in self._rows(filters))
        return int(self._store.index.ntotal) if self._store.index is not None else 0

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        for row_id, payload in list(self._store.docstore.items()):
            if all(payload.get(key) == value for key, value in filters.items()):
                yield Snapshot(row_id, dict(payload))

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        places, docstore = self._places(), self._store.docstore
        for row_id in ids:
            if row_id in docstore and row_id in places:
                vector = floats(self._store.index.reconstruct(int(places[row_id])))
                yield Snapshot(row_id, dict(docstore[row_id]), vector)

    def _put(self, row: Snapshot, known: Snapshot | None) -> None:
        """Payload and stored vector go in as they are, without normalising again."""
        place = self._places().get(row.id)
        if place is None:
            self._store.index_to_id[self._store.index.ntotal] = row.id
            self._store.index.add(_matrix([row.vector or ()]))
        elif row.vector is not None and (known is None or row.vector != known.vector):
            index = self._store.index
            every = index.reconstruct_n(0, index.ntotal)
            every[place] = _matrix([row.vector])[0]
            index.reset()
            index.add(every)
        self._store.docstore[row.id] = dict(row.payload)
        self._save()

    def _remove(self, row_id: str) -> None:
        self._store.delete(vector_id=row_id)

    def _entities(self) -> FaissBackend | None:
        """mem0's own entity store, if its files exist: two open copies would overwrite each other."""
        name = f"{self._store.collection_name}_entities"
        if self._beside is None and self._memory is not None and _files(self._folder, name):
            with saving(self._folder):
                self._beside = FaissBackend(self._memory.entity_store)
        return self._beside

    def _save(self) -> None:
        """Write complete new files, then swap both; a marker lets the next open finish the swap."""
        import faiss

        if self._stamps() != self._stamp:
            raise StoreLockedError(sentence(self._changed()))
        index, docstore = self._files
        places = {str(place): row_id for place, row_id in self._store.index_to_id.items()}
        text = json.dumps({"docstore": self._store.docstore, "index_to_id": places}, indent=2)
        with saving(self._folder):
            faiss.write_index(self._store.index, f"{index}{_NEW}")
            Path(f"{docstore}{_NEW}").write_text(text, encoding="utf-8")
            for file in self._files:
                flush(Path(f"{file}{_NEW}"))
            index.with_suffix(_MARKER).touch()
            flush(self._folder)
            finish_interrupted_save(self._folder, self._store.collection_name)
            self._stamp = self._stamps()

    def _stamps(self) -> list[tuple[int, int, int] | None]:
        return [stamp(file) for file in self._files]

    def _changed(self) -> str:
        told = f"another process has written to the FAISS store in {self._folder} since it was opened"
        return f"{told}; stop the agent that runs on it and run again"

    def _places(self) -> dict[str, int]:
        return {row_id: place for place, row_id in self._store.index_to_id.items()}


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Keep other processes of ours from a FAISS store while it is saved, or opened: none sees half a save.

    The system gives the folder free when its holder dies; where it knows no such lock there is none.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        until = time.monotonic() + SAVING_SECONDS
        while not _held(handle, fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() > until:
                raise StoreLockedError(f"Another pass is saving the FAISS store in {folder}; run again.")
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _held(handle: int, lock: Callable[[int, int], None], how: int) -> bool:
    try:
        lock(handle, how)
    except BlockingIOError:
        return False
    except OSError:
        return True  # this file system has no locks
    return True


def finish_interrupted_save(folder: Path, collection: str) -> None:
    """Complete a save that had written everything, and drop one that had not; by whoever is `saving`."""
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
    return folder / f"{name}.faiss", folder / f"{name}.json"


def _files(folder: Path, name: str) -> list[Path]:
    pair = _pair(folder, name)
    return list(pair) if all(file.is_file() for file in pair) else []


def _matrix(vectors: Sequence[Sequence[float]]) -> Any:
    import numpy as np

    return np.asarray(vectors, dtype=np.float32)


class GenericBackend(Backend):
    """Rows through mem0's own `vector_store`, for all others: never proven complete, so never written to."""

    verbatim = False

    def __init__(self, vector_store: Any, provider: str) -> None:
        self._store = vector_store
        self.provider, self.place = provider, f"{provider} store"

    def faults(self) -> tuple[str, ...]:
        """What is known about listings of this provider, or that nothing is."""
        reason = LISTING_FAULTS.get(self.provider, "mem0-dream has no way to count and page it")
        return (f"a {self.provider} listing is not provably complete: {reason}",)

    def _count(self, filters: Filters) -> int | None:
        info = {} if filters else self._store.col_info()
        counts = (value_of(info, key) for key in _COUNT_KEYS)
        return next((count for count in counts if isinstance(count, int)), None)

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        listed = self._store.list(filters=dict(filters) or None, top_k=_LIST_BOUND)
        nested = isinstance(listed, list | tuple) and listed and isinstance(listed[0], list | tuple)
        for item in (listed[0] if nested else listed) or ():
            yield Snapshot(str(item.id), dict(item.payload or {}))

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        for row_id in ids:
            row = self._store.get(vector_id=row_id)
            if row is not None:
                yield Snapshot(row_id, dict(row.payload or {}))

    def _entities(self) -> None:
        """Not looked for: asking mem0 for the collection would create it."""


WRITABLE: dict[str, type[Backend]] = {
    "qdrant": QdrantBackend,  # counts exactly and scrolls by point id to the end, on disk and on a server
    "faiss": FaissBackend,  # all of it is in memory; vectors, memories and places must be equally many
    "chroma": ChromaBackend,  # counts exactly and pages by offset, on disk and on a server
    "pgvector": PgvectorBackend,  # counts exactly and pages by the primary key to the end
    "milvus": MilvusBackend,  # counts exactly with strong consistency, and iterates by key to the end
}
"""Providers of mem0 whose listing is proven complete, each by its own backend."""


def choose_backend(memory: Any) -> Backend:
    """The backend that fits the vector store of a `mem0.Memory`."""
    provider = str(memory.config.vector_store.provider)
    own = WRITABLE.get(provider)
    return own.of(memory) if own else GenericBackend(memory.vector_store, provider)


def store_fingerprint(memory_or_config: Any) -> str:
    """Sixteen hexadecimal digits: equal for equal places, without user names or passwords."""
    whole = memory_or_config if isinstance(memory_or_config, Mapping) else memory_or_config.config
    section = value_of(whole, "vector_store") or {}
    provider, config = str(value_of(section, "provider") or "qdrant"), value_of(section, "config") or {}
    collection = str(value_of(config, "collection_name") or "mem0")
    return fingerprint(provider, describe_place(provider, config), collection)


def describe_place(provider: str, config: Any) -> str:
    """The place as a sentence may name it."""
    if provider in WRITABLE:
        return WRITABLE[provider].location(config)
    parts = [f"{key}={value_of(config, key)}" for key in _PLACE_KEYS if value_of(config, key)]
    return f"{provider}({', '.join(map(_without_account, parts))})"


def require_collection(provider: str, config: Any) -> None:
    """See that the store has its collection, which mem0 would else create; `ConfigError` if it does not."""
    ready = any(value_of(config, key) is not None for key in ("client", "connection_pool"))
    if provider not in WRITABLE or ready:
        return
    name, place = str(value_of(config, "collection_name")), describe_place(provider, config)
    with asking(f"looking for the collection {name} in {place}"):
        existing = sorted(WRITABLE[provider]._collections(config))
    if name not in existing:
        others = ", ".join(existing) if existing else "none"
        raise ConfigError(f"Collection {name} does not exist in {place}; existing collections: {others}.")


def _without_account(part: str) -> str:
    head, slashes, rest = part.partition("//")
    return head + slashes + rest.rpartition("@")[2]
