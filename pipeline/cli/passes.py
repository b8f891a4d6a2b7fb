"""A pass on the command line, for every kind of store: look, show, ask, apply, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from ...errors import IncompleteListingError, UsageError
from .asking import ask_choice, confirmed, looked, say_aside, warned
from .colour import echo
from .due import is_due, note_pass
from .graph import passes as graph
from .kinds import GRAPH, MARKDOWN, again
from .logs import tell
from .markdown import announced, mend_index
from .night import tell_night
from .options import Options, open_session
from .platform import tell_fidelity
from .review import may_ask, reviewed

if TYPE_CHECKING:
    from ..actions import Side
    from ..engine import Session
    from ..plan import Plan
    from ..planning.proposal import Proposal
    from ..reporting.passing import PassReport
    from ..results import RunResult

Given = Mapping[str, Any]
Check = Callable[["Session", Options, Given], bool]

READY: dict[str, Check] = {MARKDOWN: announced, GRAPH: graph.ready}
"""What is said before a pass over a kind of store; a no ends it."""
LOCKED: dict[str, Check] = {GRAPH: graph.repaired}
"""What is done first, under the store's lock; a no ends the pass."""


def consolidate_command(options: Options, given: Given) -> None:
    """One pass over the store that the options name."""
    if given["auto"] and given["dry_run"]:
        raise UsageError("--auto applies and --dry-run does not; choose one.")
    if options.store_kind == GRAPH and options.second_opinion is not None:
        raise UsageError("--second-opinion does not work on knowledge graphs; leave it out.")
    options.scopes()  # whose memories are meant is asked before anything is opened
    with open_session(options, given) as session:
        kind = session.store.kind
        if given["auto"]:
            _refuse_hygiene(session, options)
        if kind in READY and not READY[kind](session, options, given):
            return
        if kind != GRAPH and not is_due(session, options, given):
            return
        if given["dry_run"] or (given["as_json"] and not given["auto"]):
            shown = _reporter(session, looked(session, options), given)
            _print_json(shown, None) if given["as_json"] else _echo(shown.dry_run())
            return
        with session.locked(wait_s=options.wait or 0.0):
            if kind not in LOCKED or LOCKED[kind](session, options, given):
                _pass(session, options, given)


def _refuse_hygiene(session: Session, options: Options) -> None:
    """Unattended, nothing goes as junk that the configuration does not name.

    Raises:
        UsageError: If the command line asks for more.
    """
    settings = session.settings
    more = [name for name in settings.hygiene if name not in settings.hygiene_auto]
    if options.hygiene is not None and more:
        raise UsageError(
            f"--auto removes {', '.join(more)} only if the configuration says so: set "
            f"mem0_dream.hygiene_auto: [{', '.join(more)}], or leave --auto out and look at each."
        )


def mended(session: Session, options: Options, result: RunResult) -> None:
    """After a change was skipped the index of a memory directory says too little or too much."""
    if result.moved and session.store.kind == MARKDOWN:
        mend_index(session, options)


def _pass(session: Session, options: Options, given: Given) -> None:
    began, auto = time.monotonic(), given["auto"]
    if auto:
        _resume_interrupted(session, options)
    proposal = looked(session, options, unattended=auto)
    done = (_unattended if auto else _attended)(session, proposal, options, given)
    if done is None:
        session.planner.remember(now=options.moment, run="")
        return
    shown, result = done
    session.planner.remember(now=options.moment, run=result.run)
    if session.store.kind != GRAPH:  # a graph has notes of its own
        note_pass(session, options, result.run)
    if given["as_json"]:
        _print_json(shown, result)
    else:
        _echo(shown.done(result, auto=auto, took=timedelta(seconds=time.monotonic() - began)))
    mended(session, options, result)
    told = not auto or (session.store.kind == MARKDOWN and not given["as_json"])
    if result.run and told:
        tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")


def _resume_interrupted(session: Session, options: Options) -> None:
    """An unattended run finishes what a killed one had begun, so that one crash cannot stop all nights."""
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        session.resume(earlier.id, now=options.clock)
        say_aside(f"finished run {earlier.id}, which had been interrupted.")


def _unattended(
    session: Session, proposal: Proposal, options: Options, given: Given
) -> tuple[PassReport, RunResult]:
    _refuse_gaps(proposal.plan, "Nothing was changed.")
    for note in proposal.plan.notes:
        say_aside(note)
    shown = _reporter(session, proposal, given)
    tell_fidelity(session, proposal.plan.fidelity, begun=bool(proposal.plan.actions))
    result = session.apply(proposal.plan, now=options.clock, retire=given["retire"])
    tell_night(proposal.plan, result)
    for line in shown.skipped(result):
        say_aside(line)
    return shown, result


def _attended(
    session: Session, proposal: Proposal, options: Options, given: Given
) -> tuple[PassReport, RunResult] | None:
    """Show, ask about each conflict and doubt, then about all of it; None if nothing is to be done."""
    from ..reporting import report

    shown = _reporter(session, proposal, given)
    asks = may_ask(proposal.asked, review=given["review"])
    _echo(shown.opening(asks=asks))
    if shown.idle and not asks:
        return None
    _refuse_gaps(proposal.plan, "Nothing can be applied.")
    for note in proposal.plan.fidelity:
        click.echo(f"Note: {note}")
    conflicts = [conflict for conflict in proposal.asked.conflicts if conflict.choice is None]
    choices = {conflict.id: _ask(shown, conflict) for conflict in conflicts}
    named = session.reporter(proposal.asked, explain=given["explain"])
    asked = reviewed(session, proposal.asked, named, review=given["review"], now=options.clock)
    proposal = session.complete(replace(proposal, asked=asked), choices, now=options.moment)
    final = _reporter(session, proposal, given)
    if final.idle:
        _echo(final.nothing())
        return None
    if final.confirms:
        _echo(final.changed(shown))
        if not confirmed(final.proposal(), default=not warned(session, proposal.plan)):
            click.echo(report.CANCELLED)
            return None
    skipped = [conflict for conflict in conflicts if choices[conflict.id] is None]
    result = session.apply(proposal.plan, now=options.clock, retire=given["retire"], within_budget=False)
    session.remember_skips(skipped, now=options.clock, run=result.run)
    return final, result


def _ask(shown: PassReport, conflict: Any) -> Side | None:
    for line in shown.sides(conflict):
        click.echo(line)
    return ask_choice(shown.question(conflict))


def _refuse_gaps(plan: Plan, told: str) -> None:
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. {told}")


def _reporter(session: Session, proposal: Proposal, given: Given) -> PassReport:
    import sys

    return session.reporter(proposal, explain=given["explain"], texts=sys.stdout.isatty())


def _echo(lines: Iterable[str]) -> None:
    shown = list(lines)
    if shown:
        echo(shown)


def _print_json(shown: PassReport, result: RunResult | None) -> None:
    from ..planning.plan_file import json_text

    click.echo(json_text(shown.to_json(result)))
