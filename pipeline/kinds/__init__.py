"""The kinds of stores: one small adapter each, through which the one engine plans, follows and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, Protocol, cast

from ...models.text.statements import split_statements
from ...records import Inventory, Memory, Verdict
from ...settings import Settings
from ..plan import Action, Resolve
from ..planning.drafts import conflicts_of
from ..planning.graph_relations import RelationChanges
from ..planning.hooks import Hooks, Means, Proposal, View
from ..reporting.health import Health, health_of_store
from ..reporting.report import Report
from ..rules.graph_relevance import Learning, Relevance, relevance
from ..rules.graph_use import GraphSettings
from ..stores.base import Store
from ..stores.graph.entities import nodes_of
from ..writing.journal import Journal


class Kind(Hooks, Protocol):
    """One kind of store, bound to a store; the defaults are those of single records."""

    scoped: bool = False  # memories belong to users, agents and runs, and can expire
    explained: bool = False  # the report shows all that changes only with explanations
    graph: GraphSettings = GraphSettings()  # by which use, age and relevance are weighed

    @property
    def core(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each core memory, beside which a graph stands."""
        return ()

    def limits(self, settings: Settings) -> Settings:
        """The same limits, as far as they make sense for this kind."""
        return settings

    def conflicts(
        self, view: View, verdicts: Sequence[Verdict], actions: Sequence[Action]
    ) -> Sequence[Resolve]:
        """One for each two facts that contradict."""
        return conflicts_of(view, verdicts, actions)

    def report(self, proposal: Proposal, journal: Journal, *, explain: bool) -> Report:
        """What shows a proposal to a person; see `Session.reporter`."""

    def left_out(self) -> list[str]:
        """What of the store may not be read, with the reason."""
        return []

    def relations(self, journal: Journal, run: str) -> RelationChanges | None:
        """What a run did to relations, which have no line among its actions; None if that is not known."""
        return None

    def spoken(self, inventory: Inventory, today: date) -> Iterator[tuple[Memory, Sequence[str]]]:
        """What a new text is held against: each living memory as it is judged, with its statements."""
        for memory in inventory.memories:
            if not memory.is_retired(today):
                yield memory, split_statements(memory.text)

    def relevance(
        self,
        learning: Learning,
        memories: Sequence[Memory],
        *,
        threshold: int | None = None,
        **asked: Any,  # noqa: ANN401
    ) -> Relevance:
        """Whether something is worth remembering; `threshold`: from which score on."""
        limits = {} if threshold is None else {"keep_above": threshold}
        settings = self.graph.model_copy(update=limits)
        return relevance(learning, nodes_of(memories), self.core, settings=settings, **asked)

    def condemned(self, inventory: Inventory, means: Means) -> int | None:
        """How many memories a pass would prune, needing no model; None where age alone decides."""
        return None

    def health(self, inventory: Inventory, means: Means) -> Health:
        """How the memory is doing."""
        return health_of_store(inventory, means, ages=self.condemned(inventory, means) is None)

    def due(self, now: datetime) -> tuple[bool, str] | None:
        """Whether a pass is due, and why, by notes of the kind's own; None if there are none."""
        return None

    def remember(self, *, now: datetime, run: str) -> None:
        """Record the state of the store after a run, if later runs compare with it."""
        return


def kind_of(store: Store) -> Kind:
    """The adapter for a store, everything wanted."""
    if store.kind == "md":
        from .markdown import MarkdownKind

        return MarkdownKind(cast("Any", store))
    if store.kind == "graph":
        from .graph import GraphKind

        return GraphKind(cast("Any", store))
    from .mem0 import Mem0Kind

    return Mem0Kind(store)
