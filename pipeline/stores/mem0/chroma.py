"""Raw access to a Chroma collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .rows import Filters, Row, asking, search_links

_PAGE = 1000


class ChromaBackend:
    """Rows of one Chroma collection."""

    provider = "chroma"
    verbatim = True

    def __init__(self, client: Any, collection: Any) -> None:  # noqa: ANN401  (untyped mem0 objects)
        self._client = client
        self._collection = collection

    def faults(self) -> tuple[str, ...]:
        """Nothing to report: Chroma counts exactly and pages by offset."""
        return ()

    def count(self, filters: Filters) -> int:
        """Exact number of rows; for a filter, the number of ids without their payloads."""
        with asking("counting the Chroma collection"):
            if not filters:
                return int(self._collection.count())
            return len(self._collection.get(where=_where(filters), include=[])["ids"])

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Every matching row, page by page."""
        offset = 0
        while True:
            with asking("listing the Chroma collection"):
                page = self._collection.get(
                    where=_where(filters), limit=_PAGE, offset=offset, include=["metadatas"]
                )
            yield from _rows(page)
            offset += len(page["ids"])
            if len(page["ids"]) < _PAGE:
                return

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids, asked for in portions that SQLite can bind."""
        wanted = sorted(set(ids))
        rows: dict[str, Row] = {}
        for start in range(0, len(wanted), _PAGE):
            with asking("reading the Chroma collection"):
                portion = wanted[start : start + _PAGE]
                page = self._collection.get(ids=portion, include=["metadatas", "embeddings"])
            rows |= {row.id: row for row in _rows(page)}
        return rows

    def put(self, row: Row) -> None:
        """Add or update; Chroma merges metadata, so a key that must go is sent as None."""
        known = self.get([row.id]).get(row.id)
        payload = dict(row.payload)
        vectors = None if row.vector is None or (known and known.vector == row.vector) else [list(row.vector)]
        with asking("writing to the Chroma collection"):
            if known is None:
                self._collection.add(ids=[row.id], embeddings=vectors, metadatas=[payload])
                return
            gone = dict.fromkeys(known.payload.keys() - payload.keys())
            self._collection.update(ids=[row.id], embeddings=vectors, metadatas=[{**payload, **gone}])

    def remove(self, row_id: str) -> None:
        """Delete one row."""
        with asking("deleting from the Chroma collection"):
            self._collection.delete(ids=[row_id])

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Entity rows that name any of the ids."""
        return search_links(self, ids)

    def entities(self) -> ChromaBackend | None:
        """The `_entities` collection, if it exists."""
        name = f"{self._collection.name}_entities"
        with asking("listing the Chroma collections"):
            for collection in self._client.list_collections():
                if collection.name == name:
                    return ChromaBackend(self._client, collection)
        return None


def _where(filters: Filters) -> Mapping[str, Any] | None:
    clauses = [{key: {"$eq": value}} for key, value in sorted(filters.items())]
    return {"$and": clauses} if len(clauses) > 1 else next(iter(clauses), None)


def _rows(page: Mapping[str, Any]) -> Iterator[Row]:
    vectors = page.get("embeddings")
    for position, row_id in enumerate(page["ids"]):
        vector = None if vectors is None else tuple(float(value) for value in vectors[position])
        yield Row(str(row_id), dict(page["metadatas"][position] or {}), vector)
