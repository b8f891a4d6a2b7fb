"""Bringing a forgotten memory back from the archive."""

from __future__ import annotations

from ....errors import UsageError
from ..base import Restore, Snapshot
from ..files import digest
from .archive import find_forgotten
from .lines import GraphLine
from .store import GraphStore


def restore_forgotten(store: GraphStore, name: str) -> tuple[int, int]:
    """Put the newest archived state of a memory back.

    Args:
        store: Where it goes.
        name: Its exact name.

    Returns:
        How many of its relations came back, and how many lead to memories that are gone.

    Raises:
        UsageError: If the archive does not hold it, or the graph has a memory of this name.
    """
    document = store.document()
    entry = find_forgotten(store.archive, name)
    if name in document.names:
        raise UsageError(f"The graph holds a memory {name!r} already; nothing was changed.")
    end = len(document.lines)
    lines, relations = list(entry["lines"]), list(entry["relationLines"])
    links = [{"raw": raw, "position": end, "dangling": False} for raw in relations]
    about = {"sha": digest(b""), "positions": [end] * len(lines), "core": None}
    payload = {"kind": "entity", "name": name, "raws": lines}
    store.write(Restore(Snapshot(name, payload, links=(about, *links))))
    held = {line.raw for line in store.document().lines}
    back = sum(GraphLine.of(raw).raw in held for raw in relations)
    return back, len(relations) - back
