"""Telling a memory server's graph from any other file, which is refused as a whole.

A file that merely has a few broken lines is a graph, and `--repair` may move them away. One that mostly
holds something else was never written by the server: its lines would all count as broken, and moving them
away would empty it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .lines import GraphDocument

READABLE_SHARE = 0.5
"""At least this share of the lines must be entities or relations, or of another kind that says which."""

_SHOWN_KEYS = 4
_SHOWN_LETTERS = 20
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def foreign_reason(document: GraphDocument) -> str | None:
    """Why a file is no graph of a memory server; None if it is one, or empty.

    >>> foreign_reason(GraphDocument.parse(b'{"entities": [], "relations": []}'))
    'it is one JSON object with "entities" and "relations", as some other servers keep a graph'
    """
    lines = [line for line in document.lines if line.raw.strip()]
    if not lines:
        return None
    own = sum(line.kind in ("entity", "relation") for line in lines)
    unknown = [line.raw for line in lines if line.kind == "broken" or not _typed(line.raw, line.kind)]
    if own and own >= READABLE_SHARE * (own + len(unknown)):
        return None
    return (
        _of_the_whole(document.data)
        or _of_lines([item for line in lines if (item := _object(line.raw)) is not None], len(lines))
        or f"{own} of its {len(lines)} lines are entities or relations, and the others are no JSON objects"
    )


def _typed(raw: str, kind: str) -> bool:
    """Whether a line says what it is, so that it may stand beside entities."""
    if kind != "other":
        return True
    item = _object(raw)
    return item is not None and isinstance(item.get("type"), str)


def _of_the_whole(data: bytes) -> str | None:
    """What the file is if it is one JSON value, or no text of ours at all."""
    coding = _MARKS.get(data[:2])
    if coding:
        return f"it is written in {coding}, and a memory server writes UTF-8"
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(whole, dict) and {"entities", "relations"} <= whole.keys():
        return 'it is one JSON object with "entities" and "relations", as some other servers keep a graph'
    if isinstance(whole, list):
        return "it is one JSON list"
    if isinstance(whole, dict) and "type" not in whole:
        return f"it is one JSON object with the keys {_keys(Counter(whole.keys()))}"
    return None


def _of_lines(items: list[dict[str, Any]], total: int) -> str | None:
    """What the lines are if most of them are JSON objects."""
    if len(items) < READABLE_SHARE * total:
        return None
    named = [item for item in items if {"name", "observations"} <= item.keys()]
    if len(named) >= READABLE_SHARE * len(items):
        if not all(isinstance(item.get("type"), str) for item in named):
            return 'its entities have no "type", as some other servers write them'
        return "its observations are no texts, as some other servers write them"
    return f"its lines are no entities or relations; they have the keys {_keys(_counted(items))}"


def _counted(items: list[dict[str, Any]]) -> Counter[str]:
    return Counter(key for item in items for key in item)


def _keys(count: Mapping[str, int]) -> str:
    """The most common keys; foreign text, so printed with all that is strange in it escaped."""
    keys = [key for key, _ in Counter(count).most_common(_SHOWN_KEYS)]
    return ", ".join(json.dumps(key[:_SHOWN_LETTERS]) for key in keys) or "(none)"


def _object(raw: str) -> dict[str, Any] | None:
    try:
        item = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None
