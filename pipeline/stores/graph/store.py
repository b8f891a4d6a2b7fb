"""A knowledge graph of the MCP memory server as a store.

A memory is an entity: its id is its name, its text the name and all observations, its category the
entity type. One observation, and the relations that leave an entity, can be read and changed on
their own, under ids that name the part (`pipeline.stores.graph.text`); that is how a contradiction is
settled and a relation added through the same writer as everything else.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ....errors import RefusedChangeError, StoreError
from ....records import Inventory, Memory, Scope
from ..base import Capabilities, Change, Delete, Restore, ScopeFilter, Snapshot, Update
from ..files import digest
from .archive import FOLDER, archive_broken, archive_forgotten
from .core_memory import CoreFile
from .edit import fields_of, handed_over, with_fields, with_relations, without_observation
from .file import Medium
from .foreign import foreign_reason
from .lines import GraphDocument, GraphLine, same_lines
from .rows import Rows, row_memory
from .sidecar import Sidecar
from .text import (
    BROKEN_LINES,
    RELATIONS,
    parse_entity_text,
    parse_relations_text,
    split_part,
)
from .undo import put_back
from .usage import PROMOTED_MARK

_CORE = "core memory of"
_LEFT = "left by us"
"""What we left may hold nothing but lines of other tools; it can still be undone."""


class GraphStore:
    """Entities and relations behind a medium: the file itself, or a running server."""

    kind = "graph"
    capabilities = Capabilities(in_place=True)

    def __init__(self, medium: Medium, *, state: Path, core: Path | None = None) -> None:
        """Bind a medium.

        Args:
            medium: Where the graph is.
            state: Directory of our own state.
            core: The core memory that promotions go to.
        """
        self.medium = medium
        self.fingerprint = hashlib.sha256(medium.name.encode()).hexdigest()[:16]
        self.scope = Scope.of(graph=Path(medium.name.partition(":")[2]).name or medium.name)
        self.core = CoreFile(core) if core is not None else None
        self.sidecar = Sidecar(state, self.fingerprint)
        self.archive = (medium.folder or state / "graph" / self.fingerprint) / FOLDER
        self._held: tuple[bytes, GraphDocument] | None = None
        self._indexed: Rows | None = None
        self._ours: set[str] = set()

    def document(self) -> GraphDocument:
        """The graph as it stands.

        Raises:
            StoreError: If the file is no graph of a memory server.
        """
        data = self.medium.load()
        if self._held is None or self._held[0] != data:
            known = {line.raw: line for line in self._held[1].lines} if self._held else None
            document = GraphDocument.parse(data, known=known)
            foreign = foreign_reason(document) if self.medium.verbatim else None
            if foreign is not None and self.sidecar.noted(_LEFT) != digest(data):
                place = self.medium.name.partition(":")[2]
                raise StoreError(f"{place} is no graph of a memory server: {foreign}. Nothing was changed.")
            self._held = (data, document)
        return self._held[1]

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every entity; a broken line is a gap, so that nothing is written while there is one."""
        document = self.document()
        memories: tuple[Memory, ...] = ()
        if scopes.matches(self.scope):
            rows = self._rows()
            memories = tuple(self.parse(rows.entity(name)) for name in sorted(document.names))
        fidelity = () if self.medium.verbatim else ("a running server decides the order of its lines itself",)
        return Inventory(self.fingerprint, memories, document.faults, fidelity)

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given entities and parts afresh."""
        rows = self._rows()
        snapshots = ((memory_id, rows.find(memory_id)) for memory_id in ids)
        return {memory_id: snapshot for memory_id, snapshot in snapshots if snapshot is not None}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return row_memory(snapshot, self.scope)

    def find_mark(self, mark: str, scope: Scope) -> str | None:  # noqa: ARG002
        """Nothing is ever added: a merged text goes into one of its sources."""
        return None

    def finds(self, memory_id: str) -> bool:
        """Whether the server's search for the name, or for the observation, would find it."""
        return self._rows().find(memory_id) is not None

    def write(self, change: Change) -> str:
        """Make one change, all at once.

        Raises:
            RefusedChangeError: If the graph moved meanwhile, or takes no such change.
            StoreError: If it holds a broken line.
        """
        document = self.document()
        touched = change.snapshot.id if isinstance(change, Restore) else getattr(change, "id", "")
        if document.broken and touched != BROKEN_LINES:
            raise StoreError("The graph holds broken lines; run again with --repair. Nothing was changed.")
        if isinstance(change, Update):
            self._update(document, change)
            return change.id
        if isinstance(change, Delete):
            self._delete(document, change)
            return change.id
        if isinstance(change, Restore):
            self._restore(document, change.snapshot)
            return change.snapshot.id
        raise RefusedChangeError("a knowledge graph takes no such change")

    def backup(self, folder: Path) -> Sequence[Path]:
        """Copy the files as they are before a run, if it may begin."""
        self.medium.check()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = self.medium.load()
        (folder / "memory.jsonl").write_bytes(data)
        core = self.core.read() if self.core else None
        if core is not None:
            (folder / "core-memory.json").write_bytes(core)
        self.sidecar.keep_image(data)
        return tuple(sorted(folder.iterdir()))

    def begin(self, run: str) -> None:
        """Note which core memory a run begins with."""
        if self.core is None:
            return
        before = self.core.read()
        if before is not None:
            self.sidecar.keep_image(before)
        noted = {"path": str(self.core.path), "before": None if before is None else digest(before)}
        self.sidecar.note(f"{_CORE} {run}", noted)

    def resume(self, run: str) -> None:
        """Open the core memory that a run began with, if none was given."""
        self._noted_core(run)

    def finish(self, run: str, *, at: datetime) -> None:
        """Note the day in the core memory, and how the run left it."""
        noted, core = self._noted_core(run), self.core
        if core is None or not noted:
            return
        # A damaged file was told before, and what is in it stays.
        with contextlib.suppress(RefusedChangeError):
            core.consolidated(at=at)
        after = core.read()
        self.sidecar.note(f"{_CORE} {run}", noted | {"after": None if after is None else digest(after)})

    def undo(self, run: str) -> None:
        """Put the core memory back, where it is as the run left it."""
        noted, core = self._noted_core(run), self.core
        if core is None or "after" not in noted:
            return
        current = core.read()
        image = self.sidecar.image(noted["before"]) if noted.get("before") else None
        if noted["after"] == (None if current is None else digest(current)) and (
            image is not None or noted["before"] is None
        ):
            core.put_back(image)

    def _noted_core(self, run: str) -> dict[str, Any]:
        """What was noted about the core memory of a run; it is opened if none was given."""
        held = self.sidecar.noted(f"{_CORE} {run}")
        noted = held if isinstance(held, dict) else {}
        if self.core is None and noted:
            self.core = CoreFile(Path(noted["path"]))
        return noted

    def close(self) -> None:
        """Close the notes and the medium."""
        self.sidecar.close()
        self.medium.close()

    def _rows(self) -> Rows:
        document = self.document()
        core = self.core.read() if self.core else None
        if self._indexed is None or self._indexed.document is not document:
            self._indexed = Rows(document, sha=digest(self._data))
        self._indexed.core = base64.b64encode(core).decode() if core is not None else None
        return self._indexed

    @property
    def _data(self) -> bytes:
        return self._held[0] if self._held else b""

    def _save(
        self, document: GraphDocument, lines: Sequence[GraphLine], *, data: bytes | None = None
    ) -> None:
        """Put new lines in the place of the ones that were read, keeping the state before for an undo."""
        before, after = self._data, data if data is not None else document.with_lines(lines).data
        if after == before:
            return
        if digest(before) not in self._ours:
            self.sidecar.keep_image(before)
        if foreign_reason(document.with_lines(lines)) is not None:
            self.sidecar.note(_LEFT, digest(after))
        self.medium.save(before, after)
        self._ours.add(digest(after))

    def _move_broken(self, document: GraphDocument, at: datetime | None) -> None:
        """Put the unreadable lines into the archive, and only then out of the graph.

        Raises:
            RefusedChangeError: If they cannot be archived; then they stay.
        """
        if at is None:
            raise RefusedChangeError("broken lines are moved by a run alone")
        if document.broken:
            raws = {number: line.raw for number, line in document.broken}
            archive_broken(self.archive, raws, at=at)
            self._save(document, [line for line in document.lines if line.kind != "broken"])

    def _update(self, document: GraphDocument, change: Update) -> None:
        if change.id == BROKEN_LINES and change.id not in document.names:
            self._move_broken(document, change.at)
            return
        part = None if change.id in document.names else split_part(change.id)
        try:
            if part is not None and part[1] == RELATIONS:
                wanted = parse_relations_text(change.text)
                self._save(document, with_relations(document, part[0], wanted))
                return
            name, observations = parse_entity_text(change.text)
        except ValueError as error:
            raise RefusedChangeError(f"the new text has no form of a graph: {error}") from None
        places = [
            place
            for place, line in enumerate(document.lines)
            if line.kind == "entity" and line.name == change.id
        ]
        if not places or name != change.id:
            raise RefusedChangeError(f"the new text is not one of {change.id}")
        first = document.lines[places[0]]
        self._promote(first, observations, change.at)
        lines = [line for place, line in enumerate(document.lines) if place not in places[1:]]
        united = with_fields(first, fields_of(document, change.id)) if len(places) > 1 else first
        lines[places[0]] = united.changed(observations=list(observations))
        self._save(document, lines)

    def _promote(self, line: GraphLine, observations: Sequence[str], at: datetime | None) -> None:
        """A memory that is marked as promoted goes into the core memory first."""
        marked = [text for text in observations if text.startswith(PROMOTED_MARK)]
        if not set(marked) - set(line.item["observations"]):
            return
        if self.core is None or at is None:
            raise RefusedChangeError("there is no core memory to promote to; give it with --core")
        self.core.promote(line.name, line.item["entityType"], observations, at=at)

    def _delete(self, document: GraphDocument, change: Delete) -> None:
        memory_id, survivor = change.id, change.into
        part = None if memory_id in document.names else split_part(memory_id)
        if part is not None:
            self._save(document, without_observation(document, *part))
            return
        if memory_id not in document.names:
            return
        if survivor is not None:
            self._check_survivor(document, survivor, parse_entity_text(change.text)[1])
        lines, made = handed_over(document, memory_id, survivor)
        touching = [line.raw for line in document.lines if line.touches(memory_id)]
        if survivor is None:
            self._keep_forgotten(document, change, touching)
        self.sidecar.note_moved(
            memory_id, before=touching, made=made if survivor else (), again=not self.medium.verbatim
        )
        self._save(document, lines)

    def _check_survivor(self, document: GraphDocument, survivor: str, says: Sequence[str]) -> None:
        """The survivor must say all of it in the very state the other one is removed from.

        A server that had loaded the graph before our last change may have written it back since.
        """
        held = {
            text
            for line in document.lines
            if line.kind == "entity" and line.name == survivor
            for text in line.item["observations"]
        }
        if survivor not in document.names or not held.issuperset(says):
            raise RefusedChangeError(
                f"memory {survivor}, which takes its place, does not say all of it any more"
            )

    def _keep_forgotten(self, document: GraphDocument, change: Delete, relations: Sequence[str]) -> None:
        """Put a memory into the archive.

        Raises:
            RefusedChangeError: If the change does not say why it goes, and when.
        """
        if change.at is None or not change.reason:
            raise RefusedChangeError(
                f"memory {change.id} would go without a reason, which the archive has to keep"
            )
        own = [line for line in document.lines if line.name == change.id]
        archive_forgotten(
            self.archive,
            {key: value for key, value in own[0].item.items() if key != "type"},
            raws=[line.raw for line in own],
            relations=relations,
            at=change.at,
            reason=change.reason,
        )

    def _restore(self, document: GraphDocument, snapshot: Snapshot) -> None:
        about = snapshot.links[0]
        image = self.sidecar.image(about["sha"])
        order = [line.raw for line in GraphDocument.parse(image).lines] if image is not None else []
        name = snapshot.payload["name"]
        lines = put_back(document, snapshot, order=order, moved=self.sidecar.moved(name))
        same = image if image is not None and same_lines(lines, order) else None
        self._demote(document, snapshot)
        self._save(document, lines, data=same)

    def _demote(self, document: GraphDocument, snapshot: Snapshot) -> None:
        """A memory that was promoted since leaves the core memory again."""
        if self.core is None or snapshot.payload["kind"] != "entity":
            return
        name = snapshot.payload["name"]
        now = [text for line in document.lines if line.name == name for text in line.item["observations"]]
        before = self.parse(snapshot).metadata["observations"]
        if any(text.startswith(PROMOTED_MARK) for text in set(now) - set(before)):
            core = snapshot.links[0].get("core")
            self.core.demote(name, original=base64.b64decode(core) if core is not None else None)
