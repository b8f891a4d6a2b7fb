"""A pass over a knowledge graph on the command line: show, ask, apply, report."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from ....errors import IncompleteListingError, RefusedChangeError, UsageError
from ..colour import echo
from ..kinds import again
from ..logs import tell
from ..night import tell_night, tell_not_due
from .opening import GraphState, graph_session

if TYPE_CHECKING:
    from ...graph_session import GraphSession
    from ...plan import Plan, Resolve, Side
    from ...reporting.graph.health import Health
    from ...reporting.graph.report import GraphReport, Passed
    from ...results import RunResult
    from ..options import Options


def consolidate_graph(options: Options, given: dict[str, Any]) -> None:
    """One pass over a graph: analyse, propose, ask, apply, report."""
    _refuse_contradictions(given)
    with graph_session(options) as session:
        session.relate, session.repair_relations = given["relate"], given["repair_relations"]
        if given["if_due"] and not _is_due(session, options, given):
            return
        if given["dry_run"] or (given["as_json"] and not given["auto"]):
            _show(session, options, given)
            return
        with session.locked(wait_s=options.wait or 0.0):
            if given["repair"] and not _repaired(session, options, given):
                return
            if given["auto"]:
                _resume_interrupted(session, options)
            _pass(session, options, given)


def _repaired(session: GraphSession, options: Options, given: dict[str, Any]) -> bool:
    """Move broken lines away, shown and asked about first; False if the person did not want it."""
    from ...reporting import report
    from ..asking import confirmed

    broken = session.store.document().broken
    if not broken:
        tell("there are no broken lines.")
        return True
    click.echo(f"Broken lines ({len(broken)}):", err=given["auto"])
    for number, line in broken:
        click.echo(f"  line {number}, {line.reason}: {report.clip(line.raw)}", err=given["auto"])
    question = f"Proposed: move them to {session.store.archive}."
    if not given["auto"] and not confirmed(question):
        click.echo(report.CANCELLED)
        return False
    result = session.repair(now=options.clock)
    if result is not None:
        for _, reason in result.moved:
            raise RefusedChangeError(f"The broken lines stay: {reason}.")
        tell(f"{len(broken)} broken lines moved to {session.store.archive}.")
        tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")
    return True


def _is_due(session: GraphSession, options: Options, given: dict[str, Any]) -> bool:
    from ...planning.plan_file import json_text
    from ...rules.graph.history import due_reason

    names = session.store.document().names
    due, why = due_reason(names, session.last, settings=session.graph_settings, now=options.moment)
    tell(f"{'due' if due else 'not due'}: {why}.")
    if not due:
        tell_not_due(why)
    if given["as_json"] and not due:
        click.echo(json_text({"due": False, "reason": why}))
    return due


def _show(session: GraphSession, options: Options, given: dict[str, Any]) -> None:
    """What a pass would do, and nothing done."""
    from ..asking import tell_open

    plan = _proposed(session, options)
    if given["as_json"]:
        _print_json(session, plan, None, None)
        return
    shown = session.reporter(plan, explain=given["explain"])
    if not plan.actions:
        _say_nothing(plan)
    else:
        echo([*shown.lines(), shown.proposal()])
        tell_open(plan)
    _say_more(session, shown)
    if plan.actions:
        click.echo("".join(f"Read-only: {gap}\n" for gap in plan.gaps) + "Dry run: no changes made.")
    if given["explain"] and plan.unsure:
        echo(shown.unsure_lines())


def _say_more(session: GraphSession, shown: GraphReport) -> None:
    """What stays as it is and a person may want to know."""
    from ...stores.base import ScopeFilter
    from ...stores.graph.usage import advice

    lines = shown.open_lines()
    memories = session.store.read(ScopeFilter()).memories
    lines += advice(memory.metadata["observations"] for memory in memories)
    for line in lines:
        click.echo(line)


def _proposed(session: GraphSession, options: Options, *, unattended: bool = False) -> Plan:
    from ...stores.base import ScopeFilter
    from ..asking import only

    if session.store.core is not None:
        try:
            session.store.core.statements()
        except RefusedChangeError as error:
            tell(f"{error}; nothing can be promoted.")
    return only(session.propose(ScopeFilter(), now=options.moment, unattended=unattended), options)


def _say_nothing(plan: Plan) -> None:
    from ...reporting import report
    from ..asking import say_nothing

    if plan.gaps:
        raise IncompleteListingError(
            f"Read-only: {'; '.join(plan.gaps)}. Nothing was found in what could be listed."
        )
    if plan.totals:
        say_nothing(plan)
    else:
        click.echo(report.NOTHING_STORED)


def _pass(session: GraphSession, options: Options, given: dict[str, Any]) -> None:
    from ...planning.graph.relation_plan import RelationChanges

    began = time.monotonic()
    plan = _proposed(session, options, unattended=given["auto"])
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing was changed.")
    before, previous = GraphState(session, options), session.last
    if given["auto"]:
        for note in plan.notes:
            tell(f"{note}")
        result = session.apply(plan, now=options.clock)
        tell_night(plan, result)
    else:
        asked = _ask_and_apply(session, plan, options, given)
        if asked is None:
            return
        result = asked
    session.remember(now=options.moment, run=result.run)
    after = GraphState(session, options)
    changes = session.relation_changes(result.run) or RelationChanges()
    if given["as_json"]:
        _print_json(session, plan, result, after.health, before=before.health)
        return
    planned = session.planned(result.run) or plan
    from ...reporting.graph.report import Passed, passed_lines

    passed = Passed(
        relations=changes,
        plan=planned,
        result=result,
        before=before.health,
        after=after.health,
        nodes=before.nodes,
        orphans=after.orphans,
        previous=previous.at if previous else None,
        at=options.moment,
        took=timedelta(seconds=time.monotonic() - began),
        archive=str(session.store.archive),
    )
    click.echo("\n".join(passed_lines(passed, session.graph_settings)))
    _conclude(session, passed, options, given)


def _conclude(session: GraphSession, passed: Passed, options: Options, given: dict[str, Any]) -> None:
    from ...reporting import report
    from ..asking import tell_open

    plan, result, changes = passed.plan, passed.result, passed.relations
    for line in report.moved_lines(result, plan, session.reporter(plan)):
        click.echo(line, err=given["auto"])
    click.echo()
    if given["auto"]:
        click.echo(
            f"{report.auto_summary(result, conflicts=len(plan.conflicts) + plan.left_open)}"
            f" relations_added={len(changes.added)} relations_moved={len(changes.moved)}"
            f" relations_removed={len(changes.removed)}"
        )
    else:
        click.echo(f"{report.summary(result)}, {changes.counts}")
        tell_open(plan)
        if result.run:
            tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")


def _ask_and_apply(
    session: GraphSession, plan: Plan, options: Options, given: dict[str, Any]
) -> RunResult | None:
    """Show, ask about each contradiction, then about all of it; None if there is nothing to do."""
    from ...reporting import report
    from ..asking import confirmed, warned
    from ..review import may_ask, reviewed

    shown = session.reporter(plan, explain=given["explain"])
    if not plan.actions and not may_ask(plan, review=given["review"]):
        session.remember(now=options.moment)
        _say_nothing(plan)
        _say_more(session, shown)
        return None
    echo(shown.lines())
    _say_more(session, shown)
    for note in plan.fidelity:
        click.echo(f"Note: {note}")
    choices = {conflict.id: _ask(conflict, shown) for conflict in plan.conflicts}
    skipped: list[Any] = [item for item in plan.conflicts if choices[item.id] is None]
    plan, proposed = reviewed(session, plan, shown, review=given["review"], now=options.clock), plan
    if plan.merges != proposed.merges and not (options.merge_only or options.forget_only):
        plan = session.with_relations(plan, now=options.moment)
    if not plan.actions:
        session.remember(now=options.moment)
        _say_nothing(plan)
        return None
    final = session.reporter(session.decided(plan, choices))
    if final.relation_lines() != shown.relation_lines():
        click.echo("\n".join(final.relation_lines()))
    over = warned(session, plan.with_choices(choices))
    if not confirmed(final.proposal(), default=not over):
        click.echo(report.CANCELLED)
        return None
    result = session.apply(plan, now=options.clock, choices=choices, within_budget=False)
    session.remember_skips(skipped, now=options.clock, run=result.run)
    return result


def _ask(conflict: Resolve, shown: Any) -> Side | None:
    from ...reporting.report import one_line
    from ..asking import ask_choice

    texts = {member.id: member.text for member in conflict.members}
    for side, ids in (("A", conflict.a), ("B", conflict.b)):
        likely = " (newer, likely to hold)" if conflict.newer == side.lower() else ""
        click.echo(f"  {side}: {one_line(texts[ids[0]])}{likely}")
    return ask_choice(str(shown.line(conflict)).removesuffix("[A/B/skip]"))


def _resume_interrupted(session: GraphSession, options: Options) -> None:
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        session.resume(earlier.id, now=options.clock)
        tell(f"finished run {earlier.id}, which had been interrupted.")


def _refuse_contradictions(given: dict[str, Any]) -> None:
    if given["auto"] and given["dry_run"]:
        raise UsageError("--auto applies and --dry-run does not; choose one.")
    if given["repair"] and (given["dry_run"] or (given["as_json"] and not given["auto"])):
        raise UsageError("--repair changes the graph, and a dry run does not; choose one.")


def _print_json(
    session: GraphSession,
    plan: Plan,
    result: RunResult | None,
    health: Health | None,
    *,
    before: Health | None = None,
) -> None:
    from ...planning.graph.relation_plan import relation_changes
    from ...planning.plan_file import json_text, to_json

    done = session.relation_changes(result.run) if result else None
    whole = to_json(plan, result) | {
        "health": health.to_json() if health else None,
        "health_before": before.to_json() if before else None,
        "relations": (done or relation_changes(session.store.document(), plan.actions)).to_json(),
    }
    click.echo(json_text(whole))
