"""The one undo of files: every write of ours is noted before it is made, and can be taken back on its own.

A step is a file before and after one write: bytes, permission bits, modification time. Taking it back puts
the file back to the letter where nothing was written since. Where something was, by us or by anybody, it is
a merge of three by lines: what the step changed turns back, everything else stays, and where both changed
the same lines nothing is done. Each step carries a note of the caller's, found again by the bytes it led to.
What goes for good in the eyes of its owner is kept in an archive first, read back, and only then may it go.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ....errors import RefusedChangeError, StoreError
from ....models.text.reading import from_json
from . import Database, digest, make_private, reading
from .exchange import leftovers, refusing, remove_file, replace_file, write_flushed

_NEW_FILE = 0o644
_IN_MEMORY = 64  # states of files that are held besides being kept

Note = Mapping[str, Any]
Lines = Sequence[bytes]
Resolve = Callable[[Lines, Lines, Lines], Lines | None]  # settles (base, ours, theirs), None where it cannot


@dataclass(frozen=True, slots=True)
class Image:
    """A file as it stands: bytes, permission bits, modification time in nanoseconds."""

    data: bytes
    mode: int = _NEW_FILE
    mtime_ns: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes."""
        return digest(self.data)


@dataclass(frozen=True, slots=True)
class Step:
    """One write of ours; None stands for no file."""

    number: int
    before: Image | None
    after: bytes | None
    note: Note


def read_image(path: Path) -> Image | None:
    """Read a file; None if there is none, `RefusedChangeError` if it cannot be read."""
    with refusing(path, "read"), contextlib.suppress(FileNotFoundError):
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):  # opening a pipe would wait for ever
            raise RefusedChangeError(f"the file {path.name} is no regular file")
        return Image(path.read_bytes(), about.st_mode & 0o7777, about.st_mtime_ns)
    return None


class FileHistory(Database):
    """All steps of ours on this machine."""

    schema = """
    CREATE TABLE IF NOT EXISTS images (digest TEXT PRIMARY KEY, base TEXT NOT NULL, data BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS steps (
        number INTEGER PRIMARY KEY, file TEXT NOT NULL, key TEXT NOT NULL, before TEXT, mode INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, after TEXT, note TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX IF NOT EXISTS steps_by_key ON steps (file, key);
    CREATE INDEX IF NOT EXISTS steps_by_after ON steps (file, after);
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._known: dict[str, bytes] = {}

    def write(
        self, path: Path, data: bytes | None, *, before: Image | None, key: str, note: Note | None = None
    ) -> None:
        """Note a step and take it: give a file other bytes, create it, or remove it (None).

        `before` is the file as it was when the change was worked out, `key` what the step is taken back by,
        and `note` what `noted` gives for these bytes from now on. `RefusedChangeError` if the file moved.
        """
        self.note(str(path), before, data, key=key, note=note)
        _put(path, before, data, mode=before.mode if before else _NEW_FILE)

    def take_back(self, path: Path, key: str, *, note: Note | None = None) -> None:
        """Take the newest step of a key back that still stands; `note` is that of bytes that come of a merge.

        `RefusedChangeError` if there is none, or what it wrote was changed since.
        """
        step, now = self.last(str(path), key), read_image(path)
        if step is None:
            raise RefusedChangeError(f"no change of {path.name} is on record")
        data = self.without(str(path), step, now.data if now else None)
        # As somebody else left it with these very bytes, so that its times come back, too.
        left = self._newest("mode, mtime_ns", "before = ?", str(path), digest(data or b""))
        was = Image(data, *left) if data is not None and left else None
        if data is not None and now is not None and now.data == data:
            with refusing(path):
                image = was or now
                path.chmod(image.mode)
                os.utime(path, ns=(image.mtime_ns, image.mtime_ns))
        elif data is not None or now is not None:
            if was is None and data is not None:
                self.note(str(path), now, data, key="", note=note)
            image = was or now or Image(b"")
            _put(path, now, data, mode=image.mode, mtime_ns=was.mtime_ns if was else None)
        self.taken_back(step)

    def note(
        self, file: str, before: Image | None, after: bytes | None, *, key: str, note: Note | None = None
    ) -> None:
        """Note a step that the caller takes itself, before it does; `file` is any name of its own."""
        with self.transaction():
            was = self._keep(before.data, base=None) if before else None
            now = self._keep(after, base=before.data if before else None) if after is not None else None
            mode, mtime = (before.mode, before.mtime_ns) if before else (0, 0)
            self.tell(
                "INSERT INTO steps (file, key, before, mode, mtime_ns, after, note) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (file, key, was, mode, mtime, now, json.dumps(note or {})),
            )

    @reading
    def noted(self, file: str, digest_: str) -> dict[str, Any] | None:
        """The note of the last step that gave a file the bytes of this hash, if one did."""
        found = self._newest("note", "after = ?", file, digest_)
        return dict(json.loads(found[0])) if found else None

    def keys(self, file: str, begin: str) -> list[str]:
        """The keys that begin so of all steps of a file that were not taken back, the oldest step first."""
        rows = "SELECT key FROM steps WHERE file = ? AND instr(key, ?) = 1 AND undone = 0 ORDER BY number"
        return [key for (key,) in self.ask(rows, (file, begin))]

    @reading
    def last(self, file: str, key: str) -> Step | None:
        """The newest step of a key that was not taken back."""
        columns = "number, before, mode, mtime_ns, after, note"
        if (found := self._newest(columns, "key = ? AND undone = 0", file, key)) is None:
            return None
        number, before, mode, mtime, after, note = found
        image = Image(self._bytes(before), mode, mtime) if before else None
        return Step(number, image, self._bytes(after) if after else None, json.loads(note))

    def without(
        self, file: str, step: Step, now: bytes | None, *, resolve: Resolve | None = None
    ) -> bytes | None:
        """A file without what a step did to it, None for no file; refused if the same lines changed since."""
        before = step.before.data if step.before else None
        if now in (before, step.after):
            return before
        name = Path(file).name
        if now is None or before is None or step.after is None:
            raise RefusedChangeError(f"the file {name} was {'removed' if now is None else 'changed'} since")
        after, ours, theirs, first = (
            data.split(b"\n") for data in (step.after, before, now, self._first(file, step))
        )
        if (lines := merge_lines(after, ours, theirs, order=first, resolve=resolve)) is None:
            raise RefusedChangeError(f"the file {name} was changed since, in the same place")
        return b"\n".join(lines)

    def tidy(self, folder: Path, name: str = "*") -> list[str]:
        """Remove what killed runs left beside the files of a folder; sentences about what must stay.

        It holds what was to be written, or what was replaced: both are noted here. What is neither may be
        the only copy of what another program wrote at that very moment.
        """
        told = []
        for path, file in leftovers(folder, name):
            with contextlib.suppress(OSError):
                if self.ask("SELECT 1 FROM images WHERE digest = ?", (digest(path.read_bytes()),)):
                    path.unlink()
                else:
                    told.append(
                        f"{path} holds what another program wrote into {file.name} while a run was killed; "
                        "compare the two, then remove it."
                    )
        return told

    def taken_back(self, step: Step) -> None:
        """Note that a step was taken back."""
        self.tell("UPDATE steps SET undone = 1 WHERE number = ?", (step.number,))

    def _first(self, file: str, step: Step) -> bytes:
        """The file before the oldest of the steps that led to this one: the order its lines had."""
        data, number = step.before.data if step.before else b"", step.number
        earlier = "after = ? AND number < ? AND before IS NOT NULL"
        while found := self._newest("number, before", earlier, file, digest(data), number):
            number, data = found[0], self._bytes(found[1])
        return data

    def _newest(self, columns: str, where: str, *values: object) -> tuple[Any, ...] | None:
        """Of the newest step of a file that is so."""
        statement = f"SELECT {columns} FROM steps WHERE file = ? AND {where} ORDER BY number DESC LIMIT 1"
        return next(iter(self.ask(statement, values)), None)

    def _keep(self, data: bytes, *, base: bytes | None) -> str:
        """Keep a made state as its difference to the one before, a found one whole: chains end with a run."""
        name = digest(data)
        if name not in self._known:
            limit = 0 if base is None else min(len(base), len(data))
            start = _common(base or b"", data, limit)
            end = _common((base or b"")[::-1], data[::-1], limit - start)
            middle = zlib.compress(data[start : len(data) - end])
            packed = start.to_bytes(8, "big") + end.to_bytes(8, "big") + middle
            way = "REPLACE" if base is None else "IGNORE"
            of = "" if base is None else digest(base)
            self.tell(f"INSERT OR {way} INTO images VALUES (?, ?, ?)", (name, of, packed))
            self._remember(name, data)
        return name

    def _remember(self, name: str, data: bytes) -> None:
        self._known[name] = data
        while len(self._known) > _IN_MEMORY:
            del self._known[next(iter(self._known))]

    @reading
    def _bytes(self, name: str) -> bytes:
        chain: list[tuple[str, bytes]] = []
        while name and name not in self._known:
            base, packed = self.ask("SELECT base, data FROM images WHERE digest = ?", (name,))[0]
            chain.append((name, packed))
            name = base
        data = self._known[name] if name else b""
        for each, packed in reversed(chain):
            start, end = int.from_bytes(packed[:8], "big"), int.from_bytes(packed[8:16], "big")
            data = data[:start] + zlib.decompress(packed[16:]) + data[len(data) - end :]
            self._remember(each, data)
        return data


def merge_lines(
    base: Lines, ours: Lines, theirs: Lines, *, order: Lines = (), resolve: Resolve | None = None
) -> list[bytes] | None:
    """What comes of two changes of the same lines; None where both changed the same ones.

    Lines that both put into one place stand in the order that `order` gives, else ours first.
    """
    edits = sorted([*_edits(base, ours, 0), *_edits(base, theirs, 1)], key=lambda e: (e[0], e[1], e[3]))
    merged: list[bytes] = []
    at = 0
    while edits:
        start, end = edits[0][:2]
        group = [edits.pop(0)]
        # Overlapping edits, and insertions into one and the same place.
        while edits and (edits[0][0] < end or edits[0][1] == start == end):
            group.append(edits.pop(0))
            end = max(end, group[-1][1])
        sides = [[edit for edit in group if edit[3] == side] for side in (0, 1)]
        mine, yours = (_side(base, start, end, side) for side in sides)
        if not all(sides) or mine == yours:
            settled: Lines | None = mine if sides[0] else yours
        elif start == end:
            settled = [*yours, *mine] if _stood_before(yours, mine, order) else [*mine, *yours]
        elif all(first == last for first, last, *_ in sides[0]):
            settled = [*yours, *(line for edit in sides[0] for line in edit[2])]
        elif all(first == last for first, last, *_ in sides[1]):
            settled = [*mine, *(line for edit in sides[1] for line in edit[2])]
        elif not any(edit[2] for edit in group):
            gone = {place for edit in group for place in range(edit[0], edit[1])}
            settled = [base[place] for place in range(start, end) if place not in gone]
        else:
            settled = resolve(base[start:end], mine, yours) if resolve else None
        if settled is None:
            return None
        merged += [*base[at:start], *settled]
        at = end
    return [*merged, *base[at:]]


_Edit = tuple[int, int, Lines, int]  # lines from and to, what takes their place, and whose edit it is


def _edits(base: Lines, new: Lines, side: int) -> list[_Edit]:
    """What one side changed; as many lines in place of as many others are changed each on its own."""
    edits: list[_Edit] = []
    for tag, i, j, k, m in SequenceMatcher(None, base, new, autojunk=False).get_opcodes():
        if tag == "replace" and j - i == m - k:
            edits += [(i + n, i + n + 1, new[k + n : k + n + 1], side) for n in range(j - i)]
        elif tag != "equal":
            edits.append((i, j, new[k:m], side))
    return edits


def _side(base: Lines, start: int, end: int, edits: Sequence[_Edit]) -> list[bytes]:
    lines: list[bytes] = []
    for first, last, new, _ in edits:
        lines += [*base[start:first], *new]
        start = last
    return [*lines, *base[start:end]]


def _stood_before(one: Lines, other: Lines, order: Lines) -> bool:
    places = [next((order.index(line) for line in lines if line in order), None) for lines in (one, other)]
    return None not in places and places[0] < places[1]  # type: ignore[operator]


def _common(a: bytes, b: bytes, limit: int) -> int:
    """Length of the common beginning, up to a limit that both have."""
    one, other = (np.frombuffer(data[:limit], np.uint8) for data in (a, b))
    return int(next(iter(np.flatnonzero(one != other)), limit))


def _put(
    path: Path, before: Image | None, data: bytes | None, *, mode: int, mtime_ns: int | None = None
) -> None:
    if data is not None:
        replace_file(path, data, before=before.data if before else None, mode=mode, mtime_ns=mtime_ns)
    elif before is not None:
        remove_file(path, before=before.data)


def keep_copy(folder: Path, name: str, data: bytes, *, mtime_ns: int) -> None:
    """Keep what is about to go as a file, its id as the path; if that is refused, nothing may go."""
    relative = PurePosixPath(name.lstrip("/").replace("..", "__"))
    stem = f"{relative.stem}.{digest(data)[:8]}{relative.suffix or '.md'}"
    path = folder.joinpath(*relative.parent.parts, stem)
    with refusing(path, "written", "archive"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(path)
        write_flushed(path, data)
        os.utime(path, ns=(mtime_ns, mtime_ns))
        if path.read_bytes() != data:
            raise RefusedChangeError(f"the archived copy {path.name} does not read back")


def keep_entry(path: Path, entry: Mapping[str, Any], *, same: Sequence[str]) -> None:
    """Keep what is about to go as one more object in a JSON list that a person can read.

    An entry that a killed run has kept is known again by the fields `same`, so that it is kept once. If it
    cannot be kept (`RefusedChangeError`), nothing may go.
    """
    with refusing(path, "read", "archive"):
        before = path.read_bytes() if path.exists() else None
    entries = kept_entries(path) if before is not None else []
    if entries and all(entries[-1].get(field) == entry[field] for field in same):
        return
    data = json.dumps([*entries, entry], ensure_ascii=True, indent=1) + "\n"
    replace_file(path, data.encode(), before=before)
    if kept_entries(path)[-1] != json.loads(json.dumps(entry)):
        raise RefusedChangeError(f"the archive {path.name} does not read back")


def kept_entries(path: Path) -> list[dict[str, Any]]:
    """All objects of such a list, oldest first; `RefusedChangeError` if it is damaged."""
    away = "move it away to begin a new one"
    try:
        entries = from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RefusedChangeError(f"the archive {path.name} cannot be read; {away}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RefusedChangeError(f"the archive {path.name} is no list of memories; {away}")
    return [dict(entry) for entry in entries]


def keep_folders(folders: Mapping[str, Path], path: Path, *, without: Path) -> None:
    """Put folders into one tar file with modification times, under their names; else `StoreError`.

    Our own state, `without`, may lie in one of them: whoever reads an open database loses the locks on it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(path)
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as copy:
            for name, folder in folders.items():
                within = without.relative_to(folder) if without.is_relative_to(folder) else None
                own = within and str(PurePosixPath(name.lstrip("/"), within.as_posix()))
                copy.add(
                    folder,
                    arcname=name.lstrip("/"),
                    filter=lambda item, own=own: None if item.name == own else item,  # type: ignore[misc]
                )
    except OSError as error:
        told = f"The folders cannot be copied to {path} ({error.strerror}), so nothing was changed."
        raise StoreError(told) from error
