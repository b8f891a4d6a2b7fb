"""The interface below the mem0 store: raw rows of one collection in any vector store.

mem0's own `vector_store` lists one unordered page, merges payloads instead of replacing them and
gives out no vectors. A backend goes to the client beneath it for exactly those things and leaves
everything else to mem0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from ....errors import DreamError, StoreError

Filters = Mapping[str, str]
# The payload key in which mem0's entity rows name the memories they belong to.
LINKED_KEY = "linked_memory_ids"

# Errors whose own words describe a connection and never a memory, so that they may be printed.
_CONNECTION_ERRORS = frozenset(
    {"OperationalError", "PoolTimeout", "ConnectError", "ConnectTimeout", "ResponseHandlingException"}
)
_DETAIL_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Row:
    """One raw row of a collection.

    Attributes:
        id: The store's id.
        payload: Everything stored with it.
        vector: Its dense embedding; None where it was not asked for or cannot be read.
        sparse: Named sparse vectors, as `{"name": {"indices": [...], "values": [...]}}`.
    """

    id: str
    payload: Mapping[str, Any]
    vector: tuple[float, ...] | None = None
    sparse: Mapping[str, Any] = field(default_factory=dict)


class Backend(Protocol):
    """Raw access to one collection."""

    @property
    def provider(self) -> str:
        """mem0's name of the vector store."""
        ...

    @property
    def verbatim(self) -> bool:
        """Whether vectors can be read and put back, and payloads be replaced as a whole."""
        ...

    def faults(self) -> tuple[str, ...]:
        """Why nothing read from here may be trusted to be complete; empty if it may."""
        ...

    def count(self, filters: Filters) -> int | None:
        """How many rows hold all these payload values; None where the store cannot say."""
        ...

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Every row that holds all these payload values, without vectors."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids, vectors included."""
        ...

    def put(self, row: Row) -> None:
        """Write the row exactly as given, whether it exists or not."""
        ...

    def remove(self, row_id: str) -> None:
        """Remove one row."""
        ...

    def linking(self, ids: Sequence[str]) -> tuple[Row, ...]:
        """Rows whose `linked_memory_ids` hold any of the ids, vectors included."""
        ...

    def entities(self) -> Backend | None:
        """The collection of entities beside this one, if it exists already."""
        ...


def hang_up(client: Any) -> None:  # noqa: ANN401
    """Close what can be closed of a client; Chroma's own `close` leaves its connections to a server open."""
    session = getattr(getattr(client, "_server", None), "_session", None)
    for part in (client, session):
        close = getattr(part, "close", None)
        if close is not None:
            close()


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn whatever a client raises into one sentence that holds no memory text and no secret.

    Raises:
        StoreError: If the block raised anything but an error of this package.
    """
    try:
        yield
    except DreamError:
        raise
    except Exception as error:
        raise StoreError(sentence(f"{what} failed: {describe(error)}")) from error


def sentence(text: str) -> str:
    """A reason as a whole sentence: reasons are also listed, where they stand without."""
    return f"{text[0].upper()}{text[1:]}."


def describe(error: Exception) -> str:
    """Name an error, with its own first line only where that is about a connection."""
    name = type(error).__name__
    if isinstance(error, OSError) or name in _CONNECTION_ERRORS:
        lines = str(error).strip().splitlines()
        return f"{name}: {lines[0][:_DETAIL_CHARACTERS]}" if lines else name
    return name


def linked_ids(payload: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that an entity's payload names."""
    linked = payload.get(LINKED_KEY)
    return [str(value) for value in linked] if isinstance(linked, list | tuple) else []


def search_links(backend: Backend, ids: Sequence[str]) -> tuple[Row, ...]:
    """`Backend.linking` for stores that cannot look into a list: read all rows, keep what links."""
    wanted = set(ids)
    linking = [row.id for row in backend.rows({}) if wanted.intersection(linked_ids(row.payload))]
    return tuple(backend.get(linking).values())


def matches(payload: Mapping[str, Any], filters: Filters) -> bool:
    """Whether the payload holds every value of the filter."""
    return all(payload.get(key) == value for key, value in filters.items())
