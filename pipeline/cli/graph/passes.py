"""What a pass over a knowledge graph does before it looks: whether it is due, and broken lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ....errors import RefusedChangeError, UsageError
from ..asking import confirmed, say_aside
from ..kinds import again
from ..logs import tell
from ..night import tell_not_due
from .opening import graph_parts

if TYPE_CHECKING:
    from ...engine import Session
    from ..options import Options


def ready(session: Session, options: Options, given: Mapping[str, Any]) -> bool:
    """Whether there is anything to look at now."""
    if given["repair"] and (given["dry_run"] or (given["as_json"] and not given["auto"])):
        raise UsageError("--repair changes the graph, and a dry run does not; choose one.")
    if given["if_due"] and not _is_due(session, options, given):
        return False
    store, _ = graph_parts(session)
    if store.core is not None:
        try:
            store.core.statements()
        except RefusedChangeError as error:
            say_aside(f"{error}; nothing can be promoted.")
    return True


def repaired(session: Session, options: Options, given: Mapping[str, Any]) -> bool:
    """Move broken lines away, shown and asked about first; False if the person did not want it."""
    from ...reporting import report

    if not given["repair"]:
        return True
    store, planner = graph_parts(session)
    broken = store.document().broken
    plan = planner.repair(options.clock)
    if plan is None:
        say_aside("there are no broken lines.")
        return True
    click.echo(f"Broken lines ({len(broken)}):", err=given["auto"])
    for number, line in broken:
        click.echo(f"  line {number}, {line.reason}: {report.clip(line.raw)}", err=given["auto"])
    if not given["auto"] and not confirmed(f"Proposed: move them to {store.archive}."):
        click.echo(report.CANCELLED)
        return False
    result = session.apply(plan, now=options.clock)
    for _, reason in result.moved:
        raise RefusedChangeError(f"The broken lines stay: {reason}.")
    say_aside(f"{len(broken)} broken lines moved to {store.archive}.")
    tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")
    return True


def _is_due(session: Session, options: Options, given: Mapping[str, Any]) -> bool:
    from ...planning.plan_file import json_text
    from ...rules.graph.history import due_reason

    store, planner = graph_parts(session)
    names = store.document().names
    due, why = due_reason(names, planner.notes.last, settings=planner.graph, now=options.moment)
    say_aside(f"{'due' if due else 'not due'}: {why}.")
    if not due:
        tell_not_due(why)
    if given["as_json"] and not due:
        click.echo(json_text({"due": False, "reason": why}))
    return due
