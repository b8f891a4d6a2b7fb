"""The interface of a store: read everything, look at one record, make one change.

A store makes single changes only. What belongs together, in which order, and what to do when the
process dies in between, is decided by the writer (`pipeline.writing.writer`), because only the journal
knows what was done before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...errors import RefusedChangeError, UsageError
from ...records import Inventory, Memory, Scope

LINKS = ":entities"  # behind a store's fingerprint it names the links beside it


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One raw record (JSON-serialisable), enough to put it back as it was."""

    id: str
    payload: Mapping[str, Any]
    vector: tuple[float, ...] | None = None  # None where the store does not give it out
    links: tuple[Mapping[str, Any], ...] = ()  # raw rows of other indexes that point to it (mem0: entities)


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
    was: str | None = None  # see `Delete`


@dataclass(frozen=True, slots=True)
class Amend:
    """Give a memory what a merge unites, in place; its id, text, vector and every other key stay."""

    id: str
    metadata: Mapping[str, Any]  # keys to set
    created_at: datetime | None = None  # the date to store it under; None leaves it
    expires: str | None = None  # its last day as ISO date, or "" for none; None leaves it
    was: str | None = None  # see `Delete`


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a memory for good (until an undo)."""

    id: str
    reason: str = ""  # why it goes, in a few words; empty where another one takes its place
    into: str | None = None  # id of the memory that takes its place, or None
    at: datetime | None = None  # when the run began that does so; None outside of a run
    observations: tuple[str, ...] = ()  # the text as a list, for an entity of a graph; empty elsewhere
    # Hash of the text that it must still have when it is written to; None if it may say anything.
    was: str | None = None


@dataclass(frozen=True, slots=True)
class Retire:
    """Hide a memory with the store's own expiry, so that it can be re-learned and brought back."""

    id: str
    day: date  # the last day on which it counts as alive
    # Keys to set with it, such as what supersedes it; an undo takes them away again.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    was: str | None = None  # see `Delete`


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a record back exactly as it was, whether it still exists or not."""

    snapshot: Snapshot
    was: str | None = None  # see `Delete`


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
        return self.ids.items() <= dict(scope.ids).items()

    def known(self, keys: Sequence[str], kind: str) -> dict[str, str]:
        """The ids, none empty, for a store that scopes memories by these keys; `UsageError` for others."""
        for name, value in self.ids.items():
            if name not in keys:
                raise UsageError(f"A store of the kind {kind} knows no {name}; it knows {', '.join(keys)}.")
            if not str(value).strip():
                raise UsageError(f"{name} is empty; leave it out or name one.")
        return dict(self.ids)


def refuse_moved(memory: Memory, was: str | None) -> None:
    """Refuse to change a memory that somebody wrote since it was read last."""
    if was is not None and memory.text_hash != was:
        raise RefusedChangeError(f"memory {memory.id} was written anew at that moment")


class Store:
    """A place of memories: what raises here every kind does; one with `_add` takes an `Add`, and so on."""

    kind: str  # short name printed before ids, such as "mem0"
    fingerprint: str  # equal for equal places; holds no secret
    capabilities: Capabilities
    called: str  # the place in a sentence, such as "a knowledge graph"
    # Whether it takes changes back by notes of its own, so that no undo rests on the journal's copies.
    keeps_history = False
    fidelity: tuple[str, ...] = ()  # what an undo cannot give back
    section: Mapping[str, Any] = MappingProxyType({})  # limits in the store's own configuration, unchecked
    llm: Mapping[str, Any] | None = None  # the language model that this configuration names

    @property
    def links(self) -> Store | None:
        """An index beside the memories, repaired in runs of its own; its fingerprint ends with `LINKS`."""
        return None

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the matching scopes, retired ones included, and say what is missing.

        `UsageError` if the filter names an id that this kind does not know, `StoreError` if nothing answers.
        """
        memories, gaps = self._listed(scopes)
        in_order = tuple(sorted(memories, key=lambda memory: memory.id))
        return Inventory(self.fingerprint, in_order, tuple(dict.fromkeys(gaps)), self.fidelity)

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        """Every memory in any order, and why these may not be all."""
        raise NotImplementedError

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read records afresh; one is absent only if it is truly gone, and an outage is a `StoreError`."""
        raise NotImplementedError

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        raise NotImplementedError

    def find_mark(self, mark: str, scope: Scope) -> str | None:  # noqa: ARG002
        """Id of the memory that was added with this mark; none where nothing is ever added."""
        return None

    def finds(self, memory_id: str) -> bool:
        """Whether a search for its own text returns it, as the agent would search; or else it is there."""
        return bool(self.fetch([memory_id]))

    def write(self, change: Change) -> str:
        """Make one change; its id. `RefusedChangeError` if it may not be made, `StoreError` if it was not."""
        if isinstance(change, Retire) and not hasattr(self, "_retire"):
            change = Amend(change.id, change.metadata, expires=change.day.isoformat(), was=change.was)
        self._look_again(change)
        make = getattr(self, f"_{type(change).__name__.lower()}", None)
        if make is None:
            raise RefusedChangeError(f"{self.called} takes no such change")
        return str(make(change))

    def _look_again(self, change: Change) -> None:
        """`RefusedChangeError` if what a change is about no longer says what it must."""
        if not isinstance(change, Add) and change.was is not None:
            self._refuse_moved(change.snapshot.id if isinstance(change, Restore) else change.id, change.was)

    def _refuse_moved(self, memory_id: str, was: str) -> None:
        """`RefusedChangeError` if a memory no longer says what it must; a kind may look even later."""
        held = self.fetch([memory_id]).get(memory_id)
        if held is not None:
            refuse_moved(self.parse(held), was)

    def backup(self, folder: Path) -> Sequence[Path]:  # noqa: ARG002
        """Copy what a run rewrites whole; `StoreError` if that fails, or no run may begin now."""
        return ()  # of single records the journal keeps enough

    def tidy(self) -> Sequence[str]:
        """Remove what a killed run left behind, while no other can be at work; sentences about what stays."""
        return ()

    def close(self) -> None:
        """Release files, locks and connections."""

    def begin(self, run: str) -> None:
        """A run is about to make its first change; stores may keep notes of their own about runs."""

    def resume(self, run: str) -> None:
        """A run that was killed goes on."""

    def finish(self, run: str, *, at: datetime) -> None:
        """All of a run is done."""

    def undo(self, run: str, *, whole: bool) -> None:
        """A run, or a part of it, is about to be taken back."""
