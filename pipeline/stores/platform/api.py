"""Single requests of mem0's hosted platform, through mem0's own `MemoryClient`.

Only what changes one memory is ever asked for: no batch, no `delete_all`, no linked deletion. What the
client has no method for (the state of an event) goes through its own connection.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import StoreError
from ..remote.calling import Caller
from ..remote.rows import Listing, New, Row, row_metadata
from .listing import PAGE_SIZE, Filters, list_all

_FINGERPRINT_DIGITS = 16
_RUNNING = frozenset({"PENDING", "RUNNING"})
_EVENT_LOOKS = 40
FIDELITY = (
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


class PlatformApi:
    """The hosted platform behind one key.

    Args:
        client: mem0's own client.
        caller: Makes its requests.
        owned: Whether `close` closes the client's connections.
    """

    kind = "platform"
    fidelity = FIDELITY
    scope_keys = ("user_id", "agent_id", "app_id", "run_id")

    def __init__(self, client: Any, caller: Caller, *, owned: bool = False) -> None:  # noqa: ANN401
        self._client, self.caller, self._owned = client, caller, owned

    @property
    def fingerprint(self) -> str:
        """Equal for equal projects, whichever key opens them."""
        return platform_fingerprint(self._client)

    def listing(self, ids: Mapping[str, str]) -> Listing:
        """Every memory that holds these ids, expired ones included; merged ones are told apart."""
        return list_all(self._page, ids)

    def get(self, memory_id: str) -> Row | None:
        """One memory; None only if the platform itself says that there is none."""

        def request() -> Row | None:
            """Ask once."""
            from mem0.exceptions import MemoryNotFoundError

            try:
                answer = self._client.get(memory_id)
            except MemoryNotFoundError as error:
                if not error.details:  # something on the way says so, not the platform
                    raise StoreError(
                        f"{self.caller.service} was not reached: an answer without content said 404."
                    ) from None
                return None
            return _record(answer)

        return self.caller.ask(f"reading memory {memory_id}", request)

    def marked(self, key: str, values: Sequence[str], ids: Mapping[str, str]) -> list[Row]:
        """Memories of which a metadata key holds one of the values."""
        rows: list[Row] = []
        for value in values:
            scope: list[Any] = [{name: held} for name, held in sorted(ids.items())]
            anywhere = {"OR": [{name: "*"} for name in self.scope_keys]}
            filters = {"AND": [*(scope or [anywhere]), {"metadata": {key: value}}]}
            page = self._page(filters, 1, True)
            rows += [row for row in page.get("results", ()) if row_metadata(row).get(key) == value]
        return rows

    def add(self, new: New, *, mark: tuple[str, str]) -> str | None:
        """Write a memory verbatim; None if the platform drops it as an exact repeat."""
        options: dict[str, Any] = {**new.ids, "infer": False, "metadata": dict(new.metadata)}
        if new.created_at is not None:
            options["timestamp"] = int(new.created_at.timestamp())
        if new.expires is not None:
            options["expiration_date"] = new.expires

        def earlier() -> str | None:
            """What an attempt wrote of which the answer was lost."""
            added = self.marked(mark[0], [mark[1]], new.ids)
            return min((str(row["id"]) for row in added), default=None)

        def request() -> str | None:
            """Ask once."""
            messages = [{"role": "user", "content": new.text}]
            return self._added(self._client.add(messages, **options))

        return self.caller.ask("adding a memory", request, instead=earlier) or earlier()

    def update(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        """Change a memory; repeating the request changes nothing more."""
        self.caller.ask(
            f"changing memory {memory_id}", lambda: self._client.update(memory_id, **dict(changes))
        )

    def delete(self, memory_id: str) -> None:
        """Delete one memory and nothing that is linked to it."""

        def request() -> None:
            """Ask once; an earlier attempt may have done it."""
            from mem0.exceptions import MemoryNotFoundError

            try:
                self._client.delete(memory_id)
            except MemoryNotFoundError:
                return

        self.caller.ask(f"deleting memory {memory_id}", request)

    def search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        """Ids of what an agent's search finds."""
        filters = {"AND": [{key: value} for key, value in sorted(ids.items())]}
        answer = self.caller.ask(
            "searching",
            lambda: self._client.search(query, filters=filters, top_k=bound, threshold=0.0),
        )
        return [str(row["id"]) for row in answer.get("results", ())]

    def refuses_deletion(self, row: Row) -> str | None:
        """A memory that superseded others keeps them from coming back."""
        return _LINKED.format(id=row["id"]) if row.get("linked_memory_ids") else None

    def close(self) -> None:
        """Close the connections, if they were opened here."""
        if self._owned:
            self._client.client.close()

    def _page(self, filters: Filters, number: int, merged: bool) -> Mapping[str, Any]:  # noqa: FBT001
        """One page of a listing; number 0 asks for the count alone."""
        options: dict[str, Any] = {"filters": filters, "show_expired": True}
        options |= {"include_merged": True} if merged else {}
        place = {"page": number or 1, "page_size": PAGE_SIZE if number else 1}

        def request() -> Any:  # noqa: ANN401
            """Ask once; what was on the last page may have moved to the one before it."""
            from mem0.exceptions import MemoryNotFoundError

            try:
                return self._client.get_all(**options, **place)
            except MemoryNotFoundError:
                if number < 2:
                    raise
                return {"count": -1, "next": None, "results": []}

        answer = self.caller.ask("listing memories", request)
        if not isinstance(answer, Mapping):
            raise StoreError("The platform's listing has another form than expected; nothing was changed.")
        return answer

    def _added(self, answer: Any) -> str | None:  # noqa: ANN401
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

        def request() -> Mapping[str, Any]:
            """Ask once; the client has no method for this."""
            response = self._client.client.get(f"/v1/event/{event_id}/")
            response.raise_for_status()
            return dict(response.json())

        def probe() -> Mapping[str, Any]:
            """Ask until there is an answer."""
            return self.caller.ask("the state of an addition", request)

        told = probe()
        for _ in range(_EVENT_LOOKS // self.caller.patience.looks):
            if told.get("status") not in _RUNNING:
                break
            told = self.caller.look(probe, until=lambda event: event.get("status") not in _RUNNING)
        return told


def platform_fingerprint(client: Any) -> str:  # noqa: ANN401
    """Sixteen hexadecimal digits: equal for equal projects; of the key itself only where it names none."""
    place: list[str] = [str(client.host).rstrip("/").lower()]
    if client.org_id and client.project_id:
        place += [str(client.org_id), str(client.project_id)]
    else:
        place.append(hashlib.sha256(str(client.api_key).encode()).hexdigest())
    digest = hashlib.sha256(json.dumps(["platform", *place]).encode()).hexdigest()
    return digest[:_FINGERPRINT_DIGITS]


def _record(answer: Any) -> Row:  # noqa: ANN401
    if not isinstance(answer, Mapping) or "memory" not in answer:
        raise StoreError("The platform's record has another form than expected; nothing was changed.")
    return answer
