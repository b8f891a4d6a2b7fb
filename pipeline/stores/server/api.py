"""Single requests of mem0's self-hosted REST server, whose routes are its own.

It lists at most 1000 memories of a scope, without pages. A scope that reaches the bound, or of which the
server's own count differs, cannot be seen whole and is never written to. `delete-all`, `reset` and
`configure` are never called.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ....errors import StoreError
from ..mem0.backends import LISTING_FAULTS
from ..remote.calling import Caller
from ..remote.rows import Listing, New, Row, ids_of, row_metadata

if TYPE_CHECKING:
    import httpx

LISTED_AT_MOST = 1000
"""The server refuses a larger `top_k`, and has no pages."""
COUNTED_AT_MOST = 10_000
"""Rows that the server looks at for its list of entities."""
_FINGERPRINT_DIGITS = 16
_ENTITIES = {"user": "user_id", "agent": "agent_id", "run": "run_id"}
_UNREACHABLE = ("actor_id",)
FIDELITY = (
    (
        "a mem0 server gives no deleted id out again: an undo brings a deleted memory back, with its text, "
        "scope, metadata and expiry, under a new id; with --retire nothing is deleted and ids stay"
    ),
    (
        "the server dates changes itself: earlier dates are kept in the metadata (mem0_dream_dates), and a "
        "key that a merge added stays there, emptied, after an undo"
    ),
    "every change of a memory embeds its text again, on the server",
)


class ServerApi:
    """A mem0 server behind one address.

    Args:
        client: Connections to it, with its address and key.
        caller: Makes its requests.
    """

    kind = "server"
    fidelity = FIDELITY
    scope_keys = ("user_id", "agent_id", "run_id")

    def __init__(self, client: httpx.Client, caller: Caller) -> None:
        self._client, self.caller = client, caller

    @property
    def fingerprint(self) -> str:
        """Equal for equal addresses."""
        place = json.dumps(["server", str(self._client.base_url).rstrip("/").lower()])
        return hashlib.sha256(place.encode()).hexdigest()[:_FINGERPRINT_DIGITS]

    def listing(self, ids: Mapping[str, str]) -> Listing:
        """Every memory that holds these ids, or of every entity, as far as the server lists them."""
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

    def get(self, memory_id: str) -> Row | None:
        """One memory; the server answers null for one that it does not have."""
        row = self._ask(f"reading memory {memory_id}", "GET", _path(memory_id))
        if row is not None and not (isinstance(row, Mapping) and "memory" in row):
            raise StoreError("The server's record has another form than expected; nothing was changed.")
        return row

    def marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """Memories of which a metadata key holds one of the values; the server cannot look for them."""
        asked = [dict(ids)] if ids else [{name: value} for name, value in sorted(self._totals())]
        rows = {str(row["id"]): row for one in asked for row in self._list(one)}
        return [row for _, row in sorted(rows.items()) if row_metadata(row).get(key) in values]

    def add(self, new: New, *, mark: tuple[str, str]) -> str | None:
        """Write a memory verbatim; of one that was delivered twice the second copy is removed."""
        role = new.ids.get("role", "user")
        created = {"created_at": new.created_at.isoformat()} if new.created_at else {}
        content: dict[str, Any] = {
            "messages": [{"role": role, "content": new.text}],
            "metadata": {**new.metadata, **created},
            "infer": False,
            **{key: value for key, value in new.ids.items() if key in self.scope_keys},
        }
        if new.expires is not None:
            content["expiration_date"] = new.expires
        ids = {key: value for key, value in new.ids.items() if key in self.scope_keys}

        def earlier() -> str | None:
            """What an attempt wrote of which the answer was lost."""
            return next((str(row["id"]) for row in self.marked(mark[0], [mark[1]], ids)), None)

        def request() -> Any:  # noqa: ANN401
            """Ask once."""
            return self._once("POST", "/memories", json=content)

        self.caller.ask("adding a memory", request, instead=earlier)
        copies = [str(row["id"]) for row in self.marked(mark[0], [mark[1]], ids)]
        for copy in copies[1:]:
            self.delete(copy)
        return copies[0] if copies else None

    def update(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        """Change a memory; repeating the request changes nothing more."""
        self._ask(f"changing memory {memory_id}", "PUT", _path(memory_id), json=dict(changes))

    def delete(self, memory_id: str) -> None:
        """Delete one memory; an earlier attempt may have done it."""
        self._ask(f"deleting memory {memory_id}", "DELETE", _path(memory_id), missing_ok=True)

    def search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        """Ids of what an agent's search finds."""
        content = {"query": query, "filters": dict(ids), "top_k": bound, "threshold": 0.0}
        answer = self._ask("searching", "POST", "/search", json=content)
        return [str(row["id"]) for row in answer.get("results", ())]

    def refuses_deletion(self, row: Row) -> str | None:
        """What cannot be written back is not removed."""
        lost = [key for key in _UNREACHABLE if ids_of(row).get(key)]
        return f"memory {row['id']} has an {lost[0]}, which the server cannot write back" if lost else None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _totals(self) -> dict[tuple[str, str], int]:
        """How many memories the server counts for each user, agent and run."""
        entities = self._ask("listing entities", "GET", "/entities")
        if not isinstance(entities, list):
            raise StoreError("The server's list of entities has another form than expected.")
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
            raise StoreError("The server's listing has another form than expected; nothing was changed.")
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

    def _ask(
        self,
        what: str,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,  # noqa: ANN401
        missing_ok: bool = False,
    ) -> Any:  # noqa: ANN401
        return self.caller.ask(
            what, lambda: self._once(method, path, params=params, json=json, missing_ok=missing_ok)
        )

    def _once(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,  # noqa: ANN401
        missing_ok: bool = False,
    ) -> Any:  # noqa: ANN401
        response = self._client.request(method, path, params=params, json=json)
        if missing_ok and response.status_code == 404:
            return None
        response.raise_for_status()
        return response.json()


def _gap(ids: Mapping[str, str], listed: int, totals: Mapping[tuple[str, str], int]) -> list[str]:
    """Why the listing of one scope does not hold all of it."""
    name = " ".join(f"{key}={value}" for key, value in sorted(ids.items()))
    if listed >= LISTED_AT_MOST:
        return [f"the server lists at most {LISTED_AT_MOST} memories, and {name} has as many or more"]
    counted = totals.get(next(iter(ids.items())), 0)
    if len(ids) == 1 and counted != listed:
        return [f"{listed} memories of {name} were listed where the server counts {counted}"]
    return []


def _path(memory_id: str) -> str:
    return f"/memories/{quote(memory_id, safe='')}"
