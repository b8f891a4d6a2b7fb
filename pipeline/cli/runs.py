"""The commands about what was done: runs, undo, resume, reject."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ...errors import UsageError
from ..answers import Answer
from ..plan import RunResult, UndoResult
from ..reporting.text import visible
from ..stores.base import LINKS, ScopeFilter
from .memories import found
from .night import show_last
from .opening import known_runs, open_session, recalled
from .options import Options, command, keep
from .terminal import answer

if TYPE_CHECKING:
    from ..engine import Session


@command("store", "json")
@click.option(
    "--last", is_flag=True, help="Only the last unattended run, from the journal; exit code 9 on trouble."
)
@click.option(
    "--within", type=click.FloatRange(min=0), default=36, show_default=True, metavar="HOURS",
    help="With --last: a job that has not run for so long is in trouble.",
)  # fmt: skip
def runs(options: Options, *, last: bool, within: float) -> None:
    """List the runs of this store, newest first; of all stores if none is named.

    With --last only the journal is opened: exit code 0 means that each job of a scheduler ran
    within so many hours and ended well, 9 that one failed, died, is overdue, or that none ever ran.

    Example:
      mem0-dream runs
      mem0-dream runs --config mem0.yaml
      mem0-dream runs --last --json --config mem0.yaml
    """
    if last:
        show_last(options, within=within, as_json=options.as_json)
        return
    from ..reporting.status import run_json, run_line

    if not options.names_store:
        stores = known_runs(options)
        rows = [run_json(*each) | {"store": place} for place, told in stores for each in told]
        shown = [x for place, told in stores for x in (f"{place}:", *(f"  {run_line(*r)}" for r in told))]
        answer(rows, shown or ["No runs yet."], as_json=options.as_json)
        return
    with open_session(options) as session:
        fingerprint = session.store.fingerprint
        listed = [*session.journal.runs(fingerprint), *session.journal.runs(fingerprint + LINKS)]
        listed.sort(key=lambda run: run.started_at, reverse=True)
        told = [(run, session.journal.changes(run.id)) for run in listed]
        changes = ((each, session.kind.relations(session.journal, each[0].id)) for each in told)
        lines = (run_line(*each) + (f", {changed.counts}" if changed else "") for each, changed in changes)
        shown = [] if options.as_json else list(lines) or ["No runs yet."]
    answer([run_json(*each) for each in told], shown, as_json=options.as_json)


@command("store", "scope")
@click.argument("run", required=False)
@click.option(
    "--only", "ids", multiple=True, metavar="ID",
    help="Only what was done to this memory, or with it; repeatable.",
)  # fmt: skip
def undo(options: Options, run: str | None, *, ids: tuple[str, ...]) -> None:
    """Take RUN back, or the newest run: restore what it removed, withdraw what it added.

    The journal knows the store of RUN; the newest run is that of the store you name, or of the only one. With
    --only or with --user-id and the like a part of it: the rest stands, and can be taken back later.

    Example:
      mem0-dream undo 20261121-030000-1f2e
      mem0-dream undo 20261121-030000-1f2e --only 5a6b7c8d
      mem0-dream undo 20261121-030000-1f2e --user-id alice
      mem0-dream undo --config mem0.yaml
    """
    options = keep(recalled(options, run))
    scopes = options.named_scopes()
    with open_session(options) as session, session.locked():
        done = session.undo(run, now=options.clock, only=ids, scopes=scopes if scopes.ids else None)
        _echo_result(done, session.answered)


@command("store")
@click.argument("run", required=False)
def resume(options: Options, run: str | None) -> None:
    """Finish RUN, or the newest run that was interrupted; the journal knows the store of RUN.

    Example:
      mem0-dream resume
      mem0-dream resume --config mem0.yaml
    """
    options = keep(recalled(options, run))
    with open_session(options) as session, session.locked():
        _echo_result(session.resume(run, now=options.clock), session.answered)


@command("store")
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option("--list", "as_list", is_flag=True, help="List what was rejected, skipped or taken back.")
@click.option(
    "--forget", "withdrawn", multiple=True,
    help="Withdraw an answer by its number, or all of a run; repeatable.",
)  # fmt: skip
def reject(
    options: Options, first: str | None, second: str | None, *, as_list: bool, withdrawn: tuple[str, ...]
) -> None:
    """Never propose anything about this pair of memories again, until one of them changes.

    FIRST and SECOND are ids, or beginnings of ids, as the report prints them. A conflict that was
    skipped and a run that was taken back are remembered in the same way.

    Example:
      mem0-dream reject 1f2e3d4c 5a6b7c8d --config mem0.yaml
      mem0-dream reject --list --config mem0.yaml
      mem0-dream reject --forget 3 --config mem0.yaml
    """
    asked = (first is not None or second is not None) + as_list + bool(withdrawn)
    if asked != 1 or (second is None) != (first is None):
        raise UsageError("Give two ids, or --list, or --forget with the number of an answer.")
    from ..fronts import answer_lines

    with open_session(options) as session, session.locked():
        if as_list:
            click.echo("\n".join(answer_lines(session, session.answered)) or "No answers yet.")
        elif withdrawn:
            _withdraw(session, withdrawn)
        else:
            memories = session.read(ScopeFilter()).memories
            a, b = (found(session, memories, str(text)) for text in (first, second))
            session.reject(a, b, now=options.clock)
            click.echo("Noted: this pair will not be proposed again.")


def _withdraw(session: Session, named: tuple[str, ...]) -> None:
    answers = session.answered
    chosen = [each for each in answers if {str(each.number), each.run} & set(named) - {""}]
    unknown = set(named) - {word for each in chosen for word in (str(each.number), each.run)}
    if unknown:
        told = "`reject --list` shows their numbers and runs. Nothing was withdrawn."
        raise UsageError(f"There is no answer {min(unknown)!r}; {told}")
    session.withdraw(chosen)
    click.echo(f"Withdrawn: {len(chosen)}. It may be proposed again.")


def _echo_result(result: RunResult | UndoResult, answers: Iterable[Answer]) -> None:
    from ..reporting import report

    if isinstance(result, RunResult):
        click.echo(report.summary(result))
        return
    click.echo(report.undo_summary(result))
    click.echo("What was taken back is not proposed again; see `mem0-dream reject --list`.", err=True)
    if any(each.run == result.run and not each.closes for each in answers):
        click.echo("Conflicts that had been answered are open again.", err=True)
    for memory_id, reason in result.kept:
        click.echo(visible(f"Left alone: memory {memory_id}: {reason}"))
