"""Memories exported from any store: JSON Lines, or one JSON document, in; a new file beside it out.

The export itself is never written. What changes goes into a file beside it, in the form of the export, or
into a file of decisions that the owner's own code carries out; that file is the state, so a later pass goes
on from there, and where all is taken back it is gone again.
"""

from __future__ import annotations

import copy
import glob
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import ConfigError, RefusedChangeError, UsageError
from ...models.text.reading import from_json
from ...models.text.tables import table_lines
from ...records import Memory, Scope
from . import base
from .base import Capabilities, ScopeFilter, Snapshot
from .files import digest, is_utf8, json_text, stamp
from .files.exchange import leftovers, remove_file, replace_file
from .mem0.rows import SCOPE_KEYS, parse_memory

PRESETS = ("mem0", "claude-mem", "hindsight", "mcp-memory-service", "plain")  # the most telling first
_DATES = {"created_at": "created_at", "updated_at": "updated_at", "accessed_at": "last_accessed_at"}
_FIELDS = ("rows", "id", "text", *SCOPE_KEYS[:4], "category", *_DATES, "expires", "metadata")
_EXPIRES, _METADATA, _TEXT = "expiration_date", "metadata", "text"
_LOOKED_AT = 20
_SPACE = uuid.UUID("5b0c8a86-6f5b-4c39-9f0d-2f6f1c1f8a11")

Row = dict[str, Any]
Mapped = Mapping[str, tuple[str, ...]]


def read_mapping(text: str) -> dict[str, tuple[str, ...]]:
    """Read `--map`: a preset, fields, or both, where they differ from it; `UsageError` if one is unknown."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    named = parts[0] if parts and "=" not in parts[0] else "plain"
    if named not in PRESETS:
        known = f"they are {', '.join(PRESETS)}, or give text=FIELD,id=FIELD."
        raise UsageError(f"{named!r} is no preset; {known}")
    found = {name: tuple(paths.split("|")) for name, paths in map(str.split, table_lines("exports", named))}
    for part in parts[named == parts[0] :]:
        name, _, path = part.partition("=")
        name = {"scope": "user_id"}.get(name.strip(), name.strip())
        if name not in _FIELDS or not path.strip():
            known = f"write FIELD=PATH with one of {', '.join(_FIELDS)}, scope."
            raise UsageError(f"{part!r} maps nothing; {known}")
        found[name] = (path.strip(),)
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    rows: dict[str, Row]  # payloads by id, in order: the record, and its place
    lines: Mapping[str, str] = field(default_factory=dict)  # how they are written, if each is a line
    document: Any = None  # everything around the records, if it is one JSON document
    where: str = ""  # key of the records in it
    faults: tuple[str, ...] = ()  # why it is not all that there is


class JsonlStore(base.Store):
    """An export as a store: its fields as `--map` names them, or by what the file holds.

    Changes go into the file of decisions, or a new file beside the export. `ConfigError` if it cannot be read
    or holds nothing that is a memory, `UsageError` if the mapping is wrong.
    """

    kind = "jsonl"
    capabilities = Capabilities(retire=True, amend=True, in_place=True)

    def __init__(self, path: Path, *, mapping: str | None = None, decisions: Path | None = None) -> None:
        self._path = path.expanduser().absolute()
        beside = self._path.parent / f"{path.stem}.dreamed{path.suffix}"
        self._target = (decisions or beside).expanduser().absolute()
        if self._target == self._path:
            raise UsageError("The file of decisions is the export itself; name another file.")
        self._decides = decisions is not None
        self._seen: tuple[object, _Rows, _Rows] | None = None
        self._map: Mapped = read_mapping(mapping) if mapping is not None else self._recognised()
        self.fingerprint = digest(f"jsonl:{self._path}:{self._target}".encode())[:16]
        source = self._loaded()[0]
        if not source.rows and source.faults:
            raise ConfigError(f"{self._path.name} holds no memory that can be read: {source.faults[0]}.")

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        source, current = self._loaded()  # as it is after what was written
        memories = (self.parse(Snapshot(name, row)) for name, row in current.rows.items())
        matching = (memory for memory in memories if scopes.matches(memory.scope))
        return matching, (*source.faults, *current.faults)

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """The records as they are now."""
        rows = self._loaded()[1].rows
        return {name: Snapshot(name, copy.deepcopy(rows[name])) for name in ids if name in rows}

    def parse(self, snapshot: Snapshot) -> Memory:
        """A record as mem0's payload says the same."""
        row = snapshot.payload["row"]
        held = self._get(row, _METADATA)
        known = {path.partition(".")[0] for paths in self._map.values() for path in paths}
        payload = dict(held) if isinstance(held, dict) else {k: v for k, v in row.items() if k not in known}
        payload |= {ours: self._get(row, name) for name, ours in _DATES.items()}
        payload |= {name: self._get(row, name) for name in SCOPE_KEYS[:4]}
        payload |= {"category": self._get(row, "category"), "data": str(self._get(row, _TEXT) or "")}
        ends = self._get(row, "expires") or row.get(_EXPIRES)
        payload[_EXPIRES] = str(ends)[:10] if ends else None
        memory = parse_memory(Snapshot(snapshot.id, {k: v for k, v in payload.items() if v is not None}))
        # What no journal can keep is left alone.
        return memory if is_utf8(snapshot.id) else replace(memory, pinned=True)

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """The id of an addition follows from its mark."""
        found = self.fetch([_marked(mark)]).get(_marked(mark))
        return found.id if found is not None and self.parse(found).scope == scope else None

    def tidy(self) -> Sequence[str]:
        """Remove the hidden copies of a killed run; nobody else writes the file beside the export."""
        for path, _ in leftovers(self._target.parent, glob.escape(self._target.name)):
            path.unlink(missing_ok=True)
        return ()

    def write(self, change: base.Change) -> str:
        """Make one change in the file beside the export."""
        before = _bytes(self._target)  # first of all, so that what is written later is seen to be another
        self._look_again(change)
        source, current = self._loaded()
        rows = copy.deepcopy(current.rows)
        match change:
            case base.Restore(snapshot=kept):
                memory_id = kept.id
                rows[memory_id] = copy.deepcopy(dict(kept.payload))
            case base.Add(mark=mark):
                memory_id = _marked(mark)
                last = max((row["place"] for row in (*rows.values(), *source.rows.values())), default=0)
                rows[memory_id] = {"row": self._added(memory_id, change), "place": last + 1}
            case base.Delete(id=memory_id):
                rows.pop(memory_id, None)
            case base.Update(id=memory_id) | base.Amend(id=memory_id) | base.Retire(id=memory_id):
                if memory_id not in rows:
                    raise RefusedChangeError(f"the memory {memory_id} is gone", ids=(memory_id,))
                self._change(rows[memory_id], change)
        rows = _in_order(rows)
        if [(k, v["row"]) for k, v in rows.items()] == [(k, v["row"]) for k, v in source.rows.items()]:
            if before is not None:
                remove_file(self._target, before=before)
        else:
            data = self._decided(source.rows, rows) if self._decides else self._whole(source, rows)
            replace_file(self._target, data, before=before)
        return memory_id

    def _recognised(self) -> Mapped:
        """The first preset whose document and fields the file has; of lines the plain one."""
        for name in PRESETS:
            self._map = read_mapping(name)
            found = self._read(self._path)
            some = [payload["row"] for payload in list(found.rows.values())[:_LOOKED_AT]]
            if found.where and some and all(self._get(row, _TEXT) and self._get(row, "id") for row in some):
                break
        return self._map

    def _get(self, row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401
        values = (_at(row, path) for path in self._map.get(name, ()))
        return next((value for value in values if value not in (None, "", [], {})), None)

    def _put(self, row: Row, name: str, value: Any) -> None:  # noqa: ANN401
        paths = self._map.get(name) or ({"expires": _EXPIRES}.get(name, name),)
        path = next((each for each in paths if _at(row, each) not in (None, "")), paths[0])
        *outer, last = path.split(".")
        for key in outer:
            row = row.setdefault(key, {}) if isinstance(row.get(key, {}), dict) else row
        row[last] = value

    def _change(self, payload: Row, change: base.Update | base.Amend | base.Retire) -> None:
        row = payload["row"]
        if isinstance(change, base.Update):
            self._put(row, _TEXT, change.text)
            return
        if isinstance(change, base.Retire):
            change = base.Amend(change.id, change.metadata, expires=change.day.isoformat())
        more, held = json.loads(json.dumps(dict(change.metadata))), self._get(row, _METADATA)
        if more and (isinstance(held, dict) or _METADATA in self._map):
            self._put(row, _METADATA, {**(held or {}), **more})
        else:
            row |= more
        if change.expires is not None:
            self._put(row, "expires", change.expires or None)
        created = self.parse(Snapshot("", payload)).created_at
        if change.created_at is not None and change.created_at != created:
            self._put(row, "created_at", change.created_at.isoformat())

    def _added(self, memory_id: str, change: base.Add) -> Row:
        fields: Row = {"id": memory_id, _TEXT: change.text, **dict(change.scope.ids)}
        if change.created_at is not None:
            fields["created_at"] = change.created_at.isoformat()
        more = json.loads(json.dumps(dict(change.metadata)))
        if "category" in more and self._map.get("category"):
            fields["category"] = more.pop("category")
        row: Row = {}
        for name, value in (fields | ({_METADATA: more} if more else {})).items():
            self._put(row, name, value)
        return row

    def _loaded(self) -> tuple[_Rows, _Rows]:
        """The export, and what it is by now; read again when one of the files is another."""
        stamps = tuple(stamp(path) for path in (self._path, self._target))
        if self._seen is None or self._seen[0] != stamps:
            source = current = self._read(self._path)
            data = _bytes(self._target)
            if data is not None:
                current = self._with_decisions(source, data) if self._decides else self._beside(source)
            self._seen = (stamps, source, current)
        return self._seen[1:]

    def _beside(self, source: _Rows) -> _Rows:
        """The new file; each record has the place that it has in the export."""
        found = self._read(self._target)
        last = len(source.rows)
        for number, (name, payload) in enumerate(found.rows.items()):
            payload["place"] = source.rows[name]["place"] if name in source.rows else last + number + 1
        newer = self._path.stat().st_mtime_ns > self._target.stat().st_mtime_ns
        told = (f"{self._path.name} is newer than {self._target.name}; move that away to begin anew",)
        return _Rows(found.rows, faults=(*found.faults, *(told if newer else ())))

    def _with_decisions(self, source: _Rows, data: bytes) -> _Rows:
        """The export with the decisions carried out, as far as it still says what they are about."""
        rows, stale = dict(source.rows), 0
        for line in filter(str.strip, data.decode("utf-8", "replace").split("\n")):
            decision = _parsed(line)
            name = str(decision.get("id")) if isinstance(decision, dict) else ""
            if not isinstance(decision, dict) or "action" not in decision or not name:
                raise ConfigError(f"{self._target.name} holds no decisions of mem0-dream; name another file.")
            held = source.rows.get(name)
            if decision["action"] != "add" and held is None:
                continue  # carried out by the owner
            if held is not None and str(self._get(held["row"], _TEXT) or "") != decision["was"]:
                stale += 1
            elif decision["action"] == "delete":
                rows.pop(name)
            else:
                place = held["place"] if held else len(source.rows) + len(rows) + 1
                rows[name] = {"row": decision["row"], "place": place}
        told = f"{self._path.name} changed since {stale} decisions were made; move {self._target.name} away"
        return _Rows(_in_order(rows), faults=(told,) if stale else ())

    def _decided(self, source: Mapping[str, Row], rows: Mapping[str, Row]) -> bytes:
        lines: list[Row] = []
        for name, payload in source.items():
            was, new = str(self._get(payload["row"], _TEXT) or ""), rows.get(name)
            if new is None:
                lines.append({"action": "delete", "id": name, "was": was})
            elif new["row"] != payload["row"]:
                memory = self.parse(Snapshot(name, new))
                action = "supersede" if memory.expires_on else "rewrite" if memory.text != was else "amend"
                decided = {"action": action, "id": name, "was": was, "text": memory.text}
                lines.append({**decided, "row": new["row"]})
        for name, payload in rows.items():
            if name not in source:
                lines.append({"action": "add", "id": name, "was": None, "row": payload["row"]})
        return "".join(json_text(line) + "\n" for line in lines).encode()

    def _whole(self, source: _Rows, rows: Mapping[str, Row]) -> bytes:
        """The export as it should be: lines that did not change to the letter."""
        if source.document is None:
            lines = {name: json_text(payload["row"]) for name, payload in rows.items()}
            for name in rows.keys() & source.lines.keys():
                if rows[name]["row"] == source.rows[name]["row"]:
                    lines[name] = source.lines[name]
            return "".join(f"{line}\n" for line in lines.values()).encode()
        held = [payload["row"] for payload in rows.values()]
        whole = {**source.document, source.where: held} if source.where else held
        return (json_text(whole, indent=2) + "\n").encode()

    def _read(self, path: Path) -> _Rows:
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigError(f"{path.name} is no text in UTF-8.") from None
        except OSError as error:
            raise ConfigError(f"The export {path} cannot be read: {error.strerror}.") from None
        document, where = _parsed(text), ""
        if isinstance(document, dict):
            keys = (key for key in self._map.get("rows", ()) if isinstance(document.get(key), list))
            where = next(keys, "")
        listed = document.get(where) if isinstance(document, dict) else document
        if isinstance(listed, list):
            given: list[tuple[Any, str]] = [(row, "") for row in listed]
        else:
            document = None
            # Not splitlines: a text may hold other separators, such as U+2028, which JSON does not escape.
            given = [(_parsed(line), line) for line in text.split("\n") if line.strip()]
        rows: dict[str, Row] = {}
        lines: dict[str, str] = {}
        faults: list[str] = []
        if isinstance(document, dict) and path == self._path:
            totals = [total for key in ("total", "count") if isinstance(total := document.get(key), int)]
            if max(totals, default=0) > len(given):
                faults.append(f"{path.name} is one page: it holds {len(given)} of {max(totals)} records")
        for number, (row, line) in enumerate(given, 1):
            said = self._get(row, _TEXT) if isinstance(row, dict) else None
            if not isinstance(said, str):
                what = "has no text" if isinstance(row, dict) else "is no JSON object"
                faults.append(f"record {number} of {path.name} {what}")
                continue
            told = self._get(row, "id")
            name = str(told) if isinstance(told, str | int) else digest(f"{number}:{said}".encode())[:12]
            if name in rows:
                faults.append(f"the id {name} stands twice in {path.name}")
            rows[name], lines[name] = {"row": row, "place": number}, line
        return _Rows(rows, lines, document, where, tuple(faults[:3]))


def _in_order(rows: Mapping[str, Row]) -> dict[str, Row]:
    return dict(sorted(rows.items(), key=lambda item: (item[1]["place"], item[0])))


def _at(row: Any, path: str) -> Any:  # noqa: ANN401
    for key in path.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _parsed(text: str) -> Any:  # noqa: ANN401
    try:
        return from_json(text)
    except ValueError:
        return None


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"The file {path} cannot be read: {error.strerror}.") from None


def _marked(mark: str) -> str:
    return str(uuid.uuid5(_SPACE, mark))
