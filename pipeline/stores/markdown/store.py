"""Directories of Markdown memories as a store: files and list entries, read whole, changed by spans.

An id is the file's name in its directory, `#` and the entry's own name for an entry. Entries keep
their names while we change their neighbours, because every write of ours is noted in the ledger.
The index MEMORY.md is no memory, but can be fetched and rewritten under its id.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ....errors import RefusedChangeError, StoreError, UsageError
from ....records import Inventory, Memory, Scope
from ..base import Capabilities, Change, Delete, Restore, ScopeFilter, Snapshot, Update
from ..files import digest
from .dating import git_dates
from .directories import INDEX, MemoryDirectory, inside
from .files import FileState, archive, copy_all, read_state, remove, replace, set_times
from .history import changed_files
from .ledger import Ledger, Step, difference
from .parsing import Document, Entry, parse
from .places import has_entry
from .raw_text import edit_lines, encode, split_lines
from .rows import entry_row, file_row, row_memory, whole_row

_FILE_MODE = 0o644
"""Permission bits of a file that did not exist."""
WHOLE = "whole-file"
"""In the place of an entry's name: the file with everything in it, also one that does not exist yet."""


class MarkdownStore:
    """Memories in Markdown files.

    Every change is checked against the bytes that were read last, written to a temporary file and
    renamed into place; what goes is copied to the archive first.
    """

    kind = "md"
    capabilities = Capabilities(in_place=True)

    def __init__(self, directories: Sequence[MemoryDirectory], *, root: Path, state: Path) -> None:
        """Bind the directories.

        Args:
            directories: Where the memories are; nothing outside is ever changed.
            root: The project; it names the store.
            state: Directory of our own state: the ledger and the archive.
        """
        self.directories = tuple(directories)
        self.root = root.resolve()
        # Named by the project alone: a folder that a new agent adds must not hide earlier runs.
        self.fingerprint = f"md-{hashlib.sha256(self.root.as_posix().encode()).hexdigest()[:16]}"
        self.archive = state / "archive" / self.fingerprint
        self._ledger = Ledger(state)
        self._seen: dict[Path, str | None] = {}
        self._parsed: dict[Path, tuple[str, Document]] = {}
        self._commits: dict[Path, dict[Path, datetime]] = {}
        self._dirty: set[Path] = set()

    def read(self, scopes: ScopeFilter) -> Inventory:
        """List every memory of the directories; a file that cannot be read is a gap."""
        memories: list[Memory] = []
        gaps: list[str] = []
        for directory in self.directories:
            if not scopes.matches(scope_of(directory)):
                continue
            index = directory.path / INDEX
            if directory.refusal(index) is None:
                self._look(index)
            for path in [*directory.topics(), *([index] if directory.is_index_alone() else [])]:
                try:
                    memories += [self.parse(item) for item in self._memories(directory, path)]
                except StoreError as error:
                    gaps.append(str(error))
        return Inventory(self.fingerprint, tuple(sorted(memories, key=lambda m: m.id)), tuple(gaps))

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given files and entries afresh; an index that does not exist has an empty text."""
        snapshots = ((memory_id, self._fetch(memory_id)) for memory_id in ids)
        return {memory_id: snapshot for memory_id, snapshot in snapshots if snapshot is not None}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return row_memory(snapshot)

    def find_mark(self, mark: str, scope: Scope) -> str | None:  # noqa: ARG002
        """Nothing is ever added: a merged text goes into one of its sources."""
        return None

    def finds(self, memory_id: str) -> bool:
        """Whether an agent that searches the files for the memory's first line would find it."""
        snapshot = self._fetch(memory_id)
        if snapshot is None:
            return False
        _, path, _ = self.locate(memory_id)
        first = self.parse(snapshot).text.split("\n", 1)[0]
        state = read_state(path)
        return state is not None and encode(first, bom=False) in state.data

    def write(self, change: Change) -> str:
        """Make one change.

        Raises:
            RefusedChangeError: If the file is no longer as it was read, or may not be written.
        """
        if isinstance(change, Update):
            self._update(change.id, change.text)
            return change.id
        if isinstance(change, Delete):
            self._delete(change.id)
            return change.id
        if isinstance(change, Restore):
            self._restore(change.snapshot)
            return change.snapshot.id
        raise RefusedChangeError("a directory of Markdown memories takes no such change")

    def backup(self, folder: Path) -> Sequence[Path]:
        """Put everything in the directories into the archive, as one file with modification times."""
        path = self.archive / "snapshots" / f"{folder.name}.tar"
        copy_all({directory.name: directory.path for directory in self.directories}, path)
        return (path,)

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    def locate(self, memory_id: str) -> tuple[MemoryDirectory, Path, str | None]:
        """Directory, file and entry name of an id.

        Raises:
            UsageError: If it names no directory of this store, or leads out of it.
        """
        name, _, entry = memory_id.partition("#") if has_entry(memory_id) else (memory_id, "", "")
        for directory in sorted(self.directories, key=lambda item: -len(item.name)):
            if name.startswith(directory.name + "/"):
                return directory, inside(directory, name.removeprefix(directory.name + "/")), entry or None
        raise UsageError(f"{memory_id} is in none of the memory directories of this store.")

    def _look(self, path: Path) -> FileState | None:
        state = read_state(path)
        self._seen[path] = state.digest if state else None
        return state

    def _memories(self, directory: MemoryDirectory, path: Path) -> Iterator[Snapshot]:
        state = self._look(path)
        if state is None:
            return
        document, step = self._document(state)
        file_id = f"{directory.name}/{directory.relative(path)}"
        for entry in document.entries:
            yield self._entry(directory, state, step, document, entry)
        if not document.entries and not document.mixed and not document.is_bare:
            row = file_row(state, document, **self._about(directory, state, step))
            if row["text"]:
                yield Snapshot(file_id, row)

    def _fetch(self, memory_id: str) -> Snapshot | None:
        directory, path, name = self.locate(memory_id)
        if not directory.path.is_dir():
            raise StoreError(f"The memory directory {directory.name} is gone; nothing was changed.")
        state = read_state(path)
        if _is_whole(directory, path, name):
            return Snapshot(memory_id, whole_row(state, directory=directory.name, name=path.name))
        if state is None:
            return None
        document, step = self._document(state)
        if name is None:
            return Snapshot(memory_id, file_row(state, document, **self._about(directory, state, step)))
        entry = next((item for item in document.entries if item.id == name), None)
        return self._entry(directory, state, step, document, entry) if entry else None

    def _entry(
        self,
        directory: MemoryDirectory,
        state: FileState,
        step: Step | None,
        document: Document,
        entry: Entry,
    ) -> Snapshot:
        row = entry_row(state, document, entry, **self._about(directory, state, step))
        return Snapshot(f"{directory.name}/{directory.relative(state.path)}#{entry.id}", row)

    def _document(self, state: FileState) -> tuple[Document, Step | None]:
        step = self._ledger.find(str(state.path), state.digest)
        held = self._parsed.get(state.path)
        if held is None or held[0] != state.digest:
            held = (state.digest, self._parse(state.path, state.data, step))
            self._parsed[state.path] = held
        return held[1], step

    def _parse(self, path: Path, data: bytes, step: Step | None) -> Document:
        """A file of memories; of an index the bullets are, if there is nothing else."""
        index = any(path == directory.path / INDEX for directory in self.directories)
        return parse(data, ids=step.ids if step else None, mixed=index)

    def _about(self, directory: MemoryDirectory, state: FileState, step: Step | None) -> dict[str, Any]:
        if directory.path not in self._commits:
            self._commits[directory.path] = git_dates(directory.path)
            self._dirty |= changed_files(directory.path)
        return {
            "directory": directory.name,
            "committed": self._commits[directory.path].get(state.path),
            "dirty": step is None and state.path in self._dirty,
            "dated_ns": step.dated_ns if step else state.mtime_ns,
        }

    def _current(self, path: Path) -> FileState | None:
        """The file as it is, if it was not changed since it was listed."""
        if path.is_symlink():
            raise RefusedChangeError(f"the file {path.name} is a link; it is read and never changed")
        state = read_state(path)
        if path in self._seen and self._seen[path] != (state.digest if state else None):
            raise RefusedChangeError(f"the file {path.name} changed since the plan was made")
        return state

    def _update(self, memory_id: str, text: str) -> None:
        directory, path, name = self.locate(memory_id)
        state = self._current(path)
        if _is_whole(directory, path, name):
            self._put(memory_id, path, state, _whole_bytes(state, text), ids=None)
            return
        if state is None:
            raise RefusedChangeError(f"the file {path.name} is gone")
        document, _ = self._document(state)
        if not document.faithful:
            raise RefusedChangeError(f"the file {path.name} holds bytes that could not be kept")
        if name is None:
            span = document.source[document.start : document.end]
            new = edit_lines(split_lines(span), text, newline=document.newline)
            data = document.replaced(document.start, document.end, new)
            kept = parse(data)
            if kept.body != text:
                raise RefusedChangeError(f"the new text does not fit into {path.name}")
            ids = None if not document.entries else tuple(entry.id for entry in kept.entries)
        else:
            data, ids = _entry_updated(document, name, text, path)
        self._put(memory_id, path, state, data, ids=ids)

    def _delete(self, memory_id: str) -> None:
        directory, path, name = self.locate(memory_id)
        state = self._current(path)
        if state is None or _is_whole(directory, path, name):
            raise RefusedChangeError(f"the file {path.name} is gone, or is the index")
        if name is None:
            archive(self.archive, memory_id, state.data, mtime_ns=state.mtime_ns)
            remove(state)
            self._seen[path] = None
            return
        document, _ = self._document(state)
        entry = _entry_named(document, name, path)
        kept = tuple(item.id for item in document.entries if item.id != name)
        archive(self.archive, memory_id, entry.text.encode(), mtime_ns=state.mtime_ns)
        last = len(entry.lines) - 1
        end = entry.end + len(entry.lines[last].ending)
        data = document.replaced(entry.start, end, "")
        if len(parse(data, ids=kept, mixed=document.mixed).entries) != len(kept):
            raise RefusedChangeError(f"{path.name} would fall apart without this entry")
        self._put(memory_id, path, state, data, ids=kept)

    def _put(
        self, memory_id: str, path: Path, state: FileState | None, data: bytes, *, ids: tuple[str, ...] | None
    ) -> None:
        """Write a file, and note the step back before it."""
        before = state.data if state else b""
        offset, written, old = difference(before, data)
        step = self._ledger.find(str(path), state.digest) if state else None
        mtime = state.mtime_ns if state else 0
        self._ledger.note(
            Step(
                path=str(path),
                after=digest(data),
                before=digest(before),
                memory=memory_id,
                offset=offset,
                written=written,
                old=old,
                mtime_ns=mtime,
                mode=state.mode if state else _FILE_MODE,
                dated_ns=step.dated_ns if step else mtime,
                ids=ids,
            )
        )
        replace(path, data, before=state, mode=state.mode if state else _FILE_MODE)
        self._seen[path] = digest(data)

    def _restore(self, snapshot: Snapshot) -> None:
        row = snapshot.payload
        _, path, name = self.locate(snapshot.id)
        if path.is_symlink():
            raise RefusedChangeError(f"the file {path.name} is a link; it is read and never changed")
        state = read_state(path)
        if name in (None, WHOLE):
            self._restore_file(path, state, row)
        elif state is None:
            raise RefusedChangeError(f"the file {path.name} of this entry is gone")
        else:
            self._restore_entry(snapshot, str(name), state)
        self._look(path)

    def _restore_file(self, path: Path, state: FileState | None, row: Mapping[str, Any]) -> None:
        data = base64.b64decode(row["bytes"]) if row["bytes"] is not None else None
        if state is not None and state.data != data and self._ledger.find(str(path), state.digest) is None:
            raise RefusedChangeError(f"the file {path.name} was changed since the run")
        if data is None:
            if state is not None:
                remove(state)
        elif state is not None and state.data == data:
            set_times(path, mtime_ns=row["mtime_ns"], mode=row["mode"])
        else:
            replace(path, data, before=state, mode=row["mode"], mtime_ns=row["mtime_ns"])

    def _restore_entry(self, snapshot: Snapshot, name: str, state: FileState) -> None:
        """Take our last step back if it was about this entry; else put the entry where it belongs."""
        memory_id, row = snapshot.id, snapshot.payload
        document, step = self._document(state)
        if step is not None and step.memory == memory_id:
            data = step.undone(state.data)
            if digest(data) == step.before and self._holds(state.path, data, name, row["text"]):
                replace(state.path, data, before=state, mode=step.mode, mtime_ns=step.mtime_ns)
                return
        data, ids = _entry_put_back(document, name, row)
        self._put(memory_id, state.path, state, data, ids=ids)
        if digest(data) == row["sha"]:
            set_times(state.path, mtime_ns=row["mtime_ns"], mode=row["mode"])

    def _holds(self, path: Path, data: bytes, name: str, text: str) -> bool:
        earlier = self._ledger.find(str(path), digest(data))
        entries = self._parse(path, data, earlier).entries
        return any(entry.id == name and entry.text == text for entry in entries)


def scope_of(directory: MemoryDirectory) -> Scope:
    """The scope of a directory's memories: nothing is compared across directories."""
    return Scope.of(directory=directory.name)


def _is_whole(directory: MemoryDirectory, path: Path, name: str | None) -> bool:
    return name == WHOLE or (name is None and path == directory.path / INDEX)


def _entry_named(document: Document, name: str, path: Path) -> Entry:
    named = next((entry for entry in document.entries if entry.id == name), None)
    if named is None:
        raise RefusedChangeError(f"the entry is gone from {path.name}")
    if not document.faithful:
        raise RefusedChangeError(f"the file {path.name} holds bytes that could not be kept")
    return named


def _entry_updated(document: Document, name: str, text: str, path: Path) -> tuple[bytes, tuple[str, ...]]:
    entry = _entry_named(document, name, path)
    indent = " " * len(entry.bullet)

    def render(number: int, content: str) -> str:
        """A new line as it stands in the file: behind the bullet, or indented under it."""
        return entry.bullet + content if number == 0 else (indent + content if content else "")

    new = edit_lines(entry.lines, text, newline=document.newline, render=render)
    data = document.replaced(entry.start, entry.end, new)
    ids = tuple(item.id for item in document.entries)
    kept = [item.text for item in parse(data, ids=ids, mixed=document.mixed).entries]
    if kept != [text if item.id == name else item.text for item in document.entries]:
        raise RefusedChangeError(f"the new text does not fit into the list of {path.name}")
    return data, ids


def _entry_put_back(document: Document, name: str, row: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """The file with the entry as it was: in its own place, or behind the neighbour it followed."""
    ids = [entry.id for entry in document.entries]
    raw = str(row["raw"])
    if name in ids:
        entry = document.entries[ids.index(name)]
        return document.replaced(entry.start, entry.end, raw), tuple(ids)
    earlier = [other for other in row["before"] if other in ids]
    if earlier:
        place = ids.index(earlier[-1])
        end = document.entries[place].end
        return document.replaced(end, end, document.newline + raw), (
            *ids[: place + 1], name, *ids[place + 1 :],
        )  # fmt: skip
    if ids:
        start = document.entries[0].start
        return document.replaced(start, start, raw + document.newline), (name, *ids)
    end = document.end
    return document.replaced(end, end, document.newline * 2 + raw), (name,)


def _whole_bytes(state: FileState | None, text: str) -> bytes:
    document = parse(state.data if state else b"")
    if not document.faithful:
        raise RefusedChangeError("the file holds bytes that could not be kept")
    new = edit_lines(split_lines(document.source), text, newline=document.newline)
    return encode(new, bom=document.bom)
