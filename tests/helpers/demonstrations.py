"""A demonstration in a forked process, whose commands are forked from it in turn."""

import importlib
import os
import subprocess
import sys
from typing import Any

from forks import Call, command_line


def play(call: Call) -> None:
    demonstration: Any = importlib.import_module(call.options["module"])
    demonstration.dream = _dream
    sys.exit(demonstration.main(list(call.arguments)))


def _dream(*arguments: str) -> None:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            command_line(Call(arguments, {}))
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), "mem0-dream")
