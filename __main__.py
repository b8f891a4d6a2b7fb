"""`python -m mem0_dream` and the command `mem0-dream`: a sign of life, then the command line."""

import os
import sys

_SIGN = "starting ..."


def main() -> None:
    """Say at once that something begins: on a busy machine all imports take seconds; then take it back."""
    completes = "_MEM0_DREAM_COMPLETE" in os.environ
    shown = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if shown and not completes:
        _show(_SIGN)
    from .pipeline.cli.main import main as command_line

    if shown and not completes:
        _show(" " * len(_SIGN))
    command_line(prog_name="mem0-dream")


def _show(words: str) -> None:
    sys.stderr.write(f"{words}\r")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
