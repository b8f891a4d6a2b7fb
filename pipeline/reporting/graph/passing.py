"""The report of a pass over a graph, with its health before and after and its changed relations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ....records import Inventory
from ...actions import Resolve
from ...answers import with_pins
from ...planning.graph.proposing import GraphFindings, GraphPlanner
from ...planning.graph.relation_plan import RelationChanges, relation_changes
from ...planning.graph.relations import dangling, orphans
from ...planning.plan_file import parse_plan
from ...planning.proposal import Means, Proposal
from ...results import RunResult
from ...rules.graph.nodes import Node, nodes_of
from ...stores.base import ScopeFilter
from ...stores.graph.lines import GraphDocument
from ...stores.graph.store import GraphStore
from ...stores.graph.usage import advice
from ...writing.journal import Journal, Outcome
from ..passing import UNCHANGED, PassReport, likely
from ..report import auto_summary, moved_lines, one_line, summary
from .health import Health, graph_health
from .report import GraphReport, Passed, passed_lines


@dataclass(frozen=True, slots=True)
class GraphState:
    """A graph at one moment.

    Attributes:
        nodes: Its entities by name.
        orphans: Those without a relation.
        health: How it is doing.
    """

    nodes: dict[str, Node]
    orphans: tuple[str, ...]
    health: Health

    @classmethod
    def of(
        cls, inventory: Inventory, document: GraphDocument, planner: GraphPlanner, means: Means
    ) -> GraphState:
        """Compute the state; nothing is planned, and no pair is judged."""
        nodes, last = nodes_of(inventory.memories), planner.notes.last
        alone = tuple(orphans(document.names, document.relations))
        health = graph_health(
            nodes,
            duplicates=planner.look_alikes(nodes, means),
            orphans=len(alone),
            settings=planner.graph,
            now=means.now,
            gaps=inventory.gaps,
            last=last.at if last else None,
        )
        return cls({node.id: node for node in nodes}, alone, health)


class GraphReporter(GraphReport):
    """Renders one pass over a graph."""

    def __init__(
        self,
        store: GraphStore,
        planner: GraphPlanner,
        journal: Journal,
        proposal: Proposal,
        *,
        explain: bool = False,
    ) -> None:
        """Bind what is shown.

        Args:
            store: The graph; relations are shown as they stand in it now.
            planner: Made the proposal.
            journal: Knows what became of a run.
            proposal: What to show.
            explain: Add texts, scores and evidence under each line.
        """
        document = store.document()
        changes = relation_changes(document, proposal.plan.actions)
        kept = set(dangling(document.names, document.relations)) - set(changes.removed)
        super().__init__(proposal.plan, explain=explain, relations=changes, open_relations=sorted(kept))
        self._store = store
        self._planner = planner
        self._journal = journal
        self._findings: GraphFindings | None = proposal.findings

    def dry_run(self) -> list[str]:
        """What a pass would do; see `PassReport.dry_run`."""
        self._refuse_unseen()
        actions = self._plan.actions
        lines = [*self.lines(), self.proposal(), *self.left_open()] if actions else self.nothing()
        lines += self._asides()
        lines += [*self._gaps(), UNCHANGED] if actions else []
        return [*lines, *(self.unsure_lines() if self._explain else [])]

    def opening(self, *, asks: bool) -> list[str]:
        """What a person is shown before the questions; see `PassReport.opening`."""
        self._refuse_unseen()
        shown = self.lines() if self._plan.actions or asks else self.nothing()
        return [*shown, *self._asides()]

    def sides(self, conflict: Resolve) -> list[str]:
        """Both observations, whole."""
        texts = {member.id: member.text for member in conflict.members}
        return [
            f"  {side}: {one_line(texts[ids[0]])}{likely(conflict, side)}"
            for side, ids in (("A", conflict.a), ("B", conflict.b))
        ]

    def changed(self, before: PassReport) -> list[str]:
        """The relations, where the answers change them."""
        lines = self.relation_lines()
        return [] if isinstance(before, GraphReport) and lines == before.relation_lines() else lines

    def done(self, result: RunResult, *, auto: bool, took: timedelta) -> list[str]:
        """The report of the original; see `PassReport.done`."""
        if self._findings is None:
            return super().done(result, auto=auto, took=took)
        means, last = self._findings.means, self._findings.last
        before, after, changes = self._before(self._findings), self._after(means), self._changes(result)
        passed = Passed(
            plan=self._plan,
            result=result,
            before=before.health,
            after=after.health,
            nodes=before.nodes,
            orphans=after.orphans,
            previous=last.at if last else None,
            at=means.now,
            took=took,
            archive=str(self._store.archive),
            relations=changes,
        )
        lines = passed_lines(passed, self._planner.graph)
        if not auto:
            moved = moved_lines(result, self._plan, self)
            return [*lines, *moved, "", f"{summary(result)}, {changes.counts}", *self.left_open()]
        line = auto_summary(result, conflicts=len(self._plan.conflicts) + self._plan.left_open)
        counts = (
            f" relations_added={len(changes.added)} relations_moved={len(changes.moved)}"
            f" relations_removed={len(changes.removed)}"
        )
        return [*lines, "", line + counts]

    def to_json(self, result: RunResult | None) -> dict[str, Any]:
        """The report as JSON, with the relations, and after a run with the health before and afterwards."""
        findings = self._findings if result is not None else None
        return super().to_json(result) | {
            "health": self._after(findings.means).health.to_json() if findings else None,
            "health_before": self._before(findings).health.to_json() if findings else None,
            "relations": (self._changes(result) if result else self._relations).to_json(),
        }

    def _before(self, findings: GraphFindings) -> GraphState:
        return GraphState.of(findings.graph.inventory, findings.graph.document, self._planner, findings.means)

    def _after(self, means: Means) -> GraphState:
        inventory = with_pins(self._store.read(ScopeFilter()), means.answers)
        return GraphState.of(inventory, self._store.document(), self._planner, means)

    def _changes(self, result: RunResult) -> RelationChanges:
        return changes_of_run(result.run, self._journal, self._store) or RelationChanges()

    def _asides(self) -> list[str]:
        """Remarks about what is not changed."""
        memories = self._findings.graph.inventory.memories if self._findings else ()
        return [*self.open_lines(), *advice(memory.metadata["observations"] for memory in memories)]


def changes_of_run(run: str, journal: Journal, store: GraphStore) -> RelationChanges | None:
    """What a run did to relations; None if the state before it is not known any more."""
    changes = journal.changes(run) if run else ()
    touched = next((change.memory for change in changes if change.memory), None)
    if touched is None:
        return RelationChanges()
    before = store.sidecar.image(journal.snapshot(run, touched).links[0]["sha"])
    if before is None:
        return None
    done = {name for name, (outcome, _) in journal.outcomes(run).items() if outcome is Outcome.APPLIED}
    actions = parse_plan(journal.run(run).plan).actions
    return relation_changes(GraphDocument.parse(before), [action for action in actions if action.id in done])
