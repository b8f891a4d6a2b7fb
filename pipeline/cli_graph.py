"""The command line for knowledge graphs: `--store graph`, and what else one can ask a graph."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import ConfigError, IncompleteListingError, RefusedChangeError, UsageError
from .cli_kinds import again

if TYPE_CHECKING:
    from .cli_options import Options
    from .graph.health import Health
    from .graph.session import GraphSession
    from .graph.settings import GraphSettings
    from .plan import Plan, Resolve, Side
    from .results import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])
KIND = "graph"

PLACE_OPTIONS = (
    click.option(
        "--file",
        "graph_file",
        type=click.Path(path_type=Path),
        help="With --store graph: the memory server's JSON Lines file.",
    ),
    click.option("--mcp", help="With --store graph: the command of a memory server, instead of its file."),
    click.option(
        "--core", type=click.Path(path_type=Path), help="With --store graph: the core memory (JSON)."
    ),
)
"""Where the graph is; every command on a store takes them."""
PASS_OPTIONS = (
    click.option("--health", is_flag=True, help="Show how the memory is doing; exit code 9 on a warning."),
    click.option("--if-due", is_flag=True, help="With --store graph: do nothing unless it is due; say why."),
    click.option(
        "--repair", is_flag=True, help="With --store graph: move broken lines to the archive first."
    ),
)
"""What only a pass takes."""


def pass_options(command: Command) -> Command:
    """Add the options of a pass over a graph to a command."""
    for option in reversed(PASS_OPTIONS):
        command = option(command)
    return command


@contextlib.contextmanager
def graph_session(options: Options) -> Iterator[GraphSession]:
    """Open the graph that the options name.

    Raises:
        ConfigError: If they name none, or two.
    """
    from .cli_options import settings_of
    from .cli_progress import Bars
    from .graph.session import GraphSession
    from .state import state_directory
    from .stores.graph import GraphStore
    from .stores.graph_file import FileMedium, Medium

    require_place(options)
    section, limits = _configured(options)
    settings = settings_of(section, options)
    medium: Medium
    if options.graph_file is not None:
        medium = FileMedium(options.graph_file)
    else:
        from .stores.graph_server import ServerMedium

        medium = ServerMedium(str(options.mcp))
    state = state_directory(options.state_dir)
    store = GraphStore(medium, state=state, core=options.core)
    with GraphSession(store, settings=settings, graph=limits, state_dir=state, observer=Bars()) as session:
        yield session


def require_place(options: Options) -> None:
    """Refuse options that name no graph, or two."""
    if (options.graph_file is None) == (options.mcp is None):
        raise ConfigError(
            "Name one graph: its file with --file memory.jsonl, or its server with --mcp COMMAND."
        )


def _refuse_contradictions(given: dict[str, Any]) -> None:
    if given["auto"] and given["dry_run"]:
        raise UsageError("--auto applies and --dry-run does not; choose one.")
    if given["repair"] and (given["dry_run"] or (given["as_json"] and not given["auto"])):
        raise UsageError("--repair changes the graph, and a dry run does not; choose one.")


def _configured(options: Options) -> tuple[dict[str, Any], GraphSettings]:
    """The sections `mem0_dream` and `mem0_dream.graph` of a configuration, if one was given."""
    from pydantic import ValidationError

    from .cli_options import section_of
    from .graph.settings import GraphSettings

    section = section_of(options)
    try:
        limits = GraphSettings(**section.pop("graph", {}))
    except (ValidationError, TypeError) as error:
        raise ConfigError(f"The settings mem0_dream.graph are wrong: {error}.") from None
    return section, limits


def consolidate_graph(options: Options, given: dict[str, Any]) -> None:
    """One pass over a graph: analyse, propose, ask, apply, report."""
    _refuse_contradictions(given)
    with graph_session(options) as session:
        if given["if_due"] and not _is_due(session, options, given):
            return
        if given["dry_run"] or (given["as_json"] and not given["auto"]):
            _show(session, options, given)
            return
        with session.locked():
            if given["repair"]:
                moved = session.store.repair(at=options.clock)
                click.echo(f"mem0-dream: {moved} broken lines moved to {session.store.archive}.", err=True)
            if given["auto"]:
                _resume_interrupted(session, options)
            _pass(session, options, given)


def _is_due(session: GraphSession, options: Options, given: dict[str, Any]) -> bool:
    from .graph.history import due_reason
    from .plan_file import json_text

    names = session.store.document().names
    due, why = due_reason(names, session.last, settings=session.graph_settings, now=options.moment)
    click.echo(f"mem0-dream: {'due' if due else 'not due'}: {why}.", err=True)
    if given["as_json"] and not due:
        click.echo(json_text({"due": False, "reason": why}))
    return due


def _show(session: GraphSession, options: Options, given: dict[str, Any]) -> None:
    """What a pass would do, and nothing done."""
    from .cli import tell_open
    from .graph.report import GraphReport

    plan = _proposed(session, options)
    if given["as_json"]:
        _print_json(plan, None, None)
        return
    if not plan.actions:
        _say_nothing(plan)
    else:
        shown = GraphReport(plan, explain=given["explain"])
        click.echo("\n".join([*shown.lines(), shown.proposal()]))
        tell_open(plan)
        click.echo("".join(f"Read-only: {gap}\n" for gap in plan.gaps) + "Dry run: no changes made.")
    if given["explain"] and plan.unsure:
        click.echo("\n".join(GraphReport(plan, explain=True).unsure_lines()))


def _proposed(session: GraphSession, options: Options) -> Plan:
    from .cli import only
    from .stores.base import ScopeFilter

    if session.store.core is not None:
        try:
            session.store.core.statements()
        except RefusedChangeError as error:
            click.echo(f"mem0-dream: {error}; nothing can be promoted.", err=True)
    return only(session.propose(ScopeFilter(), now=options.moment), options)


def _say_nothing(plan: Plan) -> None:
    from . import report
    from .cli import say_nothing

    if plan.gaps:
        raise IncompleteListingError(
            f"Read-only: {'; '.join(plan.gaps)}. Nothing was found in what could be listed."
        )
    if plan.totals:
        say_nothing(plan)
    else:
        click.echo(report.NOTHING_STORED)


def _pass(session: GraphSession, options: Options, given: dict[str, Any]) -> None:
    began = time.monotonic()
    plan = _proposed(session, options)
    if plan.gaps:
        raise IncompleteListingError(f"Read-only: {'; '.join(plan.gaps)}. Nothing was changed.")
    before, previous = _state(session, options, plan), session.last
    if given["auto"]:
        result = session.apply(plan, now=options.clock)
    else:
        asked = _ask_and_apply(session, plan, options, given)
        if asked is None:
            return
        result = asked
    session.remember(now=options.moment, run=result.run)
    after = _state(session, options, None)
    if given["as_json"]:
        _print_json(plan, result, after.health, before=before.health)
        return
    planned = session.planned(result.run) or plan
    from .graph.report import Passed, passed_lines

    passed = Passed(
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
    _conclude(planned, result, options, given)


def _conclude(plan: Plan, result: RunResult, options: Options, given: dict[str, Any]) -> None:
    from . import report
    from .cli import tell_open
    from .graph.report import GraphReport

    for line in report.moved_lines(result, plan, GraphReport(plan)):
        click.echo(line, err=given["auto"])
    click.echo()
    if given["auto"]:
        click.echo(report.auto_summary(result, conflicts=len(plan.conflicts) + plan.left_open))
    else:
        click.echo(report.summary(result))
        tell_open(plan)
        if result.run:
            click.echo(f"Undo with: {again(options, 'undo', result.run)}", err=True)


def _ask_and_apply(
    session: GraphSession, plan: Plan, options: Options, given: dict[str, Any]
) -> RunResult | None:
    """Show, ask about each contradiction, then about all of it; None if there is nothing to do."""
    from . import report
    from .cli import confirmed, warned
    from .cli_review import may_ask, reviewed
    from .graph.report import GraphReport

    shown = GraphReport(plan, explain=given["explain"])
    if not plan.actions and not may_ask(plan, review=given["review"]):
        session.remember(now=options.moment)
        _say_nothing(plan)
        return None
    click.echo("\n".join(shown.lines()))
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
    over = warned(session, plan.with_choices(choices))
    if not confirmed(GraphReport(plan).proposal(), default=not over):
        click.echo(report.CANCELLED)
        return None
    result = session.apply(plan, now=options.clock, choices=choices, within_budget=False)
    session.remember_skips(skipped, now=options.clock, run=result.run)
    return result


def _ask(conflict: Resolve, shown: Any) -> Side | None:
    from .cli import ask_choice
    from .report import one_line

    texts = {member.id: member.text for member in conflict.members}
    for side, ids in (("A", conflict.a), ("B", conflict.b)):
        likely = " (newer, likely to hold)" if conflict.newer == side.lower() else ""
        click.echo(f"  {side}: {one_line(texts[ids[0]])}{likely}")
    return ask_choice(str(shown.line(conflict)).removesuffix("[A/B/skip]"))


def _resume_interrupted(session: GraphSession, options: Options) -> None:
    earlier = session.journal.interrupted(session.store.fingerprint)
    if earlier is not None:
        session.resume(earlier.id, now=options.clock)
        click.echo(f"mem0-dream: finished run {earlier.id}, which had been interrupted.", err=True)


class _State:
    """A graph at one moment: its entities, orphans and health."""

    def __init__(self, session: GraphSession, options: Options, plan: Plan | None) -> None:
        from .graph.health import graph_health
        from .graph.nodes import nodes_of
        from .graph.relations import orphans
        from .plan import Merge
        from .stores.base import ScopeFilter

        inventory = session.read(ScopeFilter())
        found = plan or session.plan(inventory, now=options.moment)
        document = session.store.document()
        nodes = nodes_of(inventory.memories)
        doubles = {name for merge in found.merges for name in merge.removes}
        doubles |= {merge.members[0].id for merge in found.unsure if isinstance(merge, Merge)}
        self.nodes = {node.id: node for node in nodes}
        self.orphans = orphans(document.names, document.relations)
        self.health = graph_health(
            nodes,
            duplicates=len(doubles),
            orphans=len(self.orphans),
            settings=session.graph_settings,
            now=options.moment,
            gaps=inventory.gaps,
        )


def _state(session: GraphSession, options: Options, plan: Plan | None) -> _State:
    return _State(session, options, plan)


def graph_health(options: Options) -> Health:
    """How the graph is doing as it stands."""
    with graph_session(options) as session:
        return _state(session, options, None).health


def _print_json(
    plan: Plan, result: RunResult | None, health: Health | None, *, before: Health | None = None
) -> None:
    from .plan_file import json_text, to_json

    whole = to_json(plan, result) | {
        "health": health.to_json() if health else None,
        "health_before": before.to_json() if before else None,
    }
    click.echo(json_text(whole))


def graph_options(ctx: click.Context, given: dict[str, Any]) -> Options:
    """The options of a command that only graphs have."""
    from .cli_options import Options

    options = Options.gather(ctx, given, kind=KIND)
    if options.store_kind != KIND:
        raise UsageError("This command works on a knowledge graph; use --store graph.")
    return options


def read_input(path: str) -> str:
    """A file's text, or the input for `-`."""
    return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
