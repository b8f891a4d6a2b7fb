"""The lines of a memory server's file, each kept to the letter until it is changed itself.

What we do not know (other fields, other kinds of lines, blank lines, line ends) stays as it is.
A line that the server could not read is broken, and nothing is written while there is one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

Kind = Literal["entity", "relation", "other", "broken"]

_NAMED = 5
"""Numbers of broken lines that a sentence names."""


@dataclass(frozen=True, slots=True)
class GraphLine:
    """One line of a graph file: an entity, a relation, or something else.

    Attributes:
        raw: As it stands in the file, without its line feed.
        kind: What it is; "other" is kept and never looked into.
        item: The object it holds.
        reason: Why it is broken.
    """

    raw: str
    kind: Kind
    item: Mapping[str, Any]
    reason: str = ""

    @classmethod
    def of(cls, raw: str) -> GraphLine:
        """Read one line."""
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
        kind: Kind = "broken" if reason else item["type"] if item.get("type") in _FIELDS else "other"
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
    def edge(self) -> tuple[str, str, str]:
        """From, to and type of a relation."""
        return self.item["from"], self.item["to"], self.item["relationType"]

    def touches(self, name: str) -> bool:
        """Whether this is a relation of the named entity."""
        return self.kind == "relation" and name in self.edge[:2]


_FIELDS: Mapping[str, tuple[str, ...]] = {
    "entity": ("name", "entityType"),
    "relation": ("from", "to", "relationType"),
}


def _fault(item: Mapping[str, Any]) -> str:
    """Why the server could not use this object."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _FIELDS:
        return ""
    missing = [field for field in _FIELDS[kind] if not isinstance(item.get(field), str)]
    if missing:
        return (
            f"it is an {kind} without {missing[0]}"
            if kind == "entity"
            else f"it is a {kind} without {missing[0]}"
        )
    observations = item.get("observations", [] if kind == "relation" else None)
    if not isinstance(observations, list) or not all(isinstance(each, str) for each in observations):
        return "its observations are no list of texts"
    return ""


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_NAMED])) + (" …" if len(numbers) > _NAMED else "")


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """The lines of a whole graph file.

    Attributes:
        lines: In order.
        ended: The last line has a line feed.
        mark: The file begins with a byte order mark.
    """

    lines: tuple[GraphLine, ...]
    ended: bool = False
    mark: bool = False

    @classmethod
    def parse(cls, data: bytes, *, known: Mapping[str, GraphLine] | None = None) -> Self:
        """Read a file.

        Args:
            data: Its bytes.
            known: Lines that were read before, by their raw text; a large file changes little.
        """
        text = data.decode("utf-8", "surrogateescape")
        mark = text.startswith("\ufeff")
        body = text.removeprefix("\ufeff")
        raws = body.split("\n")
        ended = raws[-1] == ""
        if ended:
            raws.pop()
        held = known or {}
        return cls(tuple(held.get(raw) or GraphLine.of(raw) for raw in raws), ended and bool(body), mark)

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        text = "\n".join(line.raw for line in self.lines) + ("\n" if self.ended and self.lines else "")
        return (("\ufeff" if self.mark else "") + text).encode("utf-8", "surrogateescape")

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
        return tuple(
            f"line {rows[0]} of the graph is broken, {reason}; --repair moves it to the archive"
            if len(rows) == 1
            else f"{len(rows)} lines of the graph ({_listed(rows)}) are broken, {reason}; --repair moves "
            "them to the archive"
            for reason, rows in numbers.items()
        )

    @property
    def names(self) -> frozenset[str]:
        """Names of all entities."""
        return frozenset(line.name for line in self.lines if line.kind == "entity")

    @property
    def relations(self) -> tuple[tuple[str, str, str], ...]:
        """From, to and type of every relation, in order."""
        return tuple(line.edge for line in self.lines if line.kind == "relation")

    def with_lines(self, lines: Iterable[GraphLine]) -> GraphDocument:
        """The same file with other lines."""
        return GraphDocument(tuple(lines), self.ended, self.mark)


def insert_in_order(lines: list[GraphLine], new: GraphLine, order: Sequence[str], position: int) -> None:
    """Put a line back after the nearest line that stood before it and is still there.

    Args:
        lines: The present lines, changed in place.
        new: The line.
        order: Raw lines of the file as it was; empty if that is not known.
        position: Where the line was.
    """
    present = {line.raw: place for place, line in enumerate(lines) if line.raw.strip()}
    if not order:
        lines.insert(min(position, len(lines)), new)
        return
    for before in range(min(position, len(order)) - 1, -1, -1):
        if order[before] in present:
            lines.insert(present[order[before]] + 1, new)
            return
    lines.insert(0, new)


def same_lines(lines: Iterable[GraphLine], order: Sequence[str]) -> bool:
    """Whether these are the lines of a file as it was, in whatever order; blank lines say nothing."""
    return Counter(line.raw for line in lines if line.raw.strip()) == Counter(filter(str.strip, order))


def _dump(item: Mapping[str, Any]) -> str:
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate is a text in JavaScript, but not in UTF-8
        return json.dumps(item, separators=(",", ":"))
    return text
