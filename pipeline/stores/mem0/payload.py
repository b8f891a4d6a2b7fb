"""What a raw mem0 payload says: text, scope, category, pins and dates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from ....records import Memory, Scope, as_utc, says_pinned
from ..base import Snapshot

SCOPE_KEYS = ("user_id", "agent_id", "run_id", "app_id", "actor_id", "role")
# A role that says no more than an absent one.
USERS_OWN = ("role", "user")
# The ids by which mem0 itself filters searches and lists entities.
SESSION_KEYS = ("user_id", "agent_id", "run_id")
# Keys that belong to mem0 or to this package; everything else in a payload is the user's metadata.
CORE_KEYS = frozenset(SCOPE_KEYS) | {
    "id", "data", "hash", "created_at", "updated_at", "text_lemmatized", "expiration_date", "attributed_to",
}  # fmt: skip
_PIN_KEYS = ("pinned", "immutable", "critical")
_CATEGORY_KEYS = ("category", "type", "categories")
_FALSE = frozenset({"", "0", "false", "no", "off", "none", "null"})
# Dates up to here are a missing value in disguise: Redis stores 0 for an absent created_at.
_FIRST_REAL_YEAR = 1972
_MILLISECONDS_FROM = 1e11
_JSON_PREFIX = "mem0_dream_json:"


def parse_memory(snapshot: Snapshot) -> Memory:
    """Turn a raw row into a memory.

    >>> parse_memory(Snapshot("1", {"data": "Likes tea", "user_id": "alice", "category": "food"})).category
    'food'
    """
    payload = {key: decoded(value) for key, value in snapshot.payload.items()}
    text = str(payload.get("data") or "")
    return Memory(
        id=snapshot.id,
        text=text,
        scope=scope_of(payload),
        category=_category(payload),
        created_at=moment(payload.get("created_at")),
        updated_at=moment(payload.get("updated_at")),
        accessed_at=moment(payload.get("last_accessed_at")),
        expires_on=_day(payload.get("expiration_date")),
        pinned=says_pinned(text) or any(_truthy(payload.get(key)) for key in _PIN_KEYS),
        metadata={key: value for key, value in payload.items() if key not in CORE_KEYS},
    )


def scope_of(payload: Mapping[str, Any]) -> Scope:
    """The full identity tuple of a payload; absent and empty parts are left out.

    mem0 writes no role where it infers a memory and "user" where it does not, so both are the user's.
    """
    ids = {key: str(payload[key]) for key in SCOPE_KEYS if payload.get(key) not in (None, "")}
    return Scope.of(**{key: value for key, value in ids.items() if (key, value.lower()) != USERS_OWN})


def is_memory(payload: Mapping[str, Any]) -> bool:
    """Whether a row holds a memory at all; mem0 keeps other rows, such as telemetry identities."""
    return isinstance(payload.get("data"), str)


def encoded(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata for a store that holds only text, numbers and booleans: the rest becomes marked JSON.

    >>> encoded({"merged_from": ["a", "b"]})
    {'merged_from': 'mem0_dream_json:["a", "b"]'}
    """
    return {
        key: value if isinstance(value, str | int | float | bool) else _JSON_PREFIX + json.dumps(value)
        for key, value in metadata.items()
    }


def decoded(value: Any) -> Any:
    """Undo `encoded` for one value; anything else passes through."""
    if isinstance(value, str) and value.startswith(_JSON_PREFIX):
        try:
            return json.loads(value[len(_JSON_PREFIX) :])
        except ValueError:
            return value
    return value


def moment(value: Any) -> datetime | None:
    """Read a date of any kind mem0 has stored over time as aware UTC; None if it tells nothing.

    Naive times are UTC. Numbers are seconds since 1970, or milliseconds if they are too large.
    """
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            seconds = value / 1000 if value > _MILLISECONDS_FROM else value
            stamp = datetime.fromtimestamp(seconds, UTC)
        else:
            stamp = as_utc(datetime.fromisoformat(str(value).strip()))
    except (ValueError, OverflowError, OSError):
        return None
    return stamp if stamp.year >= _FIRST_REAL_YEAR else None


def _day(value: Any) -> date | None:
    """An expiry day as mem0 reads it: a bad one counts as none."""
    try:
        return date.fromisoformat(str(value)) if value else None
    except ValueError:
        return None


def _category(payload: Mapping[str, Any]) -> str | None:
    """The first key that names a group; several categories count as one, in a fixed order."""
    for key in _CATEGORY_KEYS:
        value = payload.get(key)
        names = value if isinstance(value, list | tuple | set) else [value]
        categories = sorted({str(name).strip() for name in names if name is not None and str(name).strip()})
        if categories:
            return "/".join(categories)
    return None


def _truthy(value: Any) -> bool:
    return value.strip().lower() not in _FALSE if isinstance(value, str) else bool(value)
