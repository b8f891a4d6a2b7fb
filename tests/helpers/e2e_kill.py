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

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import mem0_dream.pipeline.cli.main
from killing import Case, die, dying, serve
from mem0_dream.pipeline.stores.mem0.store import Mem0Store

if TYPE_CHECKING:
    from mem0_dream.pipeline.plan import Side

BEFORE_THE_FORK = (
    "faiss", "mem0", "mem0.embeddings.openai", "mem0.llms.openai", "mem0.vector_stores.faiss",
    "mem0.vector_stores.qdrant", "openai.resources.embeddings", "mem0_dream.pipeline.engine",
    "mem0_dream.pipeline.stores.mem0.config", "mem0_dream.pipeline.reporting.report", "mem0_dream.models.registry",
    "mem0_dream.models.keywords", "mem0_dream.models.lexical", "mem0_dream.pipeline.planning.plan_file",
)  # fmt: skip


def carry_out(case: Case) -> None:
    """What a child does."""
    if case["do"] == "kill":
        apply_and_die(case)
    else:
        mem0_dream.pipeline.cli.main.main(case["arguments"], prog_name="mem0-dream")


def apply_and_die(case: Case) -> None:
    """Plan, answer, apply, and die at the given write, if there are so many."""
    from mem0_dream.pipeline.cli.options import Options
    from mem0_dream.pipeline.engine import Session, scope_filter
    from mem0_dream.pipeline.stores import open_store
    from mem0_dream.pipeline.stores.mem0.config import load_config
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


def arm(store: Mem0Store, case: Case) -> None:
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
        store.write = dying(store.write, case["step"], after=case["after"])  # type: ignore[method-assign]


if __name__ == "__main__":
    serve(carry_out, imports=BEFORE_THE_FORK)
