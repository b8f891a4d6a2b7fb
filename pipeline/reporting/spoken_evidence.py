"""The evidence of a verdict in everyday words, without guards and vetoes."""

from __future__ import annotations

from collections.abc import Iterable

from ...records import Evidence

_BARE = frozenset({"exact", "adds", "rule"})
"""Kinds whose detail is a sentence of its own."""
_NOUNS = {
    "number": "numbers",
    "date": "dates",
    "weekday": "days of the week",
    "time": "times of day",
    "frequency": "frequencies",
    "name": "names",
    "url": "addresses",
    "path": "paths",
    "identifier": "identifiers",
    "version": "versions",
    "quote": "quotations",
    "environment": "environments",
    "kinship": "relatives",
    "quantifier": "extents (always, all, only)",
    "trait": "qualities",
}
_SENTENCES = {
    "negation": "one text denies what the other says",
    "order": "the same words with two parts exchanged",
    "ending": "only one text tells of an end",
    "swap": "another word in the same place",
    "rival": "two values of one thing",
    "denial": "one text denies something in its language",
    "progress": "one text plans what the other reports as done",
    "actor": "another person or body does it",
    "subject": "about different subjects",
    "metadata": "metadata that differs",
}
_HELD_BACK = ", so only a person may merge them"
DETAIL_WIDTH = 200
"""Characters of a detail that are shown at most."""


def spoken(evidence: Iterable[Evidence]) -> str:
    """All reasons in one line; nothing if there are none."""
    return "; ".join(_spoken(item) for item in evidence)


def _spoken(item: Evidence) -> str:
    detail = item.detail if len(item.detail) <= DETAIL_WIDTH else item.detail[: DETAIL_WIDTH - 1] + "…"
    if item.kind in _BARE:
        return detail
    return f"{_what(item)}: {detail}{_HELD_BACK if item.veto else ''}"


def _what(item: Evidence) -> str:
    """What differs; a kind without words of its own is named as it is."""
    noun = _NOUNS.get(item.kind)
    if noun is None:
        return _SENTENCES.get(item.kind, item.kind.replace("-", " "))
    return f"different {noun}" if item.veto else f"{noun} that only one text has"
