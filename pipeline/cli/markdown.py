"""The command line for directories of Markdown memories: `--store md`, and the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from .terminal import answer

if TYPE_CHECKING:
    from ..engine import Session
    from ..stores.markdown.store import MarkdownStore
    from .options import Options

_PROMPT = """\
# Dream: consolidate your memory

You are looking back over what you have remembered, so that the next session starts with memories that
are true, few and easy to find. Work through the four phases in order. Change nothing outside the
memory directory.

Memory directory: `{memory_root}`
Session transcripts: `{transcripts}` (large JSON Lines files: search them for narrow terms, never read
one whole)

## Phase 1 - Orient
- List the memory directory and read MEMORY.md, the index.
- Read each topic file, so that you improve what is there instead of adding a second copy of it.
- Where there are `logs/YYYY/MM/YYYY-MM-DD.md` or `sessions/`, look at the latest entries.

## Phase 2 - Gather signal
Look for what is new and worth keeping, in this order:
1. Daily logs: lines that state a fact which holds beyond that day.
2. Memories that have drifted: check the files, functions and classes they name against the code.
3. Transcripts: only to settle a suspicion, with a narrow search such as
   `grep -rn "TERM" {transcripts} --include="*.jsonl" | tail -50`.

## Phase 3 - Consolidate
- Put a new fact into the topic file it belongs to; begin a new file only for a new subject.
- Merge files of one type about one subject: keep the newer and take over what only the older says, with
  every number, date, name, path and negation.
- Where two memories contradict each other, correct the wrong one at its source: the wrong sentence
  goes, not the file around it. If you cannot tell which one holds, leave both and say so.
- Write dates out: "yesterday" becomes the day it was, reckoned from when the sentence was written; durations
  ("in 7 days"), ranges and habits stay.
- Leave alone what is marked `[PINNED]`, `pinned` or `critical`.

## Phase 4 - Prune and index
- Remove a memory only if everything it refers to was once in this repository and is gone; if part of it is,
  flag it. Rules, warnings, decisions and instructions outlive the files they name.
- Bring MEMORY.md up to date: one line for each file, `- [Name](filename.md) -- one-line description`, each
  under {line_length} characters. Add missing lines, remove those that lead nowhere, and leave the other
  lines, their sections, their order and their words as they are.
- Keep it under {max_lines} lines and {max_kilobytes} KB. A line of more than {long_line} characters holds
  memory content: move that into its file and shorten the line.

End with a short account of what you merged, corrected, removed and flagged, or say that the memories are
already tight.
"""


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
    from ..rules.markdown.index_file import LINE_LENGTH, LONG_LINE, MAX_BYTES, MAX_LINES

    text = _PROMPT.format(
        memory_root=memory_root,
        transcripts=transcripts,
        line_length=LINE_LENGTH,
        long_line=LONG_LINE,
        max_lines=MAX_LINES,
        max_kilobytes=MAX_BYTES // 1000,
    )
    click.echo(text if not extra else f"{text}\n## Additional context\n\n{extra.strip()}\n", nl=False)


COMMANDS = (prompt,)
"""What the main group offers for Markdown memories besides `--store md`."""
