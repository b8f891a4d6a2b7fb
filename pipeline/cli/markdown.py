"""The command line for directories of Markdown memories: `--store md`, and the prompt."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, cast

import click

from .terminal import answer

if TYPE_CHECKING:
    from ..engine import Session
    from ..stores.markdown.store import MarkdownStore
    from .options import Options


def announced(session: Session, options: Options) -> bool:
    """Say where there is no memory at all; whether any directory has one, or an index."""
    from ..reporting.markdown.report import EMPTY
    from ..reporting.report import visible
    from ..stores.markdown.directories import INDEX, NONE_FOUND, other_places

    store = cast("MarkdownStore", session.store)
    if options.across:
        from ..reporting.markdown.across import across

        found = across(store.root, session.models, given=options.memory_dirs or ())
        answer(found.to_json(), found.lines(), as_json=options.as_json)
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
    from ..rules.markdown.index_file import LINE_LENGTH, LONG_LINE, MAX_BYTES
    from ..stores.markdown.directories import MAX_LINES

    text = (
        (files(__package__) / "prompt.md")
        .read_text(encoding="utf-8")
        .format(
            memory_root=memory_root,
            transcripts=transcripts,
            line_length=LINE_LENGTH,
            long_line=LONG_LINE,
            max_lines=MAX_LINES,
            max_kilobytes=MAX_BYTES // 1000,
        )
    )
    click.echo(text if not extra else f"{text}\n## Additional context\n\n{extra.strip()}\n", nl=False)


COMMANDS = (prompt,)
"""What the main group offers for Markdown memories besides `--store md`."""
