"""Below the mem0 store: raw rows of one collection in any vector store, what they say, links between them.

mem0's own `vector_store` lists one unordered page, merges payloads instead of replacing them and
gives out no vectors. A backend goes to the client beneath it for exactly those things and leaves
everything else to mem0. It links entities to memories for its search ranking, forgets to unlink in a fresh
process and swallows every error on the way, so removal and restoration are done here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from ....errors import DreamError, RefusedChangeError, StoreError
from ....models.text.reading import from_json
from ....records import Memory, Scope, noted_moment, says_pinned
from ..base import Snapshot

Filters = Mapping[str, str]
T = TypeVar("T")
HASH_KEY = "hash"  # the payload key in which mem0 keeps a digest of the text
LINKED_KEY = "linked_memory_ids"  # the payload key in which mem0's entity rows name their memories
# Errors whose own words describe a connection and never a memory, so that they may be printed.
_CONNECTION_ERRORS = frozenset(
    {"OperationalError", "PoolTimeout", "ConnectError", "ConnectTimeout", "ResponseHandlingException"}
)
_DETAIL_CHARACTERS = 160
_ENTITY, _SPARSE = "entity", "sparse"


class Backend:
    """Raw access to one collection; a provider brings what is declared without a value.

    A row is a snapshot without its entities: its only link may be to named sparse vectors.
    """

    provider = ""  # mem0's name of the vector store
    place = ""  # the collection, as a sentence names it
    verbatim = True  # vectors can be read and put back, and payloads be replaced as a whole
    page = 1000  # rows asked for at once: few enough for one message, or for what SQLite can bind
    port = 0  # on which its servers listen unless they are told another
    _collections: Callable[[Any], list[str]]  # the collections that exist there; nothing is created
    _count: Callable[[Filters], int | None]
    _rows: Callable[[Filters], Iterable[Snapshot]]
    _get: Callable[[list[str]], Iterable[Snapshot]]
    _put: Callable[[Snapshot, Snapshot | None], None]  # and what is there now
    _remove: Callable[[str], None]
    conditional = False  # whether a row can be removed only while it says what was read
    _remove_as: Callable[[Snapshot], None]
    _entities: Callable[[], Backend | None]

    def __init__(self, client: Any, collection: Any) -> None:
        self._client, self._collection = client, collection

    @classmethod
    def of(cls, memory: Any) -> Self:
        """The backend of a `mem0.Memory`."""
        return cls(memory.vector_store.client, memory.vector_store.collection_name)

    @classmethod
    def location(cls, config: Any) -> str:
        """Where the store of a configuration is: equal for equal places, and without secrets."""
        url, host, port, path = (value_of(config, key) for key in ("url", "host", "port", "path"))
        if url:
            return url_address(str(url), cls.port)
        return address(host, port, cls.port) if host and port else absolute(path or f"/tmp/{cls.provider}")  # noqa: S108

    def faults(self) -> tuple[str, ...]:
        """Why nothing read from here may be trusted to be complete; empty if it may."""
        return ()

    def count(self, filters: Filters) -> int | None:
        """How many rows hold all these payload values; None where the store cannot say."""
        with asking(f"counting the {self.place}"):
            return self._count(filters)

    def answers(self) -> None:
        """`StoreError` if the store is down."""
        self.count({})

    def rows(self, filters: Filters) -> Iterator[Snapshot]:
        """Every row that holds all these payload values, without vectors."""
        with asking(f"listing the {self.place}"):
            yield from self._rows(filters)

    def listed(
        self, filters: Filters, read: Callable[[Snapshot], T | None]
    ) -> tuple[list[T], tuple[str, ...]]:
        """What is read of each, between two counts, and why these may not be all; the rows are not held."""
        before, ids, found = self.count(filters), set[str](), list[T]()
        for row in self.rows(filters):
            ids.add(row.id)
            if (said := read(row)) is not None:
                found.append(said)
        after, listed, gaps = self.count(filters), len(ids), self.faults()
        if before is not None and after is not None and not before == listed == after:
            told = f"{before} rows were counted before the listing, {listed} listed and {after} counted after"
            gaps = (*gaps, f"{told} it; stop the agent that writes to the store and run again")
        return found, gaps

    def get(self, ids: Iterable[str]) -> dict[str, Snapshot]:
        """The rows with these ids, vectors included."""
        wanted = [row_id for row_id in dict.fromkeys(ids) if self._fits(row_id)]
        portions = (wanted[start : start + self.page] for start in range(0, len(wanted), self.page))
        with asking(f"reading the {self.place}"):
            return {row.id: row for portion in portions for row in self._get(portion)}

    def one(self, row_id: str) -> Snapshot | None:
        """The row with this id."""
        return self.get([row_id]).get(row_id)

    def put(self, row: Snapshot, held: Snapshot | None = None) -> None:
        """Write the row exactly as given, whether it exists or not; without a vector that one stays.

        With `held`, the row as it was read, only while it says the same: what cannot be asked of the store
        itself is looked at just before.
        """
        known = self.one(row.id)
        if held is not None and (known is None or not says_the_same(known, held)):
            raise RefusedChangeError(f"memory {row.id} was written anew at that moment")
        if row.vector is None and known is not None:
            row = replace(row, vector=known.vector)
        with asking(f"writing to the {self.place}"):
            self._put(row, known)

    def remove(self, row_id: str) -> None:
        """Remove one row."""
        with asking(f"deleting from the {self.place}"):
            self._remove(row_id)

    @contextmanager
    def removing(self, vector_store: Any, row: Snapshot) -> Iterator[None]:
        """Let mem0 delete this row only while it says what was read, where the store can be asked so."""
        if not self.conditional or not row.payload.get(HASH_KEY):
            yield
            return

        def delete(vector_id: str) -> None:
            with asking(f"deleting from the {self.place}"):
                self._remove_as(row)
            left = self.one(vector_id)
            if left is not None and not says_the_same(left, row):
                raise RefusedChangeError(f"memory {row.id} was written anew at that moment")

        vector_store.delete = delete
        try:
            yield
        finally:
            del vector_store.delete

    def linking(self, ids: Sequence[str]) -> tuple[Snapshot, ...]:
        """Snapshots whose `linked_memory_ids` hold any of the ids, vectors included."""
        with asking(f"listing the {self.place}"):
            return tuple(self._linking(ids)) if ids else ()

    def entities(self) -> Backend | None:
        """The collection of entities beside this one, if it exists already."""
        with asking(f"looking beside the {self.place}"):
            return self._entities()

    def backup(self, folder: Path) -> tuple[Path, ...]:  # noqa: ARG002
        """Copy the files of a store that rewrites whole files; the others commit each change."""
        return ()

    def close(self) -> None:
        """Give back what was taken from mem0's client."""

    def _fits(self, row_id: str) -> bool:  # noqa: ARG002
        return True

    def _linking(self, ids: Sequence[str]) -> Iterable[Snapshot]:
        """All rows are read, and what links is kept: most stores cannot look into a list."""
        wanted = set(ids)
        return self.get(
            row.id for row in self.rows({}) if wanted.intersection(linked_ids(row.payload))
        ).values()


def says_the_same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two states of a row have one text."""
    return one.payload.get("data") == other.payload.get("data")


def floats(values: Iterable[Any] | None) -> tuple[float, ...] | None:
    """A vector as a row holds it, whatever numbers a client gives."""
    return None if values is None else tuple(float(value) for value in values)


def value_of(config: Any, key: str) -> Any:
    """One setting, from mem0's own object or from the dict that becomes one."""
    return config.get(key) if isinstance(config, Mapping) else getattr(config, key, None)


def absolute(path: Any) -> str:
    """A path of a configuration, without links."""
    return os.path.realpath(Path(str(path)).expanduser())


def address(host: Any, port: Any, default: int) -> str:
    """Host and port, as equal places spell them equally."""
    return f"{str(host).lower()}:{port or default}"


def url_address(url: str, default: int) -> str:
    """The address in a URL, without user and password."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    return address(parts.hostname, parts.port, default) + parts.path.rstrip("/")


def hang_up(client: Any) -> None:
    """Close what can be closed of a client; Chroma's own `close` leaves its connections to a server open."""
    session: Any = getattr(getattr(client, "_server", None), "_session", None)
    for part in (client, session):
        if hasattr(part, "close"):
            part.close()


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn whatever a client raises into a StoreError of one sentence, without memory text or secret."""
    try:
        yield
    except DreamError:
        raise
    except Exception as error:
        raise StoreError(sentence(f"{what} failed: {describe(error)}")) from error


def sentence(text: str) -> str:
    """A reason as a whole sentence."""
    return f"{text[0].upper()}{text[1:]}."


def describe(error: Exception) -> str:
    """Name an error, with its own first line only where that is about a connection."""
    name, lines = type(error).__name__, str(error).strip().splitlines()
    told = lines and (isinstance(error, OSError) or name in _CONNECTION_ERRORS)
    return f"{name}: {lines[0][:_DETAIL_CHARACTERS]}" if told else name


def linked_ids(payload: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that an entity's payload names."""
    linked = payload.get(LINKED_KEY)
    return [str(value) for value in linked] if isinstance(linked, list | tuple) else []


def as_link(entity: Snapshot) -> Mapping[str, Any]:
    """An entity as a snapshot keeps it."""
    named = {"index": _ENTITY, "id": entity.id, "payload": dict(entity.payload)}
    return {**named, "vector": list(entity.vector or ()), "sparse": dict(sparse_of(entity))}


def with_sparse(row: Snapshot, vectors: Mapping[str, Any]) -> Snapshot:
    """The row alone with these sparse vectors: `{"name": {"indices": [...], "values": [...]}}`."""
    return replace(row, links=({"index": _SPARSE, "vectors": dict(vectors)},) if vectors else ())


def sparse_of(row: Snapshot) -> Mapping[str, Any]:
    """The named sparse vectors of a row, or of a snapshot."""
    return next((link["vectors"] for link in row.links if link["index"] == _SPARSE), {})


def unlink(entities: Backend | None, memory_id: str) -> None:
    """Take the memory out of every entity."""
    if entities is not None:
        for entity in entities.linking([memory_id]):
            let_name(entities, entity, [each for each in linked_ids(entity.payload) if each != memory_id])


def relink(entities: Backend | None, links: Iterable[Mapping[str, Any]], memory_id: str = "") -> None:
    """Let the entities of a snapshot name the memory again, or all that they named.

    An entity that is gone, or that lacks nothing but these, becomes exactly as recorded; one
    that the agent has changed since then only gets them back.
    """
    for link in links:
        if entities is None or link["index"] != _ENTITY:
            continue
        alone = Snapshot(link["id"], link["payload"], tuple(link["vector"]) or None)
        recorded = with_sparse(alone, link["sparse"])
        then = linked_ids(recorded.payload)
        current = entities.one(recorded.id)
        now, back = linked_ids(current.payload) if current else [], [memory_id] if memory_id else then
        if current is None or {*now, *back} == set(then):
            entities.put(recorded)
        elif not set(back) <= set(now):
            let_name(entities, current, [*now, *(each for each in back if each not in now)])


def let_name(entities: Backend, entity: Snapshot, ids: list[str]) -> None:
    """Let an entity name these memories; one that names none goes."""
    if ids:
        entities.put(replace(entity, payload={**entity.payload, LINKED_KEY: ids}))
    else:
        entities.remove(entity.id)


SCOPE_KEYS = ("user_id", "agent_id", "run_id", "app_id", "actor_id", "role")
USERS_OWN = ("role", "user")  # a role that says no more than an absent one
SESSION_KEYS = SCOPE_KEYS[:3]  # the ids by which mem0 itself filters searches and lists entities
# Keys that belong to mem0 or to this package; everything else in a payload is the user's metadata.
CORE_KEYS = frozenset(SCOPE_KEYS) | {
    "id", "data", "hash", "created_at", "updated_at", "text_lemmatized", "expiration_date", "attributed_to",
}  # fmt: skip
_PIN_KEYS = ("pinned", "immutable", "critical")
_CATEGORY_KEYS = ("category", "type", "categories")
_FALSE = frozenset({"", "0", "false", "no", "off", "none", "null"})
_FIRST_REAL_YEAR = 1972  # earlier dates are a missing value in disguise: Redis stores 0 for an absent one
_MILLISECONDS_FROM = 1e11
_JSON_PREFIX = "mem0_dream_json:"


def parse_memory(snapshot: Snapshot) -> Memory:
    """Turn a raw row into a memory."""
    payload = {key: decoded(value) for key, value in snapshot.payload.items()}
    text = str(payload.get("data") or "")
    return Memory(
        id=snapshot.id,
        text=text,
        scope=scope_of(payload),
        category=_category(payload),
        created_at=moment(payload.get("created_at")),
        updated_at=moment(payload.get("updated_at")),
        accessed_at=moment(payload.get("last_accessed_at")),
        expires_on=last_day(payload.get("expiration_date")),
        pinned=says_pinned(text)
        or any(str(payload.get(key) or "").strip().lower() not in _FALSE for key in _PIN_KEYS),
        metadata={key: value for key, value in payload.items() if key not in CORE_KEYS},
    )


def scope_of(payload: Mapping[str, Any]) -> Scope:
    """The full identity tuple of a payload; absent and empty parts are left out.

    mem0 writes no role where it infers a memory and "user" where it does not, so both are the user's.
    """
    ids = {key: str(payload[key]) for key in SCOPE_KEYS if payload.get(key) not in (None, "")}
    return Scope.of(**{key: value for key, value in ids.items() if (key, value.lower()) != USERS_OWN})


def is_memory(payload: Mapping[str, Any]) -> bool:
    """Whether a row holds a memory at all; mem0 keeps other rows, such as telemetry identities."""
    return isinstance(payload.get("data"), str)


def encoded(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata for a store that holds only text, numbers and booleans: the rest becomes marked JSON.

    >>> encoded({"merged_from": ["a", "b"]})
    {'merged_from': 'mem0_dream_json:["a", "b"]'}
    """
    return {
        key: value if isinstance(value, str | int | float | bool) else _JSON_PREFIX + json.dumps(value)
        for key, value in metadata.items()
    }


def decoded(value: Any) -> Any:
    """Undo `encoded` for one value; anything else passes through."""
    if isinstance(value, str) and value.startswith(_JSON_PREFIX):
        try:
            return from_json(value[len(_JSON_PREFIX) :])
        except ValueError:
            return value
    return value


def moment(value: Any) -> datetime | None:
    """A date of any kind mem0 has stored as aware UTC, or None; large numbers are milliseconds."""
    stamp = noted_moment(str(value).strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError, OSError):
            stamp = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS_FROM else value, UTC)
    return stamp if stamp is not None and stamp.year >= _FIRST_REAL_YEAR else None


def last_day(value: Any) -> date | None:
    """An expiry day as mem0 reads it: a bad one counts as none."""
    try:
        return date.fromisoformat(str(value)) if value else None
    except ValueError:
        return None


def _category(payload: Mapping[str, Any]) -> str | None:
    """The first key that names a group; several categories count as one, in a fixed order."""
    for key in _CATEGORY_KEYS:
        value = payload.get(key)
        names = value if isinstance(value, list | tuple | set) else [value]
        categories = sorted({str(name).strip() for name in names if name is not None and str(name).strip()})
        if categories:
            return "/".join(categories)
    return None
