"""The commands around a pass: status, forget, runs, undo, resume, reject."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ...errors import IncompleteListingError, UsageError
from .doctor import undo_links
from .heartbeat import show_last
from .kinds import again, completed
from .options import Options, keep, open_session, plan_options, scope_options, store_options
from .places import known_runs, names_store, recalled
from .platform import tell_fidelity

if TYPE_CHECKING:
    from ...records import Inventory, Memory
    from ..answers import Answer
    from ..engine import Session
    from ..reporting.status import Status
    from ..results import RunResult, UndoResult

json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


@click.command()
@store_options
@scope_options
@plan_options
@json_option
@click.pass_context
def status(ctx: click.Context, /, *, as_json: bool, **given: Any) -> None:
    """Show what the store holds and what was done to it; changes nothing.

    \b
    Example:
      mem0-dream status --config mem0.yaml --all
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..planning.plan_file import json_text
    from ..reporting.status import spoken_status

    with open_session(options) as session:
        state = found_status(session, options)
    if as_json:
        click.echo(json_text(state.to_json(), sort_keys=False))
    else:
        click.echo("\n".join(completed(line, options) for line in spoken_status(state)))


def found_status(session: Session, options: Options) -> Status:
    """What an open store holds."""
    from ..reporting.status import status_of

    inventory = session.read(options.scopes())
    return status_of(
        inventory,
        session.journal.runs(session.store.fingerprint),
        settings=session.settings,
        now=options.moment,
        accessed=session.access.last(session.store.fingerprint),
        answers=session.answered,
        kind=session.store.kind,
        condemned=_condemned(session, inventory, options),
    )


def _condemned(session: Session, inventory: Inventory, options: Options) -> int | None:
    """How many memories a pass over files would prune; None where age decides."""
    from ..planning.markdown.planner import MarkdownPlanner

    if not isinstance(session.planner, MarkdownPlanner):
        return None
    return session.planner.condemned(inventory, session.means(options.moment))


@click.command()
@click.argument("query")
@store_options
@scope_options
@plan_options
@click.option("--retire", is_flag=True, help="Expire instead of deleting.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Show at most so many memories.",
)
@click.pass_context
def forget(ctx: click.Context, /, query: str, *, retire: bool, limit: int, **given: Any) -> None:
    """Find memories about QUERY, and forget the ones you pick; undo brings them back.

    \b
    Example:
      mem0-dream forget "old phone number" --config mem0.yaml --user-id alice
    """  # noqa: D301
    options = Options.gather(ctx, given)
    from ..planning.forgetting import forget_plan, rank
    from ..reporting import report
    from ..rules.hygiene import shown_text

    with open_session(options) as session, session.locked():
        inventory = session.read(options.scopes())
        matches = rank(query, inventory, encoder=session.encoder, now=options.moment)[:limit]
        if not matches:
            click.echo("No memory matches.")
            return
        short = report.spoken_ids((memory.id for memory in inventory.memories), session.store.kind)
        for number, memory in enumerate(matches, 1):
            pinned = " (pinned, never touched)" if memory.pinned else ""
            label = f"[{session.store.kind}:{short[memory.id]}]"
            text = report.one_line(shown_text(memory.text, session.settings))
            click.echo(report.visible(f"{number:>3}. {label} {text}{pinned}"))
        if inventory.gaps:
            raise IncompleteListingError(f"Read-only: {'; '.join(inventory.gaps)}. Nothing can be forgotten.")
        chosen = [matches[i] for i in _pick(len(matches)) if not matches[i].pinned]
        tell_fidelity(session, inventory.fidelity, begun=bool(chosen))
        if not chosen or not _is_meant(chosen, session, short):
            click.echo(report.CANCELLED)
            return
        plan = forget_plan(
            chosen, inventory, kind=session.store.kind, now=options.moment, settings=session.settings
        )
        result = session.apply(plan, now=options.clock, retire=retire, within_budget=False)
        click.echo(f"Forgotten: {result.pruned}. Undo with: {again(options, 'undo', result.run)}")


def _is_meant(chosen: list[Memory], session: Session, short: Mapping[str, str]) -> bool:
    """Name what is to go once more, and ask; a number is easily mistyped."""
    from ..reporting.report import visible
    from .asking import confirmed

    names = " ".join(f"[{session.store.kind}:{short[memory.id]}]" for memory in chosen)
    return confirmed(visible(f"To forget: {names}."))


def _pick(count: int) -> list[int]:
    click.echo("Forget which? Numbers such as 1 3, all, or empty for none: ", nl=False)
    words = sys.stdin.readline().replace(",", " ").lower().split()
    if words == ["all"]:
        return list(range(count))
    if not all(word.isdigit() and 1 <= int(word) <= count for word in words):
        raise UsageError(f"Give numbers from 1 to {count}, or all; nothing was changed.")
    return sorted({int(word) - 1 for word in words})


@click.command()
@click.option(
    "--last", is_flag=True, help="Only the last unattended run, from its heartbeat; exit code 9 on trouble."
)
@click.option(
    "--within",
    type=click.FloatRange(min=0),
    default=36,
    show_default=True,
    metavar="HOURS",
    help="With --last: a job that has not run for so long is in trouble.",
)
@store_options
@json_option
@click.pass_context
def runs(ctx: click.Context, /, *, last: bool, within: float, as_json: bool, **given: Any) -> None:
    """List the runs of this store, newest first; of all stores if none is named.

    With --last nothing is opened but the heartbeat files: exit code 0 means that each job of a scheduler ran
    within so many hours and ended well, 9 that one failed, died, is overdue, or that none ever ran.

    \b
    Example:
      mem0-dream runs
      mem0-dream runs --config mem0.yaml
      mem0-dream runs --last --json --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    if last:
        show_last(ctx, options, within=within, as_json=as_json)
        return
    from ..planning.plan_file import json_text
    from ..reporting.status import run_json, run_line
    from ..writing.doctor import SUFFIX

    if not names_store(options):
        _list_known(options, as_json=as_json)
        return
    with open_session(options) as session:
        fingerprint = session.store.fingerprint
        listed = [*session.journal.runs(fingerprint), *session.journal.runs(fingerprint + SUFFIX)]
        listed.sort(key=lambda run: run.started_at, reverse=True)
        told = [(run, session.journal.changes(run.id)) for run in listed]
        remarks = [session.remark(run) for run, _ in told] if not as_json else []
    if as_json:
        click.echo(json_text([run_json(*each) for each in told], sort_keys=False))
        return
    for each, remark in zip(told, remarks, strict=True):
        click.echo(run_line(*each) + remark)
    if not told:
        click.echo("No runs yet.")


def _list_known(options: Options, *, as_json: bool) -> None:
    """The runs of all stores that the journal knows; no store is opened for that."""
    from ..planning.plan_file import json_text
    from ..reporting.status import run_json, run_line

    stores = known_runs(options)
    if as_json:
        rows = [run_json(*each) | {"store": place} for place, told in stores for each in told]
        click.echo(json_text(rows, sort_keys=False))
        return
    for place, told in stores:
        click.echo("\n".join([f"{place}:", *(f"  {run_line(*each)}" for each in told)]))
    if not stores:
        click.echo("No runs yet.")


@click.command()
@click.argument("run", required=False)
@store_options
@click.pass_context
def undo(ctx: click.Context, /, run: str | None, **given: Any) -> None:
    """Take RUN back, or the newest run: restore what it removed, withdraw what it added.

    The journal knows the store of RUN; the newest run is that of the store you name, or of the only one.

    \b
    Example:
      mem0-dream undo 20261121-030000-1f2e
      mem0-dream undo --config mem0.yaml
    """  # noqa: D301
    options = keep(ctx, recalled(Options.gather(ctx, given), run))
    from ..writing.doctor import is_repair

    with open_session(options) as session, session.locked():
        repaired = session.journal.run(run) if run else None
        if repaired is not None and is_repair(repaired):
            undo_links(session, repaired, options)
        else:
            _echo_result(session.undo(run, now=options.clock), session.answered)


@click.command()
@click.argument("run", required=False)
@store_options
@click.pass_context
def resume(ctx: click.Context, /, run: str | None, **given: Any) -> None:
    """Finish RUN, or the newest run that was interrupted; the journal knows the store of RUN.

    \b
    Example:
      mem0-dream resume
      mem0-dream resume --config mem0.yaml
    """  # noqa: D301
    options = keep(ctx, recalled(Options.gather(ctx, given), run))
    with open_session(options) as session, session.locked():
        _echo_result(session.resume(run, now=options.clock), session.answered)


@click.command()
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option("--list", "as_list", is_flag=True, help="List what was rejected, skipped or taken back.")
@click.option(
    "--forget",
    "withdrawn",
    multiple=True,
    help="Withdraw an answer by its number, or all of a run; repeatable.",
)
@store_options
@click.pass_context
def reject(
    ctx: click.Context,
    /,
    first: str | None,
    second: str | None,
    *,
    as_list: bool,
    withdrawn: tuple[str, ...],
    **given: Any,
) -> None:
    """Never propose anything about this pair of memories again, until one of them changes.

    FIRST and SECOND are ids, or beginnings of ids, as the report prints them. A conflict that was
    skipped and a run that was taken back are remembered in the same way.

    \b
    Example:
      mem0-dream reject 1f2e3d4c 5a6b7c8d --config mem0.yaml
      mem0-dream reject --list --config mem0.yaml
      mem0-dream reject --forget 3 --config mem0.yaml
    """  # noqa: D301
    options = Options.gather(ctx, given)
    asked = (first is not None or second is not None) + as_list + bool(withdrawn)
    if asked != 1 or (second is None) != (first is None):
        raise UsageError("Give two ids, or --list, or --forget with the number of an answer.")
    with open_session(options) as session, session.locked():
        if as_list:
            _list_answers(session)
        elif withdrawn:
            _withdraw(session, withdrawn)
        else:
            _reject_pair(session, str(first), str(second), options)


def _reject_pair(session: Session, first: str, second: str, options: Options) -> None:
    from ..stores.base import ScopeFilter

    inventory = session.read(ScopeFilter())
    pair = [_by_prefix(session, inventory.memories, text) for text in (first, second)]
    session.reject(pair[0], pair[1], now=options.clock)
    click.echo("Noted: this pair will not be proposed again.")


def _list_answers(session: Session) -> None:
    from ..answers import About
    from ..reporting.status import answer_line
    from ..rules.hygiene import shown_text

    answers = session.answered
    for answer in answers:
        shown = tuple(About(item.id, shown_text(item.spoken, session.settings)) for item in answer.about)
        click.echo(answer_line(replace(answer, about=shown), session.store.kind))
    if not answers:
        click.echo("No answers yet.")


def _withdraw(session: Session, named: tuple[str, ...]) -> None:
    answers = session.answered
    chosen = [answer for answer in answers if {str(answer.number), answer.run} & set(named) - {""}]
    unknown = set(named) - {word for answer in chosen for word in (str(answer.number), answer.run)}
    if unknown:
        raise UsageError(
            f"There is no answer {min(unknown)!r}; `reject --list` shows their numbers and runs. "
            "Nothing was withdrawn."
        )
    session.withdraw(chosen)
    click.echo(f"Withdrawn: {len(chosen)}. It may be proposed again.")


def _by_prefix(session: Session, memories: Iterable[Memory], text: str) -> Memory:
    wanted = text.removeprefix(f"{session.store.kind}:")
    matching = [memory for memory in memories if memory.id.startswith(wanted)]
    if len(matching) != 1:
        raise UsageError(
            f"{len(matching)} memories have an id that begins with {wanted!r}; give one that is unique."
        )
    return matching[0]


def _echo_result(result: RunResult | UndoResult, answers: Iterable[Answer]) -> None:
    from ..reporting import report
    from ..results import RunResult

    if isinstance(result, RunResult):
        click.echo(report.summary(result))
        return
    click.echo(report.undo_summary(result))
    click.echo("What was taken back is not proposed again; see `mem0-dream reject --list`.", err=True)
    if any(answer.run == result.run and not answer.closes for answer in answers):
        click.echo("Conflicts that had been answered are open again.", err=True)
    for memory_id, reason in result.kept:
        click.echo(report.visible(f"Left alone: memory {memory_id}: {reason}"))


COMMANDS = (status, forget, runs, undo, resume, reject)
"""What the main group offers besides the pass itself."""
