"""The lines of a memory server's file and every change of them; what does not change is kept to the letter.

What we do not know (other fields, other kinds of lines, blank lines, line ends) stays as it is.
A line that the server could not read is broken, and nothing is written while there is one. A file that
mostly holds something else was never written by the server, and is refused as a whole.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

from ....errors import RefusedChangeError
from ....models.text.reading import from_json
from ..files import is_utf8, json_text
from .entities import observation_key

Edge = tuple[str, str, str]  # from, to, type
Item = TypeVar("Item")
READABLE_SHARE = 0.5  # of the lines must be entities or relations, or of another kind that says which
FIELDS = {"entity": ("name", "entityType"), "relation": ("from", "to", "relationType")}
"""The texts that a line of each kind must hold; an entity has `observations`, too."""
KNOWN = frozenset({"type", "observations", *FIELDS["entity"]})  # what the server knows of an entity
_SHOWN_NUMBERS, _SHOWN_KEYS, _SHOWN_LETTERS = 5, 4, 20
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_OTHER_SERVERS = "as some other servers"


@dataclass(frozen=True, slots=True)
class GraphLine:
    """One line of a graph file: an entity, a relation, "other" (never looked into), or broken."""

    raw: str
    kind: str
    item: Mapping[str, Any]
    reason: str = ""

    @classmethod
    def of(cls, raw: str) -> GraphLine:
        """Read one line, without its line feed."""
        if not raw.strip():
            return cls(raw, "other", {})
        item, reason = None, "it is no JSON" if is_utf8(raw) else "it is not UTF-8"
        with contextlib.suppress(ValueError):
            item, reason = from_json(raw if is_utf8(raw) else ""), "it is no JSON object"
        if not isinstance(item, dict):
            return cls(raw, "broken", {}, reason)
        kind = item.get("type")
        if not isinstance(kind, str) or kind not in FIELDS:
            return cls(raw, "other", item)
        observations = item.get("observations", [] if kind == "relation" else None)
        if missing := [field for field in FIELDS[kind] if not isinstance(item.get(field), str)]:
            reason = f"it is {'an' if kind == 'entity' else 'a'} {kind} without {missing[0]}"
        elif not isinstance(observations, list) or not all(isinstance(each, str) for each in observations):
            reason = "its observations are no list of texts"
        else:  # Lines under a name that no journal can keep are left as they are, too.
            return cls(raw, kind if all(is_utf8(item[field]) for field in FIELDS[kind]) else "other", item)
        return cls(raw, "broken", item, reason)

    @classmethod
    def new(cls, kind: str, *texts: str, **more: list[str]) -> GraphLine:
        """A new line with the texts that its kind must hold (`FIELDS`), as the server writes one."""
        fields = dict(zip(FIELDS[kind], texts, strict=True))
        return cls.of(json_text({"type": kind, **fields, **more}, dense=True))

    def changed(self, **fields: Any) -> GraphLine:  # noqa: ANN401  (values of a JSON object)
        """The same line with some fields changed, all others and their order kept."""
        end = "\r" if self.raw.endswith("\r") else ""
        return GraphLine.of(json_text({**self.item, **fields}, dense=True) + end)

    @property
    def name(self) -> str | None:
        """Name of an entity; None for other lines."""
        return str(self.item["name"]) if self.kind == "entity" else None

    @property
    def edge(self) -> Edge:
        """From, to and type of a relation."""
        return self.item["from"], self.item["to"], self.item["relationType"]


Lines = Sequence[GraphLine]


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
    def entities(self) -> Mapping[str, Lines]:
        """The lines of each entity, by name."""
        return _grouped((line.name, line) for line in self.lines if line.name is not None)

    @cached_property
    def touching(self) -> Mapping[str, Lines]:
        """The lines of all relations that begin or end at a name."""
        edges = [line for line in self.lines if line.kind == "relation"]
        return _grouped((end, line) for line in edges for end in dict.fromkeys(line.edge[:2]))

    @property
    def names(self) -> frozenset[str]:
        """Names of all entities."""
        return frozenset(self.entities)

    @property
    def relations(self) -> tuple[Edge, ...]:
        """Every relation, in order."""
        return tuple(line.edge for line in self.lines if line.kind == "relation")

    @property
    def broken(self) -> tuple[tuple[int, GraphLine], ...]:
        """Number and content of every broken line."""
        return tuple((number, line) for number, line in enumerate(self.lines, 1) if line.kind == "broken")

    @property
    def faults(self) -> tuple[str, ...]:
        """A sentence for each reason why lines are broken, with the numbers of the first of them."""
        faults = []
        for reason, rows in _grouped((line.reason, number) for number, line in self.broken).items():
            shown = ", ".join(map(str, rows[:_SHOWN_NUMBERS])) + (" …" if len(rows) > _SHOWN_NUMBERS else "")
            one = len(rows) == 1
            what = f"line {shown} of the graph is" if one else f"{len(rows)} lines of the graph ({shown}) are"
            moved = f"--repair moves {'it' if one else 'them'} to the archive"
            faults.append(f"{what} broken, {reason}; {moved}")
        return tuple(faults)

    def fields(self, name: str) -> dict[str, Any]:
        """Fields of an entity's lines that the server does not know."""
        lines = self.entities.get(name, ())
        return {key: value for line in lines for key, value in line.item.items() if key not in KNOWN}

    def with_lines(self, lines: Iterable[GraphLine]) -> GraphDocument:
        """The same file with other lines."""
        return GraphDocument(tuple(lines), self.ended, self.mark)

    def in_order(self) -> GraphDocument:
        """The same in an order of its own, for a place that decides the order of lines itself."""
        return self.with_lines(sorted(self.lines, key=lambda line: (line.kind, line.raw)))

    def with_relations(self, name: str, wanted: Sequence[tuple[str, str]]) -> GraphDocument:
        """The graph with exactly these relations (type, target) leaving an entity; others are not moved."""
        left = list(wanted)
        lines: list[GraphLine] = []
        for line in self.lines:
            if line.kind == "relation" and line.edge[0] == name:
                key = (line.edge[2], line.edge[1])
                if key not in left:
                    continue
                left.remove(key)
            lines.append(line)
        if any(target not in self.names for _, target in left) or (left and name not in self.names):
            raise RefusedChangeError(f"a relation of {name} would lead nowhere")
        lines += [GraphLine.new("relation", name, target, kind) for kind, target in left]
        return self.with_lines(lines)

    def with_observations(self, name: str, observations: Sequence[str]) -> GraphDocument:
        """The graph with one entity, which must be there, that says exactly this; its lines become one."""
        if name not in self.names:
            raise RefusedChangeError(f"memory {name} is gone")
        first, *more = self.entities[name]
        line = _with_fields(first, self.fields(name)) if more else first
        new = line.changed(observations=list(observations))
        at = next(place for place, each in enumerate(self.lines) if each.name == name)
        others = [each for each in self.lines[at:] if each.name != name]
        return self.with_lines([*self.lines[:at], new, *others])

    def without_observation(self, name: str, key: str) -> GraphDocument:
        """Without one observation of an entity; refused if several lines hold it: no undo could part them."""
        lines: list[GraphLine] = []
        touched = 0
        for line in self.lines:
            held = list(line.item["observations"]) if line.name == name else []
            kept = [text for text in held if observation_key(text) != key]
            touched += len(kept) < len(held)
            lines.append(line.changed(observations=kept) if len(kept) < len(held) else line)
        if touched > 1:
            several = f"{name} stands in {touched} lines that say this; make one of them first"
            raise RefusedChangeError(several)
        return self.with_lines(lines)

    def without_entity(self, name: str, survivor: str | None) -> GraphDocument:
        """The graph without an entity; its survivor takes over its relations, and fields that it lacks."""
        fields = self.fields(name)
        leads = iter(handed_over(self.relations, name, survivor))
        lines: list[GraphLine] = []
        for line in self.lines:
            if line.kind == "relation":
                edge = next(leads)
                if edge is not None:
                    ends = {"from": edge[0], "to": edge[1]}
                    lines.append(line if edge == line.edge else line.changed(**ends))
            elif line.name != name:
                stays = survivor is not None and line.name == survivor
                lines.append(_with_fields(line, fields) if stays else line)
        return self.with_lines(lines)


def _grouped(pairs: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = defaultdict(list)
    for key, item in pairs:
        found[key].append(item)
    return dict(found)


def foreign_reason(document: GraphDocument) -> str | None:
    """Why a file is no graph of a memory server; None if it is one, or empty."""
    lines = [line for line in document.lines if line.raw.strip()]
    own = sum(line.kind in FIELDS for line in lines)
    unknown = sum(
        line.kind == "broken" or (line.kind == "other" and not isinstance(line.item.get("type"), str))
        for line in lines
    )
    if not lines or (own and own >= READABLE_SHARE * (own + unknown)):
        return None
    data, whole = document.data, None
    with contextlib.suppress(ValueError):
        whole = from_json(data)
    top = whole if isinstance(whole, dict) else {}
    objects = [line.item for line in lines if line.item or line.kind == "other"]
    named = [item for item in objects if {"name", "observations"} <= item.keys()]
    rows = (
        (data[:2] in _UTF_16, "it is written in UTF-16, and a memory server writes UTF-8"),
        (isinstance(whole, list), "it is one JSON list"),
        (
            {"entities", "relations"} <= top.keys(),
            f'it is one JSON object with "entities" and "relations", {_OTHER_SERVERS} keep a graph',
        ),
        (top is whole and "type" not in top, f"it is one JSON object with the keys {_keys([top])}"),
        (
            len(objects) < READABLE_SHARE * len(lines),
            f"{own} of its {len(lines)} lines are entities or relations, and the others are no JSON objects",
        ),
        (
            len(named) < READABLE_SHARE * len(objects),
            f"its lines are no entities or relations; they have the keys {_keys(objects)}",
        ),
        (
            not all(isinstance(item.get("type"), str) for item in named),
            f'its entities have no "type", {_OTHER_SERVERS} write them',
        ),
        (True, f"its observations are no texts, {_OTHER_SERVERS} write them"),
    )
    return next(reason for holds, reason in rows if holds)


def _keys(items: Iterable[Mapping[str, Any]]) -> str:
    """The most common keys; foreign text, so all that is strange in it is escaped."""
    keys = [key for key, _ in Counter(key for item in items for key in item).most_common(_SHOWN_KEYS)]
    return ", ".join(json.dumps(key[:_SHOWN_LETTERS]) for key in keys) or "(none)"


def handed_over(edges: Sequence[Edge], name: str, survivor: str | None) -> list[Edge | None]:
    """Where each relation leads once an entity is gone: None goes with it; none is doubled or a loop."""
    held = {edge for edge in edges if name not in edge[:2]}
    led: list[Edge | None] = []
    for edge in edges:
        if name not in edge[:2]:
            led.append(edge)
            continue
        source, target = (survivor if end == name else end for end in edge[:2])
        if source is None or target is None or source == target or (source, target, edge[2]) in held:
            led.append(None)
        else:
            held.add((source, target, edge[2]))
            led.append((source, target, edge[2]))
    return led


def settled(base: Lines, ours: Lines, theirs: Lines) -> list[GraphLine] | None:
    """Lines that an undo would turn back and that were written since; None where both changed one thing.

    Entities are one by name: what was said since stays, and what the undo gives back returns among it. `base`
    is as our change left them, `ours` as they were before it, `theirs` as they stand now.
    """
    lines = list(theirs)
    gone: set[int] = set()
    places = {line.name: place for place, line in enumerate(lines) if line.name is not None}
    known = {line.name: line for line in base if line.name is not None}
    own = {line.name for line in ours} - {None}
    for line in base:
        if line not in ours and line.name not in own:
            if line in theirs:
                gone.add(theirs.index(line))
            elif line.name is not None:
                return None
    for line in ours:
        if line in base or line in theirs:
            continue
        if line.name is None or line.name not in places:
            lines.append(line)
        elif line.name in known:
            lines[places[line.name]] = _said_again(known[line.name], line, lines[places[line.name]])
        else:
            return None
    return [line for place, line in enumerate(lines) if place not in gone]


def _said_again(left: GraphLine, was: GraphLine, now: GraphLine) -> GraphLine:
    """An entity's line as it stands, with what our change took out of it between its neighbours."""
    before, after, held = (list(line.item["observations"]) for line in (was, left, now))
    held = [text for text in held if text not in after or text in before]
    for place, text in enumerate(before):
        if text not in after and text not in held:
            earlier = set(before[:place])
            at = max((spot + 1 for spot, each in enumerate(held) if each in earlier), default=0)
            held[at:at] = [text] * before.count(text)
    return was if Counter(held) == Counter(before) else now.changed(observations=held)


def _with_fields(line: GraphLine, fields: Mapping[str, Any]) -> GraphLine:
    """An entity's line with the fields it lacks; lists are united, other values of its own stay."""
    new = {
        key: [*line.item[key], *(item for item in value if item not in line.item[key])]
        if isinstance(value, list) and isinstance(line.item.get(key), list)
        else line.item.get(key, value)
        for key, value in fields.items()
    }
    return line.changed(**new) if any(line.item.get(key) != value for key, value in new.items()) else line
