"""Raw records of a graph: what is needed to show an entity or a part of it, and to put its lines back."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from ....records import Memory, Scope
from ..base import Snapshot
from .lines import GraphDocument
from .text import BROKEN_LINES, RELATIONS, entity_text, observation_key, relations_text, split_part
from .usage import usage

ENTITY, OBSERVATION, RELATION, BROKEN = "entity", "observation", "relations", "broken"


class Rows:
    """All records of one state of a graph."""

    def __init__(self, document: GraphDocument, *, sha: str) -> None:
        """Find out where everything stands.

        Args:
            document: The graph.
            sha: Hash of its bytes, under which an undo finds the order of its lines.
        """
        self.document = document
        self.core: str | None = None
        self._sha = sha
        self._names = document.names
        self._entities: dict[str, list[int]] = defaultdict(list)
        self._relations: dict[str, list[int]] = defaultdict(list)
        for place, line in enumerate(document.lines):
            if line.kind == "entity":
                self._entities[line.name].append(place)
            elif line.kind == "relation":
                for end in dict.fromkeys(line.edge[:2]):
                    self._relations[end].append(place)

    def find(self, memory_id: str) -> Snapshot | None:
        """The record of an entity, or of the part that an id names."""
        if memory_id in self._names:
            return self.entity(memory_id)
        if memory_id == BROKEN_LINES:
            return self._broken()
        part = split_part(memory_id)
        if part is None:
            return None
        return (
            self._outgoing(memory_id, part[0])
            if part[1] == RELATIONS
            else self._observation(memory_id, *part)
        )

    def entity(self, name: str) -> Snapshot:
        """The record of an entity: its lines, and in its links the lines of its relations.

        A name that stands in several lines is one memory, since the server finds only one by it.
        """
        lines = self.document.lines
        relations = [
            {
                "raw": lines[place].raw,
                "position": place,
                "dangling": not self._names.issuperset(lines[place].edge[:2]),
            }
            for place in self._relations.get(name, ())
        ]
        about = {"sha": self._sha, "positions": list(self._entities[name]), "core": self.core}
        payload = {"kind": ENTITY, "name": name, "raws": [lines[place].raw for place in self._entities[name]]}
        return Snapshot(name, payload, links=(about, *relations))

    def _observation(self, memory_id: str, name: str, key: str) -> Snapshot | None:
        for place in self._entities.get(name, ()):
            line = self.document.lines[place]
            held = [text for text in line.item["observations"] if observation_key(text) == key]
            if held:
                payload = {
                    "kind": OBSERVATION,
                    "name": name,
                    "type": line.item["entityType"],
                    "text": held[0],
                }
                pinned = usage(line.item["observations"], line.item).critical
                about = {"sha": self._sha, "positions": [place], "raw": line.raw, "pinned": pinned}
                return Snapshot(memory_id, payload, links=(about,))
        return None

    def _broken(self) -> Snapshot:
        places = [number - 1 for number, _ in self.document.broken]
        payload = {"kind": BROKEN, "name": "", "raws": [self.document.lines[place].raw for place in places]}
        return Snapshot(BROKEN_LINES, payload, links=({"sha": self._sha, "positions": places},))

    def _outgoing(self, memory_id: str, name: str) -> Snapshot:
        lines = self.document.lines
        places = [place for place in self._relations.get(name, ()) if lines[place].edge[0] == name]
        payload = {"kind": RELATION, "name": name, "raws": [lines[place].raw for place in places]}
        return Snapshot(memory_id, payload, links=({"sha": self._sha, "positions": places},))


def row_memory(snapshot: Snapshot, scope: Scope) -> Memory:
    """The memory that a record holds."""
    kind = snapshot.payload["kind"]
    if kind == ENTITY:
        return _entity(snapshot, scope)
    if kind == OBSERVATION:
        return Memory(
            snapshot.id,
            snapshot.payload["text"],
            scope,
            category=snapshot.payload["type"],
            pinned=snapshot.links[0]["pinned"],
        )
    if kind == BROKEN:
        # Escaped, because a line that is not UTF-8 could not be written down in a plan.
        text = "\n".join(json.dumps(raw) for raw in snapshot.payload["raws"])
        return Memory(snapshot.id, text, scope, category=BROKEN)
    edges = [json.loads(raw) for raw in snapshot.payload["raws"]]
    text = relations_text((edge["relationType"], edge["to"]) for edge in edges)
    return Memory(snapshot.id, text, scope, category="relation")


def _entity(snapshot: Snapshot, scope: Scope) -> Memory:
    items: list[dict[str, Any]] = [json.loads(raw) for raw in snapshot.payload["raws"]]
    observations = [text for item in items for text in item["observations"]]
    fields = {key: value for item in items for key, value in item.items()}
    used = usage(observations, fields)
    return Memory(
        id=snapshot.id,
        text=entity_text(snapshot.id, observations),
        scope=scope,
        category=items[0]["entityType"],
        created_at=used.discovered,
        accessed_at=used.last_used,
        # One name with two types cannot be written back as one line, and a name that looks like that of a
        # part cannot be told from it once it is gone: both are left alone.
        pinned=used.critical
        or len({item["entityType"] for item in items}) > 1
        or split_part(snapshot.id) is not None,
        metadata={
            "observations": observations,
            "fields": {
                key: value
                for key, value in fields.items()
                if key not in ("type", "name", "entityType", "observations")
            },
        },
    )
