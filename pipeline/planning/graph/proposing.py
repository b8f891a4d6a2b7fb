"""A pass over a knowledge graph: models and limits for its planner, and what follows from answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ....errors import RefusedChangeError
from ....records import ActionKind, Inventory
from ....settings import Settings
from ...actions import Member, Rewrite, Side
from ...answers import unanswered
from ...plan import Plan
from ...rules.graph.attention import weights_of
from ...rules.graph.history import Remembered
from ...rules.graph.nodes import LEARNINGS, Node, nodes_of
from ...rules.graph.settings import GraphSettings
from ...stores.base import ScopeFilter
from ...stores.graph.store import GraphStore
from ...stores.graph.text import BROKEN_LINES
from ..proposal import Means, Proposal
from ..stages import Stages
from .merging import GraphJudging, look_alikes
from .notes import GraphNotes
from .planner import Graph, graph_plan, with_relations
from .relation_plan import with_supersedes

if TYPE_CHECKING:
    from ....models.encoder import Encoder
    from ...judging.cache import OnStage

_HELD = "{count} memories may be forgotten; a person decides."


@dataclass(frozen=True, slots=True)
class GraphFindings:
    """What the planner of a graph found out for its proposal.

    Attributes:
        graph: The graph as it was read.
        means: What it was planned with.
        last: How it stood after the run before; None if there was none.
    """

    graph: Graph
    means: Means
    last: Remembered | None


class GraphPlanner:
    """Plans changes of one graph.

    Attributes:
        graph: Limits of the graph.
        notes: What is noted about it from run to run.
    """

    def __init__(
        self,
        store: GraphStore,
        *,
        limits: GraphSettings | None = None,
        relate: bool = False,
        repair_relations: bool = False,
        wanted: Collection[ActionKind] | None = None,
    ) -> None:
        """Bind a store.

        Args:
            store: Whose memories.
            limits: Limits of the graph; what is not set is as the core memory itself states it.
            relate: Propose new relations.
            repair_relations: Propose to remove relations that lead nowhere or stand twice.
            wanted: Kinds of actions to propose; all if omitted.
        """
        self._store = store
        self._relate = relate
        self._repair_relations = repair_relations
        self._wanted = wanted
        self.graph = _stated(store, limits or GraphSettings())
        self.notes = GraphNotes(store.sidecar)

    def limits(self, settings: Settings) -> Settings:
        """All limits of the core make sense."""
        return settings

    def propose(self, inventory: Inventory, means: Means) -> Proposal:
        """See `Planner.propose`."""
        graph = self._graph(inventory, means.now)
        with Stages(means.observer) as stages:
            plan = graph_plan(graph, self.judging(means, on_stage=stages))
        plan = unanswered(_certain(plan) if means.unattended else plan, means.rejected)
        plan = plan if self._wanted is None else plan.only(*self._wanted)
        return Proposal(plan, plan, GraphFindings(graph, means, self.notes.last))

    def complete(self, proposal: Proposal, choices: Mapping[str, Side | None], means: Means) -> Proposal:
        """With relations that fit merges which a person added, and those that settled conflicts leave."""
        plan = proposal.asked
        if plan.merges != proposal.plan.merges and self._wanted is None:
            plan = with_relations(plan, proposal.findings.graph, self.judging(means))
        return replace(proposal, plan=self.answered(plan, choices))

    def answered(self, plan: Plan, choices: Mapping[str, Side | None]) -> Plan:
        """The losing side goes; a settled contradiction leaves a `supersedes` relation."""
        return with_supersedes(plan.with_choices(choices), self._store.document())

    def completed(self, plan: Plan) -> Plan:
        """With what its answers leave."""
        return self.answered(plan, {})

    def remember(self, *, now: datetime, run: str) -> None:
        """Note the state of every memory, for the next `reflect` and `--if-due`."""
        nodes = nodes_of(self._store.read(ScopeFilter()).memories)
        self.notes.remember(Remembered.of(nodes, now=now, run=run))

    @property
    def core(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each core memory."""
        return self._store.core.statements() if self._store.core is not None else ()

    def judging(self, means: Means, *, on_stage: OnStage | None = None) -> GraphJudging:
        """Models and limits at a moment."""
        return GraphJudging(
            encoder=self._reader(means, on_stage),
            scorer=means.models.scorer
            if _counts_words(means.settings)
            else means.models.asked(on_stage=on_stage),
            settings=self.graph,
            neighbours=means.settings.neighbours,
            floor=means.settings.floor,
            now=means.now,
            thresholds=means.models.calibrated,
            rejected=means.rejected,
        )

    def look_alikes(self, nodes: Sequence[Node], means: Means) -> int:
        """How many memories another one may replace; no scorer is asked for that."""
        near = means.settings.neighbours
        return look_alikes(nodes, self._reader(means), settings=self.graph, neighbours=near)

    def repair(self, now: datetime) -> Plan | None:
        """Move unreadable lines to the archive; None if there is no such line."""
        store = self._store
        count = len(store.document().broken)
        if not count:
            return None
        memory = store.parse(store.fetch([BROKEN_LINES])[BROKEN_LINES])
        move = Rewrite(
            id="broken",
            scope=memory.scope,
            category=memory.category,
            members=(Member.of(memory),),
            text="",
            reason=f"move {count} broken lines to the archive",
        )
        return Plan(store.fingerprint, store.kind, now, "none", totals=(), actions=(move,))

    def _reader(self, means: Means, on_stage: OnStage | None = None) -> Encoder:
        return means.models.encoder if _counts_words(means.settings) else means.models.read(on_stage=on_stage)

    def _graph(self, inventory: Inventory, now: datetime) -> Graph:
        nodes = nodes_of(inventory.memories)
        kept = self.notes.brought_back(now, within=self.graph.forget_unused)
        weights = weights_of(nodes, now=now, settings=self.graph, focus=self.notes.focus)
        return Graph(
            inventory=inventory,
            document=self._store.document(),
            kind=self._store.kind,
            scope=self._store.scope,
            weights=weights | dict.fromkeys(kept, 1.0),
            promotes=self._store.core is not None,
            relates=self._relate,
            repairs=self._repair_relations,
        )


def _counts_words(settings: Settings) -> bool:
    """Words are counted faster than a cache is read."""
    return settings.scorer == "keywords" and settings.encoder in (None, "words")


def _stated(store: GraphStore, given: GraphSettings) -> GraphSettings:
    """The limits that were given, and for all others those that the core memory itself states."""
    if store.core is None:
        return given
    try:
        stated = store.core.limits()
    except RefusedChangeError:  # told when something is to be promoted
        return given
    new = {name: value for name, value in stated.items() if name not in given.model_fields_set}
    return given.model_copy(update=new)


def _certain(plan: Plan) -> Plan:
    """Without the forgetting of what may be a fact about a person, and is no learning."""
    held = {item.id for item in plan.prunes if (item.category or "").casefold() not in LEARNINGS}
    if not held:
        return plan
    kept = tuple(action for action in plan.actions if action.id not in held)
    return replace(plan, actions=kept, notes=(*plan.notes, _HELD.format(count=len(held))))
