"""Raw access to a Chroma collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .rows import Backend, Filters, Row, absolute, address, hang_up, value_of


def backend_of(memory: Any) -> ChromaBackend:
    """The backend of a `mem0.Memory`."""
    return ChromaBackend(memory.vector_store.client, memory.vector_store.collection)


def location(config: Any) -> str:
    """Where the store of a configuration is: equal for equal places, and without secrets."""
    if value_of(config, "tenant") and value_of(config, "api_key"):
        return f"cloud:{value_of(config, 'tenant')}"
    if value_of(config, "host") and value_of(config, "port"):
        return address(value_of(config, "host"), value_of(config, "port"), 0)
    return absolute(value_of(config, "path") or "/tmp/chroma")  # noqa: S108  (mem0's own default)


def collections(config: Any) -> list[str]:
    """The collections that exist there; nothing is created."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    path, key, tenant = (value_of(config, name) for name in ("path", "api_key", "tenant"))
    cloud = tenant and key
    if value_of(config, "host") and value_of(config, "port"):
        settings.chroma_server_host = value_of(config, "host")
        settings.chroma_server_http_port = value_of(config, "port")
        settings.chroma_api_impl = "chromadb.api.fastapi.FastAPI"
    elif not cloud and not (Path(absolute(path)) / "chroma.sqlite3").is_file():
        return []
    # Chroma shares one system per path and insists on equal settings, so these are mem0's.
    settings.persist_directory = path
    settings.is_persistent = True
    client = (
        chromadb.CloudClient(api_key=key, tenant=tenant, database="mem0")
        if cloud
        else chromadb.Client(settings)
    )
    try:
        return [collection.name for collection in client.list_collections()]
    finally:
        hang_up(client)


class ChromaBackend(Backend):
    """Rows of one Chroma collection."""

    provider, place = "chroma", "Chroma collection"

    def _count(self, filters: Filters) -> int:
        """For a filter, the number of ids without their payloads."""
        if not filters:
            return int(self._collection.count())
        return len(self._collection.get(where=_where(filters), include=[])["ids"])

    def _rows(self, filters: Filters) -> Iterator[Row]:
        offset, got = 0, self.page
        while got == self.page:
            page = self._collection.get(
                where=_where(filters), limit=self.page, offset=offset, include=["metadatas"]
            )
            yield from _rows(page)
            got = len(page["ids"])
            offset += got

    def _get(self, ids: list[str]) -> Iterator[Row]:
        return _rows(self._collection.get(ids=ids, include=["metadatas", "embeddings"]))

    def _put(self, row: Row, known: Row | None) -> None:
        """Chroma merges metadata, so a key that must go is sent as None."""
        payload = dict(row.payload)
        same = row.vector is None or (known is not None and known.vector == row.vector)
        vectors = None if same else [list(row.vector or ())]
        if known is None:
            self._collection.add(ids=[row.id], embeddings=vectors, metadatas=[payload])
            return
        gone = dict.fromkeys(known.payload.keys() - payload.keys())
        self._collection.update(ids=[row.id], embeddings=vectors, metadatas=[{**payload, **gone}])

    def _remove(self, row_id: str) -> None:
        self._collection.delete(ids=[row_id])

    def _entities(self) -> ChromaBackend | None:
        name = f"{self._collection.name}_entities"
        found = (each for each in self._client.list_collections() if each.name == name)
        return next((ChromaBackend(self._client, each) for each in found), None)


def _where(filters: Filters) -> Mapping[str, Any] | None:
    clauses = [{key: {"$eq": value}} for key, value in sorted(filters.items())]
    return {"$and": clauses} if len(clauses) > 1 else next(iter(clauses), None)


def _rows(page: Mapping[str, Any]) -> Iterator[Row]:
    vectors = page.get("embeddings")
    for position, row_id in enumerate(page["ids"]):
        vector = None if vectors is None else tuple(float(value) for value in vectors[position])
        yield Row(str(row_id), dict(page["metadatas"][position] or {}), vector)
