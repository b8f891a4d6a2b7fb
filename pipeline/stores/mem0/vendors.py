"""Raw access to a collection in Qdrant, Chroma, pgvector and Milvus: what differs between them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from ....errors import ConfigError
from ..base import Snapshot
from . import rows
from .rows import HASH_KEY, LINKED_KEY, Backend, Filters, absolute, asking, floats, url_address, value_of

_CONNECT_SECONDS = 10
_STRONG = "Strong"  # a row of Milvus counts as soon as it is written; the default lets readers lag behind
_TEXT_CHARACTERS = 65_535  # the length of the field in which mem0 lets Milvus search for words
_WHOLE = "SELECT id::text, payload, vector::text FROM {table}"


class QdrantBackend(Backend):
    """Rows of one Qdrant collection, on disk or on a server."""

    provider, place, port = "qdrant", "Qdrant collection", 6333
    conditional = True

    @classmethod
    def location(cls, config: Any) -> str:
        """Where the store of a configuration is, or the one that a ready client has opened."""
        client = getattr(value_of(config, "client"), "_client", None)
        if client is not None:
            config = {"path": getattr(client, "location", None), "url": getattr(client, "rest_uri", None)}
        return super().location(config)

    @staticmethod
    def _collections(config: Any) -> list[str]:
        names = ("url", "host", "port", "api_key", "https")
        given = {name: value_of(config, name) for name in names if value_of(config, name) is not None}
        if not (given.get("url") or given.get("api_key") or (given.get("host") and given.get("port"))):
            register = Path(absolute(value_of(config, "path"))) / "meta.json"
            return list(json.loads(register.read_text())["collections"]) if register.is_file() else []
        from qdrant_client import QdrantClient

        with closing(QdrantClient(**given)) as client:
            return [collection.name for collection in client.get_collections().collections]

    def _count(self, filters: Filters) -> int:
        return int(self._client.count(self._collection, count_filter=_conditions(filters), exact=True).count)

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        return self._scroll(_conditions(filters), vectors=False)

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        wanted, local = [_point_id(row_id) for row_id in ids], self._embedded()
        points = self._client.retrieve(self._collection, ids=wanted, with_payload=True, with_vectors=True)
        for row in map(_of_point, points):
            yield row if local is None else _with_stored_vector(row, local)

    def _put(self, row: Snapshot, known: Snapshot | None) -> None:
        """Replace the whole point, since mem0's own update of a payload only adds keys.

        An embedded Qdrant stores the vector that it keeps in memory when only a payload is written, so there
        the vector is always written too, and what is open then gets the very bits that are now on its disk.
        """
        import numpy as np
        from qdrant_client import models

        point_id, local, payload = _point_id(row.id), self._embedded(), dict(row.payload)
        same = known is not None and row.vector == known.vector and row.links == known.links
        if same and local is None:
            same_text = _as_read(known) if known is not None and known.payload.get(HASH_KEY) else [point_id]
            self._client.overwrite_payload(self._collection, payload=payload, points=same_text, wait=True)
            return
        sparse = rows.sparse_of(row).items()
        named: dict[str, Any] = {name: models.SparseVector(**value) for name, value in sparse}
        if row.vector is not None:
            named[""] = list(row.vector)
        point = models.PointStruct(id=point_id, vector=named, payload=payload)
        self._client.upsert(self._collection, points=[point], wait=True)
        if local is not None and row.vector is not None:
            local.vectors[""][local.ids[point_id]] = np.asarray(row.vector, dtype=np.float32)

    def _remove(self, row_id: str) -> None:
        self._client.delete(self._collection, points_selector=[_point_id(row_id)], wait=True)

    def _remove_as(self, row: Snapshot) -> None:
        self._client.delete(self._collection, points_selector=_as_read(row), wait=True)

    def _linking(self, ids: Sequence[str]) -> Iterator[Snapshot]:
        from qdrant_client import models

        condition = models.FieldCondition(key=LINKED_KEY, match=models.MatchAny(any=list(ids)))
        return self._scroll(models.Filter(must=[condition]), vectors=True)

    def _entities(self) -> QdrantBackend | None:
        name = f"{self._collection}_entities"
        return QdrantBackend(self._client, name) if self._client.collection_exists(name) else None

    def _fits(self, row_id: str) -> bool:
        return row_id.isdecimal() or _is_uuid(row_id)

    def _scroll(self, condition: Any, *, vectors: bool) -> Iterator[Snapshot]:
        offset, more = None, True
        asked = {"scroll_filter": condition, "limit": self.page, "with_vectors": vectors}
        while more:
            points, offset = self._client.scroll(self._collection, offset=offset, **asked)
            yield from map(_of_point, points)
            more = offset is not None

    def _embedded(self) -> Any:
        """The collection of an embedded client, or None where a server answers."""
        inner = getattr(self._client, "_client", None)
        return getattr(inner, "collections", {}).get(self._collection)


def _with_stored_vector(row: Snapshot, local: Any) -> Snapshot:
    """The row with its vector as it is on disk and comes back; a search moves last bits of it in memory."""
    key = local.storage.encode_key(_point_id(row.id)) if local.storage is not None else None
    point = key and local.storage.storage.execute("SELECT point FROM points WHERE id = ?", (key,)).fetchone()
    if not point:
        return row  # in memory only, or stored under a key of an older client
    # The client itself unpickles every point of this file when it opens it.
    stored = pickle.loads(point[0]).vector  # noqa: S301
    dense = floats(stored.get("") if isinstance(stored, dict) else stored)
    return row if dense is None else replace(row, vector=dense)


def _conditions(filters: Filters) -> Any:
    from qdrant_client import models

    equal = ((key, models.MatchValue(value=value)) for key, value in sorted(filters.items()))
    must = [models.FieldCondition(key=key, match=match) for key, match in equal]
    return models.Filter(must=must) if must else None


def _as_read(row: Snapshot) -> Any:
    """Selects a point while it says what was read."""
    from qdrant_client import models

    said = models.FieldCondition(key=HASH_KEY, match=models.MatchValue(value=row.payload[HASH_KEY]))
    same = models.Filter(must=[models.HasIdCondition(has_id=[_point_id(row.id)]), said])
    return models.FilterSelector(filter=same)


def _point_id(row_id: str) -> str | int:
    return int(row_id) if row_id.isdecimal() else row_id


def _of_point(point: Any) -> Snapshot:
    dense, sparse = point.vector, {}
    if isinstance(dense, dict):
        named = {name: value for name, value in dense.items() if hasattr(value, "indices")}
        sparse = {n: {"indices": list(v.indices), "values": list(v.values)} for n, v in named.items()}
        dense = dense.get("")
    return rows.with_sparse(Snapshot(str(point.id), point.payload or {}, floats(dense)), sparse)


class ChromaBackend(Backend):
    """Rows of one Chroma collection."""

    provider, place = "chroma", "Chroma collection"
    conditional = True

    @classmethod
    def of(cls, memory: Any) -> Self:
        """The backend of a `mem0.Memory`."""
        return cls(memory.vector_store.client, memory.vector_store.collection)

    @classmethod
    def location(cls, config: Any) -> str:
        """Where the store of a configuration is; of the hosted service whose it is."""
        hosted = value_of(config, "tenant") and value_of(config, "api_key")
        return f"cloud:{value_of(config, 'tenant')}" if hosted else super().location(config)

    @staticmethod
    def _collections(config: Any) -> list[str]:
        from mem0.vector_stores.chroma import ChromaDB

        names = ("path", "host", "port", "api_key", "tenant")
        given = {name: value_of(config, name) for name in names}
        served = (given["host"] and given["port"]) or (given["api_key"] and given["tenant"])
        if not served and not (Path(absolute(given["path"])) / "chroma.sqlite3").is_file():
            return []
        # Chroma shares one system per path and insists on equal settings, so mem0 itself makes the client.
        client = type("Looking", (ChromaDB,), {"create_col": lambda *_: None})("", **given).client
        try:
            return [collection.name for collection in client.list_collections()]
        finally:
            rows.hang_up(client)

    def _count(self, filters: Filters) -> int:
        if not filters:
            return int(self._collection.count())
        return len(self._collection.get(where=_where(filters), include=[])["ids"])

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        offset, got, where = 0, self.page, _where(filters)
        while got == self.page:
            page = self._collection.get(where=where, limit=self.page, offset=offset, include=["metadatas"])
            yield from _of_page(page)
            got = len(page["ids"])
            offset += got

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        return _of_page(self._collection.get(ids=ids, include=["metadatas", "embeddings"]))

    def _put(self, row: Snapshot, known: Snapshot | None) -> None:
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

    def _remove_as(self, row: Snapshot) -> None:
        self._collection.delete(ids=[row.id], where={HASH_KEY: {"$eq": row.payload[HASH_KEY]}})

    def _entities(self) -> ChromaBackend | None:
        name = f"{self._collection.name}_entities"
        found = (each for each in self._client.list_collections() if each.name == name)
        return next((ChromaBackend(self._client, each) for each in found), None)


def _where(filters: Filters) -> Mapping[str, Any] | None:
    clauses = [{key: {"$eq": value}} for key, value in sorted(filters.items())]
    return {"$and": clauses} if len(clauses) > 1 else next(iter(clauses), None)


def _of_page(page: Mapping[str, Any]) -> Iterator[Snapshot]:
    vectors = page.get("embeddings")
    for position, row_id in enumerate(page["ids"]):
        vector = None if vectors is None else vectors[position]
        yield Snapshot(str(row_id), dict(page["metadatas"][position] or {}), floats(vector))


class PgvectorBackend(Backend):
    """Rows of one pgvector table, through mem0's own connection pool."""

    provider, port = "pgvector", 5432
    conditional = True

    def __init__(self, client: Any, collection: Any) -> None:
        super().__init__(client, collection)
        self.place = f"pgvector table {collection}"

    @classmethod
    def of(cls, memory: Any) -> Self:
        """The backend of a `mem0.Memory`."""
        return cls(memory.vector_store, memory.vector_store.collection_name)

    @classmethod
    def location(cls, config: Any) -> str:
        """Where the database of a configuration is."""
        pool = value_of(config, "connection_pool")
        text = getattr(pool, "conninfo", None) or value_of(config, "connection_string")
        named = {key: value_of(config, key) for key in ("host", "port", "dbname")}
        parts = _conninfo(str(text)) if text else named
        host, port = str(parts.get("host") or "localhost"), parts.get("port") or cls.port
        name = parts.get("dbname") or ("postgres" if not text else parts.get("user"))
        return f"{host if host.startswith('/') else host.lower()}:{port}/{name}"

    @staticmethod
    def _collections(config: Any) -> list[str]:
        import psycopg

        text, names = value_of(config, "connection_string"), ("user", "password", "host", "port", "dbname")
        parts = _conninfo(str(text)) if text else {key: value_of(config, key) for key in names}
        if value_of(config, "sslmode"):
            parts["sslmode"] = value_of(config, "sslmode")
        parts.setdefault("connect_timeout", _CONNECT_SECONDS)
        given = {key: value for key, value in parts.items() if value is not None}
        asked = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        with psycopg.connect(**given) as connection:
            return [str(row[0]) for row in connection.execute(asked).fetchall()]

    def _count(self, filters: Filters) -> int:
        condition, values = _clauses(filters)
        return int(self._ask(f"SELECT count(*) FROM {{table}} WHERE {condition}", values)[0][0])

    def answers(self) -> None:
        """As everywhere, without counting all rows, which takes as long as there are many."""
        with asking(f"reading the {self.place}"):
            self._ask("SELECT 1 FROM {table} LIMIT 1", [])

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        condition, values = _clauses(filters)
        condition += f" AND (%s::uuid IS NULL OR id > %s::uuid) ORDER BY id LIMIT {self.page}"
        last, got = None, self.page
        while got == self.page:
            asked = f"SELECT id::text, payload FROM {{table}} WHERE {condition}"
            page = self._ask(asked, [*values, last, last])
            yield from (Snapshot(row_id, payload or {}) for row_id, payload in page)
            last, got = page[-1][0] if page else None, len(page)

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        return map(_of_columns, self._ask(f"{_WHOLE} WHERE id = ANY(%s::uuid[])", [ids]))

    def _put(self, row: Snapshot, known: Snapshot | None) -> None:
        """A row that there is, only while it is as it was read just before."""
        held = json.dumps(dict(known.payload)) if known is not None else None
        self._ask(
            "INSERT INTO {table} AS held (id, vector, payload) VALUES (%s::uuid, %s::vector, %s::jsonb) "
            "ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, payload = excluded.payload "
            "WHERE held.payload = %s::jsonb",
            [row.id, json.dumps(row.vector), json.dumps(dict(row.payload)), held],
            change=True,
        )

    def _remove(self, row_id: str) -> None:
        self._ask("DELETE FROM {table} WHERE id = %s::uuid", [row_id], change=True)

    def _remove_as(self, row: Snapshot) -> None:
        asked = f"DELETE FROM {{table}} WHERE id = %s::uuid AND payload->>'{HASH_KEY}' = %s"
        self._ask(asked, [row.id, row.payload[HASH_KEY]], change=True)

    def _linking(self, ids: Sequence[str]) -> Iterator[Snapshot]:
        return map(_of_columns, self._ask(f"{_WHOLE} WHERE payload->'{LINKED_KEY}' ?| %s", [list(ids)]))

    def _entities(self) -> PgvectorBackend | None:
        name = f"{self._collection}_entities"
        return PgvectorBackend(self._client, name) if name in self._client.list_cols() else None

    def _fits(self, row_id: str) -> bool:
        return _is_uuid(row_id)

    def _ask(self, query: str, values: list[Any], *, change: bool = False) -> list[Any]:
        """What a query gives, its table's name quoted by whichever driver mem0 has found."""
        from mem0.vector_stores.pgvector import sql

        with self._client._get_cursor(commit=change) as cursor:
            cursor.execute(sql.SQL(query).format(table=sql.Identifier(self._collection)), values)
            return [] if change else list(cursor.fetchall())


def _conninfo(text: str) -> dict[str, Any]:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(text))
    except ProgrammingError:
        # The driver's own message quotes the string, password included.
        raise ConfigError("The connection_string of the vector store is no PostgreSQL address.") from None


def _clauses(filters: Filters) -> tuple[str, list[Any]]:
    keys = sorted(filters)
    clause = " AND ".join(["TRUE", *("payload->>%s = %s" for _ in keys)])
    return clause, [part for key in keys for part in (key, filters[key])]


def _of_columns(columns: Any) -> Snapshot:
    row_id, payload, vector = columns
    return Snapshot(row_id, payload or {}, None if vector is None else tuple(json.loads(vector)))


def _is_uuid(row_id: str) -> bool:
    try:
        UUID(row_id)
    except ValueError:
        return False
    return True


class MilvusBackend(Backend):
    """Rows of one Milvus collection, on a server or in a file (Milvus Lite)."""

    provider, place, port = "milvus", "Milvus collection", 19530
    conditional = True

    @classmethod
    def location(cls, config: Any) -> str:
        """Where the database of a configuration is, or its file."""
        url = str(value_of(config, "url") or "http://localhost:19530")
        name = value_of(config, "db_name") or "default"
        return f"{url_address(url, cls.port)}/{name}" if "://" in url else absolute(url)

    @staticmethod
    def _collections(config: Any) -> list[str]:
        from pymilvus import MilvusClient

        url = str(value_of(config, "url"))
        if "://" not in url and not Path(absolute(url)).exists():
            return []
        token, name = (value_of(config, key) or "" for key in ("token", "db_name"))
        with closing(MilvusClient(uri=url, token=token, db_name=name)) as client:
            return [str(name) for name in client.list_collections()]

    def _count(self, filters: Filters) -> int:
        asked = {"filter": _expression(filters), "output_fields": ["count(*)"], "consistency_level": _STRONG}
        return int(self._client.query(self._collection, **asked)[0]["count(*)"])

    def _rows(self, filters: Filters) -> Iterator[Snapshot]:
        asked = {"filter": _expression(filters), "output_fields": ["id", "metadata"], "batch_size": self.page}
        pages = self._client.query_iterator(self._collection, **asked, consistency_level=_STRONG)
        while page := pages.next():
            yield from (Snapshot(str(item["id"]), dict(item["metadata"] or {})) for item in page)
        pages.close()

    def _get(self, ids: list[str]) -> Iterator[Snapshot]:
        fields = ["id", "metadata", "vectors"]
        found = self._client.get(self._collection, ids=ids, output_fields=fields, consistency_level=_STRONG)
        for item in found:
            yield Snapshot(str(item["id"]), dict(item["metadata"] or {}), floats(item["vectors"]))

    def _put(self, row: Snapshot, known: Snapshot | None) -> None:  # noqa: ARG002
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

    def _remove_as(self, row: Snapshot) -> None:
        said = _expression({HASH_KEY: str(row.payload[HASH_KEY])})
        self._client.delete(self._collection, filter=f"id == {_quoted(row.id)} and {said}")

    def _entities(self) -> MilvusBackend | None:
        name = f"{self._collection}_entities"
        return MilvusBackend(self._client, name) if self._client.has_collection(name) else None


def _expression(filters: Filters) -> str:
    clauses = [f"metadata[{_quoted(key)}] == {_quoted(value)}" for key, value in sorted(filters.items())]
    return " and ".join(clauses)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
