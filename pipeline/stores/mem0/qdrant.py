"""Raw access to a Qdrant collection, on disk or on a server."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from .rows import LINKED_KEY, Backend, Filters, Row, absolute, address, url_address, value_of

_PORT = 6333


def backend_of(memory: Any) -> QdrantBackend:
    """The backend of a `mem0.Memory`."""
    return QdrantBackend(memory.vector_store.client, memory.vector_store.collection_name)


def location(config: Any) -> str:
    """Where the store of a configuration is: equal for equal places, and without secrets."""
    client = getattr(value_of(config, "client"), "_client", None)
    if client is not None:
        path = getattr(client, "location", None)
        return absolute(path) if path else url_address(str(getattr(client, "rest_uri", "")), _PORT)
    if value_of(config, "url"):
        return url_address(str(value_of(config, "url")), _PORT)
    if value_of(config, "host") and value_of(config, "port"):
        return address(value_of(config, "host"), value_of(config, "port"), _PORT)
    return absolute(value_of(config, "path") or "/tmp/qdrant")  # noqa: S108  (mem0's own default)


def collections(config: Any) -> list[str]:
    """The collections that exist there; nothing is created."""
    if not (
        value_of(config, "url")
        or value_of(config, "api_key")
        or (value_of(config, "host") and value_of(config, "port"))
    ):
        register = Path(absolute(value_of(config, "path"))) / "meta.json"
        return list(json.loads(register.read_text())["collections"]) if register.is_file() else []
    from qdrant_client import QdrantClient

    names = ("url", "host", "port", "api_key", "https")
    given = {name: value_of(config, name) for name in names if value_of(config, name) is not None}
    with closing(QdrantClient(**given)) as client:
        return [collection.name for collection in client.get_collections().collections]


class QdrantBackend(Backend):
    """Rows of one Qdrant collection."""

    provider, place = "qdrant", "Qdrant collection"

    def _count(self, filters: Filters) -> int:
        return int(self._client.count(self._collection, count_filter=_filter(filters), exact=True).count)

    def _rows(self, filters: Filters) -> Iterator[Row]:
        return self._scroll(_filter(filters), vectors=False)

    def _get(self, ids: list[str]) -> Iterator[Row]:
        wanted, local = [_point_id(row_id) for row_id in ids], self._embedded()
        points = self._client.retrieve(self._collection, ids=wanted, with_payload=True, with_vectors=True)
        for row in map(_row, points):
            yield row if local is None else _with_stored_vector(row, local)

    def _put(self, row: Row, known: Row | None) -> None:
        """Replace the whole point, so that payload keys which are no longer wanted disappear.

        mem0's own payload update merges. An embedded Qdrant stores what it keeps in memory when only
        a payload is written, so there the vector is always written too.
        """
        same = known is not None and row.vector == known.vector and row.sparse == known.sparse
        if same and self._embedded() is None:
            self._client.overwrite_payload(
                self._collection, payload=dict(row.payload), points=[_point_id(row.id)], wait=True
            )
        else:
            self._client.upsert(self._collection, points=[_point(row)], wait=True)
            self._settle(row)

    def _remove(self, row_id: str) -> None:
        self._client.delete(self._collection, points_selector=[_point_id(row_id)], wait=True)

    def _linking(self, ids: Sequence[str]) -> Iterator[Row]:
        """Qdrant matches the elements of a list."""
        from qdrant_client import models

        condition = models.FieldCondition(key=LINKED_KEY, match=models.MatchAny(any=list(ids)))
        return self._scroll(models.Filter(must=[condition]), vectors=True)

    def _entities(self) -> QdrantBackend | None:
        name = f"{self._collection}_entities"
        return QdrantBackend(self._client, name) if self._client.collection_exists(name) else None

    def _fits(self, row_id: str) -> bool:
        return _point_id(row_id) is not None

    def _scroll(self, condition: Any, *, vectors: bool) -> Iterator[Row]:
        offset, more = None, True
        while more:
            points, offset = self._client.scroll(
                self._collection,
                scroll_filter=condition,
                limit=self.page,
                offset=offset,
                with_payload=True,
                with_vectors=vectors,
            )
            yield from map(_row, points)
            more = offset is not None

    def _embedded(self) -> Any:
        """The collection of an embedded client, or None where a server answers."""
        inner = getattr(self._client, "_client", None)
        return getattr(inner, "collections", {}).get(self._collection)

    def _settle(self, row: Row) -> None:
        """Give an open embedded collection the very bits that are now on its disk."""
        import numpy as np

        local = self._embedded()
        if local is not None and row.vector is not None:
            local.vectors[""][local.ids[_point_id(row.id)]] = np.asarray(row.vector, dtype=np.float32)


def _with_stored_vector(row: Row, local: Any) -> Row:
    """The row with its vector as it is on disk.

    Embedded Qdrant loads a vector as stored, but normalises it in memory whenever it is searched,
    which moves last bits. Only what is on disk comes back at the next open.
    """
    key = local.storage.encode_key(_point_id(row.id)) if local.storage is not None else None
    point = key and local.storage.storage.execute("SELECT point FROM points WHERE id = ?", (key,)).fetchone()
    if not point:
        return row  # in memory only, or stored under a key of an older client
    # The client itself unpickles every point of this file when it opens it.
    stored = pickle.loads(point[0]).vector  # noqa: S301
    dense = stored.get("") if isinstance(stored, dict) else stored
    return row if dense is None else replace(row, vector=tuple(float(value) for value in dense))


def _filter(filters: Filters) -> Any:
    from qdrant_client import models

    if not filters:
        return None
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in sorted(filters.items())
        ]
    )


def _point_id(row_id: str) -> str | int | None:
    """The id as Qdrant wants it: a UUID or a number; None if it can be neither."""
    from uuid import UUID

    if row_id.isdecimal():
        return int(row_id)
    try:
        UUID(row_id)
    except ValueError:
        return None
    return row_id


def _point(row: Row) -> Any:
    from qdrant_client import models

    named: dict[str, Any] = {name: models.SparseVector(**value) for name, value in row.sparse.items()}
    if row.vector is not None:
        named[""] = list(row.vector)
    return models.PointStruct(id=_point_id(row.id), vector=named, payload=dict(row.payload))


def _row(point: Any) -> Row:
    dense, sparse = point.vector, {}
    if isinstance(dense, dict):
        sparse = {
            name: {"indices": list(value.indices), "values": list(value.values)}
            for name, value in dense.items()
            if hasattr(value, "indices")
        }
        dense = dense.get("")
    vector = None if dense is None else tuple(float(value) for value in dense)
    return Row(str(point.id), point.payload or {}, vector, sparse)
