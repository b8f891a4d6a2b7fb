"""A driver that runs the command line on a graph and kills it for real, with SIGKILL, on its way.

It reads cases as JSON from its input and forks a child for each, so that the imports are paid once:

    {"arguments": ["undo", "--store", "graph", "--file", ...], "state": ...}
    {"arguments": [...], "state": ..., "at": "write", "step": 3, "after": true}

A child with "at" dies at the n-th write of the store, or at the n-th "exchange" of the graph's file with
its successor, just before or just after it. One line of JSON per case comes back.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import mem0_dream.pipeline.cli
from mem0_dream.pipeline.stores import exchange
from mem0_dream.pipeline.stores.graph import GraphStore

BEFORE_THE_FORK = (
    "faiss", "filelock", "mem0_dream.models.keywords", "mem0_dream.models.lexical", "mem0_dream.models.registry",
    "mem0_dream.pipeline.cli_progress", "mem0_dream.pipeline.graph.health", "mem0_dream.pipeline.graph.report",
    "mem0_dream.pipeline.graph.session", "mem0_dream.pipeline.report",
)  # fmt: skip


def main() -> None:
    """Carry out the cases, one child process for each."""
    os.environ |= {"OMP_NUM_THREADS": "1"}
    for name in BEFORE_THE_FORK:
        importlib.import_module(name)
    for case in json.load(sys.stdin):
        print(json.dumps(in_child(case)), flush=True)


def in_child(case: dict[str, Any]) -> dict[str, Any]:
    """Fork, let the child do the case, and tell how it ended and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            os._exit(carried_out(case))
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        return {"code": os.waitstatus_to_exitcode(status), "out": printed.read().decode()}


def carried_out(case: dict[str, Any]) -> int:
    """What a child does; the exit code."""
    os.environ["MEM0_DREAM_STATE_DIR"] = case["state"]
    sys.stdout = sys.stderr = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    owner, name = {"write": (GraphStore, "write"), "exchange": (exchange, "_exchange")}[
        case.get("at", "write")
    ]
    setattr(owner, name, dying(getattr(owner, name), case.get("step", 0), after=case.get("after", False)))
    try:
        mem0_dream.pipeline.cli.main(case["arguments"], prog_name="mem0-dream")
    except SystemExit as exit_:
        sys.stdout.flush()
        return int(exit_.code or 0)
    except BaseException:  # noqa: BLE001  (a child must never return to the loop)
        import traceback

        traceback.print_exc()
        sys.stdout.flush()
    return 99


def dying(real: Callable[..., Any], step: int, *, after: bool) -> Callable[..., Any]:
    """The same function, but the n-th call ends the process as `kill -9` does: at once, without a word."""
    count = 0

    def called(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == step and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = real(*arguments)
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return called


if __name__ == "__main__":
    main()
