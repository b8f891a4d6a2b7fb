"""The kinds of stores: one adapter each, behind the one protocol of `base`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..stores.base import Store
    from ..stores.graph.store import GraphStore
    from ..stores.markdown.store import MarkdownStore
    from .base import Kind

OWN_KINDS = ("md", "graph")
"""Kinds with a way of their own; every other store holds single records, as mem0's do."""


def kind_of(store: Store) -> Kind:
    """The adapter for a store, everything wanted."""
    if store.kind == "md":
        from .markdown import MarkdownKind

        return MarkdownKind(cast("MarkdownStore", store))
    if store.kind == "graph":
        from .graph import GraphKind

        return GraphKind(cast("GraphStore", store))
    from .mem0 import Mem0Kind

    return Mem0Kind(store)
