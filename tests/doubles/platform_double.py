"""A double of mem0's hosted platform: its documented contract, and the traps that come with it.

    double = PlatformDouble()
    with LoopbackServer(double) as server:
        client = MemoryClient(api_key=double.key, host=server.url)

Written after the published OpenAPI description and guides (mem0ai/mem0 at 8d5b7865): pages of at most 200,
100 by default, cut anew for each request; `session_id` in listings and `run_id` in searches; exact repeats
dropped in silence; additions that are only announced; superseded memories shown, merged ones hidden.
"""

import itertools
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from loopback import Reply, Request

PAGE_SIZE = 100
LARGEST_PAGE = 200
ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
_KEYS = frozenset({*ENTITIES, "AND", "OR", "created_at", "metadata"})
"""Of the keys that a filter may have, those that are asked for."""
_SHOWN = ("user_id", "agent_id", "app_id", "metadata", "categories", "expiration_date", "created_at")
_LATER = ("updated_at", "replaced_by", "synthesized", "structured_attributes", "immutable", "evidence")


class _BadRequestError(Exception):
    """Answered with 400."""


@dataclass
class PlatformDouble:
    key: str = "m0-double"
    org: str = "org-double"
    project: str = "project-double"
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    pending: int = 0  # how many looks an addition takes; 0 answers it at once
    failing: bool = False  # additions that are only announced fail in the end
    replaces_metadata: bool = False  # an update replaces metadata as a whole instead of adding keys
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id, the newest last
    _events: dict[str, dict[str, Any]] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def put(self, text: str, *, created_at: datetime | None = None, **fields: Any) -> str:
        memory_id = self._new_id()
        moment = (created_at or self.clock()).isoformat()
        row = {"id": memory_id, "memory": text, "metadata": None, "categories": None} | fields
        self.rows[memory_id] = {"created_at": moment, "updated_at": moment} | row
        return memory_id

    def _new_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.project}/{next(self._numbers)}"))

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Token {self.key}":
            return Reply(401, {"detail": "Invalid API key."})
        parts = [unquote(part) for part in request.path.strip("/").split("/")]
        try:
            return self._route(request, parts)
        except _BadRequestError as error:
            return Reply(400, {"error": str(error)})

    def _route(self, request: Request, parts: list[str]) -> Reply:  # noqa: PLR0911  (one for each route)
        body = request.body or {}
        match request.method, parts:
            case "GET", ["v1", "ping"]:
                told = {"status": "ok", "org_id": self.org, "project_id": self.project}
                return Reply(200, told | {"user_email": "double@example.com"})
            case "POST", ["v3", "memories"]:
                return self._list(body, request.query)
            case "POST", ["v3", "memories", "add"]:
                return self._add(body)
            case "POST", ["v3", "memories", "search"]:
                return self._search(body)
            case method, ["v1", "memories", memory_id] if method in ("GET", "PUT", "DELETE"):
                return self._single(method, memory_id, body)
            case "GET", ["v1", "event", event_id]:
                return self._event(event_id)
        return Reply(404, {"detail": "Not found."})

    def _list(self, body: Mapping[str, Any], query: Mapping[str, str]) -> Reply:
        number = int(query.get("page", body.get("page", 1)))
        size = int(query.get("page_size", body.get("page_size", PAGE_SIZE)))
        if not 1 <= size <= LARGEST_PAGE:
            raise _BadRequestError(f"page_size must be between 1 and {LARGEST_PAGE}.")
        _refuse_filters(body.get("filters"))
        rows = [row for row in reversed(self.rows.values()) if self._visible(row, body)]
        rest = rows[(number - 1) * size :]
        if number > 1 and not rest:
            return Reply(404, {"detail": "Invalid page."})
        address = f"https://api.mem0.ai/v3/memories/?page_size={size}&page="
        told: dict[str, Any] = {"next": f"{address}{number + 1}" if len(rest) > size else None}
        told |= {"previous": f"{address}{number - 1}" if number > 1 else None, "count": len(rows)}
        return Reply(200, told | {"results": [_shown(row, "session_id") for row in rest[:size]]})

    def _visible(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
        if row.get("lifecycle_state") == "merged" and not body.get("include_merged"):
            return False
        last = str(row.get("expiration_date") or "9999-12-31")
        expired = last < self.clock().date().isoformat()
        return (body.get("show_expired") or not expired) and _matches(row, body["filters"])

    def _add(self, body: Mapping[str, Any]) -> Reply:
        scope = {key: body.get(key) for key in ENTITIES}
        if not any(scope.values()):
            raise _BadRequestError("At least one entity ID is required.")
        if not isinstance(body.get("messages"), list):
            raise _BadRequestError("messages is required.")
        event = self._new_id()
        if self.pending and self.failing:
            self._events[event] = {"left": self.pending, "results": [], "status": "FAILED"}
            return Reply(200, {"event_id": event, "status": "PENDING"})
        results = []
        for message in body["messages"]:
            if message.get("role") == "system" or not isinstance(message.get("content"), str):
                continue
            added = self._stored(message["content"], scope, body)
            if added:
                results.append({"id": added, "data": {"memory": message["content"]}, "event": "ADD"})
        if self.pending or body.get("infer", True):
            self._events[event] = {"left": self.pending, "results": results, "status": "SUCCEEDED"}
            return Reply(200, {"event_id": event, "status": "PENDING"})
        told = {"message": "Memories stored successfully", "status": "SUCCEEDED", "event_id": event}
        return Reply(200, told | {"results": results})

    def _stored(self, text: str, scope: Mapping[str, Any], body: Mapping[str, Any]) -> str | None:
        """Store one text; an exact repeat in its scope is dropped without a word."""
        same = (row for row in self.rows.values() if all(row.get(k) == v for k, v in scope.items()))
        if any(row["memory"] == text for row in same):
            return None
        moment = body.get("timestamp")
        created = datetime.fromtimestamp(moment, UTC) if moment is not None else None
        fields = {"metadata": body.get("metadata"), "expiration_date": body.get("expiration_date")}
        added = self.put(text, created_at=created, **scope, **fields)
        self.rows[added]["updated_at"] = self.clock().isoformat()
        return added

    def _search(self, body: Mapping[str, Any]) -> Reply:
        query, bound = body.get("query"), int(body.get("top_k", 10))
        if not isinstance(query, str) or not query.strip():
            raise _BadRequestError("query must not be empty.")
        if not 1 <= bound <= 1000:
            raise _BadRequestError("top_k must be between 1 and 1000.")
        _refuse_filters(body.get("filters"))
        wanted = set(query.lower().split())
        scored = []
        for row in (row for row in self.rows.values() if self._visible(row, body)):
            words = set(str(row["memory"]).lower().split())
            scored.append((len(wanted & words) / max(len(wanted | words), 1), row))
        least = float(body.get("threshold", 0.1))
        scored = sorted((item for item in scored if item[0] >= least), key=lambda item: -item[0])
        results = [_shown(row, "run_id") | {"score": score} for score, row in scored[:bound]]
        return Reply(200, {"results": results})

    def _single(self, method: str, memory_id: str, body: Mapping[str, Any]) -> Reply:
        try:
            uuid.UUID(memory_id)
        except ValueError:
            return Reply(400, {"error": "memory_id should be a valid UUID"})
        row = self.rows.get(memory_id)
        if row is None:
            return Reply(404, {"error": "Memory not found!"})
        if method == "DELETE":
            return self._delete(memory_id)
        if method == "PUT" and row.get("immutable"):
            return Reply(400, {"error": "Memory is immutable."})
        if method == "PUT":
            self._update(row, body)
        return Reply(200, _shown(row, "session_id"))

    def _update(self, row: dict[str, Any], body: Mapping[str, Any]) -> None:
        names = {"text": "memory", "metadata": "metadata", "expiration_date": "expiration_date"}
        before = {} if self.replaces_metadata else row.get("metadata") or {}
        row |= {names[key]: value for key, value in body.items() if key in names}
        row["metadata"] = before | body["metadata"] if "metadata" in body else row.get("metadata")
        row["updated_at"] = self.clock().isoformat()

    def _delete(self, memory_id: str) -> Reply:
        del self.rows[memory_id]
        for row in self.rows.values():
            if row.get("replaced_by") == memory_id:
                row["replaced_by"] = None  # nothing supersedes it any more
        return Reply(200, {"message": "Memory deleted successfully!"})

    def _event(self, event_id: str) -> Reply:
        event = self._events.get(event_id)
        if event is None:
            return Reply(404, {"error": "Event not found or you don't have permission to access it."})
        event["left"] -= 1
        done = event["left"] <= 0
        status = event["status"] if done else "RUNNING"
        return Reply(200, {"id": event_id, "status": status, "results": event["results"] if done else []})


def _shown(row: Mapping[str, Any], run: str) -> dict[str, Any]:
    """A record as an endpoint returns it: the run has another name in each."""
    shown = {"id": row["id"], "memory": row["memory"], run: row.get("run_id")}
    shown |= {key: row.get(key) for key in _SHOWN}
    return shown | {key: row[key] for key in (*_LATER, "lifecycle_state", "linked_memory_ids") if key in row}


def _refuse_filters(filters: Any) -> None:
    if not isinstance(filters, Mapping) or not _names_entity(filters):
        raise _BadRequestError("filters must include at least one entity ID.")


def _names_entity(filters: Any) -> bool:
    if isinstance(filters, list):
        return any(_names_entity(part) for part in filters)
    if not isinstance(filters, Mapping):
        return False
    unknown = filters.keys() - _KEYS
    if unknown:
        raise _BadRequestError(f"Top-level key must be a logical operator or an allowed field: {unknown}")
    return any(key in ENTITIES or _names_entity(value) for key, value in filters.items())


def _matches(row: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    return all(_holds(row, key, value) for key, value in filters.items())


def _holds(row: Mapping[str, Any], key: str, value: Any) -> bool:
    if key in ("AND", "OR"):
        return (all if key == "AND" else any)(_matches(row, part) for part in value)
    if key == "metadata":
        return all((row.get("metadata") or {}).get(name) == wanted for name, wanted in value.items())
    held = row.get(key)
    if value == "*":
        return held is not None
    return bool(held <= value["lte"] if isinstance(value, Mapping) else held == value)
