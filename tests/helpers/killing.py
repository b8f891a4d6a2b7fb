"""Processes that end themselves for real, with SIGKILL, in the middle of a run.

On a graph the command line dies before or after the n-th write, or the n-th "exchange" of the file with its
successor. On a mem0 store a run dies there, too; with "undo" it takes a finished run back and dies on the way,
with "inside" it dies in the middle of a write: before mem0 notes a delete in its "history", or at the "swap"
of the files of a FAISS store.
"""

import contextlib
import itertools
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from forks import Call, command_line

KILLED = -signal.SIGKILL


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killed(BaseException):
    """Stands for the death of a process in tests that go on in it."""


def _raise_killed() -> None:
    raise Killed


def dies(store: Any, step: int, act: Callable[[], object], *, after: bool = False) -> bool:
    """Act until the process dies at the n-th write of the store; says whether it did."""
    store.write = dying(store.write, step, after=after, death=_raise_killed)
    try:
        act()
    except Killed:
        return True
    finally:
        del store.write
    return False


def dying(
    real: Callable[..., Any], step: int, *, after: bool = False, death: Callable[[], None] = die
) -> Callable[..., Any]:
    """The same function, but the process dies just before or just after its n-th call."""
    count = 0

    def called(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == step and not after:
            death()
        answer = real(*arguments)
        if count == step:
            death()
        return answer

    return called


def on_graph(call: Call) -> None:
    from mem0_dream.pipeline.stores.files import exchange
    from mem0_dream.pipeline.stores.graph.store import GraphStore

    at, step, after = (call.options[name] for name in ("at", "step", "after"))
    owner, name = {"write": (GraphStore, "write"), "exchange": (exchange, "_exchange")}[at]
    setattr(owner, name, dying(getattr(owner, name), step, after=after))
    command_line(call)


def on_mem0(call: Call) -> None:
    """Plan, answer every conflict "b", apply, and die at the given write, if there are so many."""
    from mem0_dream.pipeline.cli.options import Options
    from mem0_dream.pipeline.engine import Session, scope_filter
    from mem0_dream.pipeline.stores import open_store
    from mem0_dream.pipeline.stores.mem0.config import load_config
    from mem0_dream.settings import Settings

    case = call.options
    store = open_store(load_config(case["config"]))
    if not case.get("undo"):
        _arm(store, case)
    now = datetime.fromisoformat(case["now"])
    with Session(store, settings=Settings(scorer="keywords")) as session, session.locked():
        plan = session.propose(scope_filter(user_id="alice"), now=now)
        choices: dict[str, Any] = {conflict.id: "b" for conflict in plan.conflicts}
        session.apply(plan, now=Options().clock, choices=choices, retire=case.get("retire", False))
        if case.get("undo"):
            _arm(store, case)
            session.undo(now=Options().clock)


def held(call: Call) -> None:
    """The command line, which says so once it has announced its n-th change, and waits there to go on."""
    from mem0_dream.pipeline.writing.journal import Journal

    said, go, announce = Path(call.options["said"]), Path(call.options["go"]), Journal.intend
    numbers = itertools.count(1)

    def waiting(self: Any, *change: Any) -> int:
        number = announce(self, *change)
        if next(numbers) == call.options["step"]:
            said.touch()
            while not go.exists():
                time.sleep(0.01)
        return number

    Journal.intend = waiting  # type: ignore[method-assign, assignment]
    command_line(call)


def looked_at(call: Call) -> None:
    """The review page, which is looked at once and then ended as with Ctrl-C."""
    from mem0_dream.pipeline.cli import pages

    def look(address: str, folder: Path) -> None:
        def fetch() -> None:
            with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=60) as page:  # noqa: S310
                page.read()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=fetch).start()

    pages._open = look
    command_line(call)


def _arm(store: Any, case: Mapping[str, Any]) -> None:
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
        store.write = dying(store.write, case["step"], after=case["after"])
