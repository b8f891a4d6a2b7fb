"""What a merge keeps of the metadata of its members: all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import LAST_STATED_KEY, MERGED_VALUES_KEY, SUPERSEDED_KEYS, SUPERSEDES_KEY, Memory
from .merges import LONG_AGO, last_stated

_OWN_KEYS = frozenset(
    {"merged_from", "last_accessed_at", LAST_STATED_KEY, MERGED_VALUES_KEY, SUPERSEDES_KEY, *SUPERSEDED_KEYS}
)
"""What merges write themselves; none of it is a statement."""


def united_metadata(members: Sequence[Memory]) -> dict[str, Any]:
    """Metadata of a merged memory: every key of every member, the latest statement of each winning.

    Lists are united, and every value that lost is listed under `merged_values`. `merged_from` names all
    sources, earlier merges' sources included; `last_stated_at` and `last_accessed_at` keep the fact from
    looking older than it is.
    """
    ordered = sorted(members, key=lambda memory: (last_stated(memory) or LONG_AGO, memory.id))
    united: dict[str, Any] = {}
    values: dict[str, list[Any]] = {}
    for memory in ordered:
        for key, value in memory.metadata.items():
            held = united.get(key)
            if isinstance(held, list) and isinstance(value, list):
                united[key] = held + [item for item in value if item not in held]
            else:
                united[key] = value
                _note_value(values, memory, key)
    if differing := {key: several for key, several in values.items() if len(several) > 1}:
        united[MERGED_VALUES_KEY] = differing
    earlier = [source for memory in members for source in _sources(memory)]
    united["merged_from"] = sorted({*earlier, *(memory.id for memory in members)})
    stated = max((moment for moment in map(last_stated, members) if moment), default=None)
    accessed = max((memory.accessed_at for memory in members if memory.accessed_at), default=None)
    if stated:
        united["last_stated_at"] = stated.isoformat()
    if accessed:
        united["last_accessed_at"] = accessed.isoformat()
    return united


def longest_life(members: Sequence[Memory], survivor: str | None) -> str | None:
    """The expiry that a survivor takes over, so that a fact does not go sooner than one of its sources.

    Returns:
        An ISO date, "" for no expiry, or None if the survivor lasts longest already.
    """
    kept = next((memory for memory in members if memory.id == survivor), None)
    if kept is None or kept.expires_on is None:
        return None
    days = [memory.expires_on for memory in members if memory.expires_on is not None]
    if len(days) < len(members):
        return ""
    return None if max(days) == kept.expires_on else max(days).isoformat()


def _note_value(values: dict[str, list[Any]], memory: Memory, key: str) -> None:
    """Add a memory's value of a key, and those that earlier merges noted, the latest statement last."""
    if key in _OWN_KEYS:
        return
    noted = memory.metadata.get(MERGED_VALUES_KEY)
    earlier = noted.get(key, []) if isinstance(noted, Mapping) else []
    known = values.setdefault(key, [])
    for value in (*(earlier if isinstance(earlier, list) else []), memory.metadata[key]):
        if value in known:
            known.remove(value)
        known.append(value)


def _sources(memory: Memory) -> list[str]:
    sources = memory.metadata.get("merged_from")
    return [str(source) for source in sources] if isinstance(sources, list) else []
