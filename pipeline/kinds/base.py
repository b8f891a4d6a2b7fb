"""A kind of store: the small adapter through which the one engine plans, follows and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from ...models.text.statements import split_statements
from ...records import Inventory, Memory, Verdict
from ...settings import Settings
from ..actions import Action, Resolve
from ..planning.drafts import conflicts_of
from ..planning.hooks import Hooks, Means, Proposal, View

if TYPE_CHECKING:
    from ...models.encoder import Encoder
    from ..judging.check import Known
    from ..reporting.health import Health
    from ..reporting.report import Report
    from ..rules.graph_relevance import Learning, Relevance
    from ..rules.graph_use import GraphSettings
    from ..writing.journal import Journal, Run


class Kind(Hooks, Protocol):
    """One kind of store, bound to a store; the defaults are those of single records."""

    scoped: bool = False  # memories belong to users, agents and runs, and can expire
    explained: bool = False  # the report shows all that changes only with explanations

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
        ...

    def remark(self, journal: Journal, run: Run) -> str:  # noqa: ARG002
        """What there is to add about a run in the list of all."""
        return ""

    def left_out(self) -> list[str]:
        """What of the store may not be read, with the reason."""
        return []

    def besides(self, journal: Journal, run: str) -> list[str]:  # noqa: ARG002
        """What a run did that follows from its actions and has no line among them."""
        return []

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
        known: Known,
        encoder: Encoder,
        now: datetime,
        threshold: int | None = None,
        limits: GraphSettings | None = None,
        core: Sequence[tuple[str, str]] = (),
    ) -> Relevance:
        """Whether something is worth remembering, held against these memories."""
        from ..rules.graph_relevance import relevance
        from ..rules.graph_use import GraphSettings
        from ..stores.graph.entities import nodes_of

        settings = limits or GraphSettings()
        if threshold is not None:
            settings = settings.model_copy(update={"keep_above": threshold})
        return relevance(
            learning, nodes_of(memories), core, known=known, encoder=encoder, settings=settings, now=now
        )

    def condemned(self, inventory: Inventory, means: Means) -> int | None:  # noqa: ARG002
        """How many memories a pass would prune, needing no model; None where age alone decides."""
        return None

    def health(self, inventory: Inventory, means: Means) -> Health:
        """How the memory is doing."""
        from ..reporting.health import health_of_store

        return health_of_store(inventory, means, ages=self.condemned(inventory, means) is None)

    def due(self, now: datetime) -> tuple[bool, str] | None:  # noqa: ARG002
        """Whether a pass is due, and why, by notes of the kind's own; None if there are none."""
        return None

    def remember(self, *, now: datetime, run: str) -> None:  # noqa: ARG002
        """Record the state of the store after a run, if later runs compare with it."""
        return
