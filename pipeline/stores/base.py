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

from ...errors import UsageError
from ...records import Inventory, Memory, Scope


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One raw record (JSON-serialisable), enough to put it back as it was.

    The vector is None where the store does not give it out; links are raw rows of other indexes that point to
    this record (mem0: entity rows).
    """

    id: str
    payload: Mapping[str, Any]
    vector: tuple[float, ...] | None = None
    links: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Add:
    """Store a new memory, text and every id of its scope verbatim."""

    text: str
    scope: Scope
    metadata: Mapping[str, Any]  # the user's metadata, `merged_from` included
    created_at: datetime | None
    mark: str  # unique name of this change, by which a resumed run finds what a killed one had added
    # Memories whose place it takes: what the store itself keeps of them (role, date of the last change) it
    # keeps of the new one.
    like: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """Give a memory another text, verbatim and in place; its id and its creation date stay."""

    id: str
    text: str
    at: datetime | None = None  # when the run began that does so; None outside of a run
    observations: tuple[str, ...] = ()  # the same as a list, for an entity of a graph; empty elsewhere
    # All relations (type, target) that leave a node of a graph afterwards; None elsewhere.
    relations: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """Give a memory what a merge unites, in place; its id, text, vector and every other key stay."""

    id: str
    metadata: Mapping[str, Any]  # keys to set
    created_at: datetime | None = None  # the date to store it under; None leaves it
    expires: str | None = None  # its last day as ISO date, or "" for none; None leaves it


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a memory for good (until an undo)."""

    id: str
    reason: str = ""  # why it goes, in a few words; empty where another one takes its place
    into: str | None = None  # id of the memory that takes its place, or None
    text: str = ""  # what that one must say by now
    at: datetime | None = None  # when the run began that does so; None outside of a run
    observations: tuple[str, ...] = ()  # the text as a list, for an entity of a graph; empty elsewhere


@dataclass(frozen=True, slots=True)
class Retire:
    """Hide a memory with the store's own expiry, so that it can be re-learned and brought back."""

    id: str
    day: date  # the last day on which it counts as alive
    # Keys to set with it, such as what supersedes it; an undo takes them away again.
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a record back exactly as it was, whether it still exists or not."""

    snapshot: Snapshot


Change = Add | Update | Amend | Delete | Retire | Restore


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can do, so that a plan can say beforehand what cannot be undone."""

    retire: bool = False  # memories can be hidden reversibly
    vector: bool = False  # the stored vector can be read and put back
    in_place: bool = False  # a merged text goes into one of its sources instead of a new memory
    amend: bool = False  # metadata can be changed in place


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """Which scopes to read; every given id must match, an empty filter matches everything."""

    ids: Mapping[str, str] = field(default_factory=dict)

    def matches(self, scope: Scope) -> bool:
        """Whether the scope holds every id of this filter."""
        have = dict(scope.ids)
        return all(have.get(name) == value for name, value in self.ids.items())

    def known(self, keys: Sequence[str], kind: str) -> dict[str, str]:
        """The ids, for a store of this kind that scopes memories by these keys.

        Raises:
            UsageError: If another id is given, or an empty one.
        """
        for name, value in self.ids.items():
            if name not in keys:
                raise UsageError(f"A store of the kind {kind} knows no {name}; it knows {', '.join(keys)}.")
            if not str(value).strip():
                raise UsageError(f"{name} is empty; leave it out or name one.")
        return dict(self.ids)


class Store(Protocol):
    """A place where memories live."""

    @property
    def kind(self) -> str:
        """Short name printed before ids, such as "mem0"."""

    @property
    def fingerprint(self) -> str:
        """Equal for equal places; holds no secret."""

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, retired ones included, and say what is missing."""

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; an id is absent from the answer only if it is truly gone.

        Raises:
            StoreError: If the store cannot be asked, so that an outage never looks like a deletion.
        """

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""

    def finds(self, memory_id: str) -> bool:
        """Whether a search for the memory's own text returns it, as the agent would search."""

    def write(self, change: Change) -> str:
        """Make one change and return the id it concerns.

        Raises:
            StoreError: If the store did not do it.
        """

    def backup(self, folder: Path) -> Sequence[Path]:
        """Copy what a run rewrites whole, and name the copies; the folder is named like the run.

        The journal alone is enough for a store that changes single records.

        Raises:
            StoreError: If it cannot be copied, or no run may begin now.
        """

    def close(self) -> None:
        """Release files, locks and connections."""


@runtime_checkable
class Configured(Protocol):
    """A store whose own configuration may state limits, too."""

    @property
    def section(self) -> Mapping[str, Any]:
        """The `mem0_dream:` section of that configuration; empty if it has none."""


LINKS = ":entities"
"""Behind a store's fingerprint it names the links beside it."""


@runtime_checkable
class Linked(Protocol):
    """A store with an index beside its memories that is repaired in runs of its own."""

    @property
    def links(self) -> Store:
        """That index, as a store; its fingerprint ends with `LINKS`."""


@runtime_checkable
class NamesModel(Protocol):
    """A store whose own configuration may name a language model."""

    @property
    def llm(self) -> Mapping[str, Any] | None:
        """The section `llm` of that configuration."""


@runtime_checkable
class RunNotes(Protocol):
    """A store that keeps notes of its own about runs, beside what the journal knows."""

    def begin(self, run: str) -> None:
        """A run is about to make its first change."""

    def resume(self, run: str) -> None:
        """A run that was killed goes on."""

    def finish(self, run: str, *, at: datetime) -> None:
        """All of a run is done."""

    def undo(self, run: str, *, whole: bool) -> None:
        """A run, or a part of it, is about to be taken back."""
