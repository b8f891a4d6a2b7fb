"""The command line for directories of Markdown memories: `--store md`, and the prompt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ...errors import UsageError
from .options import GRAPH
from .terminal import echo

if TYPE_CHECKING:
    from ..engine import Session
    from ..kinds.markdown import MarkdownKind
    from ..planning.stages import Observer
    from ..stores.markdown.store import MarkdownStore
    from .options import Options


def open_markdown(options: Options, observer: Observer | None = None) -> Session:
    """A session on the memory directories of a project."""
    from ..engine import Session
    from ..stores.files.database import state_directory
    from ..stores.markdown.directories import discover
    from ..stores.markdown.store import MarkdownStore
    from .terminal import Bars

    root = options.root or Path()
    state = state_directory(options.state_dir)
    store = MarkdownStore(discover(root, options.memory_dirs or ()), root=root, state=state)
    section = {name: value for name, value in options.section().items() if name != GRAPH}
    return Session(
        store,
        settings=options.settings(section),
        state_dir=state,
        observer=observer or Bars(),
        kind=_kind(store, options),
    )


def _kind(store: MarkdownStore, options: Options) -> MarkdownKind:
    """The kind with what the options ask for.

    Raises:
        UsageError: If they contradict each other.
    """
    from ..kinds.markdown import MarkdownKind

    if options.supersede and not (options.scorer or "").startswith("keywords"):
        raise UsageError(
            "--supersede lets the newer statement win by the keyword rule; add --scorer keywords."
        )
    if options.transcripts is not None and not options.transcripts.is_dir():
        raise UsageError(f"The transcripts {options.transcripts} are no directory.")
    return MarkdownKind(
        store,
        only=options.wanted(),
        supersede=options.supersede,
        transcripts=options.transcripts,
        dates=True if options.dates else None,
    )


def announced(session: Session, options: Options) -> bool:
    """Say where there is no memory at all; whether any directory has one, or an index."""
    from ..reporting.markdown.report import EMPTY
    from ..reporting.report import visible
    from ..stores.markdown.directories import INDEX, NONE_FOUND, other_places

    store = cast("MarkdownStore", session.store)
    if options.across:
        from ..reporting.markdown.across import across

        echo(across(store.root, session.models))
        return False
    if not store.directories:
        click.echo(NONE_FOUND)
        for place in other_places(store.root):
            click.echo(
                visible(f"{place} holds Markdown files; if they are memories, add --memory-dir {place}")
            )
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
    from ..reporting.markdown.prompt import dream_prompt

    click.echo(dream_prompt(memory_root, transcripts, extra=extra), nl=False)


COMMANDS = (prompt,)
"""What the main group offers for Markdown memories besides `--store md`."""
