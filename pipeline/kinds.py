"""What differs between kinds of stores, as data: who plans for them, and who reports.

A kind that is not named here is a store of single records, such as mem0's, and needs nothing of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from .planning.graph.proposing import GraphPlanner
    from .planning.proposal import Planner, Proposal
    from .reporting.passing import PassReport
    from .stores.base import Store
    from .stores.graph.store import GraphStore
    from .stores.markdown.store import MarkdownStore
    from .writing.journal import Journal, Run


class MakesReport(Protocol):
    """Makes what shows a proposal to a person."""

    def __call__(
        self,
        store: Store,
        planner: Planner,
        journal: Journal,
        proposal: Proposal,
        /,
        *,
        explain: bool,
        texts: bool,
    ) -> PassReport:
        """The report of a proposal for a store; see `Session.reporter`."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of store.

    Attributes:
        scoped: Its memories belong to users, agents and runs, and can expire.
        planner: Plans for a store of this kind.
        report: Shows a proposal.
        remark: What there is to add about a run in the list of all.
    """

    scoped: bool
    planner: Callable[[Store], Planner]
    report: MakesReport
    remark: Callable[[Store, Journal, Run], str] = lambda _store, _journal, _run: ""


def kind_of(store: Store) -> Kind:
    """The kind of a store."""
    return KINDS.get(store.kind, PLAIN)


def _plain_planner(store: Store) -> Planner:
    from .planning.plain import PlainPlanner

    return PlainPlanner(store)


def _plain_report(
    _store: Store, _planner: Planner, _journal: Journal, proposal: Proposal, /, *, explain: bool, texts: bool
) -> PassReport:
    from .reporting.passing import PassReport

    return PassReport(proposal.plan, explain=explain, texts=texts)


def _markdown_planner(store: Store) -> Planner:
    from .planning.markdown.planner import MarkdownPlanner

    return MarkdownPlanner(cast("MarkdownStore", store))


def _markdown_report(
    store: Store,
    planner: Planner,
    _journal: Journal,
    proposal: Proposal,
    /,
    *,
    explain: bool,
    texts: bool,  # noqa: ARG001  (they are always shown)
) -> PassReport:
    from .planning.markdown.planner import MarkdownPlanner
    from .reporting.markdown.report import MarkdownReport, PlanReport

    if proposal.findings is None or not isinstance(planner, MarkdownPlanner):
        return PlanReport(proposal.plan, explain=explain)
    evidence = planner.evidence(proposal.findings.survey)
    directories = cast("MarkdownStore", store).directories
    return MarkdownReport(proposal, directories=directories, evidence=evidence, explain=explain)


def _graph_planner(store: Store) -> Planner:
    from .planning.graph.proposing import GraphPlanner

    return GraphPlanner(cast("GraphStore", store))


def _graph_report(
    store: Store,
    planner: Planner,
    journal: Journal,
    proposal: Proposal,
    /,
    *,
    explain: bool,
    texts: bool,  # noqa: ARG001  (what is forgotten is archived)
) -> PassReport:
    from .reporting.graph.passing import GraphReporter

    graph = cast("GraphStore", store)
    return GraphReporter(graph, cast("GraphPlanner", planner), journal, proposal, explain=explain)


def _graph_remark(store: Store, journal: Journal, run: Run) -> str:
    from .reporting.graph.passing import changes_of_run

    changes = changes_of_run(run.id, journal, cast("GraphStore", store))
    return f", {changes.counts}" if changes else ""


PLAIN = Kind(scoped=True, planner=_plain_planner, report=_plain_report)
KINDS = {
    "md": Kind(scoped=False, planner=_markdown_planner, report=_markdown_report),
    "graph": Kind(scoped=False, planner=_graph_planner, report=_graph_report, remark=_graph_remark),
}
"""Kinds with a way of their own, by the name that their stores give."""
