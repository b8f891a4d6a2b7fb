"""Raw access to a Qdrant collection, on disk or on a server."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .rows import LINKED_KEY, Filters, Row, asking

# Rows per answer: small enough for one HTTP message, large enough for few of them.
_PAGE = 1000


class QdrantBackend:
    """Rows of one Qdrant collection."""

    provider = "qdrant"
    verbatim = True

    def __init__(self, client: Any, collection: str) -> None:  # noqa: ANN401  (an untyped mem0 object)
        self._client = client
        self._collection = collection

    def faults(self) -> tuple[str, ...]:
        """Nothing to report: Qdrant counts exactly and scrolls to the end."""
        return ()

    def count(self, filters: Filters) -> int:
        """Exact number of matching points."""
        with asking("counting the Qdrant collection"):
            answer = self._client.count(self._collection, count_filter=_filter(filters), exact=True)
            return int(answer.count)

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Scroll through every matching point, page by page."""
        yield from self._scroll(_filter(filters), vectors=False)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The points with these ids, with the vectors that are stored."""
        wanted = [key for key in map(_point_id, ids) if key is not None]
        if not wanted:
            return {}
        with asking("reading the Qdrant collection"):
            points = self._client.retrieve(self._collection, ids=wanted, with_payload=True, with_vectors=True)
            rows = map(_row, points)
            local = self._embedded()
            full = rows if local is None else (_with_stored_vector(row, local) for row in rows)
            return {row.id: row for row in full}

    def put(self, row: Row) -> None:
        """Replace the whole point, so that payload keys which are no longer wanted disappear.

        mem0's own payload update merges. An embedded Qdrant stores what it keeps in memory when only
        a payload is written, so there the vector is always written too.
        """
        known = self.get([row.id]).get(row.id)
        vector = row.vector if row.vector is not None or known is None else known.vector
        whole = Row(row.id, row.payload, vector, row.sparse)
        same = known is not None and vector == known.vector and row.sparse == known.sparse
        with asking("writing to the Qdrant collection"):
            if same and self._embedded() is None:
                self._client.overwrite_payload(
                    self._collection, payload=dict(row.payload), points=[_point_id(row.id)], wait=True
                )
            else:
                self._client.upsert(self._collection, points=[_point(whole)], wait=True)
                self._settle(whole)

    def remove(self, row_id: str) -> None:
        """Delete one point."""
        with asking("deleting from the Qdrant collection"):
            self._client.delete(self._collection, points_selector=[_point_id(row_id)], wait=True)

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Points whose list of linked ids holds any of the ids; Qdrant matches the elements of a list."""
        from qdrant_client import models

        condition = models.FieldCondition(key=LINKED_KEY, match=models.MatchAny(any=list(ids)))
        return tuple(self._scroll(models.Filter(must=[condition]), vectors=True)) if ids else ()

    def entities(self) -> QdrantBackend | None:
        """The `_entities` collection, if it exists."""
        name = f"{self._collection}_entities"
        with asking("listing the Qdrant collections"):
            exists = self._client.collection_exists(name)
        return QdrantBackend(self._client, name) if exists else None

    def _scroll(self, condition: Any, *, vectors: bool) -> Iterator[Row]:  # noqa: ANN401
        offset = None
        while True:
            with asking("listing the Qdrant collection"):
                points, offset = self._client.scroll(
                    self._collection,
                    scroll_filter=condition,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=vectors,
                )
            yield from map(_row, points)
            if offset is None:
                return

    def _embedded(self) -> Any:  # noqa: ANN401
        """The collection of an embedded client, or None where a server answers."""
        inner = getattr(self._client, "_client", None)
        return getattr(inner, "collections", {}).get(self._collection)

    def _settle(self, row: Row) -> None:
        """Give an open embedded collection the very bits that are now on its disk."""
        import numpy as np

        local = self._embedded()
        if local is not None and row.vector is not None:
            local.vectors[""][local.ids[_point_id(row.id)]] = np.asarray(row.vector, dtype=np.float32)


def _with_stored_vector(row: Row, local: Any) -> Row:  # noqa: ANN401
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


def _filter(filters: Filters) -> Any:  # noqa: ANN401
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


def _point(row: Row) -> Any:  # noqa: ANN401
    from qdrant_client import models

    named: dict[str, Any] = {name: models.SparseVector(**value) for name, value in row.sparse.items()}
    if row.vector is not None:
        named[""] = list(row.vector)
    return models.PointStruct(id=_point_id(row.id), vector=named, payload=dict(row.payload))


def _row(point: Any) -> Row:  # noqa: ANN401
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
