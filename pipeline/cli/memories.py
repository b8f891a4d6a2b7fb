"""The commands about memories, and about what was done with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

import click

from ...errors import StoreError, UsageError
from ..plan import RunResult, UndoResult
from ..reporting.text import day, one_line, visible
from ..stores.base import LINKS, ScopeFilter
from ..writing.journal import RunState
from .asking import confirmed
from .night import show_last
from .opening import (
    again,
    full_commands,
    known_runs,
    known_scopes,
    open_session,
    recalled,
    refuse_gaps,
    tell_fidelity,
)
from .options import TROUBLE, Options, command, keep, moment
from .terminal import answer, echo, tell

if TYPE_CHECKING:
    from ...records import Memory
    from ..engine import Session


@command("store", "scope", "plan", "json")
@click.option("--check", is_flag=True)
@click.option("--across", "repeated", is_flag=True)
def status(options: Options, *, check: bool, repeated: bool) -> None:
    """Show what the store holds, how it is doing and what was done to it; changes nothing."""
    from ..fronts import found_status
    from ..planning.engine import judged
    from ..reporting.health import health_lines
    from ..reporting.status import across_lines, in_one_scope, said_across, spoken_status

    with open_session(options) as session:
        if repeated:
            inventory = session.read(options.scopes())
            # Files and graphs have a judge of their own, within one place; there the words decide.
            means, flat = session.means(options.moment), in_one_scope(inventory)
            verdicts = judged(session.kind, flat, means)[1] if session.kind.scoped else ()
            found = said_across(inventory, options.moment, session.shown, verdicts)
            answer({"across": found}, across_lines(found, session.store.kind), as_json=options.as_json)
            return
        state = found_status(session, options.scopes(), now=options.moment)
        inventory = session.inventory or session.read(options.scopes())
        health = session.kind.health(inventory, session.means(options.moment))
        known = known_scopes(session, options, held=inventory.memories)
        texts = {memory.id: memory.text for memory in inventory.memories}
        spoken = spoken_status(state, lambda name: session.shown(texts[name]))
    lines = (full_commands(line, options) for line in (*known, *spoken, "", *health_lines(health)))
    answer(state | {"health": health.to_json()}, lines, as_json=options.as_json)
    if check and not health.ok:
        raise click.exceptions.Exit(TROUBLE)


@command("store", "plan")
@click.argument("first")
@click.argument("second")
def why(options: Options, first: str, second: str) -> None:
    """Say what a pass does about two memories, how they are judged and why."""
    from ..fronts import Fates
    from ..reporting.pair import pair_lines

    with open_session(options) as session:
        memories = session.read(ScopeFilter()).memories
        a, b = (found(session, memories, text) for text in (first, second))
        given = (each for each in session.answered if {item.id for item in each.about} >= {a.id, b.id})
        answered = [f"{each.at:%Y-%m-%d}: {each.say.spoken}" for each in given]
        fate = None
        if a.scope == b.scope and a.id != b.id:
            fate = Fates(session, a.scope, memories, now=options.moment).of(a, b)
        a, b = (replace(memory, text=session.shown(memory.text)) for memory in (a, b))
        echo(map(session.shown, pair_lines(session.store.kind, a, b, fate, answered)))


@command("store", "scope", "plan", "json")
@click.argument("query", required=False)
@click.option("--as-of", type=moment, metavar="DATE")
def history(options: Options, *, query: str | None, as_of: datetime | None) -> None:
    """Show what a memory said before, and what took its place; changes nothing."""
    query = (query or "").strip()
    if as_of is not None and as_of.time() == time():  # a date means all of it
        as_of += timedelta(days=1, microseconds=-1)
    if not query and as_of is None:
        raise UsageError("Name an id, or words of a memory, or a date with --as-of.")
    from ..reporting.status import chain, matching, spoken_versions, versions

    with open_session(options) as session:
        memories = session.read(options.scopes()).memories
        every = versions(memories, session.journal, session.store.fingerprint, scopes=options.scopes())
        kind = session.store.kind
        shown = chain(matching(query, every, kind), every) if query else every
        held = (one for one in shown if as_of is None or one.held_at(as_of))
        shown = [replace(one, text=session.shown(one.text)) for one in held]
        known = known_scopes(session, options, held=memories)
    then = f" that was held true on {day(as_of)}" if as_of else ""
    nothing = f"Nothing about that is known{then}." if query else f"Nothing is known{then}."
    lines = spoken_versions(shown, every, kind) or [nothing, *known]
    answer({"versions": list(map(asdict, shown))}, lines, as_json=options.as_json)


@command("store", "scope", "plan", "json")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--learning", metavar="FILE")
@click.option("--threshold", type=int)
def check(options: Options, texts: tuple[str, ...], *, learning: str | None, threshold: int | None) -> None:
    """Say what each TEXT is to the memories before you store it: new, the same, more, or against one."""
    options.scopes()  # whose memories are meant is asked before anything is read
    from ..judging.check import Finding
    from ..reporting.pair import check_json, check_lines
    from ..rules.graph_relevance import NOTHING_NEW, load_learning

    asked = load_learning(learning) if learning is not None else None
    if asked is not None and texts:
        raise UsageError("--learning and texts exclude each other; give one of them.")
    if asked is None:
        texts = texts or _input_lines()
        if not any(text.strip() for text in texts):
            raise UsageError("There is no text to check; give one, or one on each line of the input.")
    with open_session(options) as session:
        known = session.known(options.scopes(), now=options.moment)
        inventory = session.inventory
        assert inventory is not None  # noqa: S101  (`known` has read it)
        notes = [f"{gap}; what is known may be more than this." for gap in inventory.gaps]
        for note in (*notes, *known_scopes(session, options, held=inventory.memories)):
            tell(f"note: {note}")
        if asked is not None:
            scored = session.kind.relevance(
                asked, inventory.memories, known=known, encoder=session.models.encoder,
                threshold=threshold, now=options.moment,
            )  # fmt: skip
            answer(scored.to_json(), as_json=True)
            worth = scored.save
        else:
            found = []
            for text in texts:
                found.append(check_json(known.check(text), session.shown))
                if not options.as_json:
                    lines = check_lines(found[-1], session.store.kind, named=len(texts) > 1)
                    echo([""] * (len(found) > 1) + lines)
            if options.as_json:
                answer({"texts": found}, as_json=True)
            worth = any(each["finding"] != Finding.SAME for each in found)
    if not worth:
        raise click.exceptions.Exit(NOTHING_NEW)


def _input_lines() -> tuple[str, ...]:
    try:
        return tuple(filter(None, map(str.strip, sys.stdin.read().splitlines())))
    except UnicodeDecodeError:
        raise UsageError("The input is no text in UTF-8.") from None


@command("store", "scope", "plan", "write")
@click.argument("query")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True)
def forget(options: Options, query: str, *, limit: int) -> None:
    """Find memories about QUERY, and forget the ones you pick; undo brings them back."""
    from ..fronts import about
    from ..planning.forgetting import forget_plan
    from ..reporting.report import CANCELLED

    with open_session(options) as session, session.locked():
        inventory, matches = about(session, query, options.scopes(), now=options.moment, limit=limit)
        if not matches:
            echo(["No memory matches.", *known_scopes(session, options, held=inventory.memories)])
            return
        for number, (memory, label, text) in enumerate(matches, 1):
            pinned = " (pinned, never touched)" if memory.pinned else ""
            click.echo(visible(f"{number:>3}. {label} {one_line(text)}{pinned}"))
        refuse_gaps(inventory.gaps, "Nothing can be forgotten.")
        picked = [matches[i] for i in _pick(len(matches)) if not matches[i][0].pinned]
        chosen = [memory for memory, _, _ in picked]
        tell_fidelity(session, inventory.fidelity, begun=bool(chosen))
        if not chosen:
            click.echo(CANCELLED)
            return
        try:
            wanted = visible(f"To forget: {' '.join(label for _, label, _ in picked)}.")
            if not confirmed(wanted, default=False):
                return
        except UsageError:
            raise UsageError(_NOBODY) from None
        kind, now, settings = session.store.kind, options.moment, session.settings
        plan = session.completed(forget_plan(chosen, inventory, kind=kind, now=now, settings=settings))
        result = session.apply(plan, now=options.clock, retire=options.retire, within_budget=False)
        click.echo(f"Forgotten: {result.pruned}. Undo with: {again(options, 'undo', result.run)}")


def found(session: Session, memories: Iterable[Memory], text: str) -> Memory:
    """The one memory with this id, name or beginning of an id."""
    wanted, listed = text.strip("[]").removeprefix(f"{session.store.kind}:"), list(memories)
    exact = [memory for memory in listed if memory.id == wanted]
    matching = exact or [memory for memory in listed if memory.id.startswith(wanted)]
    if len(matching) != 1:
        told = f"{len(matching)} memories have an id that begins with {wanted!r}"
        raise UsageError(f"{told}; give one that is unique.")
    return matching[0]


_NOBODY = (
    "Nobody answered, so nothing was changed; a script answers both questions: "
    r"printf 'all\ny\n' | mem0-dream forget ..."
)


def _pick(count: int) -> list[int]:
    click.echo("Forget which? Numbers such as 1 3, all, or empty for none: ", nl=False)
    line = sys.stdin.readline()
    if not line:
        click.echo()
        raise UsageError(_NOBODY)
    words = line.replace(",", " ").lower().split()
    if words == ["all"]:
        return list(range(count))
    if not all(word.isdigit() and 1 <= int(word) <= count for word in words):
        raise UsageError(f"Give numbers from 1 to {count}, or all; nothing was changed.")
    return sorted({int(word) - 1 for word in words})


@command("store", "json")
@click.option("--last", is_flag=True)
@click.option("--within", type=click.FloatRange(min=0), default=36, show_default=True, metavar="HOURS")
def runs(options: Options, *, last: bool, within: float) -> None:
    """List the runs of this store, newest first; of all stores if none is named."""
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
        own = (fingerprint, fingerprint + LINKS)
        listed = [run for run in session.journal.runs() if run.store in own]
        told = [(run, session.journal.changes(run.id)) for run in listed]
        changes = ((each, session.kind.relations(session.journal, each[0].id)) for each in told)
        lines = (run_line(*each) + (f", {changed.counts}" if changed else "") for each, changed in changes)
        shown = [] if options.as_json else list(lines) or ["No runs yet."]
    answer([run_json(*each) for each in told], shown, as_json=options.as_json)


@command("store", "scope")
@click.argument("run", required=False)
@click.option("--only", "ids", multiple=True, metavar="ID")
def undo(options: Options, run: str | None, *, ids: tuple[str, ...]) -> None:
    """Take RUN back, or the newest run: restore what it removed, withdraw what it added."""
    options = keep(recalled(options, run))
    scopes = options.named_scopes()
    with open_session(options) as session, session.locked():
        done = session.undo(run, now=options.clock, only=ids, scopes=scopes if scopes.ids else None)
        _echo_result(session, done)


@command("store")
@click.argument("run", required=False)
def resume(options: Options, run: str | None) -> None:
    """Finish RUN, or the newest run that was interrupted; the journal knows the store of RUN."""
    options = keep(recalled(options, run))
    with open_session(options) as session, session.locked():
        _echo_result(session, session.resume(run, now=options.clock))


@command("store")
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option("--list", "as_list", is_flag=True)
@click.option("--forget", "withdrawn", multiple=True)
def reject(
    options: Options, first: str | None, second: str | None, *, as_list: bool, withdrawn: tuple[str, ...]
) -> None:
    """Never propose anything about this pair of memories again, until one of them changes."""
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


def _echo_result(session: Session, result: RunResult | UndoResult) -> None:
    from ..reporting import report

    if isinstance(result, RunResult):
        click.echo(report.summary(result))
        return
    click.echo(report.undo_summary(result))
    click.echo("What was taken back is not proposed again; see `mem0-dream reject --list`.", err=True)
    if any(each.run == result.run and not each.closes for each in session.answered):
        click.echo("Conflicts that had been answered are open again.", err=True)
    for memory_id, reason in result.kept:
        click.echo(visible(f"Left alone: memory {memory_id}: {reason}"))
    for memory_id, reason in result.lost:
        click.echo(visible(f"Not brought back: memory {memory_id}: {reason}"))
    if result.lost:
        may = session.journal.run(result.run).state is not RunState.UNDONE
        more = f"; `mem0-dream undo {result.run}` tries again" if may else ""
        raise StoreError(f"Of run {result.run} {len(result.lost)} could not be brought back{more}.")
