"""mem0-dream: keeps the long-term memory of AI agents true and small.

    from mem0_dream import consolidate, open_store

    store = open_store("mem0.yaml")
    print(consolidate(store, user_id="alice").plan.merges)

Importing this package loads no model and no database client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import DreamError
    from .pipeline.consolidation import Consolidation, aconsolidate, consolidate, guarded
    from .pipeline.engine import Session
    from .pipeline.plan import Merge, Plan, Prune, Resolve, RunResult, UndoResult
    from .pipeline.stores import open_store
    from .pipeline.writing.access import track_access
    from .records import Evidence, Label, Memory, Scope, Verdict
    from .settings import Settings

__all__ = [
    "Consolidation", "DreamError", "Evidence", "Label", "Memory", "Merge", "Plan", "Prune", "Resolve",
    "RunResult", "Scope", "Session", "Settings", "UndoResult", "Verdict", "aconsolidate", "consolidate",
    "guarded", "open_store", "track_access",
]  # fmt: skip
_PLACES = {
    "errors": "DreamError",
    "records": "Evidence Label Memory Scope Verdict",
    "settings": "Settings",
    "pipeline.plan": "Merge Plan Prune Resolve RunResult UndoResult",
    "pipeline.engine": "Session",
    "pipeline.consolidation": "Consolidation aconsolidate consolidate guarded",
    "pipeline.stores": "open_store",
    "pipeline.writing.access": "track_access",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (a module attribute may be anything)
    """Import a public name when it is first used, so that `import mem0_dream` stays light."""
    place = next((place for place, names in _PLACES.items() if name in names.split()), None)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{place}", __name__), name)
