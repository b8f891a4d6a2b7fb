"""The interface of a store: read everything, look at one record, make one change.

A store makes single changes only. What belongs together, in which order, and what to do when the
process dies in between, is decided by the writer (`pipeline.writing.writer`), because only the journal
knows what was done before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ...records import Inventory, Memory, Scope


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One raw record, enough to put it back as it was.

    Attributes:
        id: The store's id.
        payload: The raw record, JSON-serialisable.
        vector: The stored embedding, or None where the store does not give it out.
        links: Raw rows of other indexes that point to this record (mem0: entity rows).
    """

    id: str
    payload: Mapping[str, Any]
    vector: tuple[float, ...] | None = None
    links: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Add:
    """Store a new memory.

    Attributes:
        text: What is remembered, stored verbatim.
        scope: Whose memory it is; every id of the tuple is written.
        metadata: The user's metadata, `merged_from` included.
        created_at: The date to store it under.
        mark: Unique name of this change. It is stored with the memory, so that a resumed run finds
            what a killed one had added.
    """

    text: str
    scope: Scope
    metadata: Mapping[str, Any]
    created_at: datetime | None
    mark: str


@dataclass(frozen=True, slots=True)
class Update:
    """Give a memory another text, in place; its id and its creation date stay.

    Attributes:
        id: The memory to change.
        text: Its new text, stored verbatim.
        at: When the run began that does so; None outside of a run.
    """

    id: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """Give a memory what a merge unites, in place; its id, text and vector stay, and so does every other key.

    Attributes:
        id: The memory to change.
        metadata: Keys to set.
        created_at: The date to store it under; None leaves it.
        expires: Its last day as ISO date, or "" for none; None leaves it.
    """

    id: str
    metadata: Mapping[str, Any]
    created_at: datetime | None = None
    expires: str | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a memory for good (until an undo).

    Attributes:
        id: The memory to remove.
        reason: Why it goes, in a few words; empty where another one takes its place.
        into: Id of the memory that takes its place, or None.
        text: What that one must say by now.
        at: When the run began that does so; None outside of a run.
    """

    id: str
    reason: str = ""
    into: str | None = None
    text: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Retire:
    """Hide a memory with the store's own expiry, so that it can be re-learned and brought back.

    Attributes:
        id: The memory to hide.
        day: The last day on which it counts as alive.
    """

    id: str
    day: date


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a record back exactly as it was, whether it still exists or not."""

    snapshot: Snapshot


Change = Add | Update | Amend | Delete | Retire | Restore


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can do, so that a plan can say beforehand what cannot be undone.

    Attributes:
        retire: Memories can be hidden reversibly.
        vector: The stored vector can be read and put back.
        in_place: A merged text goes into one of its sources instead of a new memory.
        amend: Metadata can be changed in place.
    """

    retire: bool = False
    vector: bool = False
    in_place: bool = False
    amend: bool = False


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """Which scopes to read; every given id must match, an empty filter matches everything."""

    ids: Mapping[str, str] = field(default_factory=dict)

    def matches(self, scope: Scope) -> bool:
        """Whether the scope holds every id of this filter."""
        have = dict(scope.ids)
        return all(have.get(name) == value for name, value in self.ids.items())


class Store(Protocol):
    """A place where memories live."""

    @property
    def kind(self) -> str:
        """Short name printed before ids, such as "mem0"."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal for equal places; holds no secret."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        ...

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, retired ones included, and say what is missing."""
        ...

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; an id is absent from the answer only if it is truly gone.

        Raises:
            StoreError: If the store cannot be asked, so that an outage never looks like a deletion.
        """
        ...

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        ...

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""
        ...

    def finds(self, memory_id: str) -> bool:
        """Whether a search for the memory's own text returns it, as the agent would search."""
        ...

    def write(self, change: Change) -> str:
        """Make one change and return the id it concerns.

        Raises:
            StoreError: If the store did not do it.
        """
        ...

    def backup(self, folder: Path) -> Sequence[Path]:
        """Copy what a run rewrites whole, and name the copies; the folder is named like the run.

        The journal alone is enough for a store that changes single records.

        Raises:
            StoreError: If it cannot be copied, or no run may begin now.
        """
        ...

    def close(self) -> None:
        """Release files, locks and connections."""
        ...


@runtime_checkable
class Configured(Protocol):
    """A store whose own configuration may state limits, too."""

    @property
    def section(self) -> Mapping[str, Any]:
        """The `mem0_dream:` section of that configuration; empty if it has none."""
        ...


@runtime_checkable
class NamesModel(Protocol):
    """A store whose own configuration may name a language model."""

    @property
    def llm(self) -> Mapping[str, Any] | None:
        """The section `llm` of that configuration."""
        ...


@runtime_checkable
class RunNotes(Protocol):
    """A store that keeps notes of its own about runs, beside what the journal knows."""

    def begin(self, run: str) -> None:
        """A run is about to make its first change."""
        ...

    def resume(self, run: str) -> None:
        """A run that was killed goes on."""
        ...

    def finish(self, run: str, *, at: datetime) -> None:
        """All of a run is done."""
        ...

    def undo(self, run: str) -> None:
        """A run is about to be taken back."""
        ...
