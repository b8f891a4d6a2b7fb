"""mem0's services as stores: its hosted platform, and its self-hosted server.

The platform is asked as mem0's own `MemoryClient` asks it. Only what changes one memory is ever asked for: no
batch, no `delete_all`, no linked deletion.

Pages of a listing are cut anew for each request, so a memory that is written or removed in between moves the
others: some are listed twice, some never. A pass counts only if every page told the same count and exactly so
many different memories came. Where other programs keep writing, the next pass looks at what was there when
the first one ended; what is newer is left for the next run.

The server lists at most 1000 memories of a scope, without pages. A scope that reaches the bound, or of which
the server's own count differs, cannot be seen whole and is never written to. `delete-all`, `reset` and
`configure` are never called.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from ....errors import ConfigError, StoreError
from ....models.text.tables import table_lines
from ..base import Add
from ..files import digest, fingerprint, texts_in
from ..mem0.backends import LISTING_FAULTS
from ..mem0.rows import moment
from .store import Caller, Listed, Patience, RemoteStore, Row, ids_of, lists_rows, row_metadata

KEY_VARIABLE = "MEM0_API_KEY"
PAGE_SIZE = 200  # the largest that the platform allows
_SERVICE, _HOST = "The mem0 platform", "https://api.mem0.ai"
_ANYTHING: Mapping[str, Any] = {"OR": [{key: "*"} for key in ("user_id", "agent_id", "app_id", "run_id")]}
_LISTINGS = 4
_RUNNING = frozenset({"PENDING", "RUNNING"})
_EVENT_LOOKS = 40


def open_platform(
    key: str = "",
    *,
    host: str | None = None,
    org: str | None = None,
    project: str | None = None,
    patience: Patience | None = None,
) -> PlatformStore:
    """Open the project that a key, or the one in `MEM0_API_KEY`, belongs to, if it is the one that is meant.

    `ConfigError` if there is no key, or it is refused or of another project; `StoreError` if nothing answers.
    """
    import httpx

    if not (key := key or os.environ.get(KEY_VARIABLE, "").strip()):
        raise ConfigError(f"{KEY_VARIABLE} is not set; put the key of your mem0 project there.")
    caller, host = Caller(_SERVICE, patience or Patience()), (host or _HOST).rstrip("/")
    # As mem0's own client names the caller; no secret depends on the sum.
    caller_id = hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()
    headers = {"Authorization": f"Token {key}", "Mem0-User-ID": caller_id}
    client = httpx.Client(base_url=host, headers=headers, timeout=caller.patience.timeout)
    store = PlatformStore(client, caller, "")
    with contextlib.ExitStack() as opened:  # as mem0's own client asks which project the key belongs to
        opened.callback(client.close)
        told = store._ask("opening the project", "GET", "/v1/ping/")
        if not isinstance(told, Mapping):
            raise store._misshapen("answer")
        own = {name: told.get(name) for name in ("org_id", "project_id")}
        for name, wanted in (("org", org), ("project", project)):
            if wanted and wanted != (held := own[f"{name}_id"]):
                raise ConfigError(
                    f"The key in {KEY_VARIABLE} opens the {name} {held or '(not told)'}, not {wanted}; "
                    f"a key belongs to one project, so use the key of that one."
                )
        opened.pop_all()
    named = SimpleNamespace(host=host, api_key=key, **own)
    store.fingerprint = platform_fingerprint(named)
    return store


def platform_of(client: Any) -> PlatformStore:
    """A store over a `MemoryClient` that the caller opened and closes."""
    return PlatformStore(client.client, Caller(_SERVICE), platform_fingerprint(client), owned=False)


class PlatformStore(RemoteStore):
    """The hosted platform behind one key."""

    kind = "platform"
    fidelity = table_lines("listings", "platform")
    scope_keys = ("user_id", "agent_id", "app_id", "run_id")
    record_path, search_path = "/v1/memories/{}/", "/v3/memories/search/"

    def _listing(self, ids: Mapping[str, str]) -> Listed:
        # A wildcard matches no absent value, so everything is what has any of the ids.
        filters = self._wanted(ids) if ids else _ANYTHING
        base = filters
        for _ in range(_LISTINGS):
            rows, counts = self._swept(filters, merged=True)
            if counts == {len(rows)}:
                return self._without_merged(filters, rows)
            if filters is base and (newest := _newest(rows.values())):
                filters = {"AND": [base, {"created_at": {"lte": newest}}]}
        told = " or ".join(str(count) for count in sorted(counts))
        gap = f"{len(rows)} memories were listed where the platform counts {told}; somebody is removing"
        return rows.values(), frozenset(), (f"{gap} memories meanwhile, run again later",)

    def _swept(self, filters: Mapping[str, Any], *, merged: bool) -> tuple[dict[str, Row], set[int]]:
        """Every record of all pages once, and how many the pages said there are: equal if nothing moved."""
        rows: dict[str, Row] = {}
        counts: set[int] = set()
        number, more = 1, True
        while more:
            page = self._page(filters, number, merged=merged)
            count = page.get("count")
            if not lists_rows(page) or not isinstance(count, int) or "next" not in page:
                raise self._misshapen("listing")
            counts.add(count)
            before = len(rows)
            rows |= {str(row["id"]): row for row in page["results"]}
            # Pages that bring nothing new, or far more than was counted, would never end.
            more = page["next"] is not None and before < len(rows) <= max(counts) + PAGE_SIZE
            number += 1
        return rows, counts

    def _without_merged(self, filters: Mapping[str, Any], listed: dict[str, Row]) -> Listed:
        """Leave out what the platform merged away and keeps as history: what a listing without it lacks."""
        rows = listed
        if self._page(filters, 0, merged=False).get("count") != len(rows):
            seen, counts = self._swept(filters, merged=False)
            if counts != {len(seen)}:
                gap = "the platform's listing changed while merged memories were told apart; run again later"
                return rows.values(), frozenset(), (gap,)
            rows = {row_id: row for row_id, row in rows.items() if row_id in seen}
        shown = [row for row in rows.values() if row.get("lifecycle_state") != "merged"]
        return shown, _held(listed), ()

    def _marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        rows: list[Row] = []
        scope: list[Any] = [{name: held} for name, held in sorted(ids.items())] or [_ANYTHING]
        for value in values:
            page = self._page({"AND": [*scope, {"metadata": {key: value}}]}, 1, merged=True)
            if not lists_rows(page):
                raise self._misshapen("listing")
            rows += [row for row in page["results"] if row_metadata(row).get(key) == value]
        return rows

    def _post(self, new: Add, day: str | None) -> str | None:
        """An exact repeat is dropped without a word."""
        content = {**dict(new.scope.ids), **verbatim(new, day)}
        if new.created_at is not None:
            content["timestamp"] = int(new.created_at.timestamp())
        return self._added(self._once("POST", "/v3/memories/add/", json=content))

    def _wanted(self, ids: Mapping[str, str]) -> Mapping[str, Any]:
        return {"AND": [{key: value} for key, value in sorted(ids.items())]}

    def _refuses_deletion(self, row: Row) -> str | None:
        told = "superseded older memories, which would count as current again if it were deleted"
        hint = "with --retire it can be hidden"
        return f"memory {row['id']} {told}; {hint}" if row.get("linked_memory_ids") else None

    def _page(self, filters: Mapping[str, Any], number: int, *, merged: bool) -> Mapping[str, Any]:
        """One page of a listing, or (number 0) its count alone; one that is gone is empty, and counts -1."""
        asked: dict[str, Any] = {"params": {"page": number or 1, "page_size": PAGE_SIZE if number else 1}}
        asked["json"] = {"filters": filters, "show_expired": True}
        if merged:
            asked["json"]["include_merged"] = True
        gone = number > 1  # it has moved to the page before
        answer = self._ask("listing memories", "POST", "/v3/memories/", missing_ok=gone, **asked)
        if answer is None:
            return {"count": -1, "next": None, "results": []}
        if not isinstance(answer, Mapping):
            raise self._misshapen("listing")
        return answer

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
        rows = [row for row in results if isinstance(row, Mapping)] if isinstance(results, list) else []
        return next((str(row["id"]) for row in rows if row.get("id")), None)

    def _event(self, event_id: str) -> Mapping[str, Any]:
        told: Mapping[str, Any] = {"status": "RUNNING"}
        for _ in range(1 + _EVENT_LOOKS // self._caller.patience.looks):
            if told.get("status") not in _RUNNING:
                break
            told = self._caller.look(
                lambda: self._ask("the state of an addition", "GET", f"/v1/event/{event_id}/"),
                until=lambda event: not isinstance(event, Mapping) or event.get("status") not in _RUNNING,
            )
            if not isinstance(told, Mapping):
                raise self._misshapen("answer")
        return told


def platform_fingerprint(client: Any) -> str:
    """Sixteen hexadecimal digits: equal for equal projects; of the key itself only where it names none."""
    host = str(client.host).rstrip("/").lower()
    if client.org_id and client.project_id:
        return fingerprint("platform", host, str(client.org_id), str(client.project_id))
    return fingerprint("platform", host, digest(str(client.api_key).encode()))


def verbatim(new: Add, day: str | None) -> dict[str, Any]:
    """What both services are told of an addition, so that no language model touches it."""
    told = {"messages": [{"role": "user", "content": new.text}], "infer": False, "metadata": {**new.metadata}}
    return told if day is None else told | {"expiration_date": day}


def _newest(rows: Iterable[Row]) -> str | None:
    dated = [(created, str(row["created_at"])) for row in rows if (created := moment(row.get("created_at")))]
    return max(dated)[1] if dated else None


def _held(rows: Mapping[str, Row]) -> frozenset[str]:
    """What others rest on: evidence of what was synthesized, and what keeps an outdated one away."""
    newer = {str(row["replaced_by"]) for row in rows.values() if row.get("replaced_by")}
    chains = {row_id for row_id, row in rows.items() if row.get("linked_memory_ids")}
    synthesized = [row for row in rows.values() if row.get("synthesized")]
    evidence = {named for row in synthesized for named in texts_in(row) if named != row["id"]}
    return frozenset(newer | chains | (evidence & rows.keys()))


SERVER_KEY_VARIABLE = "MEM0_SERVER_API_KEY"
TOKEN_VARIABLE = "MEM0_SERVER_TOKEN"  # noqa: S105  (the name of a variable)
LISTED_AT_MOST = 1000  # the server refuses a larger `top_k`, and has no pages
COUNTED_AT_MOST = 10_000  # rows that the server looks at for its list of entities
_ENTITIES = {"user": "user_id", "agent": "agent_id", "run": "run_id"}
_UNREACHABLE = "actor_id"  # the server cannot write it back


def open_server(url: str, *, patience: Patience | None = None) -> ServerStore:
    """Open the server at an address, with a key, a token, or neither where it asks for none.

    `ConfigError` if the address is none, or the server refuses the key; `StoreError` if it does not answer.
    """
    import httpx

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("The address of a mem0 server begins with http:// or https://.")
    if parts.username or parts.password:
        raise ConfigError(f"Leave user and password out of the address; keys go into {SERVER_KEY_VARIABLE}.")
    # A server asks for every answer to be computed, embeddings included, so a pace is of less use here.
    caller = Caller(f"The mem0 server at {parts.hostname}", patience or Patience())
    key, token = (os.environ.get(name, "").strip() for name in (SERVER_KEY_VARIABLE, TOKEN_VARIABLE))
    headers = {"X-API-Key": key} if key else {"Authorization": f"Bearer {token}"} if token else {}
    timeout = caller.patience.timeout
    client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)
    return ServerStore(client, caller, fingerprint("server", str(client.base_url).rstrip("/").lower()))


class ServerStore(RemoteStore):
    """A mem0 server behind one address."""

    kind = "server"
    fidelity = table_lines("listings", "server")
    scope_keys = ("user_id", "agent_id", "run_id")
    record_path, search_path = "/memories/{}", "/search"
    null_is_gone = True

    def _listing(self, ids: Mapping[str, str]) -> Listed:
        totals, gaps = self._totals(), [*self._known_faults()]
        asked = [dict(ids)] if ids else [{name: value} for name, value in sorted(totals)]
        rows: dict[str, Row] = {}
        for one in asked:
            listed, counted = self._list(one), totals.get(next(iter(one.items())), 0)
            rows |= {str(row["id"]): row for row in listed}
            name = " ".join(f"{key}={value}" for key, value in sorted(one.items()))
            if len(listed) >= LISTED_AT_MOST:
                told = f"the server lists at most {LISTED_AT_MOST} memories"
                gaps.append(f"{told}, and {name} has as many or more")
            elif len(one) == 1 and counted != len(listed):
                gaps.append(f"{len(listed)} memories of {name} were listed where the server counts {counted}")
        if sum(totals.values()) >= COUNTED_AT_MOST:
            gaps.append(f"the server counts no more than {COUNTED_AT_MOST} memories")
        held = frozenset(row_id for row_id, row in rows.items() if row.get(_UNREACHABLE))
        return rows.values(), held, tuple(dict.fromkeys(gaps))

    def _marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """The server cannot look for them, so all is listed."""
        asked = [ids] if ids else [{name: value} for name, value in sorted(self._totals())]
        rows = {str(row["id"]): row for one in asked for row in self._list(one)}
        return [row for _, row in sorted(rows.items()) if row_metadata(row).get(key) in values]

    def _post(self, new: Add, day: str | None) -> None:
        """What came of it is found by its mark."""
        ids, content = dict(new.scope.ids), verbatim(new, day)
        if new.created_at is not None:
            content["metadata"]["created_at"] = new.created_at.isoformat()
        content["messages"][0]["role"] = ids.get("role", "user")
        self._once("POST", "/memories", json=content | self._session_ids(ids))

    def _wanted(self, ids: Mapping[str, str]) -> Mapping[str, Any]:
        return dict(ids)

    def _refuses_deletion(self, row: Row) -> str | None:
        told = f"memory {row['id']} has an {_UNREACHABLE}, which the server cannot write back"
        return told if ids_of(row).get(_UNREACHABLE) else None

    def _totals(self) -> dict[tuple[str, str], int]:
        entities = self._ask("listing entities", "GET", "/entities")
        if not isinstance(entities, list) or not all(_tells_entity(item) for item in entities):
            raise self._misshapen("list of entities")
        return {
            (_ENTITIES[item["type"]], str(item["id"])): int(item["total_memories"])
            for item in entities
            if item.get("type") in _ENTITIES
        }

    def _list(self, ids: Mapping[str, str]) -> list[Row]:
        params = {**ids, "top_k": str(LISTED_AT_MOST), "show_expired": "true"}
        answer = self._ask("listing memories", "GET", "/memories", params=params)
        if not lists_rows(answer):
            raise self._misshapen("listing")
        rows: list[Row] = answer["results"]
        return rows

    def _known_faults(self) -> tuple[str, ...]:
        configured = self._ask("reading the configuration", "GET", "/configure", missing_ok=True)
        store = configured.get("vector_store") if isinstance(configured, Mapping) else None
        provider = str(store.get("provider") or "") if isinstance(store, Mapping) else ""
        if not provider:
            return ("the server does not say which vector store it keeps memories in",)
        reason = LISTING_FAULTS.get(provider)
        return (f"the server keeps memories in {provider}: {reason}",) if reason else ()


def _tells_entity(item: object) -> bool:
    if not isinstance(item, Mapping) or "id" not in item:
        return False
    return isinstance(item.get("type"), str) and isinstance(item.get("total_memories"), int)
