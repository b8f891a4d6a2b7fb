"""mem0's self-hosted REST server as a store; its routes are its own.

It lists at most 1000 memories of a scope, without pages. A scope that reaches the bound, or of which the
server's own count differs, cannot be seen whole and is never written to. `delete-all`, `reset` and
`configure` are never called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ....errors import ConfigError
from ..base import Add
from ..files import fingerprint
from ..mem0.backends import LISTING_FAULTS
from .calling import Caller, Patience
from .store import NEW_IDS, Listing, RemoteStore, Row, ids_of, row_metadata

KEY_VARIABLE = "MEM0_SERVER_API_KEY"
TOKEN_VARIABLE = "MEM0_SERVER_TOKEN"  # noqa: S105  (the name of a variable)
LISTED_AT_MOST = 1000
"""The server refuses a larger `top_k`, and has no pages."""
COUNTED_AT_MOST = 10_000
"""Rows that the server looks at for its list of entities."""
_ENTITIES = {"user": "user_id", "agent": "agent_id", "run": "run_id"}
_UNREACHABLE = ("actor_id",)


def open_server(url: str, *, patience: Patience | None = None) -> ServerStore:
    """Open the server at an address, with a key, a token, or neither where it asks for none.

    Raises:
        ConfigError: If the address is none, or the server refuses the key.
        StoreError: If it does not answer.
    """
    import httpx

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("The address of a mem0 server begins with http:// or https://.")
    if parts.username or parts.password:
        raise ConfigError(f"Leave user and password out of the address; keys go into {KEY_VARIABLE}.")
    # A server asks for every answer to be computed, embeddings included, so a pace is of less use here.
    caller = Caller(f"The mem0 server at {parts.hostname}", patience)
    key, token = (os.environ.get(name, "").strip() for name in (KEY_VARIABLE, TOKEN_VARIABLE))
    headers = {"X-API-Key": key} if key else {"Authorization": f"Bearer {token}"} if token else {}
    timeout = caller.patience.timeout
    client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, follow_redirects=True)
    return ServerStore(client, caller, fingerprint("server", str(client.base_url).rstrip("/").lower()))


class ServerStore(RemoteStore):
    """A mem0 server behind one address."""

    kind = "server"
    fidelity = (
        NEW_IDS.format("a mem0 server"),
        (
            "the server dates changes itself: earlier dates are kept in the metadata (mem0_dream_dates), and "
            "a key that a merge added stays there, emptied, after an undo"
        ),
        "every change of a memory embeds its text again, on the server",
    )
    scope_keys = ("user_id", "agent_id", "run_id")
    record_path, search_path = "/memories/{}", "/search"

    def _listing(self, ids: Mapping[str, str]) -> Listing:
        """Of every entity if no id is given, as far as the server lists them."""
        totals = self._totals()
        asked = [dict(ids)] if ids else [{name: value} for name, value in sorted(totals)]
        rows: dict[str, Row] = {}
        gaps = [*self._known_faults()]
        for one in asked:
            listed = self._list(one)
            gaps += _gap(one, len(listed), totals)
            rows |= {str(row["id"]): row for row in listed}
        if sum(totals.values()) >= COUNTED_AT_MOST:
            gaps.append(f"the server counts no more than {COUNTED_AT_MOST} memories")
        held = frozenset(row_id for row_id, row in rows.items() if any(row.get(key) for key in _UNREACHABLE))
        return Listing(tuple(rows.values()), held, tuple(dict.fromkeys(gaps)))

    def _marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """The server cannot look for them, so all is listed."""
        asked = [ids] if ids else [{name: value} for name, value in sorted(self._totals())]
        rows = {str(row["id"]): row for one in asked for row in self._list(one)}
        return [row for _, row in sorted(rows.items()) if row_metadata(row).get(key) in values]

    def _post(self, new: Add, day: str | None) -> None:
        """What came of it is found by its mark."""
        ids = dict(new.scope.ids)
        created = {"created_at": new.created_at.isoformat()} if new.created_at else {}
        content = {
            "messages": [{"role": ids.get("role", "user"), "content": new.text}],
            "metadata": {**new.metadata, **created},
            "infer": False,
            **self._session_ids(ids),
            **({"expiration_date": day} if day is not None else {}),
        }
        self._once("POST", "/memories", json=content)

    def _wanted(self, ids: Mapping[str, str]) -> Mapping[str, Any]:
        return dict(ids)

    def _refuses_deletion(self, row: Row) -> str | None:
        """What cannot be written back is not removed."""
        lost = [key for key in _UNREACHABLE if ids_of(row).get(key)]
        return f"memory {row['id']} has an {lost[0]}, which the server cannot write back" if lost else None

    def _totals(self) -> dict[tuple[str, str], int]:
        entities = self._ask("listing entities", "GET", "/entities")
        if not isinstance(entities, list):
            raise self._misshapen("list of entities")
        return {
            (_ENTITIES[item["type"]], str(item["id"])): int(item["total_memories"])
            for item in entities
            if item.get("type") in _ENTITIES
        }

    def _list(self, ids: Mapping[str, str]) -> list[Row]:
        params = {**ids, "top_k": str(LISTED_AT_MOST), "show_expired": "true"}
        answer = self._ask("listing memories", "GET", "/memories", params=params)
        rows = answer.get("results") if isinstance(answer, Mapping) else None
        if not isinstance(rows, list):
            raise self._misshapen("listing")
        return rows

    def _known_faults(self) -> tuple[str, ...]:
        """Why the listing of the server's own vector store cannot be trusted, if that is known."""
        configured = self._ask("reading the configuration", "GET", "/configure", missing_ok=True)
        store = configured.get("vector_store") if isinstance(configured, Mapping) else None
        provider = str(store.get("provider") or "") if isinstance(store, Mapping) else ""
        if not provider:
            return ("the server does not say which vector store it keeps memories in",)
        reason = LISTING_FAULTS.get(provider)
        return (f"the server keeps memories in {provider}: {reason}",) if reason else ()


def _gap(ids: Mapping[str, str], listed: int, totals: Mapping[tuple[str, str], int]) -> list[str]:
    name = " ".join(f"{key}={value}" for key, value in sorted(ids.items()))
    if listed >= LISTED_AT_MOST:
        return [f"the server lists at most {LISTED_AT_MOST} memories, and {name} has as many or more"]
    counted = totals.get(next(iter(ids.items())), 0)
    if len(ids) == 1 and counted != listed:
        return [f"{listed} memories of {name} were listed where the server counts {counted}"]
    return []
