"""A run on a mem0 store that kills itself for real, with SIGKILL, on its way.

It dies just before or just after its n-th write; with "undo" it takes a finished run back and dies on the way.
With "inside" it dies in the middle of a write: before mem0 notes a delete in its "history", or at the "swap"
of the files of a FAISS store.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forks import Call
from killing import die, dying
from mem0_dream.pipeline.stores.mem0.store import Mem0Store

if TYPE_CHECKING:
    from mem0_dream.pipeline.actions import Side


def apply_and_die(call: Call) -> None:
    """Plan, answer every conflict "b", apply, and die at the given write, if there are so many."""
    from mem0_dream.pipeline.cli.options import Options
    from mem0_dream.pipeline.engine import Session, scope_filter
    from mem0_dream.pipeline.stores import open_store
    from mem0_dream.pipeline.stores.mem0.config import load_config
    from mem0_dream.settings import Settings

    case = call.options
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


def arm(store: Mem0Store, case: Mapping[str, Any]) -> None:
    """Let the process die where the case says."""
    if case.get("inside") == "history":
        store.memory.db.add_history = die
    elif case.get("inside") == "swap":
        swap = Path.replace

        def torn(self: Path, target: Path) -> Path:
            swapped = swap(self, target)
            if self.suffix == ".new":
                die()
            return swapped

        Path.replace = torn  # type: ignore[method-assign, assignment]
    else:
        store.write = dying(store.write, case["step"], after=case["after"])  # type: ignore[method-assign]
