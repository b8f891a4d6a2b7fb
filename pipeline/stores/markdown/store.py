"""Directories of Markdown memories as a store: files and list entries, read whole, changed by spans.

An id is the file's name in its directory; behind a `#` stands the name of an entry, or "whole-file" for all
that is in the file. Entries keep their names while we change their neighbours, because they are noted
with every write of ours.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from ....errors import RefusedChangeError, StoreError, UsageError
from ....models.text.tables import expression
from ....records import Memory, Scope, as_utc, noted_moment, says_pinned
from ..base import Capabilities, Delete, Restore, ScopeFilter, Snapshot, Store, Update
from ..files import digest
from ..files.undo import FileHistory, Image, keep_copy, keep_folders, read_image
from .directories import INDEX, MemoryDirectory, unreadable
from .document import INDEX_CATEGORY, WHOLE, Document, Entry, decode, encode, parse, plain, split_id
from .project import latest_commits
from .repository import committed, is_committed

_PROTECTED = expression("markdown", "protected")
_CREATED = ("created", "created_at", "date")
_UPDATED = ("updated", "updated_at", "last_updated", "modified", "last_modified")
_DATE_LENGTH = len("2026-11-21")
_NAMED_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    directory: str  # name of its directory
    image: Image
    document: Document
    committed: datetime | None  # its latest commit
    dirty: bool  # whether somebody changed it since
    dated_ns: int  # modification time of the last write that was not ours: the age of what it says

    def row(self, entry: Entry | None) -> dict[str, Any]:
        """The record of a file that is one memory, or of one entry."""
        document = self.document
        said = (document.frontmatter, document.frontmatter.get("metadata"))
        values = [each for each in said if isinstance(each, Mapping)]
        created, updated = _dates(values, _CREATED), _dates(values, _UPDATED)
        file = datetime.fromtimestamp(self.dated_ns / 1e9, UTC)
        latest = (*updated, *created, self.committed or file)[0]
        name, described, kind = (_line(document.value(key)) for key in ("name", "description", "type"))
        text = entry.text if entry else document.body or described or name
        stated = _moment_of(text.lstrip("([")[:_DATE_LENGTH]) if entry else None
        told = {day.date().isoformat() for day in (*created, *updated)}
        days = {*_NAMED_DAY.findall(self.path.stem)} or told
        texts = ((k, v) for item in reversed(values) for k, v in item.items() if isinstance(v, str))
        flags = (document.value(key) for key in ("pinned", "critical", "protected"))
        marked = any(flag in (True, "true", "yes") for flag in flags)
        marked = marked or any(says_pinned(each) or _PROTECTED.match(each) for each in (text, described))
        # What could not be written back faithfully is protected like a pinned memory.
        fixed = not document.faithful or self.path.is_symlink() or not self.image.mode & 0o222
        return {
            "text": text,
            "category": " / ".join(filter(None, (kind.casefold(), entry.heading if entry else ""))) or None,
            "metadata": {
                **{str(key): _line(value) for key, value in texts},
                "name": name,
                "description": described,
                "frontmatter": bool(document.frontmatter),
                **({"heading": entry.heading} if entry else {}),
                **({"title": document.title} if entry and document.title else {}),
                "line": plain(document.source[: entry.start if entry else document.start]).count("\n") + 1,
                # The latest moment it may have been written, and the one day that frontmatter or name gives.
                "written": max([*created, *updated, (not self.dirty and self.committed) or file]).isoformat(),
                "day": next(iter(days)) if len(days) == 1 else "",
            },
            "created_at": (stated or (*created, latest)[0]).isoformat(),
            "updated_at": (stated or latest).isoformat(),
            "pinned": marked or fixed,
            "directory": self.directory,
            "sha": self.image.digest,
        }


class MarkdownStore(Store):
    """Memories in Markdown files; what goes is archived first, and nothing beside them is ever changed."""

    kind = "md"
    called = "a directory of Markdown memories"
    capabilities = Capabilities(in_place=True)
    keeps_history = True

    def __init__(self, directories: Sequence[MemoryDirectory], *, root: Path, state: Path) -> None:
        self.directories = tuple(directories)
        self.root = root.resolve()
        # Named by the project alone: a folder that a new agent adds must not hide earlier runs.
        self.fingerprint = f"md-{digest(self.root.as_posix().encode())[:16]}"
        self._state = state.resolve()
        self.archive = state / "archive" / self.fingerprint
        self._history = FileHistory(state)
        self._seen: dict[Path, str | None] = {}
        self._parsed: dict[Path, tuple[str, Document]] = {}
        self._commits: dict[Path, dict[Path, datetime]] = {}
        self._names: dict[Path, str] = {}  # of the contents that the latest commit has

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        memories: list[Memory] = []
        gaps: list[str] = []
        for directory in self.directories:
            if not scopes.matches(Scope.of(directory=directory.name)):
                continue
            index = directory.path / INDEX
            if directory.refusal(index) is None:
                self._look(index)
            for path in [*directory.topics(), *([index] if directory.is_index_alone() else [])]:
                try:
                    memories += [self.parse(item) for item in self._memories(directory, path)]
                except StoreError as error:
                    gaps.append(str(error))
        return memories, gaps

    def indexes(self) -> dict[str, str]:
        """Present text of each index that may be written, by its directory."""
        texts: dict[str, str] = {}
        for directory in self.directories:
            path = directory.path / INDEX
            with contextlib.suppress(RefusedChangeError):
                state = _read(path)
                if not path.is_symlink() and (state is None or state.mode & 0o222):
                    texts[directory.name] = plain(decode(state.data)) if state else ""
        return texts

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given files and entries afresh; a whole file that does not exist has an empty text."""
        return {snapshot.id: snapshot for snapshot in map(self._fetch, ids) if snapshot is not None}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        row = {key: value for key, value in snapshot.payload.items() if key not in ("directory", "sha")}
        row |= {name: _moment_of(row[name]) for name in ("created_at", "updated_at")}
        return Memory(id=snapshot.id, scope=Scope.of(directory=snapshot.payload["directory"]), **row)

    def finds(self, memory_id: str) -> bool:
        """Whether an agent that searches the files for the memory's first line would find it."""
        snapshot, state = self._fetch(memory_id), _read(self._place(memory_id)[1])
        if snapshot is None or state is None:
            return False
        return encode(snapshot.payload["text"].split("\n", 1)[0], bom=False) in state.data

    def backup(self, folder: Path) -> Sequence[Path]:
        """Put everything in the directories into the archive, as one file with modification times."""
        path = self.archive / "snapshots" / f"{folder.name}.tar"
        folders = {directory.name: directory.path for directory in self.directories}
        keep_folders(folders, path, without=self._state)
        return (path,)

    def tidy(self) -> Sequence[str]:
        """Remove the hidden copies of a killed run."""
        folders = {Path(folder) for each in self.directories for folder, *_ in os.walk(each.path)}
        return [line for folder in sorted(folders) for line in self._history.tidy(folder)]

    def close(self) -> None:
        """Close the record of our writes."""
        self._history.close()

    def _place(self, memory_id: str) -> tuple[MemoryDirectory, Path, str]:
        file, part = split_id(memory_id)
        for directory in sorted(self.directories, key=lambda item: -len(item.name)):
            if file.startswith(directory.name + "/"):
                own = file.removeprefix(directory.name + "/")
                name = PurePosixPath(own)
                path = directory.path.joinpath(*name.parts)
                leads_in = name.parts and path.parent.resolve().is_relative_to(directory.path)
                if ".." in name.parts or name.is_absolute() or not leads_in:
                    out = f"{own!r} leads out of the memory directory {directory.name}"
                    raise UsageError(f"{out}; nothing is done there.")
                return directory, path, part
        raise UsageError(f"{memory_id} is in none of the memory directories of this store.")

    def _look(self, path: Path) -> Image | None:
        state = _read(path)
        self._seen[path] = state.digest if state else None
        return state

    def _memories(self, directory: MemoryDirectory, path: Path) -> Iterator[Snapshot]:
        state = self._look(path)
        if state is None:
            return
        file = self._file(directory, path, state)
        document, name = file.document, f"{directory.name}/{directory.relative(path)}"
        for entry in document.entries:
            yield Snapshot(f"{name}#{entry.id}", file.row(entry))
        whole = Snapshot(name, file.row(None))
        if whole.payload["text"] and not (document.entries or document.mixed or document.is_bare):
            yield whole

    def _fetch(self, memory_id: str) -> Snapshot | None:
        directory, path, part = self._place(memory_id)
        if not directory.path.is_dir():
            raise StoreError(f"The memory directory {directory.name} is gone; nothing was changed.")
        state = _read(path)
        if part == WHOLE:
            text, sha = (plain(decode(state.data)), state.digest) if state else ("", "")
            row: dict[str, Any] = {"text": text, "category": INDEX_CATEGORY, "metadata": {"name": path.name}}
            row |= {"created_at": None, "updated_at": None, "pinned": False, "directory": directory.name}
            return Snapshot(memory_id, row | {"sha": sha})
        if state is None:
            return None
        file = self._file(directory, path, state)
        entry = file.document.entry(part) if part else None
        return None if part and entry is None else Snapshot(memory_id, file.row(entry))

    def _file(self, directory: MemoryDirectory, path: Path, state: Image) -> _File:
        note = self._history.noted(str(path), state.digest)
        if path not in self._parsed or self._parsed[path][0] != state.digest:
            ids, mixed = note["ids"] if note else None, path == directory.path / INDEX
            self._parsed[path] = state.digest, parse(state.data, ids=ids, mixed=mixed)
        if directory.path not in self._commits:
            self._commits[directory.path] = latest_commits(directory.path)
            self._names |= committed(directory.path)
        moment = self._commits[directory.path].get(path)
        dirty = note is None and not is_committed(state.data, self._names.get(path))
        dated = note["dated_ns"] if note else state.mtime_ns
        return _File(path, directory.name, state, self._parsed[path][1], moment, dirty, dated)

    def _update(self, change: Update | Delete) -> str:
        memory_id, text = change.id, change.text if isinstance(change, Update) else None
        directory, path, part = self._place(memory_id)
        state, data, ids = _read(path, to_change=True), None, None
        if path in self._seen and self._seen[path] != (state.digest if state else None):
            raise RefusedChangeError(f"the file {path.name} changed since the plan was made")
        if part == WHOLE and text is not None:
            data = _faithful(parse(state.data if state else b""), path).with_whole(text)
        elif state is None or part == WHOLE:
            raise RefusedChangeError(f"the file {path.name} is gone" + ", or is the index" * (text is None))
        elif not part and text is None:
            keep_copy(self.archive, memory_id, state.data, mtime_ns=state.mtime_ns)
        else:
            document = _faithful(self._file(directory, path, state).document, path)
            entry = document.entry(part) if part else None
            if part and entry is None:
                raise RefusedChangeError(f"the entry is gone from {path.name}")
            if entry and text is None:
                keep_copy(self.archive, memory_id, entry.text.encode(), mtime_ns=state.mtime_ns)
            data = document.with_entry(entry, text) if entry else document.with_body(str(text))
            if data is None:
                broken = "the list of {} would fall apart" if entry else "the new text does not fit into {}"
                raise RefusedChangeError(broken.format(path.name))
            left = [each.id for each in document.entries if text is not None or each is not entry]
            ids = left if entry else None
        note = self._note(path, state) | {"ids": ids}
        self._history.write(path, data, before=state, key=memory_id, note=note)
        self._seen[path] = digest(data) if data is not None else None
        return memory_id

    _delete = _update

    def _note(self, path: Path, state: Image | None) -> dict[str, Any]:
        """What was noted about a file, for what comes of it: our own writes make no memory younger."""
        noted = self._history.noted(str(path), state.digest) if state else None
        return noted or {"ids": None, "dated_ns": state.mtime_ns if state else 0}

    def _restore(self, change: Restore) -> str:
        """Take back our last change of a memory; what we did to others, and what somebody wrote, stays."""
        snapshot = change.snapshot
        path = self._place(snapshot.id)[1]
        note = self._note(path, _read(path, to_change=True)) | {"ids": None}
        if self._history.last(str(path), snapshot.id) is not None:
            self._history.take_back(path, snapshot.id, note=note)
        elif (now := self._fetch(snapshot.id)) is None or now.payload["text"] != snapshot.payload["text"]:
            raise RefusedChangeError(f"no change of {path.name} is on record")
        self._look(path)
        return snapshot.id


def _read(path: Path, *, to_change: bool = False) -> Image | None:
    linked = "is a link; it is read and never changed" if to_change and path.is_symlink() else None
    if reason := linked or unreadable(path):  # first of all: opening a pipe would wait for ever
        raise RefusedChangeError(f"the file {path.name} {reason}")
    return read_image(path)


def _faithful(document: Document, path: Path) -> Document:
    if not document.faithful:
        raise RefusedChangeError(f"the file {path.name} holds bytes that could not be kept")
    return document


def _moment_of(value: object) -> datetime | None:
    """Read what YAML or a person wrote as a date; a mere day is its midnight in UTC."""
    if isinstance(value, datetime):
        return as_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return noted_moment(value.strip()) if isinstance(value, str) else None


def _dates(values: Sequence[Mapping[str, Any]], names: tuple[str, ...]) -> list[datetime]:
    return [day for item in values for name in names if (day := _moment_of(item.get(name))) is not None]


def _line(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""
