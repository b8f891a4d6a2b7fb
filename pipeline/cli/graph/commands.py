"""Commands that only knowledge graphs have: restore, relevance, reflect, attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....errors import UsageError
from ...planning.plan_file import json_text, parse_plan
from ..options import plan_options, store_options
from .opening import graph_options, graph_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine import Session
    from ...planning.graph.proposing import GraphPlanner
    from ...reporting.graph.reflection import LookBack
    from ...rules.graph.nodes import Node

as_json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")


def _nodes(session: Session) -> tuple[Node, ...]:
    from ...rules.graph.nodes import nodes_of
    from ...stores.base import ScopeFilter

    return nodes_of(session.read(ScopeFilter()).memories)


@click.command()
@click.argument("name")
@store_options
@click.pass_context
def restore(ctx: click.Context, /, name: str, **given: Any) -> None:
    """Bring a forgotten memory back from the archive, with its relations.

    \b
    Example:
      mem0-dream restore "grunt builds" --store graph --file memory.jsonl
    """  # noqa: D301
    options = graph_options(ctx, given)
    from ...reporting.report import visible
    from ...stores.graph.restoring import restore_forgotten

    with graph_session(options) as (session, store, planner), session.locked():
        relations, left = restore_forgotten(store, name)
        planner.notes.bring_back(name, now=options.clock)
        click.echo(f"Restored: {visible(name)}, with {relations} relations.")
        if left:
            click.echo(f"Left out: {left} relations to memories that are gone.")


@click.command()
@click.argument("learning")
@store_options
@plan_options
@click.option("--threshold", type=int, help="Relevance from which to save. [default: 5]")
@click.pass_context
def relevance(ctx: click.Context, /, learning: str, threshold: int | None, **given: Any) -> None:
    """Say whether LEARNING (a JSON file, or - for the input) is worth saving; saves nothing itself.

    Prints one JSON object. Exit code 0: save it; 10: do not.

    \b
    Example:
      mem0-dream relevance learning.json --store graph --file memory.jsonl --core core-memory.json
    """  # noqa: D301
    options = graph_options(ctx, given)
    from ...rules.graph import relevance as filter_

    asked = filter_.load_learning(learning)
    with graph_session(options) as (session, store, planner):
        settings = planner.graph
        if threshold is not None:
            settings = settings.model_copy(update={"keep_above": threshold})
        answer = filter_.relevance(
            asked,
            _nodes(session),
            store.core.statements() if store.core else (),
            encoder=session.encoder,
            settings=settings,
            now=options.moment,
        )
    click.echo(json_text(answer.to_json(), sort_keys=False))
    if not answer.save:
        ctx.exit(filter_.NOT_SAVED_EXIT_CODE)


@click.command()
@store_options
@plan_options
@click.option("--quick", is_flag=True, help="Only this week's learnings and uses.")
@click.option("--beliefs", "about_beliefs", is_flag=True, help="What speaks for and against the core memory.")
@click.option("--memories", "about_memories", is_flag=True, help="All memories by effectiveness.")
@as_json_option
@click.pass_context
def reflect(
    ctx: click.Context,
    /,
    *,
    quick: bool,
    about_beliefs: bool,
    about_memories: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Look back: what worked and what did not since the last run; changes nothing.

    \b
    Example:
      mem0-dream reflect --beliefs --store graph --file memory.jsonl --core core-memory.json
    """  # noqa: D301
    options = graph_options(ctx, given)
    if quick + about_beliefs + about_memories > 1:
        raise UsageError("--quick, --beliefs and --memories exclude each other; choose one.")
    from ...reporting.graph import reflection
    from ...reporting.report import visible

    data: dict[str, Any]
    with graph_session(options) as (session, store, planner):
        nodes = _nodes(session)
        if about_beliefs:
            core = store.core.statements() if store.core else ()
            beliefs = reflection.beliefs(core, nodes, planner.judging(session.means(options.moment)))
            lines, data = reflection.belief_lines(beliefs), {"beliefs": [item.to_json() for item in beliefs]}
        elif about_memories:
            ranked = reflection.ranking(nodes)
            lines = reflection.memories_lines(nodes)
            data = {"memories": [reflection.node_json(node) for node in ranked]}
        elif quick:
            lines = reflection.quick_lines(nodes, now=options.moment)
            learned, used = reflection.this_week(nodes, now=options.moment)
            data = {
                "since": (options.moment - reflection.WEEK).isoformat(),
                "learned": [reflection.node_json(node) for node in learned],
                "used": [reflection.node_json(node) for node in used],
            }
        else:
            looked = _looked_back(session, planner, nodes)
            lines = reflection.look_back_lines(looked)
            data = looked.to_json() if looked else {"since": None}
    if as_json:
        click.echo(json_text(data, sort_keys=False))
    else:
        click.echo("\n".join(visible(line) for line in lines))


def _looked_back(session: Session, planner: GraphPlanner, nodes: Sequence[Node]) -> LookBack | None:
    """What became of a graph since the last run; None if there was none."""
    from ...reporting.graph.reflection import look_back
    from ...writing.journal import Outcome, RunState

    last = planner.notes.last
    if last is None or not last.run or session.journal.run(last.run).state is not RunState.APPLIED:
        return look_back(nodes, last) if last else None
    plan = parse_plan(session.journal.run(last.run).plan)
    done = {name for name, row in session.journal.outcomes(last.run).items() if row[0] is Outcome.APPLIED}
    return look_back(
        nodes,
        last,
        merged=[f"{' + '.join(item.removes)} -> {item.survivor}" for item in plan.merges if item.id in done],
        forgotten=[name for item in plan.prunes if item.id in done for name in item.removes],
    )


@click.command()
@store_options
@plan_options
@click.option("--focus", help="Protect what is about this topic from being forgotten.")
@click.option("--reset", is_flag=True, help="Take the focus back.")
@as_json_option
@click.pass_context
def attention(ctx: click.Context, /, *, focus: str | None, reset: bool, as_json: bool, **given: Any) -> None:
    """Show what the memory is about at present; set or reset a focus by hand.

    \b
    Example:
      mem0-dream attention --focus "payment service" --store graph --file memory.jsonl
    """  # noqa: D301
    options = graph_options(ctx, given)
    if focus is not None and reset:
        raise UsageError("--focus and --reset exclude each other; choose one.")
    if focus is not None and not focus.strip():
        raise UsageError("The focus is empty; give a topic, or take it back with --reset.")
    from ....models.words import significant_words
    from ...reporting.report import visible
    from ...rules.graph.attention import attention_lines, focused, topics

    if focus is not None and not significant_words(focus):
        raise UsageError(f"The focus {focus!r} holds no word that tells memories apart; give a topic.")

    with graph_session(options) as (session, _, planner):
        notes = planner.notes
        if focus is not None or reset:
            notes.focus = focus
        nodes = _nodes(session)
        shown = topics(nodes, now=options.moment, settings=planner.graph, focus=notes.focus)
        matched = focused(nodes, notes.focus)
        if as_json:
            whole = {
                "focus": notes.focus,
                "in_focus": list(matched),
                "topics": [topic.to_json() for topic in shown],
            }
            click.echo(json_text(whole, sort_keys=False))
        else:
            lines = attention_lines(shown, notes.focus, len(matched))
            click.echo("\n".join(visible(line) for line in lines))


COMMANDS = (restore, relevance, reflect, attention)
"""What the main group offers for graphs besides `--store graph`."""
