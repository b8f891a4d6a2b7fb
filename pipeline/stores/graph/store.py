"""A knowledge graph of the MCP memory server as a store.

A memory is an entity: its id is its name, its metadata hold what it says as a list, its category is the
entity type. One observation, and the relations that leave an entity, can be read and changed on their own,
under ids that name the part (`entities.part_id`); that is how a contradiction is settled and a relation
added through the same writer as everything else.
"""

from __future__ import annotations

import contextlib
import glob
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ....errors import RefusedChangeError, StoreError, UsageError
from ....records import Memory, Scope
from ..base import Capabilities, Change, Delete, Restore, ScopeFilter, Snapshot, Store, Update
from ..files import Database, digest, make_private, reading
from ..files.exchange import leftovers
from ..files.undo import FileHistory, Image, keep_entry, kept_entries, read_image
from . import entities
from .core_memory import CoreFile
from .entities import entity_text, observation_key, relations_text, split_part
from .lines import KNOWN, GraphDocument, GraphLine, foreign_reason, settled
from .media import FileMedium, Medium

_CORE = "core memory of"
_WHOLE = "whole"
_CODING = ("utf-8", "surrogateescape")
LONGEST_LINE = 10_000_000  # bytes of one entity with all its observations
_LEFT = "left by us"  # what we left may hold nothing but lines of other tools; it can still be undone
_LAST, _BROUGHT_BACK = "last run", "brought back"
FOCUS = "focus"  # note of the topic that a person set, to protect what is about it; None if taken back


@dataclass(frozen=True, slots=True)
class LastRun:
    """A graph after a run, with which the next one is compared."""

    at: datetime
    memories: Mapping[str, tuple[int, float | None]]  # uses and effectiveness (None if unknown), by name
    run: str = ""  # its name; empty if there was nothing to do


_LAST_RUN = TypeAdapter(LastRun)


class GraphNotes(Database):
    """What we remember about one graph and may not write into it: the last run, the focus, what came back."""

    schema = """
    CREATE TABLE IF NOT EXISTS graph_notes (
        store TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (store, name));
    """

    def __init__(self, directory: Path, store: str) -> None:
        super().__init__(directory)
        self._store = store

    def note(self, name: str, value: object) -> None:
        """Remember anything else under a name."""
        values = (self._store, name, json.dumps(value))
        self.tell("INSERT OR REPLACE INTO graph_notes VALUES (?, ?, ?)", values)

    @reading
    def noted(self, name: str) -> Any:  # noqa: ANN401  (whatever was noted)
        """What was remembered under a name, or None."""
        statement = "SELECT value FROM graph_notes WHERE store = ? AND name = ?"
        return next((json.loads(value) for (value,) in self.ask(statement, (self._store, name))), None)

    @property
    def last(self) -> LastRun | None:
        """The state of every memory after the last run; None if there was none."""
        noted = self.noted(_LAST)
        return None if noted is None else _LAST_RUN.validate_python(noted)

    def remember(self, state: LastRun) -> None:
        """Note the present state of every memory."""
        self.note(_LAST, _LAST_RUN.dump_python(state, mode="json"))

    @reading
    def brought_back(self, now: datetime, *, within: timedelta) -> list[str]:
        """What was brought back lately; it is kept as long as if it had been used on that day."""
        rows = self.noted(_BROUGHT_BACK) or {}
        return [name for name, at in rows.items() if now - datetime.fromisoformat(at) <= within]


class GraphStore(Store):
    """Entities and relations behind a medium: the file itself, or a running server."""

    kind = "graph"
    called = "a knowledge graph"
    capabilities = Capabilities(in_place=True)
    keeps_history = True

    def __init__(self, medium: Medium, *, state: Path, core: Path | None = None) -> None:
        self.medium = medium
        self.place = medium.name.partition(":")[2]
        self.fingerprint = digest(medium.name.encode())[:16]
        self.scope = Scope.of(graph=Path(self.place).name or medium.name)
        self.notes = GraphNotes(state, self.fingerprint)
        self._history = FileHistory(state)
        self.core = CoreFile(core, self._history) if core is not None else None
        self.archive = (medium.folder or state / "graph" / self.fingerprint) / "archive"
        self._held = (b"", GraphDocument(()))
        self._run = ""
        if not medium.verbatim:
            self.fidelity = ("a running server decides the order of its lines itself",)

    def document(self) -> GraphDocument:
        """The graph as it stands; `StoreError` if the file is no graph of a memory server."""
        data = self.medium.load()
        if self._held[0] != data:
            longest = max(map(len, data.split(b"\n")))
            if longest > LONGEST_LINE:
                raise StoreError(
                    f"A line of {self.place} has {longest:,} bytes, more than the {LONGEST_LINE:,} that are "
                    "read. Shorten its longest observation, or keep that text in a file. Nothing was changed."
                )
            document = GraphDocument.parse(data, known={line.raw: line for line in self._held[1].lines})
            foreign = foreign_reason(document) if self.medium.verbatim else None
            if foreign is not None and self.notes.noted(_LEFT) != digest(data):
                told = f"{self.place} is no graph of a memory server: {foreign}. Nothing was changed."
                raise StoreError(told)
            self._held = (data, document)
        return self._held[1]

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        document = self.document()
        found = document.names if scopes.matches(self.scope) else ()
        return (self.parse(_entity(document, name)) for name in found), document.faults

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given entities and parts afresh."""
        document = self.document()
        snapshots = ((memory_id, _find(document, memory_id)) for memory_id in ids)
        return {memory_id: snapshot for memory_id, snapshot in snapshots if snapshot is not None}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        payload = snapshot.payload
        match payload["kind"]:
            case "entity":
                return self._entity_memory(snapshot)
            case "observation":
                text, kind, pinned = payload["text"], payload["type"], payload["pinned"]
                return Memory(snapshot.id, text, self.scope, category=kind, pinned=pinned)
            case "broken":
                # Escaped, because a line that is not UTF-8 could not be written down in a plan.
                text = "\n".join(json.dumps(raw) for raw in payload["raws"])
                return Memory(snapshot.id, text, self.scope, category="broken")
        edges = [GraphLine.of(raw).edge for raw in payload["raws"]]
        text = relations_text((kind, target) for _, target, kind in edges)
        return Memory(snapshot.id, text, self.scope, category="relation")

    def write(self, change: Change) -> str:
        """Make one change, all at once; none while there is a broken line."""
        memory_id = change.snapshot.id if isinstance(change, Restore) else getattr(change, "id", "")
        if self.document().broken and memory_id != entities.BROKEN_LINES:
            raise StoreError("The graph holds broken lines; run again with --repair. Nothing was changed.")
        return super().write(change)

    def backup(self, folder: Path) -> Sequence[Path]:
        """Copy the files as they are before a run, if it may begin."""
        self.medium.check()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = {"memory.jsonl": self.medium.load()}
        if core := read_image(self.core.path) if self.core else None:
            files["core-memory.json"] = core.data
        for name, data in files.items():
            make_private(folder / name)
            (folder / name).write_bytes(data)
        return tuple(sorted(folder.iterdir()))

    def begin(self, run: str) -> None:
        """Note the graph as a run finds it, and where its core memory is."""
        self._run = run
        self._history.note(self.medium.name, Image(self._held[0]), self._held[0], key=self._key(_WHOLE))
        if self.core is not None:
            self.notes.note(f"{_CORE} {run}", {"path": str(self.core.path)})

    def resume(self, run: str) -> None:
        """Open the core memory that a run began with, if none was given."""
        self._run = run
        if self.core is None and (noted := self.notes.noted(f"{_CORE} {run}")):
            self.core = CoreFile(Path(noted["path"]), self._history)

    def finish(self, run: str, *, at: datetime) -> None:
        """Note the day in the core memory; a damaged file was told before, and what is in it stays."""
        self._run = run
        with contextlib.suppress(RefusedChangeError):
            if self.core is not None:
                self.core.note_consolidation(at=at, key=self._key("core day"))

    def undo(self, run: str, *, whole: bool) -> None:
        """Put the core memory back: to the letter if only the run changed it, else without its promotions."""
        self.resume(run)
        if whole and self.core is not None:
            self._demote(self._history.keys(str(self.core.path), self._key("core ")))

    def before(self, run: str) -> GraphDocument | None:
        """The graph as a run found it; None if that is not known."""
        step = self._history.last(self.medium.name, f"{run} {_WHOLE}")
        return GraphDocument.parse(step.before.data) if step is not None and step.before else None

    def bring_back(self, name: str, *, now: datetime) -> tuple[int, int]:
        """Put the newest archived state of a forgotten memory back.

        Returns how many of its relations came back, and how many lead to memories that are gone; `UsageError`
        if the archive does not hold it, or the graph has a memory of this name.
        """
        document = self.document()
        own, relations = find_forgotten(self.archive, name)
        if name in document.names:
            raise UsageError(f"The graph holds a memory {name!r} already; nothing was changed.")
        names = document.names | {name}
        back = [line for line in relations if names.issuperset(line.edge[:2])]
        self._save(document.with_lines([*document.lines, *own, *back]), key="")
        brought = self.notes.noted(_BROUGHT_BACK) or {}
        self.notes.note(_BROUGHT_BACK, brought | {name: now.isoformat()})
        return len(back), len(relations) - len(back)

    def tidy(self) -> Sequence[str]:
        """Remove the hidden copies of a killed run; those beside the archive hold what its file does."""
        files = [self.medium.path] if isinstance(self.medium, FileMedium) else []
        files += [self.core.path] if self.core is not None else []
        for path, _ in leftovers(self.archive):
            path.unlink(missing_ok=True)
        return [line for file in files for line in self._history.tidy(file.parent, glob.escape(file.name))]

    def close(self) -> None:
        """Close the notes and the medium."""
        self.notes.close()
        self._history.close()
        self.medium.close()

    def _key(self, memory_id: str) -> str:
        return f"{self._run} {memory_id}"

    def _entity_memory(self, snapshot: Snapshot) -> Memory:
        items = [GraphLine.of(raw).item for raw in snapshot.payload["raws"]]
        observations = [text for item in items for text in item["observations"]]
        fields = {key: value for item in items for key, value in item.items()}
        used = entities.usage(observations, fields)
        # Left alone are: one name with two types, which cannot be written back as one line; a name that looks
        # like that of a part, which cannot be told from it once it is gone; and what a running server holds
        # twice, since it removes all equal observations at once.
        alone = (
            len({item["entityType"] for item in items}) > 1
            or split_part(snapshot.id) is not None
            or (not self.medium.verbatim and len(set(observations)) < len(observations))
        )
        unknown = {key: value for key, value in fields.items() if key not in KNOWN}
        return Memory(
            id=snapshot.id,
            text=entity_text(snapshot.id, observations),
            scope=self.scope,
            category=items[0]["entityType"],
            created_at=used.discovered,
            accessed_at=used.last_used,
            pinned=used.critical or alone,
            metadata={"observations": observations, "fields": unknown},
        )

    def _save(self, new: GraphDocument, *, key: str) -> None:
        """Put a graph in the place of the one that was read; the step is noted before, to be taken back."""
        before, new = self._held[0], new if self.medium.verbatim else new.in_order()
        if new.data != before:
            self._history.note(self.medium.name, Image(before), new.data, key=key)
            self._replace(before, new.data)

    def _replace(self, before: bytes, after: bytes) -> None:
        if foreign_reason(GraphDocument.parse(after)) is not None:
            self.notes.note(_LEFT, digest(after))
        self.medium.save(before, after)

    def _update(self, change: Update) -> str:
        document = self._held[1]
        if change.id == entities.BROKEN_LINES and change.id not in document.names:
            if change.at is None:
                raise RefusedChangeError("broken lines are moved by a run alone")
            if rows := [{"number": number, "raw": line.raw} for number, line in document.broken]:
                path = self.archive / f"{change.at.date().isoformat()}-broken.json"
                keep_entry(path, {"movedAt": change.at.isoformat(), "lines": rows}, same=("lines",))
                kept = [line for line in document.lines if line.kind != "broken"]
                self._save(document.with_lines(kept), key=self._key(change.id))
            return change.id
        whole = change.id in document.names
        name, part = (not whole and split_part(change.id)) or (change.id, "")
        if part == entities.RELATIONS:
            text = relations_text(change.relations or ())
            new = document.with_relations(name, change.relations or ())
        else:
            text = entity_text(name, change.observations)
            new = document.with_observations(name, change.observations)
        # A plan that was edited by hand may say one thing and do another.
        if text != change.text:
            raise RefusedChangeError("the new text is not what the list beside it says")
        item = document.entities[name][0].item if part != entities.RELATIONS else {}
        marked = {text for text in change.observations if item and text.startswith(entities.PROMOTED_MARK)}
        if marked - set(item.get("observations", ())):
            if self.core is None or change.at is None:
                raise RefusedChangeError("there is no core memory to promote to; give it with --core")
            key = self._key(f"core {name}")
            self.core.promote(name, item["entityType"], change.observations, at=change.at, key=key)
        self._save(new, key=self._key(change.id))
        return change.id

    def _delete(self, change: Delete) -> str:
        document = self._held[1]
        if change.id not in document.names:
            if part := split_part(change.id):
                self._save(document.without_observation(*part), key=self._key(change.id))
            return change.id
        if change.into is None:
            if change.at is None or not change.reason:
                why = "would go without a reason, which the archive has to keep"
                raise RefusedChangeError(f"memory {change.id} {why}")
            own, relations = document.entities[change.id], document.touching.get(change.id, ())
            archive_forgotten(self.archive, own, relations, at=change.at, reason=change.reason)
        else:
            # The survivor must say all of it in the very state the other one is removed from: a server that
            # had loaded the graph before our last change may have written it back since.
            into = document.entities.get(change.into, ())
            held = {text for line in into for text in line.item["observations"]}
            if not into or not held.issuperset(change.observations):
                why = f"memory {change.into}, which takes its place, does not say all of it any more"
                raise RefusedChangeError(why)
        self._save(document.without_entity(change.id, change.into), key=self._key(change.id))
        return change.id

    def _restore(self, change: Restore) -> str:
        """Take this run's change of a record back; what was written since stays."""
        memory_id = change.snapshot.id
        if step := self._history.last(self.medium.name, self._key(memory_id)):
            now = self._held[0]
            after = self._history.without(self.medium.name, step, now, resolve=_settled)
            if after is not None and after != now:
                self._replace(now, after)
            self._history.taken_back(step)
        self._demote([self._key(f"core {memory_id}")])
        return memory_id

    def _demote(self, changes: Sequence[str]) -> None:
        """Take changes of the core memory back; a damaged file was told before, and what is in it stays."""
        with contextlib.suppress(RefusedChangeError):
            if self.core is not None:
                self.core.take_back(changes)


def _find(document: GraphDocument, memory_id: str) -> Snapshot | None:
    if memory_id in document.names:
        return _entity(document, memory_id)
    if memory_id == entities.BROKEN_LINES:
        raws = [line.raw for _, line in document.broken]
        return Snapshot(memory_id, {"kind": "broken", "name": "", "raws": raws})
    name, key = split_part(memory_id) or ("", "")
    if key == entities.RELATIONS:
        raws = [line.raw for line in document.touching.get(name, ()) if line.edge[0] == name]
        return Snapshot(memory_id, {"kind": "relations", "name": name, "raws": raws})
    for line in document.entities.get(name, ()) if key else ():
        said, kind = line.item["observations"], line.item["entityType"]
        for text in (text for text in said if observation_key(text) == key):
            pinned = entities.usage(said, line.item).critical
            payload = {"kind": "observation", "name": name, "type": kind, "text": text, "pinned": pinned}
            return Snapshot(memory_id, payload)
    return None


def _entity(document: GraphDocument, name: str) -> Snapshot:
    """The record of an entity; a name in several lines is one, since the server finds only one by it."""
    return Snapshot(name, {"kind": "entity", "name": name, "raws": [x.raw for x in document.entities[name]]})


def _settled(*sides: Sequence[bytes]) -> list[bytes] | None:
    lines = settled(*([GraphLine.of(raw.decode(*_CODING)) for raw in side] for side in sides))
    return None if lines is None else [line.raw.encode(*_CODING) for line in lines]


def archive_forgotten(
    folder: Path, lines: Sequence[GraphLine], relations: Sequence[GraphLine], *, at: datetime, reason: str
) -> None:
    """Keep a memory with its relations, once a day; if that is refused, it may not be forgotten."""
    entry = {
        **{key: value for key, value in lines[0].item.items() if key != "type"},
        "forgottenAt": at.isoformat(),
        "reason": reason,
        "relations": [line.item for line in relations],
        "lines": [line.raw for line in lines],
        "relationLines": [line.raw for line in relations],
    }
    path = folder / f"{at.date().isoformat()}-forgotten.json"
    keep_entry(path, entry, same=("lines", "relationLines"))


def find_forgotten(folder: Path, name: str) -> tuple[list[GraphLine], list[GraphLine]]:
    """The lines of a memory's newest archived entry, and of its relations; `UsageError` if there is none."""
    for path in sorted(folder.glob("*-forgotten.json"), reverse=True):
        for entry in reversed(kept_entries(path)):
            if entry.get("name") == name:
                own, relations = entry["lines"], entry["relationLines"]
                return list(map(GraphLine.of, own)), list(map(GraphLine.of, relations))
    raise UsageError(f"The archive {folder} holds no memory {name!r}; names are exact.")
