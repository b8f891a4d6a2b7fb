"""Command lines as they are typed: parsed and not run, or run in this process at a fixed moment."""

import shlex
from collections.abc import Iterable, Sequence

from builders import NOW
from click.testing import CliRunner, Result
from mem0_dream.pipeline.cli.main import main as command_line

PROGRAM = "mem0-dream"
CLOCKLESS = frozenset({"undo", "resume", "apply", "reject", "runs"})
"""Commands that take the moment from the clock."""


def parse(line: str) -> None:
    program, *words = shlex.split(line, comments=True)
    assert program == PROGRAM
    # A kind of store may be called like a command.
    places = (
        place
        for place, (before, word) in enumerate(zip(["", *words], words, strict=False))
        if word in command_line.commands and before != "--store"
    )
    cut = next(places, len(words))
    name = words[cut] if cut < len(words) else None
    # The group alone would run its pass without a command, which parsing does not do.
    context = command_line.make_context(PROGRAM, words[:cut], resilient_parsing=not words[:cut])
    if name:
        command_line.commands[name].make_context(name, words[cut + 1 :], parent=context)


def on_store(words: Iterable[str]) -> list[str]:
    """A command line with `--store KIND` as it is typed: a pass has the kind as its command."""
    line = list(words)
    if "--store" in line:
        at = line.index("--store")
        if not {*line[:at], *line[at + 2 :]} & command_line.commands.keys():
            line = [line[at + 1], *line[:at], *line[at + 2 :]]
    return line


def run(words: Iterable[str], *, scope: Sequence[str] = (), answers: str = "", code: int = 0) -> Result:
    line = [*words]
    looks = not (CLOCKLESS | {"--now"}) & set(line)
    line += [*scope, "--now", NOW.isoformat()] if looks else []
    done = CliRunner().invoke(command_line, on_store(line), input=answers, prog_name=PROGRAM)
    assert not isinstance(done.exception, Exception), done.exception
    assert done.exit_code == code, done.output
    return done
