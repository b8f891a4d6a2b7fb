"""What a page about a store is made of, taken from an open session; reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import JournalError
from ..records import Memory
from .plan import Plan
from .planning.plan_file import parse_plan
from .reporting.html import Material, RunPoint, run_point
from .rules.hygiene import shown_text
from .writing.journal import Journal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .engine import Session


def plan_material(session: Session, plan: Plan) -> Material:
    """The material of a page that proposes a plan, made of what the session has just read."""
    read = session.inventory
    shown = {total.scope for total in plan.totals}
    memories = [
        memory
        for memory in (read.memories if read else ())
        if memory.scope in shown and not memory.is_retired(plan.now.date())
    ]
    return Material(
        plan=plan,
        memories=[replace(memory, text=shown_text(memory.text, session.settings)) for memory in memories],
        accessed=session.access.last(session.store.fingerprint),
        thresholds=session.thresholds,
        points=run_points(session.journal, session.store.fingerprint),
        vectors=_vectors(session, memories),
        lines=report_lines(session, plan),
        remarks=_remarks(session, plan),
    )


def run_material(session: Session, name: str, *, undo: str) -> Material:
    """The material of a page about a run of the journal: what was there before it, and what it left.

    Args:
        session: Its journal knows the run.
        name: Name of the run.
        undo: The command that takes it back.

    Raises:
        JournalError: If there is no such run, or it was made on another store.
    """
    journal = session.journal
    run = journal.run(name)
    if run.store != session.store.fingerprint:
        raise JournalError(f"Run {name} was made on another store; use the configuration it was made with.")
    plan = parse_plan(run.plan)
    told = journal.changes(name)
    return Material(
        plan=plan,
        accessed=session.access.last(session.store.fingerprint),
        points=run_points(journal, run.store),
        lines=report_lines(session, plan),
        remarks=_relations_of_run(session, name),
        run=name,
        state=str(run.state),
        undo=undo if told and not run.state.startswith("undo") else "",
        outcomes=journal.outcomes(name),
    )


def run_points(journal: Journal, fingerprint: str) -> list[RunPoint]:
    """All runs of a store as they are drawn, oldest first."""
    return [
        run_point(run, journal.changes(run.id), journal.outcomes(run.id))
        for run in reversed(journal.runs(fingerprint))
    ]


def report_lines(session: Session, plan: Plan, *, explain: bool = False) -> list[str]:
    """The plan as the terminal prints it, every change with its text; explained, with every text in full."""
    return session.reporter(plan, explain=explain or plan.kind == "graph", texts=True).lines()


def _vectors(session: Session, memories: Sequence[Memory]) -> NDArray[np.float32] | None:
    """What the encoder makes of the texts; most of it lies in the cache since the plan was made."""
    if not memories:
        return None
    return session.models.read().encode([memory.text for memory in memories])


def _remarks(session: Session, plan: Plan) -> list[str]:
    """What a kind of store adds: relations that change, files that are left out."""
    from .reporting.graph.report import GraphReport
    from .reporting.markdown.report import left_out
    from .stores.markdown.store import MarkdownStore

    if isinstance(session.store, MarkdownStore):
        return left_out(session.store.directories)
    shown = session.reporter(plan)
    return [*shown.relation_lines(), *shown.open_lines()] if isinstance(shown, GraphReport) else []


def _relations_of_run(session: Session, run: str) -> list[str]:
    from .reporting.graph.passing import changes_of_run
    from .stores.graph.store import GraphStore

    store = session.store
    changes = changes_of_run(run, session.journal, store) if isinstance(store, GraphStore) else None
    return [f"Relations ({changes.counts}):", *changes.lines] if changes else []
