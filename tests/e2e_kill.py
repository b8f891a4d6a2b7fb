"""A driver that kills itself for real, with SIGKILL, in the middle of a run.

It reads cases as JSON from its input and forks a child for each, so that the imports are paid once:

    {"do": "kill", "config": ..., "state": ..., "now": ..., "step": 3, "after": true}
    {"do": "cli", "arguments": ["resume", "--config", ...], "state": ...}

A "kill" child applies a plan, every conflict answered "b", and dies at its n-th write, just before
or just after it; with "undo" it takes that run back and dies on the way. With "inside" it dies in
the middle of a write: before mem0 notes a delete in its "history", or at the "swap" of the files of
a FAISS store. A "cli" child is the command line. One line of JSON per case comes back.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mem0_dream.pipeline.cli
from mem0_dream.pipeline.stores.mem0 import Mem0Store

if TYPE_CHECKING:
    from mem0_dream.pipeline.plan import Side

BEFORE_THE_FORK = (
    "faiss", "mem0", "mem0.embeddings.openai", "mem0.llms.openai", "mem0.vector_stores.faiss",
    "mem0.vector_stores.qdrant", "openai.resources.embeddings", "mem0_dream.pipeline.engine",
    "mem0_dream.pipeline.stores.mem0_config", "mem0_dream.pipeline.report", "mem0_dream.models.registry",
    "mem0_dream.models.keywords", "mem0_dream.models.lexical", "mem0_dream.pipeline.plan_file",
)  # fmt: skip


def main() -> None:
    """Carry out the cases, one child process for each."""
    os.environ |= {"MEM0_TELEMETRY": "False", "OMP_NUM_THREADS": "1"}
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
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stdout
    try:
        if case["do"] == "kill":
            apply_and_die(case)
        else:
            mem0_dream.pipeline.cli.main(case["arguments"], prog_name="mem0-dream")
    except SystemExit as exit_:
        return int(exit_.code or 0)
    except BaseException:  # noqa: BLE001  (a child must never return to the loop)
        import traceback

        traceback.print_exc()
        return 99
    finally:
        with contextlib.suppress(ValueError):
            sys.stdout.flush()
    return 0


def apply_and_die(case: dict[str, Any]) -> None:
    """Plan, answer, apply, and die at the given write, if there are so many."""
    from mem0_dream.pipeline.cli_options import Options
    from mem0_dream.pipeline.engine import Session, scope_filter
    from mem0_dream.pipeline.stores import open_store
    from mem0_dream.pipeline.stores.mem0_config import load_config
    from mem0_dream.settings import Settings

    store = open_store(load_config(case["config"]))
    assert isinstance(store, Mem0Store)
    if not case.get("undo"):
        arm(store, case)
    now = datetime.fromisoformat(case["now"])
    with Session(store, settings=Settings(scorer="keywords")) as session, session.locked():
        plan = session.propose(scope_filter(user_id="alice"), now=now)
        choices: dict[str, Side | None] = {conflict.id: "b" for conflict in plan.conflicts}
        session.apply(plan, now=Options().clock, choices=choices, retire=case.get("retire", False))
        if case.get("undo"):
            arm(store, case)
            session.undo(now=Options().clock)


def arm(store: Mem0Store, case: dict[str, Any]) -> None:
    """Let the process die where the case says."""
    if case.get("inside") == "history":
        store.memory.db.add_history = die
    elif case.get("inside") == "swap":
        swap = Path.replace

        def torn(self: Path, target: Path) -> Path:
            """Swap one of the two new files."""
            swapped = swap(self, target)
            if self.suffix == ".new":
                die()
            return swapped

        Path.replace = torn  # type: ignore[method-assign, assignment]
    else:
        die_at(store, case["step"], after=case["after"])


def die(*_: object, **__: object) -> None:
    """End as `kill -9` ends a process: at once, without a word."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(store: Mem0Store, step: int, *, after: bool) -> None:
    """Let the process die at the n-th write of the store."""
    write, count = store.write, 0

    def dying(change: Any) -> str:
        """Write, but die before or after the n-th time."""
        nonlocal count
        count += 1
        if count == step and not after:
            die()
        changed = write(change)
        if count == step:
            die()
        return changed

    store.write = dying  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
