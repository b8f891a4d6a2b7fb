"""The lines of a memory server's file, each kept to the letter until it is changed itself.

What we do not know (other fields, other kinds of lines, blank lines, line ends) stays as it is.
A line that the server could not read is broken, and nothing is written while there is one. A file that
mostly holds something else was never written by the server: all its lines would count as broken, and
moving them away would empty it, so it is refused as a whole.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

Kind = Literal["entity", "relation", "other", "broken"]
Edge = tuple[str, str, str]
"""From, to, type."""

READABLE_SHARE = 0.5
"""At least this share of the lines must be entities or relations, or of another kind that says which."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "entity": ("name", "entityType"),
    "relation": ("from", "to", "relationType"),
}
"""The texts that a line of each kind must hold; an entity has `observations`, too."""

_SHOWN_NUMBERS, _SHOWN_KEYS, _SHOWN_LETTERS = 5, 4, 20
_OTHER_SERVERS = "as some other servers"


@dataclass(frozen=True, slots=True)
class GraphLine:
    """One line of a graph file: an entity, a relation, "other" (never looked into), or broken."""

    raw: str
    kind: Kind
    item: Mapping[str, Any]
    reason: str = ""

    @classmethod
    def of(cls, raw: str) -> GraphLine:
        """Read one line, without its line feed."""
        if not raw.strip():
            return cls(raw, "other", {})
        try:
            raw.encode()
            item = json.loads(raw)
        except UnicodeEncodeError:
            return cls(raw, "broken", {}, "it is not UTF-8")
        except (ValueError, RecursionError):
            return cls(raw, "broken", {}, "it is no JSON")
        if not isinstance(item, dict):
            return cls(raw, "broken", {}, "it is no JSON object")
        reason = _fault(item)
        kind: Kind = "broken" if reason else item["type"] if item.get("type") in FIELDS else "other"
        return cls(raw, kind, {} if reason else item, reason)

    @classmethod
    def entity(cls, name: str, entity_type: str, observations: Sequence[str]) -> GraphLine:
        """A new entity, as the server writes one."""
        item = {"type": "entity", "name": name, "entityType": entity_type, "observations": list(observations)}
        return cls.of(_dump(item))

    @classmethod
    def relation(cls, source: str, target: str, kind: str) -> GraphLine:
        """A new relation, as the server writes one."""
        return cls.of(_dump({"type": "relation", "from": source, "to": target, "relationType": kind}))

    def changed(self, **fields: Any) -> GraphLine:  # noqa: ANN401  (values of a JSON object)
        """The same line with some fields changed, all others and their order kept."""
        end = "\r" if self.raw.endswith("\r") else ""
        return GraphLine.of(_dump({**self.item, **fields}) + end)

    @property
    def name(self) -> str:
        """Name of an entity; empty for other lines."""
        return str(self.item["name"]) if self.kind == "entity" else ""

    @property
    def edge(self) -> Edge:
        """From, to and type of a relation."""
        return self.item["from"], self.item["to"], self.item["relationType"]

    def touches(self, name: str) -> bool:
        """Whether this is a relation of the named entity."""
        return self.kind == "relation" and name in self.edge[:2]


def _fault(item: Mapping[str, Any]) -> str:
    """Why the server could not use this object."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        return ""
    missing = [field for field in FIELDS[kind] if not isinstance(item.get(field), str)]
    if missing:
        return f"it is {'an' if kind == 'entity' else 'a'} {kind} without {missing[0]}"
    observations = item.get("observations", [] if kind == "relation" else None)
    if not isinstance(observations, list) or not all(isinstance(each, str) for each in observations):
        return "its observations are no list of texts"
    return ""


@dataclass(frozen=True)
class GraphDocument:
    """The lines of a whole graph file, in order."""

    lines: tuple[GraphLine, ...]
    ended: bool = False  # the last line has a line feed
    mark: bool = False  # the file begins with a byte order mark

    @classmethod
    def parse(cls, data: bytes, *, known: Mapping[str, GraphLine] | None = None) -> Self:
        """Read a file; lines that were `known` before, by their raw text, are not read again."""
        text = data.decode("utf-8", "surrogateescape")
        body = text.removeprefix("\ufeff")
        raws = body.split("\n")
        ended = raws[-1] == ""
        if ended:
            raws.pop()
        held = known or {}
        lines = tuple(held.get(raw) or GraphLine.of(raw) for raw in raws)
        return cls(lines, ended and bool(body), text.startswith("\ufeff"))

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        text = "\n".join(line.raw for line in self.lines) + ("\n" if self.ended and self.lines else "")
        return (("\ufeff" if self.mark else "") + text).encode("utf-8", "surrogateescape")

    @cached_property
    def entities(self) -> Mapping[str, Sequence[GraphLine]]:
        """The lines of each entity, by name."""
        found: dict[str, list[GraphLine]] = defaultdict(list)
        for line in self.lines:
            if line.kind == "entity":
                found[line.name].append(line)
        return dict(found)

    @cached_property
    def touching(self) -> Mapping[str, Sequence[GraphLine]]:
        """The lines of all relations that begin or end at a name."""
        found: dict[str, list[GraphLine]] = defaultdict(list)
        for line in self.lines:
            if line.kind == "relation":
                for end in dict.fromkeys(line.edge[:2]):
                    found[end].append(line)
        return dict(found)

    @property
    def names(self) -> frozenset[str]:
        """Names of all entities."""
        return frozenset(self.entities)

    @property
    def relations(self) -> tuple[Edge, ...]:
        """From, to and type of every relation, in order."""
        return tuple(line.edge for line in self.lines if line.kind == "relation")

    @property
    def broken(self) -> tuple[tuple[int, GraphLine], ...]:
        """Number and content of every broken line."""
        return tuple((number, line) for number, line in enumerate(self.lines, 1) if line.kind == "broken")

    @property
    def faults(self) -> tuple[str, ...]:
        """A sentence for each reason why lines are broken, with the numbers of the first of them."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, line in self.broken:
            numbers[line.reason].append(number)
        faults = []
        for reason, rows in numbers.items():
            shown = ", ".join(map(str, rows[:_SHOWN_NUMBERS])) + (" …" if len(rows) > _SHOWN_NUMBERS else "")
            lines = (
                f"line {shown} of the graph is"
                if len(rows) == 1
                else f"{len(rows)} lines of the graph ({shown}) are"
            )
            moves = "it" if len(rows) == 1 else "them"
            faults.append(f"{lines} broken, {reason}; --repair moves {moves} to the archive")
        return tuple(faults)

    def with_lines(self, lines: Iterable[GraphLine]) -> GraphDocument:
        """The same file with other lines."""
        return GraphDocument(tuple(lines), self.ended, self.mark)

    def in_order(self) -> GraphDocument:
        """The same in an order of its own, for a place that decides the order of lines itself."""
        return self.with_lines(sorted(self.lines, key=lambda line: (line.kind, line.raw)))


def foreign_reason(document: GraphDocument) -> str | None:
    """Why a file is no graph of a memory server; None if it is one, or empty.

    >>> foreign_reason(GraphDocument.parse(b'{"entities": [], "relations": []}'))
    'it is one JSON object with "entities" and "relations", as some other servers keep a graph'
    """
    lines = [line for line in document.lines if line.raw.strip()]
    items = [_object(line.raw) for line in lines]
    own = sum(line.kind in FIELDS for line in lines)
    unknown = sum(
        line.kind == "broken" or (line.kind == "other" and not isinstance((item or {}).get("type"), str))
        for line, item in zip(lines, items, strict=True)
    )
    if not lines or (own and own >= READABLE_SHARE * (own + unknown)):
        return None
    objects = [item for item in items if item is not None]
    return (
        _whole_reason(document.data)
        or (_lines_reason(objects) if len(objects) >= READABLE_SHARE * len(lines) else None)
        or f"{own} of its {len(lines)} lines are entities or relations, and the others are no JSON objects"
    )


def _whole_reason(data: bytes) -> str | None:
    """What the file is if it is one JSON value, or no text of ours at all."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "it is written in UTF-16, and a memory server writes UTF-8"
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(whole, dict) and {"entities", "relations"} <= whole.keys():
        return f'it is one JSON object with "entities" and "relations", {_OTHER_SERVERS} keep a graph'
    if isinstance(whole, list):
        return "it is one JSON list"
    if isinstance(whole, dict) and "type" not in whole:
        return f"it is one JSON object with the keys {_keys([whole])}"
    return None


def _lines_reason(items: Sequence[dict[str, Any]]) -> str:
    """What the lines are if most of them are JSON objects."""
    named = [item for item in items if {"name", "observations"} <= item.keys()]
    if len(named) < READABLE_SHARE * len(items):
        return f"its lines are no entities or relations; they have the keys {_keys(items)}"
    if not all(isinstance(item.get("type"), str) for item in named):
        return f'its entities have no "type", {_OTHER_SERVERS} write them'
    return f"its observations are no texts, {_OTHER_SERVERS} write them"


def _keys(items: Iterable[Mapping[str, Any]]) -> str:
    """The most common keys; foreign text, so all that is strange in it is escaped."""
    keys = [key for key, _ in Counter(key for item in items for key in item).most_common(_SHOWN_KEYS)]
    return ", ".join(json.dumps(key[:_SHOWN_LETTERS]) for key in keys) or "(none)"


def _object(raw: str) -> dict[str, Any] | None:
    try:
        item = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


def _dump(item: Mapping[str, Any]) -> str:
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate is a text in JavaScript, but not in UTF-8
        return json.dumps(item, separators=(",", ":"))
    return text
