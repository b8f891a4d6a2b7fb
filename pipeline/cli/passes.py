"""A pass on the command line, for every kind of store: look, show, ask, apply, report."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import BudgetExceededError, UsageError
from ...models.text.reading import from_json
from ...models.text.words import counted
from ..plan import acts, guessed
from ..planning.plan_file import dump_plan, parse_plan
from ..reporting.text import visible
from .asking import Questions, confirmed, looked, may_ask, told_added, warned
from .night import is_due, night, note_night
from .opening import OPENED, again, journal_of, known_scopes, open_session, refuse_gaps, tell_fidelity
from .options import GRAPH, MARKDOWN, Options, command, running
from .terminal import answer, echo, tell
from .upkeep import ready, repaired

if TYPE_CHECKING:
    from ..engine import Session
    from ..plan import Plan, RunResult
    from ..planning.hooks import Proposal
    from ..reporting.report import Report
    from ..review import Review

    Done = tuple[Report, RunResult, Plan]  # what was shown last, done, and agreed to

_BEGAN = datetime.now(UTC)


def start(ctx: click.Context, options: Options) -> None:
    """One pass over the store that the options name."""
    options.scopes()  # whose memories are meant is asked before anything is opened
    with night(ctx, options), open_session(options) as session:
        more = [name for name in session.settings.hygiene if name not in session.settings.hygiene_auto]
        if options.auto and options.hygiene is not None and more:  # as junk goes what the configuration names
            raise UsageError(
                f"--auto removes {', '.join(more)} only if the configuration says so: set "
                f"mem0_dream.hygiene_auto: [{', '.join(more)}], or leave --auto out and look at each."
            )
        if not ready(session, options):
            return
        if options.if_due and not is_due(session, options):
            return
        if options.dry_run or (options.as_json and not options.auto):
            _show(session, options)
            return
        with session.locked(wait_s=options.wait or 0.0):
            if not repaired(session, options):
                return
            began = time.monotonic()
            earlier = session.journal.interrupted(session.store.fingerprint) if options.auto else None
            if earlier is not None:  # so that one crash cannot stop all nights
                session.resume(earlier.id, now=options.clock)
                tell(f"finished run {earlier.id}, which had been interrupted.")
            plan = _carried_out(session, looked(session, options, unattended=options.auto), options, began)
            if plan is not None and not options.auto and any(conflict.choice for conflict in plan.conflicts):
                _asked_after(session, plan, options, began)


def interrupted(ctx: click.Context) -> str:
    """What is true of the store after Ctrl-C, in a sentence."""
    store = ctx.meta.get(OPENED)
    if store is not None:
        with journal_of(running(ctx)) as journal:
            newest = next(iter(journal.runs(store)), None)
        if newest is not None and newest.interrupted:
            return (
                f"interrupted; run {newest.id} is half done: `mem0-dream resume {newest.id}` finishes it, "
                f"`mem0-dream undo {newest.id}` takes it back."
            )
        if newest is not None and newest.started_at >= _BEGAN:
            return f"interrupted; run {newest.id} had ended: `mem0-dream undo {newest.id}` takes it back."
    return "interrupted; nothing was changed."


def mended(session: Session, options: Options, result: RunResult, plan: Plan) -> None:
    """After a change was skipped an index says too little or too much: it follows what is there."""
    from ..fronts import mend

    more = mend(session, result, plan, now=options.clock)
    if more is not None and more.run:
        click.echo("The index was rebuilt again, because files had moved.", err=True)
        click.echo(f"Undo that first with: {again(options, 'undo', more.run)}", err=True)


def _show(session: Session, options: Options) -> None:
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        tell(
            f"run {earlier.id} was interrupted: {again(options, 'resume', earlier.id)} finishes it; "
            "this report is of the store as it is now."
        )
    proposal = looked(session, options, unattended=options.auto)
    shown = _reporter(session, proposal, options)
    if options.as_json:
        answer(shown.to_json(None), as_json=True, sort_keys=True)
        return
    echo([*shown.dry_run(), *known_scopes(session, options, held=proposal.plan.totals)])
    over = session.overdraft(proposal.plan) if options.auto else None
    if over is not None:
        tell(f"a night would hold back a part: this removes {over}, more than the delete budget.")


def _carried_out(session: Session, proposal: Proposal, options: Options, began: float) -> Plan | None:
    from ..fronts import note_pass

    done = (_unattended if options.auto else _attended)(session, proposal, options)
    session.kind.remember(now=options.moment, run=done[1].run if done else "")
    if done is None:
        return None
    shown, result, plan = done
    note_pass(session, options.scopes(), at=options.moment, run=result.run)
    if options.as_json:
        answer(shown.to_json(result), as_json=True, sort_keys=True)
    else:
        took = timedelta(seconds=time.monotonic() - began)
        echo(shown.done(result, auto=options.auto, took=took))
    mended(session, options, result, plan)
    told = not options.auto or (session.store.kind == MARKDOWN and not options.as_json)
    if result.run and told:
        tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")
    if result.held:
        raise BudgetExceededError("\n".join(result.held))
    return plan


def _asked_after(session: Session, plan: Plan, options: Options, began: float) -> None:
    """What the answers to conflicts may have made untrue besides, asked about at once."""
    from ..planning.doubts import open_question
    from ..planning.hooks import Proposal

    inventory = session.read(options.scopes())
    more = session.outdated(inventory, now=options.moment)
    if long := session.outdated(inventory, now=options.moment, several=True):
        shown = session.reporter(replace(plan, actions=long))
        echo(["May have gone out of date, too, in a part:", *(f"  {shown.line(each)}" for each in long)])
    asked = replace(plan, actions=(), unsure=more, left_open=0)
    proposal = Proposal(asked, asked)
    if more and may_ask(proposal.plan, review=options.review):
        _carried_out(session, proposal, options, began)
    elif more:
        echo([f"{open_question(more)}, too; `--review` asks about each:"])
        echo(_reporter(session, proposal, options).doubtful())


def _unattended(session: Session, proposal: Proposal, options: Options) -> Done:
    from ..reporting.status import night_done
    from ..review import unattended

    refuse_gaps(proposal.plan.gaps, "Nothing was changed.")
    for note in proposal.plan.notes:
        tell(note)
    plan = unattended(session, proposal.plan)
    shown = _reporter(session, replace(proposal, plan=plan), options)
    tell_fidelity(session, plan.fidelity, begun=bool(plan.actions))
    result = session.apply(plan, now=options.clock, retire=options.retire, hold_back=True)
    note_night(night_done(plan, result))
    for name, reason in result.moved if plan.kind != MARKDOWN else ():  # whose report says so
        tell(f"skipped {name}: {reason}")  # names no memory, since logs are kept
    return shown, result, plan


def _attended(session: Session, proposal: Proposal, options: Options) -> Done | None:
    from ..review import Review

    shown = _reporter(session, proposal, options)
    asks = may_ask(proposal.plan, review=options.review)
    echo([*shown.opening(asks=asks), *known_scopes(session, options, held=proposal.plan.totals)])
    if shown.idle and not asks:
        return None
    refuse_gaps(proposal.plan.gaps, "Nothing can be applied.")
    for note in proposal.plan.fidelity:
        click.echo(f"Note: {note}")
    review = Review(session, proposal.plan)
    questions = Questions(review, shown, now=options.clock)
    questions.conflicts()
    questions.doubts(asks=options.review)
    while True:  # until a person agrees to what the answers come to
        plan = review.planned(session)
        told_added(review, plan, shown)
        final = _reporter(session, replace(proposal, plan=plan), options)
        if final.idle:
            echo(final.nothing())
            return None
        if final.tells and not any(map(acts, plan.actions)):
            break
        echo(final.changed(shown))
        each = dict.fromkeys(("e", "each"), "each")  # asks about every change, one by one
        careful = warned(session, plan) or questions.put or any(map(guessed, plan.actions))
        open_ = sum(conflict.choice is None for conflict in plan.conflicts)
        left = f" {counted(open_, 'conflict stays', 'conflicts stay')} open." if open_ else ""
        said = confirmed(f"{final.proposal()}{left}", default=not careful, **each)
        if not said:
            return None
        if said != "each":
            break
        questions.each(plan, final)
    return final, review.apply(session, plan, now=options.clock, retire=options.retire), plan


def _reporter(session: Session, proposal: Proposal, options: Options) -> Report:
    shown = session.reporter(proposal, explain=options.explain)
    shown.most = None if options.more else shown.most
    return shown


@command("store", "scope", "plan", name="plan")
@click.option("-o", "--output", default="-", show_default=True)
def plan_command(options: Options, output: str) -> None:
    """Write the plan as JSON Lines, to be read, edited and applied later."""
    with open_session(options) as session:
        plan = looked(session, options).plan
    if output == "-":
        click.echo(dump_plan(plan), nl=False)
        return
    try:
        Path(output).write_text(dump_plan(plan), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The plan cannot be written to {output}: {error.strerror}.") from error
    asked = f" and {counted(len(plan.unsure), 'question')}" if plan.unsure else ""
    click.echo(f"{counted(len(plan.actions), 'action')}{asked} written to {output}.", err=True)


@command("store", "write", name="apply")
@click.argument("file")
@click.option("--max-delete", type=click.FloatRange(0, 1))
@click.option("--yes", is_flag=True)
def apply_command(options: Options, file: str, *, yes: bool) -> None:
    """Apply the plan in FILE (- reads it from the input), with the answers that its lines hold."""
    from ..reporting import report

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan file {file} cannot be read: {error}.") from error
    with open_session(options) as session, session.locked():
        review = review_of_file(session, text, now=options.clock)
        plan = review.planned(session)
        # Entities are named in full, and what they gain is no line of its own.
        shown = session.reporter(plan, explain=plan.kind == GRAPH)
        tell_fidelity(session, plan.fidelity, begun=bool(plan.actions))
        lines = [visible(f"{name}: {effect}") for name, effect in review.effects(plan).items()]
        lines += [visible(f"{name}: its text leaves out {lost}") for name, lost in careless(plan)]
        if yes:
            click.echo("\n".join(lines), err=True, nl=bool(lines))
        elif file == "-":
            raise UsageError("A plan from the input cannot be asked about; add --yes.")
        else:
            echo([*shown.lines(), *lines])
            refuse_gaps(plan.gaps, "Nothing can be applied.")
            careful = warned(session, plan) or bool(lines)  # an answer in the file is no agreement to it all
            if not confirmed(shown.proposal(), default=not careful):
                return
        result = review.apply(session, plan, now=options.clock, retire=options.retire, within_budget=yes)
        echo(shown.moved(result))
        click.echo(report.summary(result))
        mended(session, options, result, plan)
        if result.run:
            click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def review_of_file(session: Session, text: str, *, now: datetime) -> Review:
    """A review of a plan file and the answers in its lines: everything that stands in it is wanted."""
    from ..review import Review

    lines = text.split("\n")
    given: dict[str, tuple[str, str | None]] = {}
    for number, line in enumerate(lines):
        record: Any = None
        if '"answer"' in line:
            with contextlib.suppress(ValueError):
                record = from_json(line)
        if isinstance(record, dict) and "answer" in record:
            say, edited = record.pop("answer"), record.pop("edited", None)
            if say:
                given[str(record.get("id"))] = (str(say), edited if isinstance(edited, str) else None)
            lines[number] = json.dumps(record, ensure_ascii=False)
    plan = parse_plan("\n".join(lines))
    for conflict in plan.conflicts:
        if conflict.choice is not None:
            given.setdefault(conflict.id, (conflict.choice, None))
    review = Review(session, plan, edited=True)
    for name, (say, edited) in given.items():
        review.answer(name, say, edited, now=now, held=True)
    return review


def careless(plan: Plan) -> list[tuple[str, str]]:
    """Merges whose text is none of their members', and what it leaves out: a line may have been edited."""
    from ..review import lost_by

    told = []
    for merge in plan.merges:
        sources = merge.said or tuple(member.text for member in merge.members)
        details, words = lost_by(sources, merge.text) if merge.text not in sources else ([], [])
        if details or words:
            told.append((merge.id, ", ".join([*(detail for _, detail in details), *words])))
    return told
