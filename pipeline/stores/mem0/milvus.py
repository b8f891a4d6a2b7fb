"""Raw access to a Milvus collection, on a server or in a file (Milvus Lite)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .rows import Filters, Row, asking, search_links

_PAGE = 1000
_STRONG = "Strong"
"""A row counts as soon as it is written; the default lets readers lag behind."""
_TEXT_CHARACTERS = 65_535
"""The length of the field that mem0 searches for words."""


class MilvusBackend:
    """Rows of one Milvus collection.

    Args:
        client: A `pymilvus.MilvusClient`.
        collection: Name of the collection.
    """

    provider = "milvus"
    verbatim = True

    def __init__(self, client: Any, collection: str) -> None:  # noqa: ANN401  (untyped mem0 objects)
        self._client = client
        self._collection = collection

    def faults(self) -> tuple[str, ...]:
        """Nothing to report: Milvus counts exactly, and lists by key to the end."""
        return ()

    def count(self, filters: Filters) -> int:
        """Exact number of rows."""
        with asking("counting the Milvus collection"):
            answer = self._client.query(
                self._collection,
                filter=_expression(filters),
                output_fields=["count(*)"],
                consistency_level=_STRONG,
            )
            return int(answer[0]["count(*)"])

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Every matching row, page by page."""
        with asking("listing the Milvus collection"):
            pages = self._client.query_iterator(
                self._collection,
                filter=_expression(filters),
                output_fields=["id", "metadata"],
                batch_size=_PAGE,
                consistency_level=_STRONG,
            )
        while True:
            with asking("listing the Milvus collection"):
                page = pages.next()
            if not page:
                break
            for item in page:
                yield Row(str(item["id"]), dict(item["metadata"] or {}))
        pages.close()

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids, asked for in portions."""
        wanted = sorted(set(ids))
        rows: dict[str, Row] = {}
        for start in range(0, len(wanted), _PAGE):
            with asking("reading the Milvus collection"):
                portion = self._client.get(
                    self._collection,
                    ids=wanted[start : start + _PAGE],
                    output_fields=["id", "metadata", "vectors"],
                    consistency_level=_STRONG,
                )
            for item in portion:
                vector = tuple(float(value) for value in item["vectors"])
                rows[str(item["id"])] = Row(str(item["id"]), dict(item["metadata"] or {}), vector)
        return rows

    def put(self, row: Row) -> None:
        """Write the row whole; words to search for are made from it as mem0 makes them."""
        vector = row.vector
        if vector is None:
            known = self.get([row.id]).get(row.id)
            vector = known.vector if known is not None else None
        payload = dict(row.payload)
        record: dict[str, Any] = {"id": row.id, "vectors": list(vector or ()), "metadata": payload}
        with asking("writing to the Milvus collection"):
            if self._has_words():
                text = str(payload.get("text_lemmatized") or payload.get("data") or "")
                record["text"] = text[:_TEXT_CHARACTERS]
            self._client.upsert(self._collection, record)

    def remove(self, row_id: str) -> None:
        """Delete one row."""
        with asking("deleting from the Milvus collection"):
            self._client.delete(self._collection, ids=[row_id])

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Entity rows that name any of the ids."""
        return search_links(self, ids)

    def entities(self) -> MilvusBackend | None:
        """The `_entities` collection, if it exists."""
        name = f"{self._collection}_entities"
        with asking("listing the Milvus collections"):
            there = self._client.has_collection(name)
        return MilvusBackend(self._client, name) if there else None

    def _has_words(self) -> bool:
        fields = self._client.describe_collection(self._collection).get("fields", ())
        return "text" in {field.get("name") for field in fields}


def _expression(filters: Filters) -> str:
    """The filter as Milvus writes it; keys and values are quoted, whatever they hold."""
    clauses = [f"metadata[{_quoted(key)}] == {_quoted(value)}" for key, value in sorted(filters.items())]
    return " and ".join(clauses)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
