"""Raw access to a pgvector table, through mem0's own connection pool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from .rows import LINKED_KEY, Filters, Row, asking

_PAGE = 1000


class PgvectorBackend:
    """Rows of one pgvector table."""

    provider = "pgvector"
    verbatim = True

    def __init__(self, store: Any, table: str) -> None:  # noqa: ANN401  (an untyped mem0 object)
        self._store = store
        self._name = table

    def faults(self) -> tuple[str, ...]:
        """Nothing to report: PostgreSQL counts exactly, and pages follow the primary key."""
        return ()

    def count(self, filters: Filters) -> int:
        """Exact number of rows."""
        condition, values = _condition(filters)
        return int(self._ask(f"SELECT count(*) FROM {{table}} WHERE {condition}", values)[0][0])

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Every matching row in the order of the primary key, page by page."""
        condition, values = _condition(filters)
        query = (
            f"SELECT id::text, payload FROM {{table}} WHERE {condition} "
            f"AND (%s::uuid IS NULL OR id > %s::uuid) ORDER BY id LIMIT {_PAGE}"
        )
        last = None
        while True:
            page = self._ask(query, [*values, last, last])
            yield from (Row(row_id, payload or {}) for row_id, payload in page)
            if len(page) < _PAGE:
                return
            last = page[-1][0]

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids; what is no UUID cannot be one."""
        wanted = [row_id for row_id in ids if _is_uuid(row_id)]
        if not wanted:
            return {}
        query = "SELECT id::text, payload, vector::text FROM {table} WHERE id = ANY(%s::uuid[])"
        return {row.id: row for row in map(_row, self._ask(query, [wanted]))}

    def put(self, row: Row) -> None:
        """Insert, or replace payload and vector; a vector that is not given stays as it is."""
        payload = json.dumps(dict(row.payload))
        if row.vector is None:
            self._change("UPDATE {table} SET payload = %s::jsonb WHERE id = %s::uuid", [payload, row.id])
            return
        self._change(
            "INSERT INTO {table} (id, vector, payload) VALUES (%s::uuid, %s::vector, %s::jsonb) "
            "ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, payload = excluded.payload",
            [row.id, json.dumps(row.vector), payload],
        )

    def remove(self, row_id: str) -> None:
        """Delete one row."""
        self._change("DELETE FROM {table} WHERE id = %s::uuid", [row_id])

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Entity rows that name any of the ids."""
        query = f"SELECT id::text, payload, vector::text FROM {{table}} WHERE payload->'{LINKED_KEY}' ?| %s"
        return tuple(map(_row, self._ask(query, [list(ids)])))

    def entities(self) -> PgvectorBackend | None:
        """The `_entities` table, if it exists."""
        name = f"{self._name}_entities"
        with asking("listing the pgvector tables"):
            exists = name in self._store.list_cols()
        return PgvectorBackend(self._store, name) if exists else None

    def _ask(self, query: str, values: list[Any]) -> list[Any]:
        with asking(f"reading the pgvector table {self._name}"), self._store._get_cursor() as cursor:  # noqa: SLF001
            cursor.execute(self._named(query), values)
            return list(cursor.fetchall())

    def _change(self, query: str, values: list[Any]) -> None:
        with (
            asking(f"writing to the pgvector table {self._name}"),
            self._store._get_cursor(commit=True) as cursor,  # noqa: SLF001
        ):
            cursor.execute(self._named(query), values)

    def _named(self, query: str) -> Any:  # noqa: ANN401
        """The query with the table's name quoted, by whichever driver mem0 has found."""
        from mem0.vector_stores.pgvector import sql

        return sql.SQL(query).format(table=sql.Identifier(self._name))


def _condition(filters: Filters) -> tuple[str, list[Any]]:
    keys = sorted(filters)
    clause = " AND ".join(["TRUE", *("payload->>%s = %s" for _ in keys)])
    return clause, [part for key in keys for part in (key, filters[key])]


def _is_uuid(row_id: str) -> bool:
    try:
        UUID(row_id)
    except ValueError:
        return False
    return True


def _row(columns: Any) -> Row:  # noqa: ANN401
    row_id, payload, vector = columns
    return Row(row_id, payload or {}, None if vector is None else tuple(json.loads(vector)))
