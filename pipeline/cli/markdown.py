"""The command line for directories of Markdown memories: `--store md`, and the prompt."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import IncompleteListingError, UsageError
from .kinds import GRAPH, again

if TYPE_CHECKING:
    from ..markdown_session import MarkdownChoices, MarkdownSession
    from ..plan import Plan, Side
    from ..planning.markdown.settlement import Settled
    from ..planning.markdown.survey import Survey
    from ..reporting.markdown.report import MarkdownReport
    from .options import Options

Command = TypeVar("Command", bound=Callable[..., Any])
KIND = "md"
NONE_FOUND = "No memory directories found"
CANCELLED = "Cancelled. No changes made."

PLACE_OPTIONS = (
    click.option(
        "--root", type=click.Path(path_type=Path), help="With --store md: the project. [default: .]"
    ),
    click.option(
        "--memory-dir",
        "memory_dirs",
        type=click.Path(path_type=Path),
        multiple=True,
        callback=lambda _context, _parameter, value: value or None,
        help="With --store md: a memory directory, instead of searching the project; may be repeated.",
    ),
)
"""Where the memories are; every command on a store takes them."""
PASS_OPTIONS = (
    click.option(
        "--transcripts", type=click.Path(path_type=Path), help="With --store md: session transcripts (JSONL)."
    ),
    click.option("--index-only", is_flag=True, help="With --store md: rebuild MEMORY.md and nothing else."),
    click.option(
        "--dates",
        is_flag=True,
        help="With --store md --auto: write relative dates out too; a person is always shown them.",
    ),
    click.option(
        "--supersede",
        is_flag=True,
        help="With --store md --scorer keywords: the newer of two contradicting statements wins.",
    ),
)
"""What only a pass over Markdown memories takes."""


def pass_options(command: Command) -> Command:
    """Add the options of a pass over Markdown memories to a command."""
    for option in reversed(PASS_OPTIONS):
        command = option(command)
    return command


@contextlib.contextmanager
def markdown_session(options: Options, choices: MarkdownChoices | None = None) -> Iterator[MarkdownSession]:
    """Open the memory directories of a project."""
    from ..markdown_session import MarkdownSession
    from ..stores.markdown.directories import discover
    from ..stores.markdown.store import MarkdownStore
    from ..writing.state import state_directory
    from .options import section_of, settings_of
    from .progress import Bars

    root = options.root or Path()
    state = state_directory(options.state_dir)
    store = MarkdownStore(discover(root, options.memory_dirs or ()), root=root, state=state)
    section = {name: value for name, value in section_of(options).items() if name != GRAPH}
    settings = settings_of(section, options)
    with MarkdownSession(
        store, choices=choices, settings=settings, state_dir=state, observer=Bars()
    ) as session:
        yield session


def dream(options: Options, given: dict[str, Any]) -> None:
    """One pass: orient, gather, consolidate, prune and index."""
    from .main import say_aside

    choices = _choices(options, given)
    with markdown_session(options, choices) as session:
        directories = session.markdown.directories
        if not directories:
            click.echo(NONE_FOUND)
            return
        if not _announce_empty(session):
            return
        if given["dry_run"] or (given["as_json"] and not given["auto"]):
            _show(session, options, given)
            return
        with session.locked():
            if given["auto"]:
                _resume_interrupted(session, options)
            found = session.look(now=options.moment, say=say_aside)
            if found.plan.gaps:
                raise IncompleteListingError(f"Read-only: {'; '.join(found.plan.gaps)}. Nothing was changed.")
            if given["auto"]:
                settled = session.settle(found, {}, now=options.moment)
            else:
                asked = _attended(session, found, options, given)
                if asked is None:
                    return
                found, settled = asked
            _apply(session, found, settled, options, given)


def _choices(options: Options, given: dict[str, Any]) -> MarkdownChoices:
    """What the options ask for.

    Raises:
        UsageError: If they contradict each other.
    """
    from ...records import ActionKind
    from ..markdown_session import MarkdownChoices
    from ..planning.markdown.settlement import Wishes

    only = {
        "--merge-only": (options.merge_only, {ActionKind.MERGE}),
        "--forget-only": (options.forget_only, {ActionKind.PRUNE}),
        "--index-only": (given["index_only"], set()),
    }
    chosen = [name for name, (is_given, _) in only.items() if is_given]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other; leave all out for everything.")
    if given["auto"] and given["dry_run"]:
        raise UsageError("--auto applies and --dry-run does not; choose one.")
    if given["supersede"] and not (options.scorer or "").startswith("keywords"):
        raise UsageError(
            "--supersede lets the newer statement win by the keyword rule; add --scorer keywords."
        )
    transcripts = given["transcripts"]
    if transcripts is not None and not transcripts.is_dir():
        raise UsageError(f"The transcripts {transcripts} are no directory.")
    wishes = Wishes(kinds=frozenset(only[chosen[0]][1]), texts=False) if chosen else Wishes()
    dates = given["dates"] or not given["auto"]
    return MarkdownChoices(wishes, given["supersede"], transcripts, dates=dates, certain=given["auto"])


def _announce_empty(session: MarkdownSession) -> bool:
    """Name the directories without a memory; say whether any has one, or an index."""
    from ..reporting.markdown.report import EMPTY
    from ..stores.markdown.directories import INDEX

    busy = False
    for directory in session.markdown.directories:
        if directory.topics():
            busy = True
        else:
            click.echo(f"{directory.name}: {EMPTY}")
            busy |= (directory.path / INDEX).is_file()
    return busy


def _report(session: MarkdownSession, found: Survey, settled: Settled) -> MarkdownReport:
    from ..reporting.markdown.report import MarkdownReport

    directories = session.markdown.directories
    files = sum(len(directory.topics()) + directory.is_index_alone() for directory in directories)
    return MarkdownReport(found, settled, files=files, directories=len(directories), notes=session.notes())


def _show(session: MarkdownSession, options: Options, given: dict[str, Any]) -> None:
    """What a pass would do, and nothing done."""
    from .main import say_aside

    found = session.look(now=options.moment, say=say_aside)
    settled = session.settle(found, {}, now=options.moment)
    if given["as_json"]:
        _print_json(settled, None)
        return
    report = _report(session, found, settled)
    click.echo("\n".join(report.dry_run(session.evidence(found), explain=given["explain"])))
    for gap in found.plan.gaps:
        click.echo(f"Read-only: {gap}")


def _attended(
    session: MarkdownSession, found: Survey, options: Options, given: dict[str, Any]
) -> tuple[Survey, Settled] | None:
    """Show the proposals, ask about conflicts and doubts, then about all of it; None if it was declined."""
    from ..reporting.report import Report
    from .asking import confirmed, warned
    from .review import reviewed

    shown = _report(session, found, session.settle(found, {}, now=options.moment))
    for line in (*shown.proposals(), *shown.remarks(session.evidence(found))):
        click.echo(line)
    if given["explain"]:
        click.echo("\n".join(shown.explanations()))
    wanted = session.choices.wishes.kinds
    conflicts = [conflict for conflict in found.plan.conflicts if conflict.kind in wanted]
    answers = {conflict.id: _ask(shown, conflict) for conflict in conflicts}
    skipped = [conflict for conflict in conflicts if answers[conflict.id] is None]
    proposed = found.plan
    plan = reviewed(session, proposed, Report(proposed), review=given["review"], now=options.clock)
    found = replace(found, plan=plan)
    settled = session.settle(found, answers, now=options.moment)
    plan = settled.plan
    if any(action.removes or action.kind == "rewrite" for action in plan.actions):
        if any(answers.values()) or found.plan.actions != proposed.actions:
            _show_answered(session, found, settled, shown.proposals())
        counts = f"{len(plan.merges)} merges, {len(plan.prunes)} prunes, {len(plan.rewrites)} updates"
        if not confirmed(f"Proposed: {counts}.", default=not warned(session, plan)):
            click.echo(CANCELLED)
            return None
    session.remember_skips(skipped, now=options.clock)
    return found, settled


def _show_answered(session: MarkdownSession, found: Survey, settled: Settled, before: list[str]) -> None:
    """The changes that follow from the answers and were not shown yet."""
    known = set(before)
    lines = _report(session, found, settled).proposals()
    blocks: list[list[str]] = []
    for line in lines:
        if not line.startswith("  "):
            blocks.append([])
        blocks[-1].append(line)
    for block in blocks:
        if not set(block) <= known:
            click.echo("\n".join(block))


def _ask(shown: MarkdownReport, conflict: Any) -> Side | None:
    from .asking import ask_choice

    for line in shown.sides(conflict):
        click.echo(line)
    return ask_choice(shown.conflict(conflict).removesuffix("[A/B/skip]"))


def _apply(
    session: MarkdownSession, found: Survey, settled: Settled, options: Options, given: dict[str, Any]
) -> None:
    report = _report(session, found, settled)
    quotations = session.evidence(found)
    result = session.apply(settled.plan, now=options.clock, within_budget=given["auto"])
    if given["as_json"]:
        _print_json(settled, result)
        return
    click.echo("\n".join(report.live(result, quotations)))
    if result.moved:
        mend_index(session, options)
    if result.run:
        click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def mend_index(session: MarkdownSession, options: Options) -> None:
    """After a change was skipped the index says too little or too much: rebuild it from what is there."""
    from ..markdown_session import MarkdownChoices
    from ..planning.markdown.settlement import Wishes

    wishes = Wishes(kinds=frozenset(), texts=False)
    session.choices = MarkdownChoices(wishes, certain=True)
    found = session.look(now=options.moment)
    plan = session.settle(found, {}, now=options.moment).plan
    if plan.rewrites:
        result = session.apply(plan, now=options.clock)
        click.echo("The index was rebuilt again, because files had moved.", err=True)
        click.echo(f"Undo that first with: {again(options, 'undo', result.run)}", err=True)


def show_plan(plan: Plan) -> list[str]:
    """All that a plan would change, each change with its diff."""
    from ..reporting.markdown.report import PlanReport

    return PlanReport(plan).proposals()


def _resume_interrupted(session: MarkdownSession, options: Options) -> None:
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        session.resume(earlier.id, now=options.clock)
        click.echo(f"mem0-dream: finished run {earlier.id}, which had been interrupted.", err=True)


def _print_json(settled: Settled, result: Any) -> None:
    from ..planning.plan_file import json_text, to_json

    click.echo(json_text(to_json(settled.plan, result)))


@click.command()
@click.option("--memory-root", required=True, help="The memory directory, as the agent sees it.")
@click.option("--transcripts", required=True, help="The folder of its session transcripts.")
@click.option("--extra", help="Text to put behind the rest.")
def prompt(memory_root: str, transcripts: str, extra: str | None) -> None:
    """Print the four-phase prompt, for an agent that consolidates its own memory.

    \b
    Example:
      mem0-dream prompt --memory-root .claude/memory --transcripts ~/.claude/projects/app
    """  # noqa: D301
    from ..reporting.markdown.prompt import dream_prompt

    click.echo(dream_prompt(memory_root, transcripts, extra=extra), nl=False)


COMMANDS = (prompt,)
"""What the main group offers for Markdown memories besides `--store md`."""
