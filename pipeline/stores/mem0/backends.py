"""Which backend reads a mem0 store, where that store is, and the backend of all other providers.

Everything about places looks without creating anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....errors import ConfigError
from ..base import Snapshot
from ..files import fingerprint
from .faiss import FaissBackend
from .rows import Backend, Filters, asking, value_of
from .vendors import ChromaBackend, MilvusBackend, PgvectorBackend, QdrantBackend

_LIST_BOUND = 1_000_000  # rows asked for at once where mem0's own list is the only way; many servers cap it
_COUNT_KEYS = ("count", "row_count", "num_entities", "document_count", "vector_count", "total_vector_count")
_SWALLOWED = "mem0 turns an error of this store into an empty listing"
# Settings that say where a store of any other provider is; none of them is a secret.
_PLACE_KEYS = (
    "path", "db_path", "host", "port", "url", "endpoint", "redis_url", "valkey_url", "service_name",
    "index_name", "database", "db_name", "dbname", "namespace", "region", "tenant",
)  # fmt: skip
WRITABLE: dict[str, type[Backend]] = {
    "qdrant": QdrantBackend,  # counts exactly and scrolls by point id to the end, on disk and on a server
    "faiss": FaissBackend,  # all of it is in memory; vectors, memories and places must be equally many
    "chroma": ChromaBackend,  # counts exactly and pages by offset, on disk and on a server
    "pgvector": PgvectorBackend,  # counts exactly and pages by the primary key to the end
    "milvus": MilvusBackend,  # counts exactly with strong consistency, and iterates by key to the end
}
"""Providers of mem0 whose listing is proven complete, each by its own backend."""
# Why mem0's listing of any other provider cannot be trusted (mem0 2.2.1), so that it stays read-only.
LISTING_FAULTS = {
    "pinecone": f"{_SWALLOWED}, and lists by similarity to a zero vector",
    **dict.fromkeys(("opensearch", "mongodb", "valkey", "turbopuffer", "databricks"), _SWALLOWED),
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
    return f"{provider}({', '.join(re.sub('(?s)//.*@', '//', part) for part in parts)})"


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
