"""mem0's hosted platform as a store, through mem0's own `MemoryClient`.

Only what changes one memory is ever asked for: no batch, no `delete_all`, no linked deletion. What the
client has no method for (the state of an event) goes through its own connection.

Pages of a listing are cut anew for each request, so a memory that is written or removed in between moves the
others: some are listed twice, some never. A pass counts only if every page told the same count and exactly so
many different memories came. Where other programs keep writing, the next pass looks at what was there when
the first one ended; what is newer is left for the next run.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ....errors import ConfigError, StoreError
from ..files import digest, fingerprint
from ..mem0.payload import moment
from .calling import Caller, Patience
from .store import Listing, New, RemoteStore, Row, row_metadata

KEY_VARIABLE = "MEM0_API_KEY"
PAGE_SIZE = 200
"""The largest that the platform allows."""
_SERVICE = "The mem0 platform"
_ANYTHING: Mapping[str, Any] = {"OR": [{key: "*"} for key in ("user_id", "agent_id", "app_id", "run_id")]}
_LISTINGS = 4
_RUNNING = frozenset({"PENDING", "RUNNING"})
_EVENT_LOOKS = 40
_OTHER_FORM = "The platform's {} has another form than expected; nothing was changed."
FIDELITY: tuple[str, ...] = (
    (
        "the hosted platform gives no deleted id out again: an undo brings a deleted memory back, with "
        "its text, scope, metadata and expiry, under a new id; with --retire nothing is deleted and ids stay"
    ),
    (
        "dates of changed memories are the platform's own: a memory brought back was created on its old day, "
        "to the second, and its earlier dates are kept in its metadata (mem0_dream_dates)"
    ),
    "categories of a memory brought back are assigned by the platform anew, and its history begins anew",
)
_LINKED = (
    "memory {id} superseded older memories, which would count as current again if it were deleted; "
    "with --retire it can be hidden"
)


def open_platform(
    *,
    host: str | None = None,
    org: str | None = None,
    project: str | None = None,
    patience: Patience | None = None,
) -> PlatformStore:
    """Open the project that the key in `MEM0_API_KEY` belongs to, if it is the one that is meant.

    Raises:
        ConfigError: If there is no key, it is refused, or it opens another project.
        StoreError: If the platform does not answer.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise ConfigError(f"{KEY_VARIABLE} is not set; put the key of your mem0 project there.")
    store = _opened(key, host, patience)
    client = store.client
    for name, wanted, told in (("org", org, client.org_id), ("project", project, client.project_id)):
        if wanted and wanted != told:
            store.close()
            raise ConfigError(
                f"The key in {KEY_VARIABLE} opens the {name} {told or '(not told)'}, not {wanted}; "
                f"a key belongs to one project, so use the key of that one."
            )
    return store


def open_beside(client: Any) -> PlatformStore:
    """A store with connections of its own, opened with the key and the address of another client."""
    return _opened(client.api_key, client.host)


def platform_of(client: Any) -> PlatformStore:
    """A store over a `MemoryClient` that the caller opened and closes."""
    _quieten_client()
    return PlatformStore(client, Caller(_SERVICE))


def _opened(key: str, host: str | None, patience: Patience | None = None) -> PlatformStore:
    caller = Caller(_SERVICE, patience)
    client = caller.ask("opening the project", lambda: _client(key, host, caller.patience.timeout))
    return PlatformStore(client, caller, owned=True)


def _client(key: str, host: str | None, timeout: float) -> Any:
    """mem0's client; its constructor asks the platform which project the key belongs to."""
    _quieten_client()
    try:
        import httpx
        from mem0 import MemoryClient
    except OSError as error:
        raise ConfigError(
            f"mem0 cannot use its own directory ({type(error).__name__}); set MEM0_DIR to a writable one."
        ) from error
    connection = httpx.Client(timeout=timeout)
    try:
        return MemoryClient(api_key=key, host=host.rstrip("/") if host else None, client=connection)
    except BaseException:
        connection.close()
        raise


def _quieten_client() -> None:
    """No telemetry unless the user decided; the client would log each expected 404 as an error."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    logging.getLogger("mem0.client").setLevel(logging.CRITICAL)


class PlatformStore(RemoteStore):
    """The hosted platform behind one key; `close` closes the client's connections if they are owned."""

    kind = "platform"
    fidelity = FIDELITY
    scope_keys = ("user_id", "agent_id", "app_id", "run_id")

    def __init__(self, client: Any, caller: Caller, *, owned: bool = False) -> None:
        super().__init__(caller, platform_fingerprint(client))
        self.client, self._owned = client, owned

    def _listing(self, ids: Mapping[str, str]) -> Listing:
        """Every memory that holds these ids, expired ones included; merged ones are told apart."""
        # A wildcard matches no absent value, so everything is what has any of the ids.
        filters: Mapping[str, Any] = (
            {"AND": [{key: value} for key, value in sorted(ids.items())]} if ids else _ANYTHING
        )
        base = filters
        for _ in range(_LISTINGS):
            rows, counts = self._swept(filters, merged=True)
            if counts == {len(rows)}:
                return self._without_merged(filters, rows)
            newest = _newest(rows.values())
            if newest and filters is base:
                filters = {"AND": [base, {"created_at": {"lte": newest}}]}
        told = " or ".join(str(count) for count in sorted(counts))
        gap = (
            f"{len(rows)} memories were listed where the platform counts {told}; "
            "somebody is removing memories meanwhile, run again later"
        )
        return Listing(tuple(rows.values()), gaps=(gap,))

    def _swept(self, filters: Mapping[str, Any], *, merged: bool) -> tuple[dict[str, Row], set[int]]:
        """Every record of all pages once, and how many the pages said there are: equal if nothing moved."""
        rows: dict[str, Row] = {}
        counts: set[int] = set()
        number, more = 1, True
        while more:
            page = self._page(filters, number, merged=merged)
            results, count = page.get("results"), page.get("count")
            if not isinstance(results, list) or not isinstance(count, int) or "next" not in page:
                raise StoreError(_OTHER_FORM.format("listing"))
            counts.add(count)
            rows |= {str(row["id"]): row for row in results}
            number, more = number + 1, page["next"] is not None and bool(results)
        return rows, counts

    def _without_merged(self, filters: Mapping[str, Any], listed: dict[str, Row]) -> Listing:
        """Leave out what the platform itself merged away: no agent reads it, and it is kept as history.

        No field of a record says so for certain, so it is what a listing without it does not hold.
        """
        rows = listed
        if self._page(filters, 0, merged=False).get("count") != len(rows):
            seen, counts = self._swept(filters, merged=False)
            if counts != {len(seen)}:
                gap = "the platform's listing changed while merged memories were told apart; run again later"
                return Listing(tuple(rows.values()), gaps=(gap,))
            rows = {row_id: row for row_id, row in rows.items() if row_id in seen}
        shown = tuple(row for row in rows.values() if row.get("lifecycle_state") != "merged")
        return Listing(shown, held=_held(listed))

    def _get(self, memory_id: str) -> Row | None:
        """One memory; None only if the platform itself says that there is none."""

        def _absent(error: Any) -> None:
            if not error.details:  # something on the way says so, not the platform
                raise StoreError(
                    f"{self._caller.service} was not reached: an answer without content said 404."
                ) from None

        row = self._ask(f"reading memory {memory_id}", lambda: self.client.get(memory_id), _absent)
        if row is not None and not (isinstance(row, Mapping) and "memory" in row):
            raise StoreError(_OTHER_FORM.format("record"))
        return row

    def _marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """Memories of which a metadata key holds one of the values."""
        rows: list[Row] = []
        for value in values:
            scope: list[Any] = [{name: held} for name, held in sorted(ids.items())]
            filters = {"AND": [*(scope or [_ANYTHING]), {"metadata": {key: value}}]}
            page = self._page(filters, 1, merged=True)
            rows += [row for row in page.get("results", ()) if row_metadata(row).get(key) == value]
        return rows

    def _post(self, new: New) -> str | None:
        """Write a memory verbatim, once; None if the platform drops it as an exact repeat."""
        options: dict[str, Any] = {**new.ids, "infer": False, "metadata": dict(new.metadata)}
        if new.created_at is not None:
            options["timestamp"] = int(new.created_at.timestamp())
        if new.expires is not None:
            options["expiration_date"] = new.expires
        return self._added(self.client.add([{"role": "user", "content": new.text}], **options))

    def _put(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        """Change a memory; repeating the request changes nothing more."""
        self._caller.ask(
            f"changing memory {memory_id}", lambda: self.client.update(memory_id, **dict(changes))
        )

    def _drop(self, memory_id: str) -> None:
        """Delete one memory and nothing that is linked to it; an earlier attempt may have done it."""
        self._ask(f"deleting memory {memory_id}", lambda: self.client.delete(memory_id), lambda _: None)

    def _search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        """Ids of what an agent's search finds."""
        filters = {"AND": [{key: value} for key, value in sorted(ids.items())]}
        answer = self._caller.ask(
            "searching",
            lambda: self.client.search(query, filters=filters, top_k=bound, threshold=0.0),
        )
        return [str(row["id"]) for row in answer.get("results", ())]

    def _refuses_deletion(self, row: Row) -> str | None:
        """A memory that superseded others keeps them from coming back."""
        return _LINKED.format(id=row["id"]) if row.get("linked_memory_ids") else None

    def close(self) -> None:
        """Close the connections, if they were opened here."""
        if self._owned:
            self.client.client.close()

    def _page(self, filters: Mapping[str, Any], number: int, *, merged: bool) -> Mapping[str, Any]:
        """One page of a listing; number 0 asks for the count alone.

        A page that is not there any more has no results, and a count that no page tells.
        """
        options: dict[str, Any] = {"filters": filters, "show_expired": True}
        options |= {"include_merged": True} if merged else {}
        place = {"page": number or 1, "page_size": PAGE_SIZE if number else 1}

        def _absent(error: Exception) -> Mapping[str, Any]:
            if number < 2:
                raise error
            return {"count": -1, "next": None, "results": []}  # it has moved to the page before

        answer = self._ask("listing memories", lambda: self.client.get_all(**options, **place), _absent)
        if not isinstance(answer, Mapping):
            raise StoreError(_OTHER_FORM.format("listing"))
        return answer

    def _ask(self, what: str, request: Callable[[], Any], absent: Callable[[Any], Any]) -> Any:
        """Make a request until it is answered, also by the client's error that there is no such thing."""

        def _once() -> Any:
            from mem0.exceptions import MemoryNotFoundError

            try:
                return request()
            except MemoryNotFoundError as error:
                return absent(error)

        return self._caller.ask(what, _once)

    def _added(self, answer: Any) -> str | None:
        """The id of what was added; an addition that is still under way is followed to its end."""
        status = answer.get("status") if isinstance(answer, Mapping) else None
        if status in _RUNNING and not answer.get("results"):
            answer = self._event(str(answer.get("event_id")))
            status = answer.get("status")
        if status == "FAILED":
            raise StoreError("The platform reports that adding a memory failed.")
        if status in _RUNNING:
            raise StoreError("The platform has not finished adding a memory; run again, or resume, later.")
        results = answer.get("results") if isinstance(answer, Mapping) else answer
        return next((str(item["id"]) for item in results or () if item.get("id")), None)

    def _event(self, event_id: str) -> Mapping[str, Any]:
        """An event once it has ended, or as it stands when patience has."""

        def _request() -> Mapping[str, Any]:
            response = self.client.client.get(f"/v1/event/{event_id}/")  # the client has no method for it
            response.raise_for_status()
            return dict(response.json())

        caller = self._caller
        told: Mapping[str, Any] = {"status": "RUNNING"}
        for _ in range(1 + _EVENT_LOOKS // caller.patience.looks):
            if told.get("status") not in _RUNNING:
                break
            told = caller.look(
                lambda: caller.ask("the state of an addition", _request),
                until=lambda event: event.get("status") not in _RUNNING,
            )
        return told


def platform_fingerprint(client: Any) -> str:
    """Sixteen hexadecimal digits: equal for equal projects; of the key itself only where it names none."""
    host = str(client.host).rstrip("/").lower()
    if client.org_id and client.project_id:
        return fingerprint("platform", host, str(client.org_id), str(client.project_id))
    return fingerprint("platform", host, digest(str(client.api_key).encode()))


def _newest(rows: Iterable[Row]) -> str | None:
    """The latest date of creation, as the platform writes it."""
    dated = [(created, str(row["created_at"])) for row in rows if (created := moment(row.get("created_at")))]
    return max(dated)[1] if dated else None


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


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a record, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)
