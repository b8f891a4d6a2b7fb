"""Every memory of the hosted platform, page by page, and whether that is provably all.

Pages are cut anew for each request, so a memory that is written or removed in between moves the others:
some are listed twice, some never. A pass counts only if every page told the same count and exactly so
many different memories came. Where other programs keep writing, the next pass looks at what was there when
the first one ended; what is newer is left for the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import StoreError
from ..mem0.payload import moment
from ..remote.rows import Listing, Row

PAGE_SIZE = 200
"""The largest that the platform allows."""
_PASSES = 4
_ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
_MERGED = "merged"

Filters = Mapping[str, Any]
GetPage = Callable[[Filters, int, bool], Mapping[str, Any]]
"""Asks for one page: filters, its number (0 for a mere count), and whether merged memories are wanted.

A page that is not there any more has no results, and a count that no page tells.
"""


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One way through all pages.

    Attributes:
        rows: Every record, once.
        counts: What the pages said how many there are.
    """

    rows: dict[str, Row]
    counts: frozenset[int]

    @property
    def steady(self) -> bool:
        """Whether nothing moved, as far as the counts can tell."""
        return self.counts == {len(self.rows)}


def list_all(get_page: GetPage, ids: Mapping[str, str]) -> Listing:
    """List every memory that holds these ids, or of every entity if none is named."""
    base = _filters(ids)
    filters, listed = base, _Sweep({}, frozenset())
    for _ in range(_PASSES):
        listed = _through(get_page, filters, merged=True)
        if listed.steady:
            return _without_merged(get_page, filters, listed)
        newest = _newest(listed.rows.values())
        if newest and filters is base:
            filters = {"AND": [base, {"created_at": {"lte": newest}}]}
    told = " or ".join(str(count) for count in sorted(listed.counts))
    gap = (
        f"{len(listed.rows)} memories were listed where the platform counts {told}; "
        "somebody is removing memories meanwhile, run again later"
    )
    return Listing(tuple(listed.rows.values()), gaps=(gap,))


def _filters(ids: Mapping[str, str]) -> Filters:
    """A wildcard matches no absent value, so everything is what has any of the ids."""
    if ids:
        return {"AND": [{key: value} for key, value in sorted(ids.items())]}
    return {"OR": [{key: "*"} for key in _ENTITIES]}


def _newest(rows: Iterable[Row]) -> str | None:
    """The latest date of creation, as the platform writes it."""
    dated = [(created, str(row["created_at"])) for row in rows if (created := moment(row.get("created_at")))]
    return max(dated)[1] if dated else None


def _through(get_page: GetPage, filters: Filters, *, merged: bool) -> _Sweep:
    rows: dict[str, Row] = {}
    counts: set[int] = set()
    number, more = 1, True
    while more:
        page = get_page(filters, number, merged)
        results, count = page.get("results"), page.get("count")
        if not isinstance(results, list) or not isinstance(count, int) or "next" not in page:
            raise StoreError("The platform's listing has another form than expected; nothing was changed.")
        counts.add(count)
        rows |= {str(row["id"]): row for row in results}
        more = page["next"] is not None and bool(results)
        number += 1
    return _Sweep(rows, frozenset(counts))


def _without_merged(get_page: GetPage, filters: Filters, listed: _Sweep) -> Listing:
    """Leave out what the platform itself merged away: no agent reads it, and it is kept as history.

    No field of a record says so for certain, so it is what a listing without it does not hold.
    """
    rows = listed.rows
    visible = get_page(filters, 0, False).get("count")
    if visible != len(rows):
        seen = _through(get_page, filters, merged=False)
        if not seen.steady:
            gap = "the platform's listing changed while merged memories were told apart; run again later"
            return Listing(tuple(rows.values()), gaps=(gap,))
        rows = {row_id: row for row_id, row in rows.items() if row_id in seen.rows}
    shown = tuple(row for row in rows.values() if row.get("lifecycle_state") != _MERGED)
    return Listing(shown, held=_held(listed.rows))


def _held(rows: Mapping[str, Row]) -> frozenset[str]:
    """What others rest on: the evidence of a synthesized memory, and what superseded something.

    Without the memory that replaced it an outdated one would count as current again.
    """
    newer = {str(row["replaced_by"]) for row in rows.values() if row.get("replaced_by")}
    chains = {row_id for row_id, row in rows.items() if row.get("linked_memory_ids")}
    evidence = {
        named
        for row in rows.values()
        if row.get("synthesized")
        for named in _texts(row)
        if named in rows and named != row["id"]
    }
    return frozenset(newer | chains | evidence)


def _texts(value: Any) -> Iterable[str]:  # noqa: ANN401
    """Every text inside a record, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
