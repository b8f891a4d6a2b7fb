"""Print docs/cli.md from the help of every command: `make docs`."""

import sys
from pathlib import Path

import click
from mem0_dream.errors import DreamError
from mem0_dream.pipeline.cli.main import WHOLE
from mem0_dream.pipeline.cli.main import main as command_line

PROGRAM = "mem0-dream"
WIDTH = 100
INTRODUCTION = Path(__file__).parent / "data" / "cli_introduction.md"
OUTSIDE_THE_TREE = (
    (0, "", "Done, nothing to do, or declined by the person."),
    (9, "", "`status --check`: something warns, or could not be read; `runs --last`, `doctor`: trouble."),
    (10, "", "`check`: all of it is known already, or the learning is not worth saving."),
    (130, "", "Interrupted with Ctrl-C; it says whether anything was changed, and how to go on."),
)


def reference() -> str:
    """The whole page."""
    said = ((one.exit_code, f"`{one.__name__}`", str(one.__doc__).splitlines()[0]) for one in errors())
    rows = sorted([*OUTSIDE_THE_TREE, *said])
    codes = "\n".join(f"| {code} | {name} | {meaning} |" for code, name, meaning in rows)
    parts = [
        INTRODUCTION.read_text(encoding="utf-8"),
        f"## Exit codes\n\n| code | error | meaning |\n|---|---|---|\n{codes}\n",
    ]
    for name, command in (("", command_line), *sorted(command_line.commands.items())):
        title = f"{PROGRAM} {name}".strip()
        with click.Context(command, info_name=title, max_content_width=WIDTH, terminal_width=WIDTH) as page:
            page.meta[WHOLE] = True
            parts.append(f"## {title}\n\n```text\n{command.get_help(page)}\n```\n")
    return "\n".join(parts)


def errors() -> list[type[DreamError]]:
    """Every public error class, root first."""
    tree = [DreamError]
    for error in tree:  # which grows meanwhile
        tree += [child for child in error.__subclasses__() if not child.__name__.startswith("_")]
    return tree


if __name__ == "__main__":
    sys.stdout.write(reference())
