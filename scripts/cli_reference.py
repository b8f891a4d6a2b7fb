"""Print docs/cli.md from the help of every command: `make docs`."""

from __future__ import annotations

import sys

import click
from mem0_dream.errors import DreamError
from mem0_dream.pipeline.cli.main import WHOLE
from mem0_dream.pipeline.cli.main import main as command_line

PROGRAM = "mem0-dream"
WIDTH = 100
INTRODUCTION = f"""\
# Command line

Generated from `{PROGRAM} --help-all` and the help of each command by `make docs`; do not edit.

Options may stand before or after a command's name: `{PROGRAM} --config c.yaml status` equals
`{PROGRAM} status --config c.yaml`. The report goes to the output, everything else to the error stream.

`{PROGRAM}` alone is a pass over a mem0 store; `{PROGRAM} md`, `graph`, `platform` and `server` are passes
over the other kinds, each with its own options. Every other command takes `--store md` and so on, or finds
the kind by a place that it alone has, such as `--file`. The journal knows how a store was opened, so that
`{PROGRAM} runs`, `undo RUN` and `resume RUN` need no other option. It keeps no secret: a store behind
`--mcp COMMAND`, or behind an address with a password, has to be named again.

## Shell completion

```console
$ eval "$(_MEM0_DREAM_COMPLETE=bash_source {PROGRAM})"                               # in ~/.bashrc
$ eval "$(_MEM0_DREAM_COMPLETE=zsh_source {PROGRAM})"                                # in ~/.zshrc
$ _MEM0_DREAM_COMPLETE=fish_source {PROGRAM} > ~/.config/fish/completions/{PROGRAM}.fish
```
"""
OUTSIDE_THE_TREE = (
    (0, "", "Done, nothing to do, or declined by the person."),
    (9, "", "`status --check`: something warns, or could not be read; `runs --last`, `doctor`: trouble."),
    (10, "", "`check`: all of it is known already, or the learning is not worth saving."),
    (130, "", "Interrupted with Ctrl-C; it says whether anything was changed, and how to go on."),
)


def reference() -> str:
    """The whole page."""
    said = ((one.exit_code, f"`{one.__name__}`", str(one.__doc__).splitlines()[0]) for one in errors())
    rows = [*OUTSIDE_THE_TREE, *said]
    codes = "\n".join(f"| {code} | {name} | {meaning} |" for code, name, meaning in sorted(rows))
    parts = [INTRODUCTION, f"## Exit codes\n\n| code | error | meaning |\n|---|---|---|\n{codes}\n"]
    for name, command in (("", command_line), *sorted(command_line.commands.items())):
        title = f"{PROGRAM} {name}".strip()
        with click.Context(
            command, info_name=title, max_content_width=WIDTH, terminal_width=WIDTH
        ) as context:
            context.meta[WHOLE] = True
            parts.append(f"## {title}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def errors() -> list[type[DreamError]]:
    """Every public error class, root first."""
    tree, waiting = list[type[DreamError]](), [DreamError]
    while waiting:
        error = waiting.pop(0)
        tree.append(error)
        waiting += [child for child in error.__subclasses__() if not child.__name__.startswith("_")]
    return tree


if __name__ == "__main__":
    sys.stdout.write(reference())
