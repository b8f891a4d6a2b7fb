"""Which backend reads a mem0 store, and the generic one for stores without a backend of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .rows import Backend, Filters, Row, asking, search_links

# Rows asked for at once where mem0's own list is the only way; many servers cap it below.
_LIST_BOUND = 1_000_000
_COUNT_KEYS = ("count", "row_count", "num_entities", "document_count", "vector_count", "total_vector_count")
_SWALLOWED = "mem0 turns an error of this store into an empty listing"
WRITABLE = {
    "qdrant": "counts exactly and scrolls by point id to the end, on disk and on a server",
    "faiss": "all of it is in memory; vectors, memories and places must be equally many",
    "chroma": "counts exactly and pages by offset, on disk and on a server",
    "pgvector": "counts exactly and pages by the primary key to the end",
    "milvus": "counts exactly with strong consistency, and iterates by key to the end",
}
"""Providers of mem0 whose listing is proven complete, and by what; each has a backend of its own."""
# Why mem0's listing of any other provider cannot be trusted (mem0 2.2.1), so that it stays read-only.
LISTING_FAULTS = {
    "pinecone": f"{_SWALLOWED}, and lists by similarity to a zero vector",
    "opensearch": _SWALLOWED,
    "mongodb": _SWALLOWED,
    "valkey": _SWALLOWED,
    "turbopuffer": _SWALLOWED,
    "databricks": _SWALLOWED,
    "langchain": f"{_SWALLOWED}, and lists nothing at all from most clients",
    "cassandra": f"{_SWALLOWED}, and applies the limit before the filter",
    "supabase": "a listing ends at 1000 rows",
    "weaviate": "only eight fixed properties are listed, so pins and expiry days are invisible",
    "redis": "dates are stored in whole seconds and a missing one as 1970",
    "vertex_ai_vector_search": "listings assume vectors of 768 dimensions",
    "elasticsearch": "servers usually end a listing at 10000 rows",
    "azure_ai_search": "one page ends at 1000 rows, and the index is written to with a delay",
    "azure_mysql": "its listing was not tried: no such server can run beside the tests",
    "baidu": "one request lists at most what the service allows, and does not tell whether more is there",
    "neptune": "its listing was not tried: no such service can run beside the tests",
    "oracledb": "its listing was not tried: no such server can run beside the tests",
    "s3_vectors": "a listing asks for pages larger than the service gives, and writes show with a delay",
    "upstash_vector": "a listing is a search by similarity to one vector, in portions of 100",
}
"""With `WRITABLE` these are all providers that mem0 knows."""


class GenericBackend:
    """Rows through mem0's own `vector_store`, for every provider without a backend of its own.

    It never proves completeness, so a run on it stays read-only.
    """

    verbatim = False

    def __init__(self, vector_store: Any, provider: str) -> None:  # noqa: ANN401
        self._store = vector_store
        self.provider = provider

    def faults(self) -> tuple[str, ...]:
        """What is known about listings of this provider, or that nothing is."""
        reason = LISTING_FAULTS.get(self.provider, "mem0-dream has no way to count and page it")
        return (f"a {self.provider} listing is not provably complete: {reason}",)

    def count(self, filters: Filters) -> int | None:
        """The count that the store tells about the whole collection, if it tells one."""
        if filters:
            return None
        with asking(f"counting the {self.provider} store"):
            info = self._store.col_info()
        for key in _COUNT_KEYS:
            value = info.get(key) if isinstance(info, dict) else getattr(info, key, None)
            if isinstance(value, int):
                return value
        return None

    def rows(self, filters: Filters) -> Iterator[Row]:
        """What mem0 lists within one explicit bound."""
        with asking(f"listing the {self.provider} store"):
            listed = self._store.list(filters=dict(filters) or None, top_k=_LIST_BOUND)
        nested = isinstance(listed, list | tuple) and listed and isinstance(listed[0], list | tuple)
        for item in (listed[0] if nested else listed) or ():
            yield Row(str(item.id), dict(item.payload or {}))

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows one by one, without vectors."""
        rows = {}
        for row_id in ids:
            with asking(f"reading memory {row_id} from the {self.provider} store"):
                row = self._store.get(vector_id=row_id)
            if row is not None:
                rows[row_id] = Row(row_id, dict(row.payload or {}))
        return rows

    def put(self, row: Row) -> None:
        """Insert a missing row, or replace the payload of one that exists."""
        exists = bool(self.get([row.id]))
        with asking(f"writing memory {row.id} to the {self.provider} store"):
            vector = None if row.vector is None else list(row.vector)
            if exists:
                self._store.update(vector_id=row.id, vector=vector, payload=dict(row.payload))
            else:
                self._store.insert(vectors=[vector], payloads=[dict(row.payload)], ids=[row.id])

    def remove(self, row_id: str) -> None:
        """Delete one row."""
        with asking(f"deleting memory {row_id} from the {self.provider} store"):
            self._store.delete(vector_id=row_id)

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Entity rows that name any of the ids."""
        return search_links(self, ids)

    def entities(self) -> Backend | None:
        """Not looked for: asking mem0 for the collection would create it."""
        return None


def choose_backend(memory: Any) -> Backend:  # noqa: ANN401
    """The backend that fits the vector store of a `mem0.Memory`."""
    provider = str(memory.config.vector_store.provider)
    build = _BACKENDS.get(provider)
    return build(memory) if build is not None else GenericBackend(memory.vector_store, provider)


def _qdrant(memory: Any) -> Backend:  # noqa: ANN401
    from .qdrant import QdrantBackend

    return QdrantBackend(memory.vector_store.client, memory.vector_store.collection_name)


def _faiss(memory: Any) -> Backend:  # noqa: ANN401
    from .faiss import FaissBackend

    return FaissBackend(memory.vector_store, memory=memory)


def _chroma(memory: Any) -> Backend:  # noqa: ANN401
    from .chroma import ChromaBackend

    return ChromaBackend(memory.vector_store.client, memory.vector_store.collection)


def _pgvector(memory: Any) -> Backend:  # noqa: ANN401
    from .pgvector import PgvectorBackend

    return PgvectorBackend(memory.vector_store, memory.vector_store.collection_name)


def _milvus(memory: Any) -> Backend:  # noqa: ANN401
    from .milvus import MilvusBackend

    return MilvusBackend(memory.vector_store.client, memory.vector_store.collection_name)


_BACKENDS: dict[str, Callable[[Any], Backend]] = {
    "qdrant": _qdrant,
    "faiss": _faiss,
    "chroma": _chroma,
    "pgvector": _pgvector,
    "milvus": _milvus,
}
