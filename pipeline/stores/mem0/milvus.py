"""Raw access to a Milvus collection, on a server or in a file (Milvus Lite)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from .rows import Backend, Filters, Row, absolute, url_address, value_of

_PORT = 19530
_STRONG = "Strong"
"""A row counts as soon as it is written; the default lets readers lag behind."""
_TEXT_CHARACTERS = 65_535
"""The length of the field that mem0 searches for words."""


def backend_of(memory: Any) -> MilvusBackend:
    """The backend of a `mem0.Memory`."""
    return MilvusBackend(memory.vector_store.client, memory.vector_store.collection_name)


def location(config: Any) -> str:
    """Where the store of a configuration is: equal for equal places, and without secrets."""
    url = str(value_of(config, "url") or "http://localhost:19530")
    name = value_of(config, "db_name") or "default"
    return f"{url_address(url, _PORT)}/{name}" if "://" in url else absolute(url)


def collections(config: Any) -> list[str]:
    """The collections that exist there; nothing is created."""
    from pymilvus import MilvusClient

    url = str(value_of(config, "url"))
    if "://" not in url and not Path(absolute(url)).exists():
        return []
    token, name = (value_of(config, key) or "" for key in ("token", "db_name"))
    with closing(MilvusClient(uri=url, token=token, db_name=name)) as client:
        return [str(name) for name in client.list_collections()]


class MilvusBackend(Backend):
    """Rows of one Milvus collection, through a `pymilvus.MilvusClient`."""

    provider, place = "milvus", "Milvus collection"

    def _count(self, filters: Filters) -> int:
        answer = self._client.query(
            self._collection,
            filter=_expression(filters),
            output_fields=["count(*)"],
            consistency_level=_STRONG,
        )
        return int(answer[0]["count(*)"])

    def _rows(self, filters: Filters) -> Iterator[Row]:
        pages = self._client.query_iterator(
            self._collection,
            filter=_expression(filters),
            output_fields=["id", "metadata"],
            batch_size=self.page,
            consistency_level=_STRONG,
        )
        while page := pages.next():
            yield from (Row(str(item["id"]), dict(item["metadata"] or {})) for item in page)
        pages.close()

    def _get(self, ids: list[str]) -> Iterator[Row]:
        fields = ["id", "metadata", "vectors"]
        found = self._client.get(self._collection, ids=ids, output_fields=fields, consistency_level=_STRONG)
        for item in found:
            vector = tuple(float(value) for value in item["vectors"])
            yield Row(str(item["id"]), dict(item["metadata"] or {}), vector)

    def _put(self, row: Row, known: Row | None) -> None:  # noqa: ARG002
        """Words to search for are made from the row as mem0 makes them."""
        payload = dict(row.payload)
        record: dict[str, Any] = {"id": row.id, "vectors": list(row.vector or ()), "metadata": payload}
        fields = self._client.describe_collection(self._collection).get("fields", ())
        if "text" in {field.get("name") for field in fields}:
            text = str(payload.get("text_lemmatized") or payload.get("data") or "")
            record["text"] = text[:_TEXT_CHARACTERS]
        self._client.upsert(self._collection, record)

    def _remove(self, row_id: str) -> None:
        self._client.delete(self._collection, ids=[row_id])

    def _entities(self) -> MilvusBackend | None:
        name = f"{self._collection}_entities"
        return MilvusBackend(self._client, name) if self._client.has_collection(name) else None


def _expression(filters: Filters) -> str:
    """The filter as Milvus writes it; keys and values are quoted, whatever they hold."""
    clauses = [f"metadata[{_quoted(key)}] == {_quoted(value)}" for key, value in sorted(filters.items())]
    return " and ".join(clauses)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
