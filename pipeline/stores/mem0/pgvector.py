"""Raw access to a pgvector table, through mem0's own connection pool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from ....errors import ConfigError
from .rows import LINKED_KEY, Backend, Filters, Row, value_of

_PORT = 5432
_CONNECT_SECONDS = 10
_WHOLE = "SELECT id::text, payload, vector::text FROM {table}"


def backend_of(memory: Any) -> PgvectorBackend:
    """The backend of a `mem0.Memory`."""
    return PgvectorBackend(memory.vector_store, memory.vector_store.collection_name)


def location(config: Any) -> str:
    """Where the store of a configuration is: equal for equal places, and without secrets."""
    pool = value_of(config, "connection_pool")
    text = getattr(pool, "conninfo", None) or value_of(config, "connection_string")
    named = {key: value_of(config, key) for key in ("host", "port", "dbname")}
    parts = _conninfo(str(text)) if text else named
    host = str(parts.get("host") or "localhost")
    name = parts.get("dbname") or ("postgres" if not text else parts.get("user"))
    return f"{host if host.startswith('/') else host.lower()}:{parts.get('port') or _PORT}/{name}"


def collections(config: Any) -> list[str]:
    """The collections that exist there; nothing is created."""
    import psycopg

    text = value_of(config, "connection_string")
    parts = (
        _conninfo(str(text))
        if text
        else {key: value_of(config, key) for key in ("user", "password", "host", "port", "dbname")}
    )
    if value_of(config, "sslmode"):
        parts["sslmode"] = value_of(config, "sslmode")
    parts.setdefault("connect_timeout", _CONNECT_SECONDS)
    with psycopg.connect(**{key: value for key, value in parts.items() if value is not None}) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        return [str(row[0]) for row in rows.fetchall()]


def _conninfo(text: str) -> dict[str, Any]:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(text))
    except ProgrammingError:
        # The driver's own message quotes the string, password included.
        raise ConfigError("The connection_string of the vector store is no PostgreSQL address.") from None


class PgvectorBackend(Backend):
    """Rows of one pgvector table."""

    provider = "pgvector"

    def __init__(self, store: Any, table: str) -> None:
        self._store = store
        self._name = table
        self.place = f"pgvector table {table}"

    def _count(self, filters: Filters) -> int:
        condition, values = _condition(filters)
        return int(self._ask(f"SELECT count(*) FROM {{table}} WHERE {condition}", values)[0][0])

    def _rows(self, filters: Filters) -> Iterator[Row]:
        """In the order of the primary key."""
        condition, values = _condition(filters)
        query = (
            f"SELECT id::text, payload FROM {{table}} WHERE {condition} "
            f"AND (%s::uuid IS NULL OR id > %s::uuid) ORDER BY id LIMIT {self.page}"
        )
        last, got = None, self.page
        while got == self.page:
            page = self._ask(query, [*values, last, last])
            yield from (Row(row_id, payload or {}) for row_id, payload in page)
            last, got = page[-1][0] if page else None, len(page)

    def _get(self, ids: list[str]) -> Iterator[Row]:
        return map(_row, self._ask(f"{_WHOLE} WHERE id = ANY(%s::uuid[])", [ids]))

    def _put(self, row: Row, known: Row | None) -> None:  # noqa: ARG002
        self._change(
            "INSERT INTO {table} (id, vector, payload) VALUES (%s::uuid, %s::vector, %s::jsonb) "
            "ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, payload = excluded.payload",
            [row.id, json.dumps(row.vector), json.dumps(dict(row.payload))],
        )

    def _remove(self, row_id: str) -> None:
        self._change("DELETE FROM {table} WHERE id = %s::uuid", [row_id])

    def _linking(self, ids: Sequence[str]) -> Iterator[Row]:
        return map(_row, self._ask(f"{_WHOLE} WHERE payload->'{LINKED_KEY}' ?| %s", [list(ids)]))

    def _entities(self) -> PgvectorBackend | None:
        name = f"{self._name}_entities"
        return PgvectorBackend(self._store, name) if name in self._store.list_cols() else None

    def _fits(self, row_id: str) -> bool:
        try:
            UUID(row_id)
        except ValueError:
            return False
        return True

    def _ask(self, query: str, values: list[Any]) -> list[Any]:
        with self._store._get_cursor() as cursor:
            cursor.execute(self._named(query), values)
            return list(cursor.fetchall())

    def _change(self, query: str, values: list[Any]) -> None:
        with self._store._get_cursor(commit=True) as cursor:
            cursor.execute(self._named(query), values)

    def _named(self, query: str) -> Any:
        """The query with the table's name quoted, by whichever driver mem0 has found."""
        from mem0.vector_stores.pgvector import sql

        return sql.SQL(query).format(table=sql.Identifier(self._name))


def _condition(filters: Filters) -> tuple[str, list[Any]]:
    keys = sorted(filters)
    clause = " AND ".join(["TRUE", *("payload->>%s = %s" for _ in keys)])
    return clause, [part for key in keys for part in (key, filters[key])]


def _row(columns: Any) -> Row:
    row_id, payload, vector = columns
    return Row(row_id, payload or {}, None if vector is None else tuple(json.loads(vector)))
