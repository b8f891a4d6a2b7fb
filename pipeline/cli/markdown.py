"""The command line for directories of Markdown memories: `--store md`, and the prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import UsageError
from .kinds import GRAPH, again

if TYPE_CHECKING:
    from ..engine import Session
    from ..planning.markdown.planner import MarkdownPlanner
    from ..planning.stages import Observer
    from ..stores.markdown.store import MarkdownStore
    from .options import Options

Command = TypeVar("Command", bound=Callable[..., Any])
NONE_FOUND = "No memory directories found"

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


def open_markdown(options: Options, given: Mapping[str, Any], observer: Observer | None = None) -> Session:
    """A session on the memory directories of a project."""
    from ..engine import Session
    from ..stores.markdown.directories import discover
    from ..stores.markdown.store import MarkdownStore
    from ..writing.state import state_directory
    from .options import section_of, settings_of
    from .progress import Bars

    root = options.root or Path()
    state = state_directory(options.state_dir)
    store = MarkdownStore(discover(root, options.memory_dirs or ()), root=root, state=state)
    section = {name: value for name, value in section_of(options).items() if name != GRAPH}
    return Session(
        store,
        settings=settings_of(section, options),
        state_dir=state,
        observer=observer or Bars(),
        planner=_planner(store, options, given),
    )


def _planner(store: MarkdownStore, options: Options, given: Mapping[str, Any]) -> MarkdownPlanner:
    """Plans what the options ask for.

    Raises:
        UsageError: If they contradict each other.
    """
    from ...records import ActionKind
    from ..planning.markdown.planner import MarkdownPlanner
    from ..planning.markdown.settlement import Wishes

    only = {
        "--merge-only": (options.merge_only, {ActionKind.MERGE}),
        "--forget-only": (options.forget_only, {ActionKind.PRUNE}),
        "--index-only": (given.get("index_only"), set[ActionKind]()),
    }
    chosen = [name for name, (is_given, _) in only.items() if is_given]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other; leave all out for everything.")
    if given.get("supersede") and not (options.scorer or "").startswith("keywords"):
        raise UsageError(
            "--supersede lets the newer statement win by the keyword rule; add --scorer keywords."
        )
    transcripts = given.get("transcripts")
    if transcripts is not None and not transcripts.is_dir():
        raise UsageError(f"The transcripts {transcripts} are no directory.")
    return MarkdownPlanner(
        store,
        wishes=Wishes(kinds=frozenset(only[chosen[0]][1]), texts=False) if chosen else Wishes(),
        supersede=bool(given.get("supersede")),
        transcripts=transcripts,
        dates=True if given.get("dates") else None,
    )


def markdown_store(session: Session) -> MarkdownStore:
    """The store of a session on Markdown memories."""
    from ..stores.markdown.store import MarkdownStore

    if not isinstance(session.store, MarkdownStore):
        raise UsageError("This works on Markdown memories; use --store md.")
    return session.store


def announced(session: Session, _options: Options, _given: Mapping[str, Any]) -> bool:
    """Name the directories without a memory; say whether any has one, or an index."""
    from ..reporting.markdown.report import EMPTY
    from ..reporting.report import visible
    from ..stores.markdown.directories import INDEX

    directories = markdown_store(session).directories
    if not directories:
        click.echo(NONE_FOUND)
    busy = False
    for directory in directories:
        if directory.topics():
            busy = True
        else:
            click.echo(visible(f"{directory.name}: {EMPTY}"))
            busy |= (directory.path / INDEX).is_file()
    return busy


def mend_index(session: Session, options: Options) -> None:
    """After a change was skipped the index says too little or too much: rebuild it from what is there."""
    from ..planning.markdown.planner import MarkdownPlanner
    from ..planning.markdown.settlement import Wishes
    from ..stores.base import ScopeFilter

    wishes = Wishes(kinds=frozenset(), texts=False)
    planner = MarkdownPlanner(markdown_store(session), wishes=wishes, certain=True)
    inventory = session.read(ScopeFilter())
    plan = planner.propose(inventory, session.means(options.moment)).plan
    if plan.rewrites:
        result = session.apply(plan, now=options.clock)
        click.echo("The index was rebuilt again, because files had moved.", err=True)
        click.echo(f"Undo that first with: {again(options, 'undo', result.run)}", err=True)


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
