"""A double of mem0's REST server over a real `Memory`; after `server` of mem0ai/mem0 at 8d5b7865."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from loopback import Reply, Request

LISTED_AT_MOST = 1000
COUNTED_AT_MOST = 10_000
_SESSION = ("user_id", "agent_id", "run_id")
_ADD = ("metadata", "expiration_date", "infer", "memory_type", "prompt")


class ServerDouble:
    """One server over a `mem0.Memory`; everybody is admitted until it has a key (X-API-Key) or a token."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.key: str | None = None
        self.token: str | None = None

    def __call__(self, request: Request) -> Reply:
        if not self._admitted(request):
            return Reply(401, {"detail": "Authentication required."})
        try:
            return self._route(request, [unquote(part) for part in request.path.strip("/").split("/")])
        except ValueError as error:
            return Reply(404 if "not found" in str(error).lower() else 400, {"detail": str(error)})

    def _admitted(self, request: Request) -> bool:
        if self.key is None and self.token is None:
            return True
        if bearer := request.headers.get("authorization", "").removeprefix("Bearer "):
            return bearer == self.token
        return self.key is not None and request.headers.get("x-api-key") == self.key

    def _route(self, request: Request, parts: list[str]) -> Reply:  # noqa: PLR0911  (one for each route)
        body = request.body or {}
        match request.method, parts:
            case "GET", ["configure"]:
                provider = str(self.memory.config.vector_store.provider)
                return Reply(200, {"version": "v1.1", "vector_store": {"provider": provider, "config": {}}})
            case "GET", ["entities"]:
                return Reply(200, self._entities())
            case "GET", ["memories"]:
                return self._list(request.query)
            case "POST", ["memories"]:
                return self._add(body)
            case "GET", ["memories", memory_id]:
                return Reply(200, self.memory.get(memory_id))
            case "PUT", ["memories", memory_id]:
                names = {"text": "data", "metadata": "metadata", "expiration_date": "expiration_date"}
                given = {names[key]: value for key, value in body.items() if key in names}
                return Reply(200, self.memory.update(memory_id, **given))
            case "DELETE", ["memories", memory_id]:
                self.memory.delete(memory_id)
                return Reply(200, {"message": "Memory deleted successfully"})
            case "POST", ["search"]:
                keys = ("top_k", "threshold", "explain", "show_expired")
                given = {key: body[key] for key in keys if body.get(key) is not None}
                found = self.memory.search(body["query"], filters=body.get("filters") or {}, **given)
                return Reply(200, found)
        return Reply(404, {"detail": "Not Found"})

    def _entities(self) -> list[dict[str, Any]]:
        """Users, agents and runs, counted over the first rows alone."""
        listed = self.memory.vector_store.list(top_k=COUNTED_AT_MOST)
        payloads = [row.payload or {} for row in (listed[0] if listed else ())]
        counts = Counter(
            (key, str(payload[key])) for payload in payloads for key in _SESSION if payload.get(key)
        )
        return [
            {"id": name, "type": key.removesuffix("_id"), "total_memories": count}
            for (key, name), count in sorted(counts.items())
        ]

    def _list(self, query: Mapping[str, str]) -> Reply:
        bound = query.get("top_k")
        if bound is not None and not 0 <= int(bound) <= LISTED_AT_MOST:
            return Reply(422, {"detail": [{"loc": ["query", "top_k"], "type": "less_than_equal"}]})
        filters = {key: query[key] for key in _SESSION if query.get(key)}
        if not filters:
            return Reply(403, {"detail": "Admin role required to list all memories."})
        options: dict[str, Any] = {"top_k": int(bound)} if bound is not None else {}
        expired = query.get("show_expired", "false").lower() == "true"
        return Reply(200, self.memory.get_all(filters=filters, show_expired=expired, **options))

    def _add(self, body: Mapping[str, Any]) -> Reply:
        ids = {key: body[key] for key in _SESSION if body.get(key)}
        if not ids:
            return Reply(400, {"detail": "At least one identifier (user_id, agent_id, run_id) is required."})
        given = {key: body[key] for key in _ADD if body.get(key) is not None}
        return Reply(200, self.memory.add(messages=body["messages"], **ids, **given))
