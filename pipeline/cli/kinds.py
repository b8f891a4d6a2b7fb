"""What the command line does for one kind of store alone: before a pass, and besides one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, cast

import click

from ...errors import RefusedChangeError, UsageError
from ..reporting.text import clip, visible
from ..stores.base import ScopeFilter
from .asking import confirmed
from .opening import again, open_session
from .options import GRAPH, MARKDOWN, Options, command
from .terminal import answer, tell

if TYPE_CHECKING:
    from ..engine import Session
    from ..kinds.graph import GraphKind
    from ..stores.graph.entities import Node
    from ..stores.markdown.store import MarkdownStore


def ready(session: Session, options: Options) -> bool:
    """Before a pass: refuse what cannot be, and say what the kind calls for; False ends it."""
    if session.store.kind == MARKDOWN:
        return _announced(session, options)
    if session.store.kind == GRAPH:
        if options.repair and (options.dry_run or (options.as_json and not options.auto)):
            raise UsageError("--repair changes the graph, and a dry run does not; choose one.")
        try:
            _kind(session).core  # noqa: B018  (read to see whether it can be)
        except RefusedChangeError as error:
            tell(f"{error}; nothing can be promoted.")
    return True


def repaired(session: Session, options: Options) -> bool:
    """Move broken lines away, shown and asked about first; False if the person did not want it."""
    if not options.repair:
        return True
    kind = _kind(session)
    broken, archive = kind.store.document().broken, kind.store.archive
    plan = kind.repair(options.clock)
    if plan is None:
        tell("there are no broken lines.")
        return True
    click.echo(f"Broken lines ({len(broken)}):", err=options.auto)
    for number, line in broken:
        click.echo(f"  line {number}, {line.reason}: {clip(line.raw)}", err=options.auto)
    if not options.auto and not confirmed(f"Proposed: move them to {archive}."):
        return False
    result = session.apply(plan, now=options.clock)
    for _, reason in result.moved:
        raise RefusedChangeError(f"The broken lines stay: {reason}.")
    tell(f"{len(broken)} broken lines moved to {archive}.")
    tell(f"Undo with: {again(options, 'undo', result.run)}", begin="")
    return True


@command("store", kind=GRAPH)
@click.argument("name")
def restore(options: Options, name: str) -> None:
    """Bring a forgotten memory back from the archive, with its relations.

    Example:
      mem0-dream restore "grunt builds" --store graph --file memory.jsonl
    """
    with _opened(options) as (session, kind, _), session.locked():
        relations, left = kind.store.bring_back(name, now=options.clock)
        click.echo(f"Restored: {visible(name)}, with {relations} relations.")
        if left:
            click.echo(f"Left out: {left} relations to memories that are gone.")


@command("store", "plan", "json", kind=GRAPH)
@click.option("--quick", is_flag=True, help="Only this week's learnings and uses.")
@click.option("--beliefs", "about_beliefs", is_flag=True, help="What speaks for and against the core memory.")
@click.option("--memories", "about_memories", is_flag=True, help="All memories by effectiveness.")
def reflect(options: Options, *, quick: bool, about_beliefs: bool, about_memories: bool) -> None:
    """Look back: what worked and what did not since the last run; changes nothing.

    Example:
      mem0-dream reflect --beliefs --store graph --file memory.jsonl --core core-memory.json
    """
    if quick + about_beliefs + about_memories > 1:
        raise UsageError("--quick, --beliefs and --memories exclude each other; choose one.")
    from ..reporting import graph
    from ..writing.journal import RunState

    with _opened(options) as (session, kind, nodes):
        if about_beliefs:
            data, lines = graph.beliefs(kind.core, nodes, kind.reader(session.means(options.moment)))
        elif about_memories:
            data, lines = graph.ranking(nodes)
        elif quick:
            data, lines = graph.this_week(nodes, options.moment)
        else:
            last, journal = kind.store.notes.last, session.journal
            # What the last run did counts only while it stands.
            stands = last and last.run and journal.run(last.run).state is RunState.APPLIED
            done = graph.carried_out(last.run, journal) if last and stands else ()
            data, lines = graph.look_back(nodes, last, done)
    answer(data, map(visible, lines), as_json=options.as_json)


@command("store", "plan", "json", kind=GRAPH)
@click.option("--focus", help="Protect what is about this topic from being forgotten.")
@click.option("--reset", is_flag=True, help="Take the focus back.")
def attention(options: Options, *, focus: str | None, reset: bool) -> None:
    """Show what the memory is about at present; set or reset a focus by hand.

    Example:
      mem0-dream attention --focus "payment service" --store graph --file memory.jsonl
    """
    from ...models.text.words import significant_words
    from ..rules.graph_use import attention_lines, focused, topics
    from ..stores.graph.store import FOCUS

    if focus is not None and reset:
        raise UsageError("--focus and --reset exclude each other; choose one.")
    if focus is not None and not focus.strip():
        raise UsageError("The focus is empty; give a topic, or take it back with --reset.")
    if focus is not None and not significant_words(focus):
        raise UsageError(f"The focus {focus!r} holds no word that tells memories apart; give a topic.")
    with _opened(options) as (_, kind, nodes):
        notes = kind.store.notes
        if focus is not None or reset:
            notes.note(FOCUS, focus)
        topic: str | None = notes.noted(FOCUS)
        shown = topics(nodes, now=options.moment, settings=kind.graph, focus=topic)
        matched = focused(nodes, topic)
        whole = {"focus": topic, "in_focus": list(matched), "topics": [item.to_json() for item in shown]}
        lines = attention_lines(shown, topic, len(matched))
        answer(whole, map(visible, lines), as_json=options.as_json)


@contextlib.contextmanager
def _opened(options: Options) -> Iterator[tuple[Session, GraphKind, tuple[Node, ...]]]:
    from ..stores.graph.entities import nodes_of

    with open_session(options) as session:
        yield session, _kind(session), nodes_of(session.read(ScopeFilter()).memories)


def _kind(session: Session) -> GraphKind:
    return cast("GraphKind", session.kind)  # opened by `open_graph`


def _announced(session: Session, options: Options) -> bool:
    """Say where there is no memory at all; whether any directory has one, or an index."""
    from ..reporting.markdown import EMPTY, across
    from ..stores.markdown.directories import INDEX, NONE_FOUND, other_places

    store = cast("MarkdownStore", session.store)
    if options.across:
        answer(*across(store.root, session.models, given=options.memory_dirs or ()), as_json=options.as_json)
        return False
    if not store.directories:
        click.echo(NONE_FOUND)
        for place in other_places(store.root):
            told = f"{place} holds Markdown files; if they are memories, add --memory-dir {place}"
            click.echo(visible(told))
    empty = [each for each in store.directories if not (each.topics() or each.is_index_alone())]
    if len(empty) == len(store.directories):  # else the report says what there is
        for directory in empty:
            click.echo(visible(f"{directory.name}: {EMPTY}"))
    return len(empty) < len(store.directories) or any((each.path / INDEX).is_file() for each in empty)


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
    from ..rules.markdown_index import LINE_LENGTH, LONG_LINE, MAX_BYTES
    from ..stores.markdown.directories import MAX_LINES

    limits = {"line_length": LINE_LENGTH, "long_line": LONG_LINE, "max_lines": MAX_LINES}
    text = (files(__package__) / "prompt.md").read_text(encoding="utf-8").format(
        memory_root=memory_root, transcripts=transcripts, max_kilobytes=MAX_BYTES // 1000, **limits
    )  # fmt: skip
    click.echo(text if not extra else f"{text}\n## Additional context\n\n{extra.strip()}\n", nl=False)
